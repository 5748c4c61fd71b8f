//! A chat: the body that a program sends, and whatever models answer to it. The first byte says which. A chain ends, within
//! its turns, whatever it is told.

#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use git_brain::cognition::chain::asked::ChatRequest;
use git_brain::cognition::chain::classify::classify_complexity;
use git_brain::cognition::chain::{Machine, Mode, Offer, Plan, Step, Task, Told, Want, Why, Writing, extract};
use git_brain::cognition::exchange::{Form, Reply, Tool, ToolCall};
use git_brain::limits;
use git_brain::model::chain::{Chain, Role};
use git_brain::model::json::strict;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// What a model does when it is asked, or a tool when it is called, or a person.
#[derive(Arbitrary, Debug)]
enum Answer {
    Says(String),
    Calls(Vec<(u8, String)>),
    Both(String, u8),
    Gone(u8),
    Gives(String),
    Fails(String),
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    if kind % 2 == 1 {
        return body(rest);
    }
    let mut input = Unstructured::new(rest);
    let _ = chain(&mut input);
    if let Ok(text) = std::str::from_utf8(rest) {
        // A number in a text is a number; what is quoted stands there.
        let _ = extract::cited(text);
    }
});

fn body(bytes: &[u8]) {
    let Ok(request) = strict::<ChatRequest>(bytes, "the body", limits::HTTP_BODY_BYTES) else { return };
    assert!(!request.dry_run, "nobody outside says that nothing is remembered");
    let needs = classify_complexity(&request.message, request.category.as_deref(), &Chain::default());
    assert!(!needs.why.is_empty());
    let again = serde_json::to_vec(&request).expect("a request is JSON");
    assert_eq!(strict::<ChatRequest>(&again, "the body", usize::MAX).expect("it was read before"), request);
}

fn chain(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let roles = [Role::Research, Role::Analysis, Role::Review];
    let count = input.int_in_range(1..=4_usize)?;
    let steps = (0..count).map(|n| {
        let turns = input.int_in_range(1..=5_u32)?;
        Ok(Step { name: format!("s{n}"), model: "m".into(), role: roles[n % 3], turns })
    });
    let steps = steps.collect::<arbitrary::Result<Vec<Step>>>()?;
    let turns = input.int_in_range(1..=9_u32)?;
    let mode = if bool::arbitrary(input)? { Mode::Simple } else { Mode::Reflexive };
    let question = String::arbitrary(input)?;
    let repairs = input.int_in_range(0..=3_u32)?;
    let writing = || Writing {
        instructions: "write".into(),
        data: "nothing".into(),
        form: Form { name: "document".into(), schema: json!({"type": "object"}) },
        repairs,
    };
    let task = if bool::arbitrary(input)? { Task::Answer(question) } else { Task::Write(writing()) };
    let room = input.int_in_range(0..=4096_usize)?;
    let plan = Plan { task, mode, turns, steps, tools: tools(), background: Vec::new(), steering: String::new(), room };
    let mut machine = Machine::new(plan.clone());
    let (mut asked, mut called, mut checked) = (0, 0, 0);
    loop {
        let told = match machine.want().clone() {
            Want::Done => break,
            Want::Ask { step, request } => {
                asked += 1;
                assert!(step < plan.steps.len() && !request.messages.is_empty());
                asked_of(Answer::arbitrary(input).unwrap_or(Answer::Gone(0)))
            }
            Want::Check { text, .. } => {
                checked += 1;
                // Nothing is no document, whoever checks it.
                match bool::arbitrary(input).unwrap_or(true) && !text.trim().is_empty() {
                    true => Told::Holds,
                    false => Told::Refused("it says nothing".into()),
                }
            }
            Want::Confirm { .. } => match bool::arbitrary(input).unwrap_or(false) {
                true => Told::Confirmed,
                false => Told::Denied("no".into()),
            },
            Want::Call { call, .. } => {
                called += 1;
                assert!(tools().iter().any(|offer| offer.tool.name == call.name), "{} is no tool", call.name);
                match Answer::arbitrary(input).unwrap_or(Answer::Gives(String::new())) {
                    Answer::Fails(why) => Told::Failed(why),
                    Answer::Gives(text) | Answer::Says(text) | Answer::Both(text, _) => Told::Gave(json!(text)),
                    Answer::Calls(_) | Answer::Gone(_) => Told::Gave(Value::Null),
                }
            }
        };
        machine.take(told);
        // Whoever is not there is asked once for its own step, and once in the place of the last.
        assert!(asked <= plan.turns as usize + 2 * plan.steps.len(), "it asks for ever");
        assert!(called <= plan.turns as usize * limits::CALLS_PER_REPLY, "it calls for ever");
        assert!(checked <= plan.turns, "it writes for ever");
    }
    let outcome = machine.outcome();
    let ran: u32 = outcome.finished.iter().map(|step| step.turns).sum();
    assert!(outcome.turns <= plan.turns && ran == outcome.turns, "{} turns of {}", outcome.turns, plan.turns);
    // Who writes in the place of the last step has the turns of that.
    let last = plan.steps.last().map_or(0, |step| step.turns);
    for step in &outcome.finished {
        let own = plan.steps[step.step].turns;
        assert!(step.turns <= own.max(if matches!(plan.task, Task::Write(_)) { last } else { 0 }));
    }
    assert!(outcome.reply.is_none_or(|(text, _)| !text.trim().is_empty()), "an empty answer is none");
    Ok(())
}

fn asked_of(answer: Answer) -> Told {
    let call = |(which, text): (u8, String)| ToolCall {
        id: "c".into(),
        name: ["recall", "write_file", "no_such_tool"][usize::from(which % 3)].into(),
        arguments: serde_json::from_str(&text).unwrap_or_else(|_| json!({ "query": text })),
    };
    match answer {
        Answer::Says(text) | Answer::Gives(text) | Answer::Fails(text) => Told::Reply(Reply { text, ..Reply::default() }),
        Answer::Calls(calls) => Told::Reply(Reply { calls: calls.into_iter().map(call).collect(), ..Reply::default() }),
        Answer::Both(text, which) => {
            let calls = vec![call((which, text.clone()))];
            Told::Reply(Reply { text, calls, ..Reply::default() })
        }
        Answer::Gone(why) => {
            let why = [Why::Offline, Why::Refused, Why::Busy][usize::from(why % 3)];
            Told::Unanswered(why, "it is not there".into())
        }
    }
}

fn tools() -> Vec<Offer> {
    let offer = |name: &str, changes: bool| Offer {
        tool: Tool { name: name.into(), description: "x".into(), parameters: json!({"type": "object"}) },
        changes,
        defaults: json!({"top": 1}),
    };
    vec![offer("recall", false), offer("write_file", true)]
}
