//! Words that cases and actions are compared by: stems without function words, so that spelling and order say nothing.

use std::collections::BTreeSet;

use crate::text::{self, Language};

/// Function words that turn a case into its opposite.
const NEGATIONS: [&str; 22] = [
    "not",
    "no",
    "never",
    "without",
    "nor",
    "none",
    "isn't",
    "don't",
    "doesn't",
    "can't",
    "won't",
    "ne",
    "pas",
    "jamais",
    "sans",
    "aucun",
    "aucune",
    "ni",
    "ない",
    "なし",
    "ず",
    "ません",
];

/// The stems of all words of an action: a function word can make it another one.
pub fn action_stems(text: &str) -> BTreeSet<String> {
    text::words(text).into_iter().map(|w| w.stem).collect()
}

/// Words that make no other action of one, in English, French and Japanese.
const FILLERS: &str = "\
    a an the this that these those each every our my your its their just now then please always again all some any do does did you we they it should must could would kindly \
    shall have has need to let us make sure remember quickly carefully immediately promptly simply really properly definitely certainly thoroughly \
    le la les un une des du de l d qu que ce cet cette ces notre nos votre vos ton ta tes son sa ses toujours simplement rapidement vite bien \
    soigneusement tout toute tous toutes il tu vous faut faudrait vaut mieux doit dois devez devons veuillez plaît s \
    の を は が に で と も へ この その すぐ ただ 必ず ただちに 直ちに すべて 全て こと もの て って た ます まし です だ する し よう ください くだ さい くれ べき いる おく ある ない なし ませ ません ん";

/// Words that say nothing before those that oblige: `one should`, `on doit`.
const OBLIGED: [(&str, &[&str]); 2] =
    [("one", &["should", "must", "shall", "has", "needs"]), ("on", &["doit", "devrait", "peut"])];

/// Ends of a Japanese verb in hiragana, each with the ends that its plain form may have.
const INFLECTED: [(&str, &str); 29] = [
    ("って", "うつる"),
    ("っ", "うつる"),
    ("んで", "むぶぬ"),
    ("ん", "むぶぬ"),
    ("いて", "く"),
    ("いで", "ぐ"),
    ("して", "す"),
    ("て", "る"),
    ("ろう", "る"),
    ("よう", "る"),
    ("こう", "く"),
    ("もう", "む"),
    ("ぼう", "ぶ"),
    ("とう", "つ"),
    ("ごう", "ぐ"),
    ("そう", "す"),
    ("のう", "ぬ"),
    ("おう", "う"),
    ("り", "る"),
    ("き", "く"),
    ("み", "む"),
    ("び", "ぶ"),
    ("ち", "つ"),
    ("ぎ", "ぐ"),
    ("に", "ぬ"),
    ("し", "す"),
    ("い", "うくぐ"),
    ("ろ", "る"),
    ("", "る"),
];

/// Ends of a Japanese request or rule, the longest first.
const ASKING: [&str; 12] =
    ["ましょう", "ください", "べきです", "べきだ", "なさい", "ること", "うこと", "べき", "こと", "ます", "です", "だ"];

/// Words that deny a Japanese action, wherever they stand in it.
const DENIED: [&str; 3] = ["ない", "なし", "ません"];
/// Japanese words that urge, and end as an old denial does; `まず` alone does so at the start, for `読まず` denies.
const URGING: [&str; 4] = ["必ず", "先ず", "絶えず", "思わず"];

/// An action without what makes no other one of it.
#[derive(Clone, Debug)]
pub struct PlainAction {
    words: Vec<String>,
    letters: String,
    /// The letters with a Japanese verb at their end in each plain form that it may be of; of another language the letters alone.
    plain: BTreeSet<String>,
    language: Option<Language>,
}

impl PlainAction {
    /// Reads an action: its words but fillers, Japanese ones without their inflection, in their order; of an action that has none, all.
    pub fn of(text: &str) -> Self {
        let text = as_words(text);
        let (language, read) = text::read(&text);
        let keys: Vec<String> = read.into_iter().map(|word| word.key).collect();
        let is_filler = |word: &str| FILLERS.split_whitespace().any(|filler| filler == word);
        let is_old_denial = |key: &String| key.ends_with('ず');
        let is_denied = DENIED.iter().any(|word| text.contains(word)) || keys.iter().any(is_old_denial);
        let obliges = |at: usize| {
            let next = keys.get(at + 1).map_or("", String::as_str);
            OBLIGED.iter().any(|(word, after)| keys[at] == *word && after.contains(&next))
        };
        let said = keys.iter().enumerate().filter(|(at, key)| !is_filler(key) && !obliges(*at));
        let mut words: Vec<String> = said.map(|(_, key)| written_root(key)).collect();
        if words.is_empty() {
            words = keys;
        }
        let denial = if is_denied { DENIED[0] } else { "" };
        let plain = plain_forms(&words.concat()).into_iter().map(|letters| letters + denial).collect();
        words.extend(is_denied.then(|| denial.to_owned()));
        Self { letters: words.concat(), words, plain, language }
    }

    /// Whether two actions have the same words in the same order, or the same letters in whatever words. An action of a few words may not tell its
    /// language: then it is read in that of the other.
    pub fn is_same(&self, other: &Self) -> bool {
        let languages = match (self.language, other.language) {
            (None, None) => [None, Some(Language::French)],
            (one, another) => [one.or(another), another.or(one)],
        };
        let is_same_in = |language| {
            let stems = |action: &Self| action.words.iter().map(|word| stem(word, language)).collect::<Vec<_>>();
            stems(self) == stems(other)
        };
        self.letters == other.letters || !self.plain.is_disjoint(&other.plain) || languages.into_iter().any(is_same_in)
    }
}

/// The letters of an action, with each plain form that a Japanese verb in hiragana at their end may be of.
fn plain_forms(letters: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::from([letters.to_owned()]);
    if letters.ends_with(is_kana) {
        for (end, plain) in INFLECTED {
            if let Some(root) = letters.strip_suffix(end) {
                forms.extend(plain.chars().map(|kana| format!("{root}{kana}")));
            }
        }
    }
    forms
}

/// The stem of a word; of a French verb of the first person plural, which the stemmer leaves, that of its infinitive.
fn stem(word: &str, language: Option<Language>) -> String {
    match word.strip_suffix("ons").filter(|root| language == Some(Language::French) && root.len() > 3) {
        Some(root) => text::stem(&format!("{root}er"), language),
        None => text::stem(word, language),
    }
}

/// A text without marks that hide its words: `coverTheHay` as `cover The Hay`, `re-start` as `restart`; and signs as words: `-5`, `50%`. Of a Japanese
/// one without the end that asks for it.
fn as_words(text: &str) -> String {
    let mut text = text.trim().trim_start_matches("まず").trim_end_matches(['。', '！', '.', '!']);
    while let Some(shorter) = ASKING.iter().find_map(|end| text.strip_suffix(end)).filter(|shorter| !shorter.is_empty())
    {
        text = shorter;
    }
    let text = URGING.iter().fold(text.to_owned(), |text, word| text.replace(word, ""));
    let mut plain = String::with_capacity(text.len());
    let mut last = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let (is_dash, next) = (matches!(c, '-' | '‐' | '‑' | '−'), rest.peek().copied().unwrap_or(' '));
        if is_dash && last.is_alphabetic() && next.is_alphabetic() {
            continue;
        }
        match c {
            _ if is_dash && next.is_numeric() && !last.is_alphanumeric() => plain += " minus ",
            '%' | '％' => plain += " percent ",
            '/' | '.' if last.is_numeric() && next.is_numeric() => plain += " over ",
            '+' if last.is_alphanumeric() || last == '+' => plain += " plus ",
            '#' if last.is_alphabetic() => plain += " sharp ",
            _ if last.is_lowercase() && c.is_uppercase() => plain.extend([' ', c]),
            _ => plain.push(c),
        }
        last = c;
    }
    plain
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// A Japanese word without its hiragana, which inflects it; any other word, and one of hiragana alone, as it is.
fn written_root(key: &str) -> String {
    let root: String = key.chars().filter(|c| !is_kana(*c)).collect();
    if root.is_empty() { key.to_owned() } else { root }
}

/// The stems of a text's content words and negations; of a text without any, of all its words.
pub fn stems(text: &str) -> BTreeSet<String> {
    let words = text::words(text);
    let says = |w: &&text::Word<'_>| !w.is_stop || NEGATIONS.contains(&w.key.as_str());
    let content: BTreeSet<String> = words.iter().filter(says).map(|w| w.stem.clone()).collect();
    if content.is_empty() { words.into_iter().map(|w| w.stem).collect() } else { content }
}

/// The content words of a text, and whether it denies something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Stems of its content words; of a text without any, of all its words.
    pub words: BTreeSet<String>,
    /// Whether there is a negation in it.
    pub is_negated: bool,
}

impl Said {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let all = text::words(text);
        let negates = |w: &text::Word<'_>| NEGATIONS.contains(&w.key.as_str());
        let content: BTreeSet<String> =
            all.iter().filter(|w| !w.is_stop && !negates(w)).map(|w| w.stem.clone()).collect();
        let is_negated = all.iter().any(negates);
        let words = if content.is_empty() { all.into_iter().map(|w| w.stem).collect() } else { content };
        Self { words, is_negated }
    }

    /// A text as a whole, and each of its sentences where it has several.
    pub fn each_of(text: &str) -> Vec<Self> {
        let mut all = vec![Self::of(text)];
        let sentences = text::sentences(text);
        if sentences.len() > 1 {
            all.extend(sentences.into_iter().map(Self::of));
        }
        all
    }
}

/// How many of the first words are among the second, as a share of the first; 0 where there are none.
pub fn share(of: &BTreeSet<String>, within: &BTreeSet<String>) -> f64 {
    if of.is_empty() { 0.0 } else { of.intersection(within).count() as f64 / of.len() as f64 }
}

/// Common words over all words: 1 for equal sets, 0 for sets that share nothing (Jaccard 1901).
pub fn likeness(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let common = a.intersection(b).count() as f64;
    let all = a.len() as f64 + b.len() as f64 - common;
    if all > 0.0 { common / all } else { 0.0 }
}

/// The words of a text whose stems are kept, in its order, as one line; the text itself where that is all of them.
pub fn only(text: &str, kept: &BTreeSet<String>) -> String {
    if stems(text).is_subset(kept) {
        return text.to_owned();
    }
    let words = text::words(text);
    let found: Vec<&str> = words.iter().filter(|w| kept.contains(&w.stem)).map(|w| w.surface).collect();
    found.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_order_case_or_function_words() {
        assert_eq!(stems("Which lever opens the gate?"), stems("the gate opens which LEVER"));
        assert!((likeness(&stems("open the gate"), &stems("open the door")) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(share(&stems("gate"), &stems("open the gate")), 1.0);
        assert_eq!(share(&stems(""), &stems("gate")), 0.0);
        assert_ne!(stems("the gate is shut"), stems("the gate is not shut"));
        assert_ne!(action_stems("right lever"), action_stems("lever"));
        let is_same = |one: &str, other: &str| PlainAction::of(one).is_same(&PlainAction::of(other));
        for (one, other) in [
            ("cover the hay", "quickly cover our hay"),
            ("cover the hay", "covering all the hay"),
            ("cover the hay", "you should cover the hay"),
            ("cover the hay", "co-ver the hay"),
            ("cover the hay", "coverTheHay"),
            ("restart the worker", "re-starting the workers"),
            ("左のレバーを引く", "左レバーを引く"),
            ("干し草を覆う", "ただ干草を覆います"),
            ("干し草を覆う", "干し草を覆うこと"),
            ("couvrir le foin", "couvrez vite le foin"),
            ("couvrir le foin", "il faut couvrir tout le foin"),
            ("ouvrir l'écluse", "ouvrir une écluse"),
            ("graisser le gond", "graissons le gond"),
            ("干し草を覆う", "必ず干し草を覆ってください"),
            ("ねじを締める", "まずねじを締めなさい"),
            ("ねじを締める", "ねじを締めましょう"),
            ("苗に水をやる", "苗に水をやります"),
            ("苗に水をやる", "苗へ水をやってください"),
            ("苗に水をやる", "苗に水をやりましょう"),
            ("苗に水をやる", "苗に水をやること"),
            ("苗に水をやる", "ただちに苗に水をやろう"),
            ("ふたをあける", "ふたをあけて"),
            ("種をまく", "種をまいてください"),
            ("clean the filter", "could you clean this filter"),
            ("clean the filter", "one should clean any filter"),
            ("graisser le gond", "veuillez graisser le gond s'il vous plaît"),
            ("graisser le gond", "on doit graisser le gond"),
        ] {
            assert!(is_same(one, other), "{one} / {other}");
        }
        for (one, other) in [
            ("run the assembly", "run"),
            ("cover the hay", "do not cover the hay"),
            ("pull the left lever", "pull the right lever"),
            ("retry twice", "retry 3 times"),
            ("set the limit to 5", "set the limit to -5"),
            ("keep 50 rows", "keep 50% rows"),
            ("copy main to wake", "copy wake to main"),
            ("draw the plan", "draw the plane"),
            ("store it locally", "store it remotely"),
            ("touch the lid", "hardly touch the lid"),
            ("couvrir le foin", "ne pas couvrir le foin"),
            ("干し草を覆う", "干し草を覆わない"),
            ("干し草を覆う", "干し草を覆いません"),
            ("干し草を覆う", "干し草を運ぶ"),
            ("手紙を読む", "手紙を読まずに"),
            ("本をかう", "本をかす"),
            ("苗に水をやる", "苗に水をやらない"),
            ("cut by 1/2", "cut by 12"),
            ("cut by 1.2", "cut by 12"),
            ("drop all tables", "drop one table"),
            ("switch the pump on", "switch the pump"),
            ("use plan C", "use plan C++"),
            ("use plan C", "use plan C#"),
        ] {
            assert!(!is_same(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn only_kept_words_stay_in_their_order() {
        let kept = stems("lever gate");
        assert_eq!(only("which lever opens the gate at dawn", &kept), "lever gate");
        assert_eq!(only("the gate's lever", &kept), "the gate's lever");
    }
}
