use super::*;
use crate::text::read;

/// The words of the sentence that says that something changed.
fn changed(text: &str) -> Vec<String> {
    let (language, words) = read(text);
    let marks = marks(text, language, &words);
    words.iter().zip(marks).filter(|(_, mark)| mark.is_inside).map(|(word, _)| word.key.clone()).collect()
}

#[test]
fn marks_are_of_the_sentence_that_says_so() {
    for (text, expected) in [
        ("It rained. Olga moved to Graz. We ate soup.", "olga moved to graz"),
        ("Olga doesn't drink milk anymore.", "olga doesn't drink milk anymore"),
        ("Il pleut. Olga ne boit plus de lait.", "olga ne boit plus de lait"),
        ("Olga n'habite plus ici.", "olga n habite plus ici"),
        ("雨でした。会議は延期されました。", "会議 は 延期 され まし た"),
        ("彼はもう飲みません。", "彼 は もう 飲み ませ ん"),
    ] {
        assert_eq!(changed(text).concat(), expected.replace(' ', ""), "{text}");
    }
}

#[test]
fn questions_and_what_is_unsure_change_nothing() {
    for text in [
        "Olga lives in Graz.",
        "Has Olga moved to Graz?",
        "Perhaps Olga moved to Graz.",
        "Olga hasn't moved to Graz.",
        "Ink is used to write.",
        "Olga a-t-elle déménagé ?",
        "Il paraît qu'Olga a déménagé.",
        "Olga n'a pas déménagé.",
        "引っ越しましたか？",
        "引っ越したらしいです。",
        "",
    ] {
        assert_eq!(changed(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(changed("Maybe it rains. Olga moved to Graz.").concat(), "olgamovedtograz", "another sentence is sure");
}

#[test]
fn owners_are_told_from_what_they_own() {
    for (text, expected) in [
        ("Olga's brother moved to Graz.", vec!["olga"]),
        ("The brother of Olga moved to Graz.", vec!["olga"]),
        ("Le frère d'Olga a déménagé.", vec!["olga"]),
        ("オルガの兄は引っ越しました。", vec!["オルガ"]),
        ("Olga moved to Graz.", vec![]),
    ] {
        let (language, words) = read(text);
        let marks = marks(text, language, &words);
        let owners: Vec<&str> =
            words.iter().zip(marks).filter(|(_, mark)| mark.is_owner).map(|(word, _)| word.key.as_str()).collect();
        assert_eq!(owners, expected, "{text}");
    }
}

#[test]
fn a_change_says_of_which_kind_it_is_and_by_which_words() {
    let of = |text: &str| {
        let (language, words) = read(text);
        let stems: Vec<&str> = words.iter().map(|word| word.stem.as_str()).collect();
        let change = change(language, &stems);
        let by: Vec<String> =
            words.iter().zip(&change.by).filter(|(_, by)| **by).map(|(word, _)| word.key.clone()).collect();
        let relations: Vec<&str> = change.relations.iter().map(|(relation, _)| RELATIONS[*relation as usize]).collect();
        (
            (change.replaced, change.ended, change.present),
            by.concat(),
            relations.first().copied().unwrap_or("").to_owned(),
        )
    };
    let says = |kinds, by: &str, relation: &str| (kinds, by.to_owned(), relation.to_owned());
    assert_eq!(of("Olga moved to Graz."), says((true, false, false), "movedto", "home"));
    assert_eq!(of("Olga no longer drinks milk."), says((false, true, false), "nolonger", ""));
    assert_eq!(of("These days Olga drinks milk."), says((false, false, true), "thesedays", ""));
    assert_eq!(of("Olga ne boit plus de lait."), says((false, true, false), "neplus", ""));
    assert_eq!(of("Olga a déménagé à Graz."), says((true, false, false), "déménagé", "home"));
    assert_eq!(of("オルガは引っ越しました。").0, (true, false, false));
    assert_eq!(of("今は牛乳が好きです。").0, (false, false, true));
}

#[test]
fn relations_are_asked_for_by_any_form() {
    let home = about(Some(Language::English), "live");
    assert!(home != 0);
    assert_eq!(about(Some(Language::English), &crate::text::stem("lives", Some(Language::English))), home);
    assert_eq!(about(Some(Language::French), &crate::text::stem("habitent", Some(Language::French))), home);
    assert_eq!(about(Some(Language::Japanese), "住ん"), home);
    assert_eq!(about(Some(Language::English), "tea"), 0);
}

#[test]
fn what_was_is_asked_for_in_three_languages() {
    for (question, language, expected) in [
        ("Where did Olga live before?", Language::English, true),
        ("Where does Olga live?", Language::English, false),
        ("Où habitait Olga auparavant ?", Language::French, true),
        ("Où habite Olga ?", Language::French, false),
        ("オルガは以前どこに住んでいましたか", Language::Japanese, true),
        ("オルガはどこに住んでいますか", Language::Japanese, false),
    ] {
        assert_eq!(asks_before(question, Some(language)), expected, "{question}");
    }
}

#[test]
fn every_phrase_of_the_lists_is_found_in_itself() {
    for language in [Language::English, Language::French, Language::Japanese] {
        let list = lists(Some(language));
        assert!(list.phrases.len() > 80 && list.about.len() > 20);
        for phrase in &list.phrases {
            for parts in [&phrase.keys, &phrase.stems] {
                assert!(parts.iter().all(|part| !part.trim().is_empty()), "{parts:?}");
                assert!(find(&parts.concat(), parts).is_some(), "{parts:?}");
            }
        }
        let relation = |kind: &Kind| matches!(kind, Kind::By(n) if usize::from(*n) < RELATIONS.len());
        assert!(list.phrases.iter().all(|phrase| !matches!(phrase.kind, Kind::By(_)) || relation(&phrase.kind)));
    }
}
