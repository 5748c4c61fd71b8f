use super::*;

/// Texts that ask for help or haste and texts that do not, written for this test. The rules were made on those with `tune`.
const TEXTS: &str = include_str!("../../tests/data/urgency.jsonl");

/// Of one half: urgent texts, those of them that are missed, and calm ones that are taken for urgent.
fn judged(half: &str) -> (usize, Vec<String>, Vec<String>) {
    let rows = TEXTS.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let (mut urgent, mut missed, mut alarms) = (0, Vec::new(), Vec::new());
    for row in rows.filter(|row| row["half"] == half) {
        let text = row["text"].as_str().unwrap().to_owned();
        let found = urgency(&text);
        match (row["urgent"].as_bool().unwrap(), found.level > 0.0) {
            (true, is_found) => {
                urgent += 1;
                missed.extend((!is_found).then_some(text));
            }
            (false, true) => alarms.push(format!("{:?} in {text}", found.words)),
            (false, false) => {}
        }
    }
    (urgent, missed, alarms)
}

#[test]
fn texts_about_emergencies_are_calm_and_calls_for_help_are_urgent() {
    let (urgent, missed, alarms) = judged("tune");
    assert_eq!((urgent, missed, alarms), (33, Vec::new(), Vec::new()));
    let (urgent, missed, alarms) = judged("report");
    assert_eq!(alarms, Vec::<String>::new(), "documents about emergencies raise no flag");
    assert!(urgent == 69 && missed.len() <= 4, "{} of {urgent} are missed: {missed:#?}", missed.len());
}

#[test]
fn markers_in_three_languages() {
    for (text, marker) in [
        ("This is URGENT, call me", "this is urgent"),
        ("Come right away!", "right away"),
        ("Au secours !", "au secours"),
        ("À l’aide !", "a l aide"),
        ("Viens tout de suite", "tout de suite"),
        ("Dépêchez-vous", "depechez vous"),
        ("It’s an emergency.", "it an emergency"),
        ("C’est urgent !", "c est urgent"),
        ("緊急です", "緊急"),
        ("誰か助けて！", "助けて"),
        ("大至急お願いします", "大至急"),
    ] {
        let found = urgency(text);
        assert_eq!(found.words, [marker], "{text}");
        assert!(found.level > 0.3 && found.level < 1.0, "{text}: {}", found.level);
    }
}

#[test]
fn what_is_called_out_before_a_colon_is_urgent() {
    for text in
        ["URGENT: the gateway is down, all requests return 502!", "Urgent : la passerelle est tombée !", "Help: fire!"]
    {
        assert!(urgency(text).level >= 0.6, "{text}: {:?}", urgency(text));
    }
}

#[test]
fn calm_and_negated_texts_are_not_urgent() {
    for text in [
        "The surgeon had tea.",
        "It is not urgent.",
        "Ce n'est pas urgent.",
        "緊急ではない",
        "お茶を飲む",
        "",
        "resurgent",
        "!!! ??? …",
        "\"",
        "`",
    ] {
        assert_eq!(urgency(text), Urgency::default(), "{text}");
    }
}

/// Lines that an outsider wrote to be mistaken for calls.
#[test]
fn names_reports_and_instructions_are_calm() {
    for text in [
        "The fire brigade came urgently to the burning warehouse in 1911; water was short.",
        "火事の場合は、エレベーターを使わず、至急避難してください。",
        "Emergency! was a television series about paramedics.",
        "Help! is an album of the Beatles.",
        "Mayday! is called three times by radio.",
        "Hurry is dangerous near machines.",
        "Hurry up is a song.",
    ] {
        assert_eq!(urgency(text), Urgency::default(), "{text}");
    }
    for text in ["help! my house is on fire!", "Hurry, they are at the door!", "Help! We are at 12 Main Street!"] {
        assert!(urgency(text).level >= 0.5, "{text}: {:?}", urgency(text));
    }
}

#[test]
fn several_markers_add_up_and_stay_below_one() {
    let one = urgency("Urgent!").level;
    let two = urgency("Emergency! Urgent! urgent urgent").level;
    assert!(one < two && two < 1.0, "{one} {two}");
    let all: String = MARKERS.iter().map(|(marker, ..)| format!("{marker}, ")).collect();
    assert!((0.0..=1.0).contains(&urgency(&format!("Please {all}!")).level));
}

#[test]
fn no_text_is_too_odd() {
    for text in ["「", "\"a", "“x” 'y", "# \n- \n```\nurgent!", &"help me! ".repeat(10_000), "é".repeat(5000).as_str()]
    {
        assert!((0.0..1.0).contains(&urgency(text).level), "{text}");
    }
}
