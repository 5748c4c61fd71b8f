//! Surfaces: what of a text is made of letters or digits, by Unicode's rules and dictionaries, and the keys and folded forms of it. Must not
//! know what language it is.

use std::sync::LazyLock;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use crate::limits;
use crate::model::ids::is_invisible;
use crate::model::within;

static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

/// French words that lose their last vowel before another; what is split off is a function word. `j'` may stand before `y`.
const ELISIONS: [&str; 13] = ["l", "d", "qu", "j", "n", "s", "c", "m", "t", "jusqu", "lorsqu", "puisqu", "quoiqu"];

/// (start, surface) of everything that is made of letters or digits.
pub(super) fn surfaces(text: &str) -> Vec<(usize, &str)> {
    let mut list = Vec::new();
    let mut start = 0;
    for (end, kind) in SEGMENTER.segment_str(text).iter_with_word_type() {
        if kind.is_word_like() {
            let mut from = start;
            for part in listed(&text[start..end]) {
                if !part.is_empty() {
                    split(from, part, &mut list);
                }
                from += part.len() + text[from + part.len()..end].chars().next().map_or(0, char::len_utf8);
            }
        }
        start = end;
    }
    list
}

/// The numbers of a row without blanks, `4712,2026-03-02`, which Unicode takes for one; `1,234,567.8` is one.
fn listed(surface: &str) -> impl Iterator<Item = &str> {
    const COMMAS: [char; 4] = [',', ';', '，', '；'];
    let digits = |part: &str, fits: fn(usize) -> bool| fits(part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let mut groups = surface.split('.').next().unwrap_or_default().split(',');
    let is_one = groups.next().is_some_and(|first| digits(first, |n| (1..=3).contains(&n)))
        && groups.clone().next().is_some()
        && groups.all(|group| digits(group, |n| n == 3))
        && !surface.contains(&COMMAS[1..]);
    surface.split(move |c: char| !is_one && COMMAS.contains(&c))
}

/// Splits `Marie's` into `Marie`, and `l'été` into `l` and `été`.
fn split<'t>(start: usize, surface: &'t str, list: &mut Vec<(usize, &'t str)>) {
    let apostrophe = surface.char_indices().find(|(_, c)| is_apostrophe(*c));
    let Some((at, mark)) = apostrophe else {
        list.push((start, surface));
        return;
    };
    let (before, after) = (&surface[..at], &surface[at + mark.len_utf8()..]);
    let vowel = after.chars().next().is_some_and(|c| {
        let base = fold(&c.to_lowercase().collect::<String>());
        base.starts_with(['a', 'e', 'i', 'o', 'u', 'h', 'œ', 'æ'])
    });
    let lower = before.to_lowercase();
    if ELISIONS.contains(&lower.as_str()) && (vowel || after.eq_ignore_ascii_case("y")) {
        list.push((start, before));
        split(start + at + mark.len_utf8(), after, list);
        return;
    }
    let end = surface.char_indices().rev().find(|(_, c)| is_apostrophe(*c));
    if let Some((at, mark)) = end
        && surface[at + mark.len_utf8()..].eq_ignore_ascii_case("s")
        && at > 0
    {
        list.push((start, &surface[..at]));
        return;
    }
    list.push((start, surface));
}

pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{02bc}' | '\u{ff07}')
}

/// The key of a word or phrase: invisible characters dropped, apostrophes made plain, NFKC, lower case, single spaces,
/// at most [`limits::WORD_BYTES`]. Empty if nothing is left.
pub fn key(surface: &str) -> String {
    // Most words: nothing of what follows would change them but their case.
    if surface.len() <= limits::WORD_BYTES && surface.bytes().all(|byte| byte.is_ascii_graphic()) {
        return surface.to_ascii_lowercase();
    }
    let visible: String = surface
        .chars()
        .filter(|c| !is_invisible(*c))
        .map(|c| if is_apostrophe(c) { '\'' } else { c })
        // A word is cut only after normalisation, which must not be asked to expand a whole stimulus.
        .take(limits::WORD_BYTES)
        .collect();
    let normal = crate::model::ids::normalise(&visible);
    // Cutting can leave a space at the end, and never a form that composes differently: it only drops.
    let key: String = within(&normal, limits::WORD_BYTES).trim_end().chars().filter(|c| !c.is_control()).collect();
    key
}

/// Text without accents: decomposed, combining marks of the general blocks dropped, composed again.
///
/// Marks that are letters of their own script (Japanese voicing, Indic vowels) stay.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    let bare: String = decomposed.chars().filter(|c| !is_accent(*c)).collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&bare).into_owned()
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}')
}
