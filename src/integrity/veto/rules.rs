//! The rules of the vetoes on one unit. Each removes a phrase of a closed vocabulary, and nothing else.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use super::{APOLOGIES_KEPT, Veto};
use crate::integrity::lang::Lang;
use crate::integrity::protect::{negations, references, shields};

/// A unit after the rules.
pub(super) struct Edit {
    pub text: String,
    /// Apologies that stayed.
    pub apologies: usize,
    pub applied: Vec<Veto>,
}

struct Rules {
    /// A unit that is an apology and nothing else.
    whole: Regex,
    /// An apology before a clause; group 1 stays (the indent), group 2 goes.
    lead: Regex,
    /// Any apology, to count.
    any: Regex,
    /// An excuse before a clause; groups as in `lead`.
    excuse: Regex,
    /// A word for the speaker: "As an AI, scout cannot sign" speaks of somebody else.
    speaker: Option<Regex>,
    /// An excuse inside a sentence; group 1 goes.
    inner: Regex,
}

const EN_SORRY: &str = r"(?:(?:oh|ah|oops),? )?(?:(?:sorry, )*(?:(?:I am|I['’]m|we are|we['’]re) )?(?:(?:so|very|really|truly|deeply|terribly) )*sorry|(?:I|we) (?:(?:do|sincerely|deeply|must) )*apologi[sz]e|my (?:sincere |deepest |sincerest )?apologies|apologies|(?:please )?(?:forgive|pardon|excuse) (?:me|us)|my (?:bad|mistake))";
const EN_REASON: &str = r"(?: (?:for|about) (?:(?:the|any|my|this|that|all|previous|earlier) )*(?:confusion|inconvenience|mistakes?|errors?|oversight|misunderstanding|trouble|delay|that)(?: (?:this|I|that|it) (?:may have |might have |has |have )?caused)?(?: you)?| again| once (?:more|again))?(?:, (?:my (?:bad|mistake|fault)|that (?:was|is) (?:on me|my (?:fault|mistake|bad))))?";
const EN_AI: &str = r"(?:AI|artificial intelligence|(?:large )?language model|chatbot|(?:AI|virtual|digital) assistant)(?: (?:language model|assistant|chatbot|model|system))?(?: (?:developed|created|trained|made) by \p{L}+)?";
const FR_SORRY: &str = r"(?:(?:je suis|nous sommes) )?(?:(?:vraiment|sincèrement|profondément|très) )*(?:désolée?s?|navrée?s?)|(?:je vous présente )?toutes mes excuses|(?:je vous présente )?mes (?:plus )?(?:sincères )?excuses|je m['’]excuse|je vous prie de m['’]excuser|veuillez m['’]excuser|excusez[- ]moi|pardonnez[- ]moi|pardon";
const FR_REASON: &str = r"(?: (?:pour|de) (?:la|le|les|cette|ce|toute|mon|l['’]) ?(?:confusion|erreurs?|retard|malentendu|gêne|dérangement|désagrément|oubli)(?: occasionnée?)?| encore)?";
const FR_AI: &str = r"(?:simple )?(?:IA|intelligence artificielle|modèle de langage|modèle d['’]IA|assistant (?:IA|virtuel|numérique)|agent conversationnel)";
const JA_SORRY: &str = r"(?:大変|誠に|本当に)?(?:申し訳(?:あり|ござい)ません(?:でした)?|すみません(?:でした)?|すいません|ごめんなさい|お詫び(?:申し上げます|いたします|します)|失礼(?:いたし|し)ました)";
const JA_REASON: &str = r"(?:(?:ご(?:迷惑|不便|心配)(?:を(?:おかけ|お掛け)し(?:て|まして)?)|混乱(?:を招い|させ)て(?:しまい|しまって)?|ご期待に(?:添|沿)えず)[、]?)?";
const JA_AI: &str = r"(?:AI|ＡＩ|人工知能|言語モデル)(?:アシスタント|言語モデル|モデル)?";

/// Words that take a capital where a phrase before them went.
const GRAMMAR: [&str; 62] = [
    "the", "this", "that", "these", "those", "there", "here", "it", "we", "you", "he", "she", "they", "my", "our",
    "your", "his", "her", "its", "their", "an", "each", "every", "some", "all", "both", "what", "which", "who", "how",
    "when", "where", "why", "je", "j", "tu", "il", "elle", "on", "nous", "vous", "ils", "elles", "le", "la", "les",
    "l", "un", "une", "des", "du", "ce", "c", "cette", "ces", "mon", "ma", "mes", "votre", "vos", "notre", "nos",
];

fn rules_of(lang: Lang) -> &'static Rules {
    static CELLS: [OnceLock<Rules>; 3] = [const { OnceLock::new() }; 3];
    let index = match lang {
        Lang::En | Lang::Zh => 0,
        Lang::Fr => 1,
        Lang::Ja => 2,
    };
    CELLS[index].get_or_init(|| {
        let new = |pattern: String| Regex::new(&pattern).expect("invariant: the tests compile each rule");
        match lang {
            Lang::En | Lang::Zh => Rules {
                whole: new(format!(r"(?i)^\s*(?:{EN_SORRY}){EN_REASON}[.!]+\s*$")),
                lead: new(format!(r"(?i)^([ \t]*)((?:{EN_SORRY}){EN_REASON}(?:,? but (?:I['’]m afraid )?|, (?:and |so )?|[;:—–] ?))")),
                any: new(
                    r"(?i)\bsorry\b|\bapologi[sz]e\b|\bapologies\b|\b(?:forgive|pardon|excuse) (?:me|us)\b|\bmy (?:bad|mistake)\b".to_owned(),
                ),
                excuse: new(format!(
                    r"(?i)^([ \t]*)((?:as an? (?:mere |simple |large |helpful )?{EN_AI}(?:,\s+| I\b)|(?:since|because|given that) I(?: am|['’]m) (?:just |only )?an? {EN_AI},? |I(?: am|['’]m) (?:just|only|merely) an? {EN_AI},? (?:so|but|and) ))"
                )),
                speaker: Some(new(r"(?i)\b(?:I|me|my|myself|we|us|our)\b".to_owned())),
                inner: new(format!(
                    r"(?i)(?:\bI(, as an? {EN_AI}, )|(?:[,;] |\b(?:but|and|because|so|that) )(as an? {EN_AI}, ))"
                )),
            },
            Lang::Fr => Rules {
                whole: new(format!(r"(?i)^\s*(?:{FR_SORRY}){FR_REASON}\s?[.!]+\s*$")),
                lead: new(format!(r"(?i)^([ \t]*)((?:{FR_SORRY}){FR_REASON}(?:,? mais |, (?:et )?|\s?[;:] ?|[—–] ?))")),
                any: new(r"(?i)\bdésolée?s?\b|\bnavrée?s?\b|\bexcuses\b|\bexcuser?\b|\bexcusez\b|\bpardon(?:nez)?\b".to_owned()),
                excuse: new(format!(
                    r"(?i)^([ \t]*)((?:en tant qu(?:e |['’])(?:une? )?{FR_AI}, |(?:étant donné que|comme|puisque) je (?:ne )?suis (?:qu['’])?une? {FR_AI}, |étant une? {FR_AI}, |je ne suis qu['’]une? {FR_AI},? (?:donc|mais|et) ))"
                )),
                speaker: Some(new(r"(?i)\b(?:je|j['’]|me|m['’]|moi|mon|ma|mes|nous|notre|nos)".to_owned())),
                inner: new(format!(
                    r"(?i)(?:\bje(, en tant qu(?:e |['’]){FR_AI}, )|(?:[,;] |\b(?:mais|et|car|donc) )(en tant qu(?:e |['’]){FR_AI}, ))"
                )),
            },
            Lang::Ja => Rules {
                whole: new(format!(r"^\s*{JA_REASON}{JA_SORRY}(?:。+|[！!]+)\s*$")),
                lead: new(format!(r"^([ \t\u{{3000}}]*)({JA_REASON}{JA_SORRY}(?:が|けど|けれど)?[、,])")),
                any: new(JA_SORRY.to_owned()),
                excuse: new(format!(
                    r"(?i)^([ \t\u{{3000}}]*)((?:私は|わたしは|僕は|当方は)?(?:単なる|ただの)?{JA_AI}(?:(?:なので|ですので|であるため|ですから|だから)[、,]?|として(?:は)?[、,]))"
                )),
                speaker: None,
                inner: new(format!(
                    r"(?i)(?:しかし|ただし?|ですが|また|でも)[、,]((?:私は|わたしは|僕は)?{JA_AI}(?:なので|ですので|であるため|ですから)[、,]?)"
                )),
            },
        }
    })
}

/// Applies the rules to a unit without open quotation, until none applies any more. `kept` are the apologies before it,
/// `next` is the character behind it, `starts_line` whether the output is at the start of a line.
///
/// Whatever white space ends the unit, the rules see one space there: an answer that breaks off behind a beginning is the same with and without it.
pub(super) fn edit(unit: &str, lang: Lang, kept: usize, next: Option<char>, starts_line: bool) -> Edit {
    let rules = rules_of(lang);
    let (said, blank) = unit.split_at(unit.trim_end().len());
    let mut text = format!("{said} ");
    let mut applied = Vec::new();
    loop {
        if kept >= APOLOGIES_KEPT && rules.whole.is_match(&text) && !(starts_line && next.is_some_and(begins_block)) {
            applied.push(Veto::ExcessiveApology);
            let newline = unit.trim_end_matches(['\n', '\r']).len();
            let rest = if starts_line { String::new() } else { unit[newline..].to_owned() };
            return Edit { text: rest, apologies: 0, applied };
        }
        let lead = if kept >= APOLOGIES_KEPT { without_lead(&text, &rules.lead) } else { None };
        if let Some(shorter) = lead {
            applied.push(Veto::ExcessiveApology);
            text = shorter;
        } else if !rules.speaker.as_ref().is_none_or(|speaker| speaker.is_match(&text)) {
            break;
        } else if let Some(shorter) = without_lead(&text, &rules.excuse).or_else(|| without_inner(&text, &rules.inner))
        {
            applied.push(Veto::SelfDeprecation);
            text = shorter;
        } else {
            break;
        }
    }
    let (quoted, _) = shields(&text, None);
    let apologies = rules.any.find_iter(&text).filter(|found| !overlaps(&quoted, &found.range())).count();
    text.pop();
    Edit { text: text + blank, apologies, applied }
}

/// Whether a character at the start of a line could begin a block of Markdown: a list, a heading, a rule, a table, a quotation, code, an element, or
/// the target of a link.
fn begins_block(c: char) -> bool {
    c.is_numeric() || "-+*_=#>`~|<[:".contains(c)
}

fn overlaps(spans: &[Range<usize>], span: &Range<usize>) -> bool {
    spans.iter().any(|other| span.start < other.end && other.start < span.end)
}

/// Whether a span holds nothing that is protected. Rules have a closed vocabulary; this is the second lock.
fn is_free(text: &str, span: &Range<usize>) -> bool {
    let inside = |spans: Vec<Range<usize>>| overlaps(&spans, span);
    // « Je ne suis qu'une IA » restricts and denies nothing.
    let denies = inside(negations(text)) && !text[span.clone()].to_lowercase().contains("ne suis qu");
    !denies && !inside(shields(text, None).0) && !inside(references(text))
}

/// Returns a text without the phrase at its start, the next word with a capital where the phrase had one.
fn without_lead(text: &str, rule: &Regex) -> Option<String> {
    let found = rule.captures(text)?;
    let (indent, phrase) = (found.get(1)?, found.get(2)?);
    // "As an AI I read": the rule takes the pronoun to be sure of it, and it stays.
    let pronoun = if phrase.as_str().ends_with(" I") || phrase.as_str().ends_with(" i") { 1 } else { 0 };
    let span = phrase.start()..phrase.end() - pronoun;
    let rest = &text[span.end..];
    let first = rest.chars().next()?;
    let is_plain = first.is_alphabetic() || matches!(first, '「' | '『' | '«' | '“' | '(' | '（');
    if !is_plain || !is_free(text, &span) {
        return None;
    }
    let has_capital = phrase.as_str().chars().next().is_some_and(char::is_uppercase);
    if !has_capital || !first.is_lowercase() {
        return Some(format!("{}{rest}", indent.as_str()));
    }
    // A capital is given to words of grammar alone: a name, a number in words or a piece of code stays as it is.
    let word = &rest[..rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len())];
    let behind = rest[word.len()..].trim_start_matches([' ', ',', '\'', '’']);
    let is_grammar = GRAMMAR.contains(&word) && behind.starts_with(char::is_alphabetic);
    if !is_grammar {
        return Some(format!("{}{rest}", indent.as_str()));
    }
    let head = span.end..span.end + word.len();
    let is_kept = overlaps(&negations(text), &head) || overlaps(&references(text), &head);
    (!is_kept).then(|| format!("{}{}{}", indent.as_str(), first.to_uppercase(), &rest[first.len_utf8()..]))
}

fn without_inner(text: &str, rule: &Regex) -> Option<String> {
    for found in rule.captures_iter(text) {
        let Some(phrase) = found.get(1).or_else(|| found.get(2)) else { continue };
        let span = phrase.range();
        let rest = &text[span.end..];
        if !rest.starts_with(char::is_alphabetic) || !is_free(text, &span) {
            continue;
        }
        let gap = if phrase.as_str().starts_with(',') { " " } else { "" };
        return Some(format!("{}{gap}{rest}", &text[..span.start]));
    }
    None
}
