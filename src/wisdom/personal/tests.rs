//! Fifty kinds of personal facts in three languages, and lessons that hold none.

use super::*;

/// A kind, and a sentence with it in English, French and Japanese; `tests/wisdom.rs` plants the same.
fn planted() -> Vec<[String; 4]> {
    serde_json::from_str(include_str!("../../../tests/data/personal.json")).unwrap()
}

#[test]
fn fifty_kinds_in_three_languages_are_seen() {
    let planted = planted();
    assert!(planted.len() >= 50, "{}", planted.len());
    let texts = planted.iter().flat_map(|[kind, texts @ ..]| texts.iter().map(move |text| (kind, text)));
    let missed: Vec<_> = texts.filter(|(_, text)| first(text).is_none()).collect();
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

#[test]
fn lessons_without_a_person_pass() {
    let lessons = [
        "Which lever opens the gate?",
        "pull the left lever twice",
        "deploy with the cache cold: run the warm-up job first",
        "a flaky test: rerun it alone with one thread",
        "restart the queue before the migration; port 8080 answers again",
        "Use CI for HTTP timeouts of 30 ms and more",
        "the build was green",
        "quel levier ouvre la porte ?",
        "vider le cache avant la mise en ligne",
        "relancer le test avec un seul fil, puis lire le journal",
        "la compilation a réussi",
        "どのレバーが門を開けるか",
        "移行の前にキューを再起動する",
        "仕様を先に読み、たくさんのテストを一つずつ実行する",
        "ビルドは成功した",
    ];
    let caught: Vec<_> = lessons.iter().filter_map(|text| Some((text, first(text)?))).collect();
    assert!(caught.is_empty(), "{caught:#?}");
}

#[test]
fn spelling_hides_nothing() {
    for text in
        ["ＡＮＮＡ knows", "ask Anna-Lena", "l'ami d'anna", "ask\u{200b} anna", "０９０－１２３４－５６７８", "ANNA"]
    {
        assert!(first(text).is_some(), "{text}");
    }
}
