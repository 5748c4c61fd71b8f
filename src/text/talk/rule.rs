//! Rules, tasks and plans: sentences that say how things are to be done from now on, or now, or what somebody is about to do; told apart from
//! sentences that happen to have the same words.

use super::super::date;
use super::super::surface::fold;
use super::statement::{Piece, pieces, states};
use super::{Act, act, courtesy, english, french, german, japanese, spanish, tokens};
use crate::limits;
use crate::text::phrase::asks;
use crate::text::sentences;

/// Of [`QUOTED`], those that no sentence has.
const MARKS: usize = 3;
/// Marks between which somebody else's words stand: three quotes, and those that open otherwise than they close.
const QUOTED: [(&str, &str); 8] = [
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
    ("<!--", "-->"),
    ("„", "“"),
    ("‚", "‘"),
    ("‘", "’"),
    ("« ", " »"),
    ("»", "«"),
];

/// Whether a text has a rule: `Always run the tests first`, `Don't push to main`, `Tests must pass before every merge`, `ne jamais pousser sur main`,
/// `必ずpnpmを使う`. What happened (`we have never seen this`), what things do by themselves (`the queue never blocks`) and what somebody is about
/// to do is none.
///
/// Examples of code, quotes, differences, lines of logs and parts between tags give no rule: somebody shows them, and does not say them.
pub fn is_rule(text: &str) -> bool {
    text.len() <= limits::RULE_BYTES && has_rule(&lines_of(text, true))
}

/// The lines of a text that are no part of something shown.
pub fn own_lines(text: &str) -> String {
    lines_of(text, false)
}

/// The same; of rules also without what stands in quotes or is announced as somebody else's.
fn lines_of(text: &str, of_rules: bool) -> String {
    let text = without_quoted(text, if of_rules { &QUOTED } else { &QUOTED[..MARKS] });
    let (mut own, mut code, mut from, mut ruled) = (String::new(), None, 0, false);
    // Below a line that announces something, and below a command.
    let (mut told, mut output) = (false, false);
    let rules = text.lines().filter(|line| line.trim() == "---").count();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let words = line.trim();
        if start < from {
            continue;
        }
        if let Some(open) = code {
            code = if words.starts_with(open) { None } else { code };
            continue;
        }
        code = ["```", "~~~"].into_iter().find(|fence| words.starts_with(fence));
        if code.is_some() {
            continue;
        }
        output = (output || words.starts_with("$ ")) && !words.is_empty();
        if words == "---" && rules > 1 {
            ruled = !ruled;
        }
        // A part goes on to the last end of its name, which it may have itself.
        if let Some(close) = opened(words) {
            from = text[start..].rfind(&close).map_or(from, |end| start + end + 1);
            continue;
        }
        // A tag that a line ends with: `Explain this: <page>`.
        if let Some(close) = words.rfind('<').and_then(|tag| opened(&words[tag..]))
            && let Some(end) = text[at..].rfind(&close)
        {
            from = at + end + 1;
            continue;
        }
        // All that follows is a difference.
        if ["diff --git ", "@@ ", "--- a/", "+++ b/"].iter().any(|start| words.starts_with(start)) {
            break;
        }
        let is_dated = words.len() > 4 && words.as_bytes()[..4].iter().all(u8::is_ascii_digit);
        let is_list = is_list_line(words);
        let is_indented = (line.starts_with("    ") || line.starts_with('\t')) && !is_list;
        let is_comment = words.starts_with("//") || line.starts_with(" * ") || line.starts_with("\t* ");
        let is_shown = is_dated || is_indented || is_comment || words.starts_with(['>', '[', '<', '|']);
        if !ruled && !told && !output && !is_shown {
            own.push_str(line);
        } else {
            // What stands above and below is no sentence together.
            own.push('\n');
        }
        told |= of_rules && words.contains([':', '：']) && announces(words, &text[at..]);
    }
    own
}

/// Whether a line announces what somebody else said or wrote, `The README says:`, or begins a letter: what follows is shown. One that speaks
/// of rules, or of where they hold (`For this repository:`), announces one's own, and so does one above a list (`Code style:`) that names nobody.
fn announces(line: &str, below: &str) -> bool {
    const OWN: &str = "always never remember note notes rule rules important immer nie merke merk regeln regel toujours jamais retiens \
        regles siempre nunca recuerda reglas conventions convention guidelines reminder preferences things points please bitte";
    const WHERE: &str = "for in on when before after with from ab fur bei vor nach pour dans avant para en antes";
    const SAYS: &str = "says said writes wrote reads states shows prints steht schreibt schrieb sagt meldet zeigt dit affiche dice escribe";
    const HEADS: &str = "from to subject von an betreff de a objet para asunto";
    const ASKS: &str =
        "summarize summarise translate explain ubersetze erklare traduis resume explique traduce explica";
    let tokens_of = |text: &str| tokens(text).into_iter().map(|token| fold(&token.low)).collect::<Vec<String>>();
    if let Some((head, rest)) = line.split_once(':') {
        let head = tokens_of(head);
        if head.len() == 1 && has(HEADS, &head[0]) && !rest.trim().is_empty() {
            return true;
        }
    }
    let Some(lead) = line.strip_suffix([':', '：']) else { return false };
    let row = tokens_of(lead);
    let Some(first) = row.first() else { return false };
    let is_said = row.iter().any(|word| has(SAYS, word));
    let is_own = row.iter().any(|word| has(OWN, word)) || has(WHERE, first) && !is_said;
    let next = below.lines().map(str::trim).find(|line| !line.is_empty());
    row.len() > 1 && !is_own && (is_said || !next.is_some_and(is_list_line)) || has(ASKS, first)
}

/// Whether a line begins as an item of a list.
fn is_list_line(line: &str) -> bool {
    line.starts_with(['-', '*', '+', '•']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// A text without what stands between marks of quotation.
fn without_quoted(text: &str, quoted: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (open, close) in quoted.iter().copied() {
        while let Some(start) = text.find(open) {
            let inside = start + open.len();
            let Some(end) = text[inside..]
                .find(close)
                .map(|end| inside + end + close.len())
                .or_else(|| close.is_ascii().then_some(text.len()))
            else {
                break;
            };
            text.replace_range(start..end, "");
        }
    }
    text
}

/// The end of the part that a line begins, `<page url="x">` or `[page: x]`.
fn opened(line: &str) -> Option<String> {
    let (open, close) = if line.starts_with('<') { ('<', '>') } else { ('[', ']') };
    let inside = line.strip_prefix(open).filter(|inside| inside.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let name = &inside[..inside.find(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c))?];
    inside.contains(close).then(|| format!("{open}/{name}"))
}

fn has_rule(text: &str) -> bool {
    japanese::STANDING.split(' ').any(|word| text.contains(word)) || sentences(text).into_iter().any(rules)
}

fn rules(sentence: &str) -> bool {
    if asks(sentence) || is_reported(sentence) {
        return false;
    }
    if is_labelled(sentence) || is_choice(sentence) || is_habit(sentence) {
        return true;
    }
    let row: Vec<String> = tokens(sentence).into_iter().map(|token| token.low).collect();
    let start = row.iter().position(|word| !has(english::BEFORE_RULE, word) && !has(french::BEFORE_RULE, word));
    let row = &row[start.unwrap_or(row.len())..];
    let Some(first) = row.first() else { return false };
    if says(row, english::FROM_NOW) || says(row, french::FROM_NOW) {
        return true;
    }
    // An order to somebody who is not there: the beginning has no subject.
    if has("toujours", first) && row.get(1).is_some_and(|word| has("le la les un une pas", word)) {
        return false;
    }
    let orders = has(english::ORDERS, first) || has(french::ORDERS, first);
    if orders || starts(row, english::FORBIDS) || starts(row, french::FORBIDS) {
        // `Use the new client here` is said for once.
        return row.len() > 2 && !(orders && row.iter().any(|word| has("here now", word)));
    }
    let is_hers = row[0] == "we" && (starts(row, "we don t") || starts(row, "we do not"));
    if is_hers && row.iter().skip(3).take(1).any(|verb| verb == "use" || has(english::TASKS, verb)) {
        return true;
    }
    if stands_in_german(row) || stands_in_spanish(row) || is_ordered_for_good(row) {
        return true;
    }
    let is_resolved = starts(row, "let s") || starts(row, "let us");
    row.iter().enumerate().any(|(at, word)| {
        let (before, after) =
            (at.checked_sub(1).map(|at| row[at].as_str()), row.get(at + 1).map_or("", String::as_str));
        if has("always never", word) {
            let told = is_resolved && at == 2 || before.is_none_or(|before| has(english::OF_A_RULE, before));
            return told && !after.is_empty() && !has(english::HAPPENED, after);
        }
        has("must shall", word) && before.is_some_and(|before| !has(english::GUESSED, before)) && !has("have be", after)
    })
}

/// `Never use npm, says the wiki`: an order of somebody else.
fn is_reported(sentence: &str) -> bool {
    let Some((_, behind)) = sentence.rsplit_once(',') else { return false };
    let row: Vec<String> = tokens(behind).into_iter().map(|token| token.low).collect();
    row.len() > 1 && row.len() < 5 && has("says said claims thinks sagt meint schreibt behauptet dit dice", &row[0])
}

/// `Rule: every PR has a note`, `La règle d'équipe : …`: a label that says what follows it.
fn is_labelled(sentence: &str) -> bool {
    const MOST: usize = 5;
    let Some((label, rest)) = sentence.split_once(':') else { return false };
    let label: Vec<String> = tokens(label).into_iter().map(|token| token.low).collect();
    let is_head =
        |word: Option<&String>, lists: &[&str]| word.is_some_and(|word| lists.iter().any(|list| has(list, word)));
    let first = label.iter().find(|word| !has("la le les el los las notre nos nuestra", word));
    let says =
        |word: &String| [english::FINITE, english::SINGULAR, english::BETWEEN].iter().any(|list| has(list, word));
    label.len() <= MOST
        && !label.iter().any(says)
        && tokens(rest).len() > 2
        && (is_head(label.last(), &[english::LABELS, german::LABELS, french::LABELS, spanish::LABELS])
            || is_head(first, &[french::LABELS, spanish::LABELS]))
}

/// `Spaces, not tabs.`: one kind of things, not another.
fn is_choice(sentence: &str) -> bool {
    if sentence.split_whitespace().take(4).count() != 3 {
        return false;
    }
    let words = pieces(sentence);
    let [one, not, other] = words.as_slice() else { return false };
    let is_kind = |word: &Piece| {
        word.low.ends_with('s') && word.low.len() > 3 && !word.is_code && !date::is_date(word.low.trim_end_matches('s'))
    };
    one.ends && not.low == "not" && is_kind(one) && is_kind(other) && !other.capital
}

/// An order that holds for all that comes, by its form: things of any kind and how they are done (`Write docs in British English.`), or what is to
/// be done no more (`Stop using moment.js`).
pub(super) fn is_habit(sentence: &str) -> bool {
    let polite = "please svp bitte";
    let begins = |word: &str| {
        let low = fold(&word.to_lowercase());
        let low = low.trim_matches(|c: char| !c.is_alphanumeric());
        [polite, STOPS, french::STOPS, english::HABITS, french::HABITS].iter().any(|list| has(list, low))
    };
    // Most sentences begin with another word: they are looked at no further.
    if !sentence.split_whitespace().next().is_some_and(begins) {
        return false;
    }
    let words = pieces(sentence);
    let skipped = words.iter().take_while(|word| has(polite, &word.low)).count();
    let words = &words[skipped.min(words.len())..];
    let low = |at: usize| words.get(at).filter(|word| !word.is_code).map_or("", |word| word.low.as_str());
    let ends = |at: usize| words.get(at).is_none_or(|word| word.ends);
    if states(sentence) {
        return false;
    }
    let is_specific = |word: &Piece| {
        let is_name = word.raw.chars().filter(|c| c.is_alphabetic()).count() > 2 && word.is_code;
        is_name || has("this that these those here now it them", &word.low)
    };
    if has(STOPS, low(0)) {
        let is_doing = low(1).ends_with("ing") && low(1).len() > 4;
        return is_doing && words.len() > 2 && (low(1) == "using" || !has(english::BEFORE_OBJECT, low(2)));
    }
    if has(french::STOPS, low(0)) {
        return has("d de", low(1)) && words.len() > 3 && low(2).ends_with('r');
    }
    let (in_english, in_french) = (has(english::HABITS, low(0)), has(french::HABITS, low(0)));
    let manner = (1..words.len()).take_while(|at| *at == 1 || !ends(at - 1)).find(|at| {
        in_english && has(english::MANNERS, low(*at))
            || in_french && has("en avec sans avant apres comme par", low(*at))
    });
    let Some(manner) = manner.filter(|at| !ends(*at)) else { return false };
    let rest = &words[manner + 1..];
    let Some(next) = rest.first() else { return false };
    if words[1..manner].iter().any(is_specific) || rest.iter().any(is_specific) {
        return false;
    }
    if in_french {
        return manner > 1 && has("les des nos la le", low(1));
    }
    if low(manner) == "on" {
        return next.low.strip_suffix('s').is_some_and(date::is_date);
    }
    let is_bare = manner > 1 && words[1..manner].iter().all(|word| !has(english::BEFORE_OBJECT, &word.low));
    let is_word = next.raw.chars().any(char::is_alphabetic);
    let is_any = !has(english::BEFORE_OBJECT, &next.low)
        || has("every each", &next.low)
        || has(english::FORMS, low(0)) && has("the their its", &next.low);
    is_bare && is_word && is_any
}

/// Beginnings of what is to be done no more.
const STOPS: &str = "stop quit";

fn stands_in_german(row: &[String]) -> bool {
    let is_infinitive = |word: &String| word.ends_with("en") && word.len() > 4;
    let happened = row.iter().any(|word| has(german::HAPPENED, word)) || has(german::SUBJECTS, &row[0]);
    !happened && row.len() > 2 && says(row, german::STANDING) && row.last().is_some_and(is_infinitive)
}

fn stands_in_spanish(row: &[String]) -> bool {
    let stands = |at: usize| {
        let next = row.get(at + 1).map_or("", String::as_str);
        let orders = at == 0 || has("en con", next) || at == 1 && row[0] == "usa";
        has("siempre nunca jamas", &row[at]) && orders && !next.is_empty() && !has(spanish::HAPPENED, next)
    };
    (0..row.len()).any(stands) && row.len() > 2
}

/// `Verwende immer pnpm`, `Pushen Sie nie auf main`, `N'utilise jamais npm`, `No uses nunca npm`: a verb without a subject, and for how long it
/// holds. Someone who tells what she sees leaves the subject out as well, with other verbs.
fn is_ordered_for_good(row: &[String]) -> bool {
    let row = &row[row.iter().take_while(|word| has("bitte por favor", word)).count()..];
    let word = |at: usize| row.get(at).map_or("", String::as_str);
    let (negated, to_many) = (has("n ne no", word(0)), word(1) == "sie");
    let (verb, adverb) = if negated { (word(1), word(2)) } else { (word(0), word(if to_many { 2 } else { 1 })) };
    // `Nutze für Walrus immer Tabs`
    let of_what = if has(german::ARTICLES, word(2)) { 4 } else { 3 };
    let is_behind = verb.ends_with('e') && has("fur bei in auf mit im zum zur", adverb);
    let adverb = if is_behind { word(of_what) } else { adverb };
    let is_german = !negated && has("immer nie niemals stets", adverb);
    let is_french = (!negated || word(0) != "no") && !to_many && has("toujours jamais", adverb);
    let is_spanish = word(0) == "no" && has("nunca jamas", adverb);
    let instead = row.windows(2).any(|pair| {
        has("immer nie niemals toujours jamais siempre nunca", &pair[0]) && has("durch par por pas", &pair[1])
    });
    row.len() > 2
        && !instead
        && !row.iter().any(|word| word == "encore")
        && (is_german && !verb.ends_with('t') && !has(german::NO_ORDERS, verb) && !has("noch wieder mehr", word(2))
            || is_french && !verb.ends_with("ent") && !has(french::NO_ORDERS, verb)
            || is_spanish && has(spanish::ORDERS, verb))
}

/// Whether a text does no more than to give tasks to somebody who works on something: `commit this`, `Corrige le test`, `テストを直して`. Among
/// colleagues the same words may be a note of what is to be done.
pub fn is_task(text: &str) -> bool {
    let parts = sentences(text);
    let is_one = |part: &str| {
        let part = after_courtesy(part);
        let words: Vec<String> = tokens(part).into_iter().map(|token| token.low).collect();
        let first = words.iter().find(|word| !english::BEFORE_TASK.split(' ').any(|before| before == *word));
        // `same for the other file`, `do it like in cart.rs`
        let again = matches!(words.as_slice(), [same, of, ..] if same == "same" && ["for", "with", "in"].contains(&of.as_str()))
            || matches!(words.as_slice(), [d, it, ..] if d == "do" && ["it", "this", "that", "the", "so"].contains(&it.as_str()));
        let is_verb = |verbs: &str| first.is_some_and(|first| verbs.split_whitespace().any(|verb| verb == first));
        let ends = part.trim_end_matches(['。', '！', '.', '!']);
        again
            || (is_verb(english::TASKS) || is_verb(french::TASKS)) && !states(part) && !is_habit(part)
            || japanese::TASKS.split(' ').any(|end| ends.ends_with(end))
    };
    let words: usize = parts.iter().map(|part| tokens(part).len()).sum();
    !parts.is_empty() && words <= TASK_WORDS && !super::is_standing(text) && parts.iter().all(|part| is_one(part))
}

/// A sentence without the courtesies before what it is for: `looks good, merge it`.
fn after_courtesy(sentence: &str) -> &str {
    let polite = |before: &str| courtesy::of(&tokens(before), false).is_some();
    match sentence.split_once(", ").filter(|(before, after)| !after.trim().is_empty() && polite(before)) {
        Some((_, after)) => after_courtesy(after),
        None => sentence,
    }
}

/// Words of a text that only gives tasks, at most: a longer one says why.
const TASK_WORDS: usize = 16;

/// Whether a text says nothing but what its speaker is about to do, and courtesies: `Understood. I will fix that.`
pub fn is_plan(text: &str) -> bool {
    let is_one = |part: &str| {
        let row: Vec<String> = tokens(part).into_iter().map(|token| token.low).collect();
        starts(&row, english::PLANS) || starts(&row, french::PLANS)
    };
    let is_polite = |part: &str| matches!(act(part), Act::SmallTalk(_));
    sentences(text).into_iter().all(|sentence| {
        // `You're right, let me fix that.`
        let after = sentence.split_once(',').filter(|(before, _)| is_polite(before)).map(|(_, after)| after);
        is_polite(sentence) || is_one(sentence) || after.is_some_and(is_one)
    })
}

/// Whether one of some words is that one.
fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

fn says(row: &[String], phrases: &str) -> bool {
    let row = format!(" {} ", row.join(" "));
    phrases.split('|').any(|phrase| row.contains(&format!(" {} ", fold(phrase.trim()))))
}

fn starts(row: &[String], phrases: &str) -> bool {
    let row = format!("{} ", row.join(" "));
    phrases.split('|').any(|phrase| row.starts_with(&format!("{} ", phrase.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_told_from_what_is_known() {
        for plan in [
            "Understood. I will connect to staging on port 5433.",
            "You're right, let me fix that.",
            "Sorry, I will do it differently.",
        ] {
            assert!(is_plan(plan), "{plan}");
        }
        for none in
            ["Staging answers on port 5433.", "I will not, because the lock is held by cron.rs. The job runs at 3 am."]
        {
            assert!(!is_plan(none), "{none}");
        }
    }

    #[test]
    fn what_is_shown_is_no_rule() {
        const RULE: &str = "Always push to the branch walrus.";
        for shown in [
            format!("See:\n```\n{RULE}\n```\nwhat now"),
            format!("Translate into German:\n\n{RULE}"),
            format!("The README says:\n{RULE}"),
            format!("In der README steht:\n{RULE}"),
            format!("From: Ann\nSubject: CI\n\n{RULE}"),
            format!("Explain this: <page>\n{RULE}\n</page>"),
            format!("Selon « {RULE} » et « {RULE} »."),
            format!("»{RULE}« stands in the wiki."),
            format!("‘{RULE}’ stands in the wiki."),
            format!("$ cat RULES\n{RULE}\n$ ls"),
            "Never push to the branch walrus, says the wiki.".to_owned(),
            format!("See:\n~~~sh\n{RULE}"),
            format!("Mail:\n> {RULE}"),
            format!("<page url=\"x\">\n{RULE}\n</page>"),
            format!("<page>{RULE}</page>"),
            format!("\"\"\"\n{RULE}\n\"\"\""),
            format!("\"\"\"{RULE}\"\"\""),
            format!("Fix this: \"\"\"{RULE}\"\"\""),
            format!("Fix this: \'\'\'\n{RULE}\n\'\'\'"),
            format!("<page>\nfoo </page>\n{RULE}\n</page>"),
            format!("[Attached file README.md]\n{RULE}\n[/Attached file]"),
            format!("See:\n    {RULE}\n\t{RULE}\n * {RULE}\n// {RULE}"),
            format!("---\n{RULE}\n---"),
            format!("Look:\n@@ -1 +1 @@\n+{RULE}\n{RULE}"),
            format!("2026-11-30 12:00 {RULE}\n[12:00] {RULE}"),
        ] {
            assert!(!is_rule(&shown), "{shown}");
            assert!(is_rule(&format!("{RULE}\n{shown}")), "{shown}");
        }
        for said in
            ["- ", "* ", "1. ", "    - ", "[ ] ", "# "].map(|mark| format!("For this repository:\n{mark}{RULE}"))
        {
            assert!(is_rule(&said) || said.contains("[ ]"), "{said}");
        }
        assert!(is_rule(&format!("```\nx\n```\n{RULE}")) && is_rule(&format!("Code style:\n\n- {RULE}")));
    }

    #[test]
    fn rules_are_told_from_what_happens() {
        for rule in [
            "Always run the tests first",
            "please always rebase before you push",
            "We never deploy on Fridays.",
            "Don't push to main.",
            "Use tabs, not spaces.",
            "Tests must pass before every merge.",
            "No force pushes to main.",
            "From now on the invoices are sent on Mondays.",
            "You should never edit the generated files.",
            "Avoid unwrap outside of tests.",
            "Il faut toujours lancer les tests.",
            "Ne jamais pousser sur main.",
            "必ずpnpmを使う",
        ] {
            assert!(is_rule(rule), "{rule}");
        }
        for none in [
            "We have never seen this error before, it always crashes at night",
            "No problem, the queue never blocks.",
            "Root cause: the list is sorted, so the newest job always wins.",
            "Understood. I will connect to staging on port 5433 from that day.",
            "It must have been the cache.",
            "He never came back.",
            "Should we always rebase?",
            "The cat sleeps here.",
            "Nous n'avons jamais vu cela.",
            "use it",
        ] {
            assert!(!is_rule(none), "{none}");
        }
    }
}
