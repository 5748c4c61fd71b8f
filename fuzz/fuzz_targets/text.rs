//! Words, names, sentences, dates and urgency of any text: slices of it, and never a panic.

#![no_main]

use git_brain::model::ids;
use git_brain::text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: &str| {
    let (language, words) = text::read(given);
    for word in &words {
        let _ = (text::is_stop(&word.key, language), text::stem(&word.key, language));
    }
    for sentence in text::sentences(given) {
        assert!(given.contains(sentence));
        let _ = (text::phrases(sentence).len(), text::asks(sentence), text::date::is_date(sentence));
    }
    let _ = (text::pieces(given), text::parts(given), text::speaker(given), text::urgency(given), text::tokens(given));
    if let Some(title) = text::title(given) {
        let _ = text::bare_title(title);
    }
    let folded = text::fold(given);
    let _ = text::key(&folded);
    let asked = text::date::asked(given);
    let said = text::date::day_of(1_769_437_920).expect("a day");
    for period in text::date::periods(given, said) {
        let _ = asked.iter().filter(|a| a.meets(&period)).count();
    }
    // Ids of whatever text are ids, and what is normal stays as it is.
    let normal = ids::normalise(given);
    let id = ids::concept_id(given);
    assert_eq!(ids::NeuronId::parse(id.as_str()).expect("an id"), id);
    assert_eq!(ids::concept_id(&normal), id, "{given:?} and {normal:?}");
});
