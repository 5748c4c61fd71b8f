//! Talk: whether a message to the brain tells something, or asks, orders, or is polite.
//!
//! By closed classes of words and forms alone: question words, auxiliaries, inversions, verbs of asking and showing, formulas of
//! greeting and thanks. Where a message may be either, it tells something: a lost memory is worse than one too many. Place in the
//! flow: a turn of a conversation → **talk** → perception (an episode without concepts), recall (no evidence), answers without a
//! model (what is asked). Must not know what the brain knows.

mod courtesy;
mod echo;
mod english;
mod french;
mod german;
mod japanese;
mod rule;
mod spanish;
mod statement;

use std::borrow::Cow;

pub use echo::{beside_nods, is_echo};
pub use rule::{is_plan, is_rule, is_task, own_lines};

use super::date;
use super::language::{self, Language};
use super::phrase::asks;
use super::speaker;
use super::surface::{fold, is_apostrophe, key};
use crate::model::Origin;
use rule::is_habit;
use statement::states;

/// How the source of what a person says in a conversation begins; its name follows.
pub const ASKED: &str = "chat:";
/// The same of what the brain answers.
pub const ANSWERED: &str = "answer:";

/// How the source of a task begins that a person gave to somebody who carries it out at once; the name of the conversation follows.
pub const TASKED: &str = "task:";

/// Whether a person said something herself in sessions of an origin: by where it comes from, and its label.
pub fn is_said_in(sessions: &Origin, origin: &Origin, source: Option<&str>) -> bool {
    source.is_some_and(|source| source.starts_with(ASKED)) && origin.is_of(sessions)
}

/// What a message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// It tells something, perhaps beside a question: a memory like any other.
    Told,
    /// It asks.
    Question,
    /// It asks for something to be done with what is known: to show, to list, to explain.
    Order,
    /// It is polite.
    SmallTalk(Courtesy),
}

/// A kind of small talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Courtesy {
    /// `Hello`.
    Greeting,
    /// `Thank you`.
    Thanks,
    /// `Goodbye`.
    Farewell,
    /// `Yes`, `fine`, `I see`, and everything that says nothing.
    Acknowledgement,
}

/// A turn of a conversation that is evidence for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    /// A person asked.
    Question,
    /// A person gave an order.
    Order,
    /// A person was polite.
    SmallTalk,
    /// The brain answered, with a model or without.
    Answer,
}

impl Talk {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Order => "order",
            Self::SmallTalk => "small talk",
            Self::Answer => "answer",
        }
    }
}

/// Which kind of talk a memory is, by its source, its session and its text. `None`: it is evidence. So is everything that was
/// fed: among people, questions are a part of what happened.
pub fn talk(source: Option<&str>, session: Option<&str>, text: &str) -> Option<Talk> {
    let (source, session) = (source?, session?);
    if is_turn(ANSWERED, source, session) {
        return Some(Talk::Answer);
    }
    if is_turn(TASKED, source, session) {
        return Some(Talk::Order);
    }
    let act = is_turn(ASKED, source, session).then(|| act(text))?;
    match act {
        Act::Told => None,
        Act::Question => Some(Talk::Question),
        Act::Order => Some(Talk::Order),
        Act::SmallTalk(_) => Some(Talk::SmallTalk),
    }
}

/// True for the source of a turn of a conversation: the prefix, its name, and of a long message the number of the part, from the second on.
fn is_turn(prefix: &str, source: &str, session: &str) -> bool {
    let part = source.strip_prefix(prefix).and_then(|name| name.strip_prefix(session));
    let number = |part: &str| part.strip_prefix('#').is_some_and(|n| n.parse::<u32>().is_ok());
    part.is_some_and(|part| part.is_empty() || number(part))
}

/// What of a turn or a fed text is evidence: of a message that tells something and asks as well, what it tells. `None`: it is talk.
pub fn evidence<'t>(source: Option<&str>, session: Option<&str>, text: &'t str) -> Option<Cow<'t, str>> {
    if talk(source, session, text).is_some() {
        return None;
    }
    let heard = source.zip(session).is_some_and(|(source, session)| is_turn(ASKED, source, session));
    if !heard || is_dialogue(text) || heard_all(text).iter().all(|part| part.asked.is_none()) {
        return Some(Cow::Borrowed(text));
    }
    Some(Cow::Owned(told(text).join(" ")))
}

/// What a message does. One sentence that tells something makes the whole of it a memory.
pub fn act(message: &str) -> Act {
    let acts: Vec<Act> = heard_all(message).into_iter().map(|part| part.act).collect();
    let first = |wanted: fn(&Act) -> bool| acts.iter().copied().find(wanted);
    first(|act| *act == Act::Told)
        .or_else(|| first(|act| *act == Act::Question))
        .or_else(|| first(|act| *act == Act::Order))
        .or_else(|| first(|act| !matches!(act, Act::SmallTalk(Courtesy::Acknowledgement))))
        .unwrap_or(Act::SmallTalk(Courtesy::Acknowledgement))
}

/// What a message asks or orders, beside what it tells; `None` if it does neither.
pub fn asked(message: &str) -> Option<String> {
    let asked: Vec<String> = heard_all(message).into_iter().filter_map(|part| part.asked).collect();
    (!asked.is_empty()).then(|| asked.join(" "))
}

/// What a message tells, beside what it asks: sentences, or parts of one.
pub fn told(message: &str) -> Vec<String> {
    heard_all(message).into_iter().filter_map(|part| part.told).collect()
}

/// What a sentence does, and which part of it.
struct Heard {
    act: Act,
    told: Option<String>,
    asked: Option<String>,
}

impl Heard {
    /// A sentence that does one thing.
    fn whole(act: Act, sentence: &str) -> Self {
        let is = |wanted: bool| wanted.then(|| sentence.to_owned());
        Self { act, told: is(act == Act::Told), asked: is(matches!(act, Act::Question | Act::Order)) }
    }

    /// A sentence that tells something and asks.
    fn both(told: &str, asked: &str) -> Self {
        let part = |text: &str| Some(text.trim().trim_end_matches([',', ';', ':', '、']).to_owned());
        Self { act: Act::Told, told: part(told), asked: part(asked) }
    }
}

fn heard_all(message: &str) -> Vec<Heard> {
    let fallback = language::language(message);
    if is_dialogue(message) {
        return vec![Heard::whole(Act::Told, message.trim())];
    }
    if is_command(message) {
        return vec![Heard::whole(Act::Order, message.trim())];
    }
    if ["+1", "-1"].contains(&message.trim()) {
        return vec![Heard::whole(Act::SmallTalk(Courtesy::Acknowledgement), message.trim())];
    }
    // `@src/tax.rs explain`: what files are named for is in the words behind them.
    let mut rest = message.trim();
    while let Some((name, behind)) = rest.strip_prefix('@').and_then(|named| named.split_once(char::is_whitespace))
        && name.contains(['/', '.'])
    {
        rest = behind.trim_start();
    }
    if rest.len() < message.trim().len() {
        let act = act(rest);
        if act != Act::Told {
            return vec![Heard::whole(act, message.trim())];
        }
    }
    super::sentences(message).into_iter().flat_map(casual).map(|sentence| heard(sentence, fallback)).collect()
}

/// Whether a message hands over what others said, line by line: `Q: When does it open?`, `A: At nine.`
fn is_dialogue(message: &str) -> bool {
    message.lines().filter(|line| speaker(line).is_some_and(|(_, said)| !said.trim().is_empty())).count() > 1
        || message.starts_with("Q: ") && message.contains(" A: ")
}

/// `/quit`: what programs take for an order to themselves, and no path.
fn is_command(message: &str) -> bool {
    let name = message.trim().strip_prefix('/').unwrap_or_default();
    name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

/// A sentence cut where people begin the next one with a small letter, but not after an abbreviation.
fn casual(sentence: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    for (at, c) in sentence.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?')) {
        let after = &sentence[at + 1..];
        let next = after.trim_start();
        let word = sentence[..at].trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_short =
            word.contains('.') || word.chars().count() < 2 || ABBREVIATED.split(' ').any(|a| a == fold(word));
        if next.len() < after.len() && next.starts_with(char::is_lowercase) && !(c == '.' && is_short) {
            cuts.push(sentence.len() - next.len());
        }
    }
    cuts.push(sentence.len());
    cuts.windows(2).map(|pair| sentence[pair[0]..pair[1]].trim_end()).collect()
}

/// Words before a full stop that ends no sentence.
const ABBREVIATED: &str =
    "mr mrs ms dr st prof etc vs no nr tel approx ca incl ex env av bd min max vol ed cf resp fig mme mlle";
/// What follows a statement and asks for no more than a nod.
const TAGS: &str = "ok|okay|right|correct|yes|no|eh|huh|alright|understood|got it|isn t it|is it not|aren t they|doesn t it|don t you \
    think|you know|n est-ce pas|n'est-ce pas|hein|non|oui|d accord|compris|tu vois|pas vrai";

/// The language of a word of courtesy, where nothing else tells it: `Bonsoir`.
pub fn language_of_courtesy(message: &str) -> Option<Language> {
    let has = |polite: &[(Courtesy, &str)], formulas: &[(Courtesy, &str)]| {
        let row = tokens(message).into_iter().map(|token| token.low).collect::<Vec<_>>();
        let formula = formulas.iter().any(|(_, rows)| rows.split('|').any(|formula| formula.trim() == row.join(" ")));
        let word = |word: &String| polite.iter().any(|(_, words)| words.split_whitespace().any(|known| known == word));
        formula || row.iter().any(word)
    };
    let french = has(&french::POLITE, &french::FORMULAS) && !has(&english::POLITE, &english::FORMULAS);
    french.then_some(Language::French)
}

/// Whether a text says how things are to be done from now on: `Always run the tests first`, `ne jamais pousser sur main`, `必ずpnpmを使う`.
pub fn is_standing(text: &str) -> bool {
    let row = format!(" {} ", tokens(text).into_iter().map(|token| token.low).collect::<Vec<_>>().join(" "));
    let says = |rows: &str| rows.split('|').any(|words| row.contains(&format!(" {} ", words.trim())));
    [english::STANDING, french::STANDING, german::STANDING].into_iter().any(says)
        || japanese::STANDING.split(' ').any(|word| text.contains(word))
}

/// Who said what a message asks for, if it asks for the conversation itself: `what did I ask you yesterday?`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// What the person asked, ordered, or said.
    ByPerson,
    /// What the brain answered.
    ByBrain,
    /// What both said.
    ByBoth,
}

/// Whether a message asks for the conversation itself, and for whose part of it.
pub fn about_talk(message: &str) -> Option<Said> {
    if act(message) == Act::Told {
        return None;
    }
    if language::language(message) == Some(Language::Japanese) {
        return japanese::about_talk(&crate::model::ids::normalise(message));
    }
    let tokens = tokens(message);
    let row = format!(" {} ", tokens.iter().map(|token| token.low.as_str()).collect::<Vec<_>>().join(" "));
    english::about_talk(&row).or_else(|| french::about_talk(&row))
}

/// True for a word that only says that something is asked, said or shown: `tell`, `question`, `montre`, 教え. By its key.
pub fn is_of_talking(key: &str) -> bool {
    let low = fold(key);
    english::TALKING.split_whitespace().chain(french::TALKING.split_whitespace()).any(|word| word == low)
        || japanese::TALKING.split_whitespace().any(|word| word == key)
}

/// True for a word that says which kind of thing is asked for: the answer has the thing, not always the word. `name`, `couleur`,
/// 番号. By its key.
pub fn is_kind_asked(key: &str) -> bool {
    let low = fold(key);
    english::KINDS.split_whitespace().chain(french::KINDS.split_whitespace()).any(|word| word == low)
        || japanese::KINDS.split_whitespace().any(|word| word == key)
}

fn heard(sentence: &str, fallback: Option<Language>) -> Heard {
    let own = language::language(sentence);
    if own == Some(Language::Japanese) {
        let heard = japanese::heard(sentence);
        return if heard.act == Act::Order && is_standing(sentence) {
            Heard::whole(Act::Told, sentence)
        } else {
            heard
        };
    }
    let language = own.or(fallback);
    let (asks, period) = (asks(sentence), sentence.trim_end().ends_with('.') && !sentence.trim_end().ends_with(".."));
    let rows: Vec<(&str, Vec<Token>)> = clauses(sentence).map(|clause| (clause, tokens(clause))).collect();
    let clauses: Vec<&(&str, Vec<Token>)> = rows.iter().filter(|(_, clause)| !clause.is_empty()).collect();
    let whole: Vec<Token> = clauses.iter().flat_map(|(_, clause)| clause).cloned().collect();
    if let Some(courtesy) = courtesy::of(&whole, true) {
        return Heard::whole(Act::SmallTalk(courtesy), sentence);
    }
    // `lgtm, ship it`: each part is one.
    let parts: Vec<Option<Courtesy>> = clauses.iter().map(|(_, clause)| courtesy::of(clause, false)).collect();
    if parts.len() > 1 && !asks && parts.iter().all(Option::is_some) {
        let found = parts.into_iter().flatten().min_by_key(|part| *part == Courtesy::Acknowledgement);
        return Heard::whole(Act::SmallTalk(found.unwrap_or(Courtesy::Acknowledgement)), sentence);
    }
    if !asks && is_remark(&whole) {
        return Heard::whole(Act::SmallTalk(Courtesy::Acknowledgement), sentence);
    }
    if clauses.len() > 1 && !asks && is_one_of(&clauses[0].1, &[english::LEADS, french::LEADS]) {
        let rest = clauses[1].0.as_ptr() as usize - sentence.as_ptr() as usize;
        return heard(sentence[rest..].trim_start(), fallback);
    }
    if let Some(told) = before_tag(sentence, &clauses, fallback).filter(|_| asks) {
        return told;
    }
    let opening = |clause: &(&str, Vec<Token>)| {
        let act = opens(&clause.1, language, period && !asks)?;
        // `Create permissions are granted by Olga`.
        Some(if act == Act::Order && !asks && states(clause.0) { Act::Told } else { act })
    };
    let opener = clauses.iter().enumerate().find_map(|(at, clause)| Some((at, opening(clause)?)));
    // What follows the last comma of a question may be no more than `isn't it?`.
    let tag = clauses.len().checked_sub(1).filter(|last| asks && clauses[*last].1.len() > 3);
    let act = match opener {
        Some((_, Act::Told)) => Act::Told,
        Some((_, Act::Order)) if is_standing(sentence) || is_habit(sentence) => Act::Told,
        Some((_, act)) => act,
        None if asks => Act::Question,
        None => match courtesy::of(&whole, false) {
            Some(courtesy) => Act::SmallTalk(courtesy),
            None if clauses.len() == 1 && is_search(sentence, &whole, language) => Act::Question,
            None if whole.iter().enumerate().any(|(at, token)| token.says_something(at, language)) => Act::Told,
            None => Act::SmallTalk(Courtesy::Acknowledgement),
        },
    };
    let from = opener.map(|(at, _)| at).or(tag);
    let Some(from) = from.filter(|_| matches!(act, Act::Question | Act::Order)) else {
        return Heard::whole(act, sentence);
    };
    let tells = |at: usize| at != from && (at < from || opener.is_some()) && asserts(&clauses[at].1, at < from);
    let told: Vec<&str> = (0..clauses.len()).filter(|at| tells(*at)).map(|at| clauses[at].0.trim()).collect();
    let asked: Vec<&str> = (0..clauses.len()).filter(|at| !tells(*at)).map(|at| clauses[at].0.trim()).collect();
    if told.is_empty() { Heard::whole(act, sentence) } else { Heard::both(&told.join(" "), &asked.join(" ")) }
}

/// Whether some words are, as a whole, one of the rows that `|` divides.
fn is_one_of(tokens: &[Token], lists: &[&str]) -> bool {
    let row = tokens.iter().map(|token| token.low.as_str()).collect::<Vec<_>>().join(" ");
    lists.iter().any(|rows| rows.split('|').any(|known| known.trim() == row))
}

/// A few words about who listens or about what was said, without a name, a number or a thing: `You're funny`, `c'est faux`.
fn is_remark(tokens: &[Token]) -> bool {
    let begins =
        |length: usize| tokens.len() > length && is_one_of(&tokens[..length], &[english::REMARKS, french::REMARKS]);
    let Some(length) = [3, 2].into_iter().find(|length| begins(*length)) else { return false };
    let is_thing = |token: &Token| {
        let articles =
            "a an the my our his her their your un une le la les l des du mon ma mes notre nos son sa ses leur";
        token.capital
            || token.low.chars().any(char::is_numeric)
            || articles.split(' ').any(|article| article == token.low)
            || date::is_date(&token.key)
    };
    tokens.len() <= length + 3 && !tokens[length..].iter().any(is_thing)
}

/// A statement before a tag such as `ok?`, which makes no question of it.
fn before_tag(sentence: &str, clauses: &[&(&str, Vec<Token>)], fallback: Option<Language>) -> Option<Heard> {
    let (tag, tokens) = clauses.last().filter(|_| clauses.len() > 1)?;
    if !is_one_of(tokens, &[TAGS]) || clauses.iter().map(|c| c.1.len()).sum::<usize>() < 4 {
        return None;
    }
    let start = tag.as_ptr() as usize - sentence.as_ptr() as usize;
    let before = heard(sentence[..start].trim_end().trim_end_matches(','), fallback);
    let told = before.act == Act::Told;
    told.then(|| if before.asked.is_none() { Heard::whole(Act::Told, sentence) } else { before })
}

/// Things that one looks up.
const LOOKED_UP: &str = "address adresse password passcode phone telephone email serial model code numero mot passe";

/// A few words as people type them into a search: small letters or a kind of thing, no verb, no article, no value, no punctuation.
/// `passport number`, `Vaillant serial number`
fn is_search(sentence: &str, words: &[Token], language: Option<Language>) -> bool {
    let known = matches!(language, None | Some(Language::English | Language::French));
    let plain = sentence.trim().chars().all(|c| c.is_alphabetic() || c == ' ' || is_apostrophe(c));
    let is_verb = |(at, token): (usize, &Token)| {
        let low = token.low.as_str();
        // `Nadia bakes bread`: what ends in s and is followed is no noun that is looked for.
        let acts = at > 0 && at + 1 < words.len() && low.ends_with('s') && !low.ends_with("ss");
        let lists = [
            english::VERBS,
            english::CHECKS,
            english::SUBJECTS,
            english::POSSESSIVES,
            french::VERBS,
            french::CHECKS,
            french::SUBJECTS,
            french::POSSESSIVES,
            "the a an le la les l un une des du",
        ];
        acts || low.len() > 4 && (low.ends_with("ed") || low.ends_with("er") && language == Some(Language::French))
            || lists.into_iter().any(|list| list.split_whitespace().any(|verb| verb == low))
    };
    // One word alone may be written as any; more of them with a capital may be a sentence, unless they name a kind of thing.
    let small = words.len() == 1 || !words.iter().any(|token| token.capital);
    let asks = words.len() > 1
        && words.iter().any(|token| is_kind_asked(&token.key) || LOOKED_UP.split(' ').any(|thing| thing == token.low));
    let few = if asks { 1..=5 } else { 1..=3 };
    known && plain && few.contains(&words.len()) && (small || asks) && !words.iter().enumerate().any(is_verb)
}

/// A word between spaces, without punctuation around it; what stands before and after an apostrophe is a word of its own.
#[derive(Clone, Debug)]
struct Token {
    /// Lower case, without accents.
    low: String,
    key: String,
    capital: bool,
}

impl Token {
    fn says_something(&self, at: usize, language: Option<Language>) -> bool {
        let named = self.capital && at > 0 && self.low.chars().count() > 1;
        let plain = self.low.split('-').all(|part| part.is_empty() || is_empty_word(part, language));
        named || !plain && !is_empty_word(&self.key, language)
    }
}

fn is_empty_word(word: &str, language: Option<Language>) -> bool {
    let stop = match language {
        Some(language) => language::is_stop(word, Some(language)),
        None => language::is_stop(word, Some(Language::English)) || language::is_stop(word, Some(Language::French)),
    };
    stop || is_of_talking(word) || courtesy::is_polite(word)
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for surface in text.split(|c: char| c.is_whitespace() || is_apostrophe(c) || "/«»\"“”()[]*_`".contains(c)) {
        let bare = surface.trim_matches(|c: char| !c.is_alphanumeric());
        let key = key(bare);
        if !key.is_empty() {
            let capital = bare.starts_with(char::is_uppercase);
            tokens.push(Token { low: fold(&key), key, capital });
        }
    }
    tokens
}

/// A sentence between its commas, semicolons, colons and dashes.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let mut cuts = vec![0];
    let mut chars = sentence.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let spaced = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if matches!(c, ',' | ';' | ':' | '!' | '?') && spaced || matches!(c, '—' | '–' | '…') {
            cuts.push(at + c.len_utf8());
        }
    }
    cuts.push(sentence.len());
    (1..cuts.len()).map(move |at| &sentence[cuts[at - 1]..cuts[at]])
}

/// Words that say when, beside days and months.
const TIMES: &str = "today tonight tomorrow morning afternoon evening week weekend month before until aujourd hui demain soir matin midi \
    semaine mois avant";
/// Words before which a sentence has not begun yet.
const FILLERS: &str = "kindly so and but ok okay well hey hi hello please now also then oh um uh hmm actually btw just anyway sorry thanks \
    alright again et mais alors donc bonjour bonsoir salut stp svp pardon euh sinon merci";
/// The same in French alone: names of people elsewhere.
const FRENCH_FILLERS: &str = "bon ben dis";

/// What a clause asks or orders by the way it begins, or that it tells to keep something in mind.
fn opens(clause: &[Token], language: Option<Language>, period: bool) -> Option<Act> {
    let all: Vec<&str> = clause.iter().map(|token| token.low.as_str()).collect();
    let is_filler = |word: &str| {
        let has = |words: &str| words.split_whitespace().any(|filler| filler == word);
        has(FILLERS) || language != Some(Language::English) && has(FRENCH_FILLERS)
    };
    let skipped = all.iter().take_while(|word| is_filler(word)).count();
    let begin = |at: usize| Clause { words: &all[at..], tokens: &clause[at..], period };
    let of = |clause: &Clause<'_>| {
        let english = || english::opens(clause);
        let french = || french::opens(clause);
        match language {
            Some(Language::English) => english(),
            Some(Language::French) => french(),
            _ => english().or_else(french),
        }
    };
    // `So do I` begins with what may be a filler.
    let starts = if skipped == 0 || skipped == all.len() { vec![0] } else { vec![skipped, 0] };
    starts.into_iter().find_map(|at| of(&begin(at)))
}

/// A clause that is looked at from its first word on.
struct Clause<'c> {
    words: &'c [&'c str],
    tokens: &'c [Token],
    /// Whether its sentence ends with a full stop: then its form alone must show that it asks.
    period: bool,
}

impl Clause<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn is(&self, at: usize, list: &str) -> bool {
        let word = self.word(at);
        !word.is_empty() && list.split_whitespace().any(|known| known == word)
    }

    /// Whether it says when: what is to be done at some time is an errand to remember.
    fn is_timed(&self) -> bool {
        let says = |token: &Token| token.low.chars().any(char::is_numeric) || date::is_date(&token.key);
        self.tokens.iter().any(says) || (1..self.words.len()).any(|at| self.is(at, TIMES))
    }

    fn capital(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.capital)
    }

    /// Whether it begins with one of these rows of words, which `|` divides.
    fn begins(&self, rows: &str) -> bool {
        rows.split('|').any(|row| {
            let mut count = 0;
            row.split_whitespace().all(|word| {
                count += 1;
                self.word(count - 1) == word
            })
        })
    }
}

/// True for a clause that says something of its own beside a question: by its subject and its length.
fn asserts(clause: &[Token], is_before: bool) -> bool {
    let skipped =
        clause.iter().take_while(|token| FILLERS.split_whitespace().any(|filler| filler == token.low)).count();
    let clause = &clause[skipped..];
    let Some(first) = clause.first() else { return false };
    let lists = if is_before {
        [english::SUBJECTS, french::SUBJECTS, english::POSSESSIVES, french::POSSESSIVES]
    } else {
        [english::SUBJECTS, french::SUBJECTS, "", ""]
    };
    let subject = lists.into_iter().any(|list| list.split_whitespace().any(|word| word == first.low));
    subject && clause.len() > 3 && (1..clause.len()).any(|at| clause[at].says_something(at, None))
}

#[cfg(test)]
mod tests;
