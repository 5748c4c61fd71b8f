//! A question with options, and the choice in an answer to it: what a model may say, and what the engine keeps of it.
//!
//! Pure. A rule fills in what it chose by itself; of a model or a program the engine reads it off the answer, so that an outcome is found when the
//! question is asked again, and a change of mind is seen.

use serde_json::{Value, json};

use super::reflex::{clip, kind};
use crate::delta::{Chosen, Document, Operation, Prediction};
use crate::limits;
use crate::model::Signal;
use crate::model::ids::concept_id;
use crate::model::neuron::check_concept;

/// A question with what can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<'s> {
    /// The question.
    pub question: &'s str,
    /// The options, each once, in the order given.
    pub options: Vec<&'s str>,
}

/// The question that a signal asks; `None`: it asks none, or names no option.
#[must_use]
pub fn asked(signal: &Signal) -> Option<Asked<'_>> {
    if signal.payload_kind() == Some(kind::DECISION) {
        return None;
    }
    let question = signal.payload.get("query")?.as_str()?;
    let mut options: Vec<&str> = Vec::new();
    for option in signal.payload.get("options")?.as_array()?.iter().filter_map(Value::as_str) {
        let is_usable = option.len() <= limits::LABEL_BYTES && check_concept(option).is_ok();
        if is_usable && options.len() < limits::OPTIONS && !options.contains(&option) {
            options.push(option);
        }
    }
    (!options.is_empty()).then_some(Asked { question, options })
}

/// Reads the choices off the answers of a document, each in the words of its question, and puts the first into its prediction.
///
/// # Errors
/// An answer to a question with options that names none of them: nobody could read it, and the question would count as answered.
pub fn settle(document: &mut Document, signals: &[Signal]) -> Result<(), String> {
    let mut first = None;
    for op in &mut document.ops {
        let Operation::Acknowledge(answer) = op else { continue };
        let Some(asked) = signals.iter().find(|signal| signal.id == answer.signal).and_then(asked) else { continue };
        let said = answer.payload.get("choice").and_then(Value::as_str);
        let of = |said: &&str| asked.options.iter().find(|option| *option == said).copied();
        let alike = |said: &&str| asked.options.iter().find(|option| concept_id(option) == concept_id(said)).copied();
        let Some(option) = said.as_ref().and_then(|said| of(said).or_else(|| alike(said))) else {
            let options = asked.options.iter().map(|option| format!("{option:?}")).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "the answer to {} names no option: \"payload\": {{\"choice\": …}} says one of {options}",
                answer.signal
            ));
        };
        answer.payload["choice"] = json!(option);
        first.get_or_insert_with(|| (clip(asked.question, limits::LABEL_BYTES), option.to_owned()));
    }
    if let Some((question, option)) = first.filter(|(question, _)| check_concept(question).is_ok()) {
        let prediction = document.prediction.get_or_insert_with(Prediction::default);
        prediction.chosen.get_or_insert(Chosen { question, option });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::operation::Acknowledge;
    use crate::model::ids::{AgentName, RunId};
    use crate::model::{Kind, Stamp};

    fn signal(payload: Value) -> Signal {
        let name = |name: &str| AgentName::parse(name).unwrap();
        let run = RunId::new(1_769_437_920_000, 1, &name("human"));
        let (from, to, created_at) = (name("human"), name("decision"), Stamp::from_unix(1_769_437_920));
        Signal { id: Signal::id_of(&run, 0), kind: Kind::Signal, from, to, run, created_at, payload }
    }

    fn answered(payload: Value) -> Result<Document, String> {
        let signal = signal(json!({"query": "Which cache?", "options": ["redis", "Memcached", 3]}));
        let op = Operation::Acknowledge(Acknowledge { signal: signal.id.clone(), payload });
        let mut document = Document { agent: None, prediction: None, ops: vec![op] };
        settle(&mut document, &[signal]).map(|()| document)
    }

    #[test]
    fn choice_of_an_answer_becomes_that_of_its_prediction() {
        let chosen = |payload| answered(payload).unwrap().prediction.unwrap().chosen.unwrap();
        let is = |option: &str| Chosen { question: "Which cache?".to_owned(), option: option.to_owned() };
        assert_eq!(chosen(json!({"choice": "redis", "text": "It is here."})), is("redis"));
        assert_eq!(chosen(json!({"choice": "memcached"})), is("Memcached"), "in the words of the question");
        let Operation::Acknowledge(answer) = &answered(json!({"choice": "REDIS"})).unwrap().ops[0] else { panic!() };
        assert_eq!(answer.payload["choice"], "redis");
    }

    #[test]
    fn answer_without_a_choice_is_refused_with_the_options() {
        for payload in [json!({"text": "redis"}), json!({"choice": null}), json!({"choice": "tea"}), json!("redis")] {
            let why = answered(payload.clone()).unwrap_err();
            assert!(why.contains("\"redis\", \"Memcached\""), "{payload}: {why}");
        }
    }

    #[test]
    fn signal_without_options_asks_for_no_choice() {
        for payload in
            [json!({"query": "Which?"}), json!({"options": ["a"]}), json!({"query": "Which?", "options": [1]})]
        {
            assert_eq!(asked(&signal(payload.clone())), None, "{payload}");
        }
        let told = json!({"kind": "decision", "query": "Which?", "options": ["a", "b"]});
        assert_eq!(asked(&signal(told)), None, "an answer is no question");
    }
}
