//! Recall of conversations: what was asked, ordered and answered, which is evidence for nothing and found by itself alone.
//!
//! BM25 over those turns, a date that the question names as one more word, the newest first of equals. A question that has no word
//! but of talking (`what did I ask you yesterday?`) finds the newest turns, of that time if it names one.

use std::collections::HashSet;

use super::{Filters, Found, Way};
use crate::activation::graph::NodeIx;
use crate::activation::index::{Index, idf};
use crate::model::Stamp;
use crate::model::ids::NeuronId;
use crate::text::{self, date};

/// The turns of conversations that a question brings to mind, best first, each with its score; of equal texts the best alone. Not cut
/// at [`Filters::top`], because a turn is not known to be wanted before it is read.
pub fn talk(index: &Index<'_>, question: &str, now: Stamp, filters: &Filters) -> Vec<(NodeIx, f64)> {
    let words = text::words_in(question, index.language());
    let today = date::day_of(now.unix());
    let periods = today.map_or_else(Vec::new, |day| date::periods(question, day));
    let names_day = |from: usize, to: usize| {
        let span = words.get(to).map(|last| &question[words[from].start..last.start + last.surface.len()]);
        span.zip(today).is_some_and(|(span, day)| !date::periods(span, day).is_empty())
    };
    let is_of_date = |at: usize| {
        !periods.is_empty() && (names_day(at, at) || names_day(at, at + 1) || at > 0 && names_day(at - 1, at))
    };
    let is_about_talk = text::talk::about_talk(question).is_some();
    let mut stems: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let says = !word.is_stop && !text::talk::is_of_talking(&word.key) && !is_of_date(at);
        let says = says && !(is_about_talk && text::talk::is_kind_asked(&word.key));
        if says && !stems.contains(&word.stem.as_str()) {
            stems.push(&word.stem);
        }
    }
    let wanted = filters.session.as_deref().map(|label| index.session(label));
    let within = |node: NodeIx, at: Stamp| {
        let of_session = wanted.is_none_or(|session| session.is_some() && index.session_of(node) == session);
        of_session && filters.since.is_none_or(|since| at >= since) && filters.until.is_none_or(|until| at <= until)
    };
    let of_day = |at: Stamp| {
        let day = date::day_of(at.unix());
        periods.iter().any(|period| day.is_some_and(|day| period.first <= day && day <= period.last))
    };
    let scored = index.talk(&stems);
    let mut found: Vec<(NodeIx, f64, u64, Stamp, bool)> = scored
        .into_iter()
        .map(|(node, score, said)| (node, score, said, index.created(node)))
        .filter(|(node, _, _, at)| within(*node, *at))
        .map(|(node, score, said, at)| (node, score, said, at, of_day(at)))
        .collect();
    let dated = idf(found.iter().filter(|turn| turn.4).count(), found.len());
    for turn in &mut found {
        turn.1 += if turn.4 { dated } else { 0.0 };
    }
    if !stems.is_empty() || !periods.is_empty() {
        found.retain(|turn| turn.1 > 0.0);
    }
    found.sort_unstable_by(|a, b| {
        let newest = || b.3.cmp(&a.3).then_with(|| index.graph.order(a.0).cmp(&index.graph.order(b.0)));
        b.1.total_cmp(&a.1).then_with(newest)
    });
    let mut seen = HashSet::new();
    found.retain(|turn| seen.insert(turn.2));
    found.into_iter().map(|(node, score, ..)| (node, score)).collect()
}

/// A turn as an answer.
pub fn found(index: &Index<'_>, node: NodeIx, score: f64, now: Stamp) -> Option<Found> {
    let id = NeuronId::parse(index.graph.id(node)).ok()?;
    let path = vec![Way { at: id.to_string(), via: "text", weight: score, activation: score }];
    let salience = index.graph.salience_at(node, now);
    Some(Found { id, activation: score, salience, context: 0.0, inhibition: 0.0, changes: None, path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Snapshot;
    use crate::activation::recall::answer;
    use crate::model::{Kind, Neuron, Settings};

    const DAY: i64 = 86_400;

    fn turn(n: i64, who: &str, name: &str, text: &str) -> Neuron {
        let at = Stamp::from_unix(1_769_000_000 + n * DAY);
        let mut neuron = Neuron::new(NeuronId::parse(&format!("e-{n:04}")).unwrap(), text, Kind::Episodic, at);
        (neuron.source, neuron.session) = (Some(format!("{who}:{name}")), Some(name.to_owned()));
        neuron.activate(50_000, at);
        neuron
    }

    fn talked() -> Snapshot {
        Snapshot::of([
            turn(0, "chat", "c1", "My bicycle has the lock with the code 4711."),
            turn(1, "chat", "c1", "What is the code of the bike lock?"),
            turn(2, "answer", "c1", "From memory: the code is 4711."),
            turn(3, "chat", "c2", "where does Ida live"),
            turn(4, "chat", "c2", "thanks"),
            turn(5, "chat", "c2", "Where does Ida live"),
            turn(6, "chat", "c2", "where does Ida live"),
        ])
    }

    fn ids(snapshot: &Snapshot, question: &str, filters: &Filters) -> Vec<String> {
        let index = snapshot.index();
        let now = Stamp::from_unix(1_769_000_000 + 7 * DAY);
        talk(&index, question, now, filters).into_iter().map(|(node, _)| index.graph.id(node).to_owned()).collect()
    }

    #[test]
    fn turns_are_found_by_their_words_the_newest_of_equal_ones() {
        let talked = talked();
        let all = Filters::default();
        assert_eq!(ids(&talked, "code of the lock", &all), ["e-0001", "e-0002"]);
        assert_eq!(ids(&talked, "Ida", &all), ["e-0006", "e-0005"], "of equal texts the newest");
        assert!(ids(&talked, "submarine", &all).is_empty());
        let session = |name: &str| Filters { session: Some(name.to_owned()), ..Filters::default() };
        assert_eq!(ids(&talked, "what did I ask", &session("c1")), ["e-0002", "e-0001"], "the newest first");
        assert!(ids(&talked, "what did I ask", &session("c9")).is_empty());
        assert_eq!(ids(&talked, "What did I ask you yesterday?", &all), ["e-0006"]);
        assert_eq!(ids(&talked, "what was your last answer", &all)[0], "e-0006", "whose turn it is, is read later");
        assert_eq!(ids(&talked, "What did I ask you yesterday about the lock?", &all), ["e-0006", "e-0001"]);
        let since = Filters { since: Some(Stamp::from_unix(1_769_000_000 + 6 * DAY)), ..Filters::default() };
        assert_eq!(ids(&talked, "Ida", &since), ["e-0006"]);
    }

    #[test]
    fn talk_is_no_evidence_and_evidence_no_talk() {
        let talked = talked();
        let now = Stamp::from_unix(1_769_000_000 + 7 * DAY);
        let evidence = answer(&talked.index(), "code of the bike lock", now, &Settings::default(), &Filters::default());
        assert_eq!(evidence.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["e-0000"]);
        assert!(!ids(&talked, "bicycle code", &Filters::default()).contains(&"e-0000".to_owned()));
        assert_eq!((talked.index().memories(), talked.index().rarity("lock")), (1, 1));
    }

    #[test]
    fn a_session_holds_evidence_together_too() {
        let mut neurons = vec![turn(0, "chat", "c1", "The code is 4711."), turn(1, "chat", "c2", "The code is 1234.")];
        neurons.iter_mut().for_each(|neuron| neuron.source = None);
        let snapshot = Snapshot::of(neurons);
        let now = Stamp::from_unix(1_769_000_000 + 7 * DAY);
        let of = |name: &str| {
            let filters = Filters { session: Some(name.to_owned()), ..Filters::default() };
            let found = answer(&snapshot.index(), "code", now, &Settings::default(), &filters);
            found.into_iter().map(|found| found.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!((of("c1"), of("c2"), of("c3")), (vec!["e-0000".to_owned()], vec!["e-0001".to_owned()], vec![]));
    }
}
