//! Urgency: whether a text asks for help or haste now. A text about emergencies asks for nothing.
//!
//! A word alone says little: `emergency` stands in plans, logs and news. So a marker counts where it is used: called out (`Help!`,
//! `Urgent: …`), stated of now (`this is an emergency`), or beside a request (`please come right away`). Nothing counts in quotes, code, log
//! lines, headings and items of lists, in what is said of any case (`if`, `when`, `should`), and beyond the opening of a longer text.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::language::is_japanese;
use super::surface::{fold, key, surfaces};

/// How urgent a text is, and why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Urgency {
    /// 0 (not at all) ..=1.
    pub level: f64,
    /// The markers that say so, as listed here, in the order of the list.
    pub words: Vec<String>,
}

/// How a marker has to be used to count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a clause of its own.
    Call,
    /// The same, or at the start of a short clause, and called out: `Fire in the kitchen!`
    Cry,
    /// At the start of a clause, as an order.
    Order,
    /// The same, and called out or with `now`.
    Shout,
    /// Anywhere in a clause.
    Said,
    /// In a sentence that asks for something.
    Haste,
}

/// Markers of English and French with their use and level, as folded keys with single spaces (`it's` is `it`). Different ones add up as independent evidence.
const MARKERS: [(&str, &[Use], f64); 79] = [
    ("mayday", &[Use::Call], 0.95),
    ("sos", &[Use::Call], 0.9),
    ("emergency", &[Use::Cry], 0.9),
    ("fire", &[Use::Cry], 0.8),
    ("help", &[Use::Cry], 0.6),
    ("danger", &[Use::Cry], 0.6),
    ("urgent", &[Use::Call], 0.8),
    ("quick", &[Use::Call], 0.5),
    ("time sensitive", &[Use::Call], 0.5),
    ("call 911", &[Use::Order], 0.95),
    ("call 112", &[Use::Order], 0.95),
    ("call an ambulance", &[Use::Order], 0.95),
    ("call the police", &[Use::Order], 0.9),
    ("call the fire", &[Use::Order], 0.9),
    ("send an ambulance", &[Use::Order], 0.95),
    ("help me", &[Use::Order], 0.6),
    ("help us", &[Use::Order], 0.6),
    ("save me", &[Use::Order], 0.7),
    ("save us", &[Use::Order], 0.7),
    ("hurry", &[Use::Order], 0.5),
    ("drop everything", &[Use::Order], 0.6),
    ("get out", &[Use::Shout], 0.6),
    ("take cover", &[Use::Shout], 0.7),
    ("everybody out", &[Use::Shout], 0.7),
    ("evacuate", &[Use::Shout], 0.7),
    ("is an emergency", &[Use::Said], 0.9),
    ("it an emergency", &[Use::Said], 0.9),
    ("there an emergency", &[Use::Said], 0.9),
    ("have an emergency", &[Use::Said], 0.9),
    ("this is urgent", &[Use::Said], 0.8),
    ("it is urgent", &[Use::Said], 0.8),
    ("it urgent", &[Use::Said], 0.8),
    ("urgent help", &[Use::Said], 0.8),
    ("this can't wait", &[Use::Said], 0.5),
    ("it can't wait", &[Use::Said], 0.5),
    ("isn't breathing", &[Use::Said], 0.9),
    ("not breathing", &[Use::Said], 0.9),
    ("can't breathe", &[Use::Said], 0.9),
    ("is on fire", &[Use::Said], 0.9),
    ("having a heart attack", &[Use::Said], 0.9),
    ("i'm in danger", &[Use::Said], 0.8),
    ("i am in danger", &[Use::Said], 0.8),
    ("urgently", &[Use::Haste], 0.8),
    ("immediately", &[Use::Haste], 0.6),
    ("asap", &[Use::Haste], 0.6),
    ("as soon as possible", &[Use::Haste], 0.6),
    ("without delay", &[Use::Haste], 0.6),
    ("right away", &[Use::Haste], 0.5),
    ("straight away", &[Use::Haste], 0.5),
    ("right now", &[Use::Haste], 0.5),
    ("at once", &[Use::Haste], 0.5),
    ("quickly", &[Use::Haste], 0.5),
    ("au secours", &[Use::Cry], 0.95),
    ("a l aide", &[Use::Call], 0.8),
    ("urgence", &[Use::Cry], 0.85),
    ("au feu", &[Use::Cry], 0.9),
    ("aidez moi", &[Use::Order], 0.7),
    ("aide moi", &[Use::Order], 0.6),
    ("appelez les pompiers", &[Use::Order], 0.95),
    ("appelez une ambulance", &[Use::Order], 0.95),
    ("appelez la police", &[Use::Order], 0.9),
    ("envoyez une ambulance", &[Use::Order], 0.95),
    ("depechez vous", &[Use::Order], 0.6),
    ("depeche toi", &[Use::Order], 0.6),
    ("c est urgent", &[Use::Said], 0.8),
    ("une urgence", &[Use::Said], 0.85),
    ("il y a le feu", &[Use::Said], 0.9),
    ("ne respire plus", &[Use::Said], 0.9),
    ("d urgence", &[Use::Haste], 0.85),
    ("urgemment", &[Use::Haste], 0.8),
    ("immediatement", &[Use::Haste], 0.6),
    ("tout de suite", &[Use::Haste], 0.5),
    ("sans delai", &[Use::Haste], 0.6),
    ("sans tarder", &[Use::Haste], 0.5),
    ("des que possible", &[Use::Haste], 0.5),
    ("au plus vite", &[Use::Haste], 0.6),
    ("le plus vite possible", &[Use::Haste], 0.6),
    ("plus vite", &[Use::Haste], 0.3),
    ("vite", &[Use::Call], 0.5),
];

/// Markers of Japanese with what has to come right after them; nothing: anything that is no negation, no report and no compound.
const MARKERS_JA: [(&str, &[&str], f64); 15] = [
    ("緊急", &["です", "だ", "！", "!", "：", ":", "、", "。", "事態です", "事態発生"], 0.9),
    ("大至急", &[], 0.9),
    ("至急", &[], 0.85),
    ("助けて", &["！", "!", "。", "くださ", "下さ", "くれ！", "え"], 0.8),
    ("たすけて", &["！", "!", "。", "くださ", "え"], 0.8),
    ("救急車を呼んで", &["！", "!", "。", "くださ", "下さ", "くれ！"], 0.95),
    ("警察を呼んで", &["！", "!", "。", "くださ", "下さ", "くれ！"], 0.9),
    ("火事だ", &["！", "!", "。"], 0.9),
    ("火事です", &["！", "!", "。"], 0.9),
    ("危ない", &["！", "!", "、"], 0.6),
    ("急いで", &["！", "!", "くださ", "下さ", "来て", "。"], 0.6),
    ("今すぐ", &["来", "連絡", "逃げ", "電話", "対応", "止め", "お願い"], 0.6),
    ("直ちに", &["避難してくださ", "避難せよ", "来て", "連絡"], 0.6),
    ("一刻も早く", &["来て", "連絡", "お願い"], 0.7),
    ("逃げろ", &[], 0.8),
];

/// A sentence with one of these words is of any case, or of an exercise.
const GENERAL: &str = "if when whenever unless should shall would could might every each always during case event plan plans policy \
    procedure drill exercise training manual quiz si quand lorsque cas chaque toujours pendant devrait exercice";
/// A clause with one of these is of another time, or asks or tells of something.
const TOLD: &str = "yesterday ago last was were had been since said says who why how which whose where what means meeting budget hier etait \
    etaient avait doit";
/// Words that may stand before an order.
const LEADS: &str = "please hey now quick quickly and so ok okay then you somebody someone anybody urgent help stop emergency sos svp vite quelqu un";
/// Verbs that ask for something at the start of a clause.
const ORDERS: &str = "come call send get go stop help answer reply respond fix bring give let look check shut close open leave evacuate revoke \
    restart roll rollback meet tell phone ring contact turn take wake cancel block unlock run move act start do put keep hold \
    viens venez appelle appelez rappelle rappelez reponds repondez envoie envoyez aide aidez arrete arretez sors sortez faites fais coupez \
    coupe evacuez apportez apporte prevenez previens";
/// The same anywhere in a sentence.
const REQUESTS: [&str; 17] = [
    "please",
    "i need",
    "we need",
    "urgently need",
    "need you",
    "you must",
    "you have to",
    "can you",
    "will you",
    "merci de",
    "s il vous plait",
    "s il te plait",
    "svp",
    "j ai besoin",
    "nous avons besoin",
    "il faut",
    "besoin d aide",
];
/// Words that take a marker back if one of them stands among the two words before it.
const NEGATIONS: &str = "not no never isn't wasn't nothing without non pas jamais aucun aucune rien sans ne n";

/// Sentences of a text that count, and how many a text may have all of which count.
const OPENING: usize = 2;
const SHORT: usize = 3;
/// Words of a clause that is a cry.
const CRY: usize = 6;

/// How urgent a text is. `level` is `1 − Π(1 − level of a marker)` over the different markers found.
pub fn urgency(text: &str) -> Urgency {
    let spoken = spoken(text);
    let sentences: Vec<&str> = sentences(&spoken);
    let counted = if sentences.len() <= SHORT { sentences.len() } else { OPENING };
    let mut found: Vec<(&str, f64)> = Vec::new();
    for sentence in &sentences[..counted] {
        match sentence.chars().any(is_japanese) {
            true => japanese(sentence, &mut found),
            false => latin(sentence, &mut found),
        }
    }
    // A marker inside a longer one that was found as well is not evidence of its own.
    let listed = found.clone();
    found.retain(|(marker, _)| !listed.iter().any(|(other, _)| other != marker && other.contains(marker)));
    let place = |marker: &str| {
        let of_latin = MARKERS.iter().position(|(known, ..)| *known == marker);
        of_latin.or_else(|| MARKERS_JA.iter().position(|(known, ..)| *known == marker).map(|at| MARKERS.len() + at))
    };
    found.sort_by_key(|(marker, _)| place(marker));
    found.dedup();
    let calm = found.iter().fold(1.0, |calm, (_, level)| calm * (1.0 - level));
    Urgency { level: 1.0 - calm, words: found.into_iter().map(|(marker, _)| marker.to_owned()).collect() }
}

/// Whether the words before a colon are called out: `Urgent: …`, `緊急：…`.
pub(super) fn is_called_out(words: &str) -> bool {
    let key = keys(words).join(" ");
    let called = MARKERS.iter().filter(|(_, uses, _)| uses.contains(&Use::Call) || uses.contains(&Use::Cry));
    called.map(|(marker, ..)| *marker).any(|marker| marker == key)
        || MARKERS_JA.iter().any(|(marker, after, _)| *marker == words && after.contains(&"："))
}

/// What somebody says: without quotes, code, log lines, headings and items of lists.
fn spoken(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !is_structure(line.trim()) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    unquoted(&kept)
}

/// Whether a line is a heading, an item, of a log, or code.
fn is_structure(line: &str) -> bool {
    let mut chars = line.chars();
    let first = chars.next().unwrap_or(' ');
    let second = chars.next().unwrap_or(' ');
    let word = line.split([' ', '\t']).next().unwrap_or("");
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_number = digits > 0 && word.trim_end_matches(['.', ')', ':']).chars().all(|c| c.is_ascii_digit());
    let is_stamp = digits >= 4 && word.contains([':', '-', '/', '.']);
    let is_clock = line.split(' ').take(3).any(|word| word.matches(':').count() == 2);
    let is_item = matches!(first, '#' | '>' | '|' | '*' | '•' | '-' | '+') && matches!(second, ' ' | '#' | '\t');
    let code = line.chars().filter(|c| "{}();=<>_|\\[]&$".contains(*c)).count();
    let calls = line.contains("::") || line.contains("//") || line.contains("()") || line.contains("(\"");
    is_item
        || (is_number && word.len() < line.len())
        || is_stamp
        || is_clock
        || calls
        || code * 8 > line.chars().count() && code > 2
}

/// A text without what stands between quotation marks or backticks.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| "\"“«`「『".contains(*c)) {
        let close =
            ["\"\"", "“”", "«»", "``", "「」", "『』"].iter().find_map(|pair| pair.strip_prefix(open)).unwrap_or("\"");
        let inside = at + open.len_utf8();
        let Some(end) = rest[inside..].find(close) else { break };
        out.push_str(&rest[..at]);
        out.push('…');
        rest = &rest[inside + end + close.len()..];
    }
    out + rest
}

/// Sentences with the mark that ends them.
fn sentences(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '.' => next.is_none_or(char::is_whitespace),
            // `Help! is a song`: the mark belongs to a name.
            '!' | '?' => !matches!(next, Some('!' | '?' | '！' | '？')) && !goes_on(&text[at + c.len_utf8()..]),
            '！' | '？' => !matches!(next, Some('!' | '?' | '！' | '？')),
            '。' | '\n' => true,
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            let sentence = text[start..end].trim();
            // `Au secours !`: words, then the mark.
            if sentence.chars().any(char::is_alphanumeric) {
                list.push(sentence);
            }
            start = end;
        }
    }
    list.extend(Some(text[start..].trim()).filter(|rest| rest.chars().any(char::is_alphanumeric)));
    list
}

/// Whether what follows a mark is the verb of a sentence that the mark does not end.
fn goes_on(rest: &str) -> bool {
    const VERBS: &str = "is was are were has had est etait sont";
    let word = rest.strip_prefix(' ').and_then(|rest| rest.split([' ', '\n', '.', ',']).next());
    word.is_some_and(|word| has(VERBS, &fold(word)))
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn keys(text: &str) -> Vec<String> {
    let keys = surfaces(text).into_iter().map(|(_, surface)| fold(&key(surface)).replace('’', "'"));
    keys.filter(|key| key.chars().any(char::is_alphanumeric)).collect()
}

/// Where the words of a marker stand in a row.
fn places(row: &[String], marker: &str) -> Vec<usize> {
    let parts: Vec<&str> = marker.split(' ').collect();
    let same = |window: &[String]| window.iter().zip(&parts).all(|(key, part)| key == part);
    row.windows(parts.len()).enumerate().filter(|(_, window)| same(window)).map(|(at, _)| at).collect()
}

/// Which markers stand in one of the clauses, by the order of their list, each once.
fn standing(clauses: &[Vec<String>]) -> BTreeSet<usize> {
    static FIRST: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
        let mut first: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, (marker, ..)) in MARKERS.iter().enumerate() {
            first.entry(marker.split(' ').next().unwrap_or(marker)).or_default().push(at);
        }
        first
    });
    let mut standing = BTreeSet::new();
    for clause in clauses {
        for (at, word) in clause.iter().enumerate() {
            let Some(markers) = FIRST.get(word.as_str()) else { continue };
            let is_whole = |marker: &&'static str| {
                let mut next = clause[at..].iter();
                marker.split(' ').all(|part| next.next().is_some_and(|word| word == part))
            };
            standing.extend(markers.iter().filter(|at| is_whole(&MARKERS[**at].0)));
        }
    }
    standing
}

fn latin(sentence: &str, found: &mut Vec<(&'static str, f64)>) {
    let clauses: Vec<Vec<String>> =
        sentence.split([',', ':', ';', '–', '—', '(']).flat_map(|part| part.split(" - ")).map(keys).collect();
    // Most sentences have none, and are not looked at any further.
    let standing = standing(&clauses);
    if standing.is_empty() {
        return;
    }
    let whole = keys(sentence);
    let is_question = sentence.trim_end().ends_with('?');
    let is_cried = sentence.trim_end().ends_with('!');
    let is_general = whole.iter().any(|word| has(GENERAL, word));
    let order = |clause: &[String]| {
        let start = clause.iter().position(|word| !has(LEADS, word));
        // A lead may be the order itself: `Stop …`, `Help …`.
        let leads = &clause[..start.unwrap_or(clause.len())];
        start.is_some_and(|at| has(ORDERS, &clause[at])) || leads.iter().any(|word| has(ORDERS, word))
    };
    // `in 1911`, `en 1911`.
    let is_year = |word: &str| word.len() == 4 && word.parse::<u16>().is_ok_and(|year| (1000..2100).contains(&year));
    let is_dated = whole.windows(2).any(|pair| has("in since en depuis", &pair[0]) && is_year(&pair[1]));
    let is_told = |clause: &[String]| is_dated || clause.iter().any(|word| has(TOLD, word));
    let asks = (!is_question || whole.iter().any(|word| word == "please" || word == "can" || word == "need"))
        && (clauses.iter().any(|clause| order(clause))
            || REQUESTS.iter().any(|request| !places(&whole, request).is_empty()));
    for (marker, uses, level) in standing.into_iter().map(|at| MARKERS[at]) {
        let words = marker.split(' ').count();
        let counts = uses.iter().any(|used| match used {
            Use::Call => clauses.iter().any(|clause| is_alone(clause, marker)),
            Use::Cry => clauses.iter().any(|clause| {
                (is_cried || whole.len() == words) && is_alone(clause, marker)
                    || is_cried
                        && clause.len() <= CRY
                        && !is_general
                        && !is_told(clause)
                        && places(clause, marker).first() == Some(&0)
            }),
            Use::Order | Use::Shout => {
                let loud =
                    *used == Use::Order || is_cried || whole.iter().any(|word| word == "now" || word == "immediately");
                let starts = |clause: &Vec<String>| {
                    let is_subject = |at: usize| {
                        clause[at + words..].iter().take(2).any(|word| has("is was are were est etait", word))
                    };
                    let first = places(clause, marker).first().copied();
                    first.is_some_and(|at| clause[..at].iter().all(|word| has(LEADS, word)) && !is_subject(at))
                };
                loud && !is_general && !is_question && clauses.iter().any(|clause| !is_told(clause) && starts(clause))
            }
            Use::Said => {
                !is_general
                    && clauses.iter().enumerate().any(|(index, clause)| {
                        let is_asked = is_question && index + 1 == clauses.len();
                        !is_told(clause) && !is_asked && places(clause, marker).iter().any(|at| is_stated(clause, *at))
                    })
            }
            Use::Haste => {
                !is_general
                    && asks
                    && clauses.iter().any(|clause| {
                        !is_told(clause) && places(clause, marker).iter().any(|at| !is_negated(clause, *at))
                    })
            }
        });
        if counts && found.iter().all(|(known, _)| *known != marker) {
            found.push((marker, level));
        }
    }
}

/// Whether a clause is nothing but a marker, with words that make it louder.
fn is_alone(clause: &[String], marker: &str) -> bool {
    let words = marker.split(' ').count();
    let Some(at) = places(clause, marker).into_iter().next() else { return false };
    let rest = clause[..at].iter().chain(&clause[at + words..]);
    rest.clone().count() <= 2
        && rest
            .clone()
            .all(|word| has("please very really now here help needed urgent mayday sos plz", word) || word == marker)
}

fn is_negated(row: &[String], at: usize) -> bool {
    row[at.saturating_sub(2)..at].iter().any(|word| has(NEGATIONS, word))
}

/// Whether a statement is of now and of those who speak, or of somebody before their eyes.
fn is_stated(row: &[String], at: usize) -> bool {
    let before = &row[..at];
    let heads = "this it it's that that's we i i'm is have having there there's he she isn't c est nous avons ai";
    !is_negated(row, at) && (at == 0 || before.iter().any(|word| has(heads, word)) || before.len() <= 3)
}

fn japanese(sentence: &str, found: &mut Vec<(&'static str, f64)>) {
    let normal = crate::model::ids::normalise(sentence);
    // Of any case: `火事の場合は`, `地震のときは`.
    if ["場合は", "場合には", "ときは", "時は", "際は", "際には"].iter().any(|general| normal.contains(general))
    {
        return;
    }
    for (marker, next, level) in MARKERS_JA {
        let counts = normal.match_indices(marker).any(|(at, _)| {
            let after = &normal[at + marker.len()..];
            let reported = ["ではな", "じゃな", "でな", "はな", "性", "くれた", "くれま", "もら", "の"];
            match next {
                [] => !reported.iter().any(|word| after.starts_with(word)),
                next => {
                    after.trim().is_empty()
                        || next.iter().any(|word| after.starts_with(&crate::model::ids::normalise(word)))
                }
            }
        });
        if counts && found.iter().all(|(known, _)| *known != marker) {
            found.push((marker, level));
        }
    }
}

#[cfg(test)]
#[path = "urgency_tests.rs"]
mod tests;
