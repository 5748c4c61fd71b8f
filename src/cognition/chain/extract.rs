//! An answer without a model: sentences of memories that fit what was asked, each with its citation and source, word for word.
//!
//! Nothing is concluded and nothing worded anew; the answer says so itself. A citation holds if the sentence stands in the
//! memory that it names. What fits is told by the words of the question that a memory has, each by how much it says; where
//! nothing fits, the answer says that.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits;
use crate::model::Stamp;
use crate::text::talk::{self, Act, Courtesy};
use crate::text::{self, Language, date};

/// Least share of what is asked that a memory has to say something of.
const FITS: f64 = 0.4;
/// Least share of what the best memory covers that another one has to cover.
const BESIDE: f64 = 0.85;
/// What a second sentence has to add, if it is to be quoted with the first.
const ADDS: f64 = 0.15;
/// How much more a name says than another word: who asks for Mongolia is not answered by Norway.
const NAMED: f64 = 2.0;
/// How much less the kind of what is asked for says: the answer to `what colour` has the colour, not the word.
const KIND: f64 = 0.25;
/// What the kind of thing that is asked for adds to a sentence that has it.
const NEAR: f64 = 0.2;
/// The bonus of a sentence for each word that it shares with the question, function words among them.
const ECHO: f64 = 0.001;
/// Longest memory that is quoted whole, bytes.
const SHORT: usize = 300;
/// Most sentences that are quoted after a question that a memory holds.
const ANSWERS: usize = 3;
/// Longest turn of a conversation that is quoted, characters.
const TURN: usize = 240;

/// A memory that may be quoted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Its number in citations, from 1.
    pub n: usize,
    /// What it says.
    pub text: String,
    /// Its label.
    pub source: Option<String>,
    /// When it happened.
    pub at: Option<Stamp>,
    /// Where it comes from, if not from this machine.
    pub origin: Option<String>,
}

impl Evidence {
    /// Of a message to the brain what it tells, part by part: what it asks is no evidence.
    fn as_told(&self) -> Self {
        let is_message = self.source.as_deref().is_some_and(|source| source.starts_with(talk::ASKED));
        let asks = is_message && talk::asked(&self.text).is_some();
        let text = if asks { talk::told(&self.text).join("\n\n") } else { self.text.clone() };
        Self { text, ..self.clone() }
    }
}

/// A sentence, and the memory that it is said to stand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The memory's number.
    pub n: usize,
    /// The sentence, on one line.
    pub sentence: String,
    /// Where it is from, for people: title, who speaks, source, date, as far as they are known.
    pub label: String,
    /// Whether it says something of what is asked, and does not only name who is asked about.
    pub fits: bool,
}

/// What a question asks for: stems, each with what it says.
struct Question {
    stems: BTreeMap<String, f64>,
    dates: Vec<date::Asked>,
    dated: f64,
    language: Option<Language>,
    /// Stems of who is named; what mentions none of them is about somebody else.
    names: BTreeSet<String>,
    /// Stems of the kind of thing that is asked for.
    kinds: BTreeSet<String>,
    /// Keys of all words, function words among them: of sentences that say as much, the one that has more of them is meant.
    words: BTreeSet<String>,
    /// What kind of thing the answer has.
    kind: Option<Wanted>,
}

/// What kind of thing an answer has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Time,
    Number,
    Name,
}

impl Wanted {
    fn of(asked: &str) -> Option<Self> {
        let low = asked.to_lowercase();
        let has = |rows: &[&str]| rows.iter().any(|row| low.contains(row));
        let first = low.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        match first {
            "when" | "quand" => Some(Self::Time),
            "who" | "whom" | "qui" => Some(Self::Name),
            "combien" => Some(Self::Number),
            _ if has(&[
                "how much",
                "how many",
                "how old",
                "how tall",
                "how big",
                "how long",
                "how far",
                "how heavy",
            ]) =>
            {
                Some(Self::Number)
            }
            _ if has(&["quel âge", "いくら", "いくつ", "何人", "何歳", "何年", "何分"]) => {
                Some(Self::Number)
            }
            _ if has(&["what time", "what day", "what date", "quelle heure", "quel jour", "いつ", "何時"]) => {
                Some(Self::Time)
            }
            _ => has(&["誰"]).then_some(Self::Name),
        }
    }

    /// How much a sentence has of it: a day more than an hour.
    fn met_by(self, sentence: &str) -> f64 {
        let number = sentence.chars().any(char::is_numeric);
        let met = match self {
            Self::Time if !date::asked(sentence).is_empty() => 1.0,
            Self::Time => f64::from(u8::from(number)) / 2.0,
            Self::Number => f64::from(u8::from(number)),
            Self::Name => {
                let mut words = sentence.split_whitespace().enumerate();
                f64::from(u8::from(words.any(|(at, word)| is_written_as_name(word, at == 0))))
            }
        };
        met * NEAR
    }
}

impl Question {
    fn of(message: &str, weight: &dyn Fn(&str) -> f64) -> Self {
        // The dictionary has `何で` for a word, and leaves `すか` of `何ですか`.
        let asked = talk::asked(message).unwrap_or_else(|| message.to_owned()).replace("何で", "何 で");
        let is_about_talk = talk::about_talk(message).is_some();
        let language = text::language(message);
        let dates = date::asked(&asked);
        let mut stems: BTreeMap<String, f64> = BTreeMap::new();
        let (mut names, mut kinds) = (BTreeSet::new(), BTreeSet::new());
        let mut words = BTreeSet::new();
        for (at, word) in text::words_in(&asked, language).into_iter().enumerate() {
            words.insert(word.key.clone());
            // In German every noun has a capital.
            let is_name = language != Some(Language::German) && is_written_as_name(word.surface, at == 0);
            let is_kind = talk::is_kind_asked(&word.key);
            let of_date =
                !dates.is_empty() && (word.key.starts_with(|c: char| c.is_numeric()) || date::is_date(&word.key));
            if word.is_stop && !is_name || talk::is_of_talking(&word.key) || of_date || is_kind && is_about_talk {
                continue;
            }
            // Texts and questions have their own languages: both are stemmed as the question is.
            let stem = text::stem(&word.key, language);
            let says = weight(&word.key) * if is_name { NAMED } else { 1.0 } * if is_kind { KIND } else { 1.0 };
            if is_name && word.surface.starts_with(char::is_uppercase) && !date::is_date(&word.key) {
                names.insert(stem.clone());
            }
            if is_kind {
                kinds.insert(stem.clone());
            }
            let known = stems.entry(stem).or_default();
            *known = known.max(says);
        }
        let dated = if dates.is_empty() { 0.0 } else { weight("") };
        Self { stems, dates, dated, language, names, kinds, words, kind: Wanted::of(&asked) }
    }

    fn all(&self) -> f64 {
        self.stems.values().sum::<f64>() + self.dated
    }

    /// Whether nobody is named in what is asked, or a text or its label mentions one who is.
    fn is_about(&self, memory: &Evidence) -> bool {
        let mentions = |text: &str| !self.names.is_disjoint(&self.stems_of(text));
        self.names.is_empty() || mentions(&memory.text) || memory.source.as_deref().is_some_and(mentions)
    }

    /// The stems of a text, as the question's words are stemmed.
    fn stems_of(&self, text: &str) -> BTreeSet<String> {
        text::words_in(text, self.language).into_iter().map(|word| text::stem(&word.key, self.language)).collect()
    }

    /// The share of what is asked that a text says something of, 0..=1.
    fn covered_by(&self, text: &str) -> f64 {
        let own = self.stems_of(text);
        let found = self.stems.iter().filter(|(stem, _)| own.contains(*stem));
        found.map(|(_, says)| says).sum::<f64>() / self.all()
    }

    /// Whether a text says something of what is asked beside who is named, if anything else is asked.
    fn fits(&self, memory: &Evidence) -> bool {
        let beside = |stem: &str| !self.names.contains(stem) && !self.kinds.contains(stem);
        let own = self.stems_of(&memory.text);
        let has_kind =
            !matches!(self.kind, Some(kind @ (Wanted::Number | Wanted::Time)) if kind.met_by(&memory.text) == 0.0);
        !self.stems.keys().any(|stem| beside(stem)) && has_kind
            || own.iter().any(|stem| beside(stem) && self.stems.contains_key(stem))
            || self.met_by(memory) > 0.0
    }

    /// What the time of a memory adds to that.
    fn met_by(&self, memory: &Evidence) -> f64 {
        let Some(day) = memory.at.and_then(|at| date::day_of(at.unix())) else { return 0.0 };
        let mut periods = date::periods(&memory.text, day);
        periods.push(date::Period::day(day));
        let meets = self.dates.iter().any(|asked| periods.iter().any(|period| asked.meets(period)));
        if meets { self.dated / self.all() } else { 0.0 }
    }
}

/// A word with a capital that does not only begin a sentence, or in katakana.
fn is_written_as_name(surface: &str, is_first: bool) -> bool {
    let katakana = |c: char| matches!(c, '\u{30a1}'..='\u{30fa}' | 'ー');
    let long = surface.chars().count() > 1;
    long && (!is_first && surface.starts_with(char::is_uppercase) || surface.chars().all(katakana))
}

/// Chooses sentences that answer a message, best first: of each memory that fits, the sentence that says most of what is asked, and
/// the one after it where both belong together. `weight` says how much a word says, by its key.
#[must_use]
pub fn compose(message: &str, evidence: &[Evidence], weight: &dyn Fn(&str) -> f64) -> Vec<Quote> {
    let question = Question::of(message, weight);
    if question.all() <= 0.0 || matches!(talk::act(message), Act::SmallTalk(_)) {
        return Vec::new();
    }
    let mut found: Vec<(f64, Quote)> = Vec::new();
    for memory in evidence {
        let memory = &memory.as_told();
        let covers = question.covered_by(&memory.text) + question.met_by(memory);
        let Some(sentence) = best_part(&question, &memory.text).filter(|_| covers >= FITS && question.is_about(memory))
        else {
            continue;
        };
        let sentence = text::unwrapped(sentence);
        if !found.iter().any(|(_, quote)| quote.sentence == sentence) {
            let label = label(memory, &sentence, question.language);
            found.push((covers, Quote { n: memory.n, sentence, label, fits: question.fits(memory) }));
        }
    }
    let best = found.iter().map(|(covers, _)| *covers).fold(0.0, f64::max);
    found.retain(|(covers, _)| *covers >= best * BESIDE);
    if found.iter().any(|(_, quote)| quote.fits) {
        found.retain(|(_, quote)| quote.fits);
    }
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    found.truncate(limits::EXTRACTED_QUOTES);
    found.into_iter().map(|(_, quote)| quote).collect()
}

/// The sentence of a text that says most of what is asked, with the next one if that adds to it. A heading is none, unless it
/// is all that there is.
fn best_part<'t>(question: &Question, whole: &'t str) -> Option<&'t str> {
    let mut sentences = text::sentences(whole);
    if let Some(title) = text::title(whole).filter(|_| sentences.len() > 1) {
        sentences.retain(|sentence| *sentence != title);
    }
    let covers: Vec<f64> = sentences.iter().map(|sentence| question.covered_by(sentence)).collect();
    let kind = |at: usize| question.kind.filter(|_| covers[at] > 0.0).map_or(0.0, |kind| kind.met_by(sentences[at]));
    let echo = |at: usize| {
        let words = text::words_in(sentences[at], question.language);
        words.iter().filter(|word| question.words.contains(&word.key)).count() as f64 * ECHO
    };
    let fits: Vec<f64> = (0..sentences.len()).map(|at| covers[at] + kind(at) + echo(at)).collect();
    // Of equals the first.
    let best = (0..sentences.len()).rev().max_by(|a, b| fits[*a].total_cmp(&fits[*b]))?;
    // Who asks is not answered by a question: what follows it is the answer.
    let asks = |at: usize| sentences[at].trim_end_matches(['*', '_', '"', ' ']).ends_with(['?', '？']);
    if let Some(next) = (best + 1..sentences.len()).find(|at| !asks(*at)).filter(|_| asks(best)) {
        let end = (next..sentences.len()).take(ANSWERS).take_while(|at| !asks(*at)).last().unwrap_or(next);
        let from = sentences[next].as_ptr() as usize - whole.as_ptr() as usize;
        let to = sentences[end].as_ptr() as usize - whole.as_ptr() as usize + sentences[end].len();
        return whole.get(from..to);
    }
    // Of a short memory all, where another sentence has more of the kind of thing that is asked for.
    let better = (0..sentences.len()).any(|at| kind(at) > kind(best));
    if better && whole.len() <= SHORT {
        return Some(whole.trim());
    }
    let start = |at: usize| sentences[at].as_ptr() as usize - whole.as_ptr() as usize;
    let both = |at: usize| {
        let (from, to) = (start(at), start(at + 1) + sentences[at + 1].len());
        let between = &whole[from + sentences[at].len()..start(at + 1)];
        let joined = between.chars().all(char::is_whitespace) && between.matches('\n').count() < 2;
        (joined && sentences[at].ends_with(['.', '!', '?', '。', '！', '？'])).then(|| &whole[from..to])
    };
    let pairs = [best.checked_sub(1), (best + 1 < sentences.len()).then_some(best)];
    // `Build it first:` and what follows.
    if sentences[best].trim_end().ends_with([':', '：']) && best + 1 < sentences.len() {
        let from = start(best);
        let ends = (best + 1..sentences.len()).map(|at| start(at) + sentences[at].len());
        let end = ends.take_while(|end| end - from <= SHORT).last();
        return end.and_then(|end| whole.get(from..end)).or(Some(sentences[best]));
    }
    let pairs = pairs.into_iter().flatten().filter_map(both).map(|pair| (question.covered_by(pair), pair));
    let wider = pairs.filter(|(covers_both, _)| *covers_both >= covers[best] + ADDS).max_by(|a, b| a.0.total_cmp(&b.0));
    // `She bought three pumpkins.` goes on with who was named before.
    let goes_on = |at: usize| (at < sentences.len() && begins_with_pronoun(sentences[at])).then(|| at - 1);
    let named = || {
        let at = goes_on(best + 1).or_else(|| if best > 0 { goes_on(best) } else { None })?;
        both(at).filter(|pair| pair.len() <= SHORT)
    };
    Some(wider.map(|(_, pair)| pair).or_else(named).unwrap_or(sentences[best]))
}

/// Whether a sentence begins with a word for somebody or something that was named before.
fn begins_with_pronoun(sentence: &str) -> bool {
    const PRONOUNS: &str =
        "she he it they this these her his its their elle il elles ils son sa ses leur leurs ca cela";
    let first = sentence.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    let low = text::fold(&first.to_lowercase());
    PRONOUNS.split(' ').any(|known| known == low)
}

/// Where a quote is from.
fn label(memory: &Evidence, sentence: &str, language: Option<Language>) -> String {
    let frame = Frame::of(language);
    // A line that is only wrapped is none.
    let first = text::sentences(&memory.text).first().copied();
    let title = text::title(&memory.text).filter(|title| first == Some(*title)).map(str::to_owned);
    let speaker = text::speaker(&memory.text).map(|(name, _)| name.to_owned());
    let beside = [title, speaker].into_iter().flatten().filter(|part| !sentence.starts_with(part.as_str()));
    let source = memory.source.as_deref().map(|source| match source.starts_with(talk::ASKED) {
        true => frame.in_chat.to_owned(),
        false => file_of(source).to_owned(),
    });
    let from = memory.origin.clone();
    let parts: Vec<String> = beside.chain(source).chain(from).chain(memory.at.and_then(|at| frame.day(at))).collect();
    parts.join(frame.comma)
}

/// The file of a label such as `notes/diary.md:12`, or the label.
fn file_of(source: &str) -> &str {
    let whole = source.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(source);
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_hexdigit());
    let file = whole.rsplit_once([':', '#']).filter(|(file, part)| file.contains('.') && is_part(part));
    file.map_or(whole, |(file, _)| file)
}

/// Turns of conversations as they are quoted: who said it, and when. A citation inside one is left out, because its number means
/// nothing any more.
#[must_use]
pub fn turns(message: &str, turns: &[Evidence]) -> Vec<Quote> {
    let frame = Frame::of(text::language(message));
    let quote = |turn: &Evidence| {
        let who = turn.source.as_deref().is_some_and(|source| source.starts_with(talk::ANSWERED));
        let own = turn.origin.is_none();
        let said: String = without_citations(&text::unwrapped(&turn.text)).chars().take(TURN).collect();
        let sentence = match (own, who) {
            // What was fed from elsewhere under such a label is no word of the brain or of the person.
            (false, _) => said.trim().to_owned(),
            (true, true) => format!("{}{}", frame.brain, said.trim()),
            (true, false) => format!("{}{}", frame.person, said.trim()),
        };
        let label = turn.origin.iter().cloned().chain(turn.at.and_then(|at| frame.day(at)));
        Quote { n: turn.n, sentence, label: label.collect::<Vec<_>>().join(frame.comma), fits: true }
    };
    turns.iter().take(limits::EXTRACTED_QUOTES).map(quote).collect()
}

fn without_citations(text: &str) -> String {
    with_citations(text, |out, _| out.truncate(out.trim_end_matches(' ').len()))
}

/// A text whose citations are written anew: `write` gets the text before one, and its numbers.
fn with_citations(text: &str, write: impl Fn(&mut String, &str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let is_citation = |n: &str| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit() || ", ".contains(c));
        match after.split_once(']').filter(|(numbers, _)| is_citation(numbers)) {
            Some((numbers, after)) => {
                write(&mut out, numbers);
                rest = after;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out + rest
}

/// Whether the sentence stands in the text, word for word; where a line of the text is wrapped, the sentence has a space.
#[must_use]
pub fn holds(sentence: &str, text: &str) -> bool {
    !sentence.trim().is_empty() && text::unwrapped(text).contains(&text::unwrapped(sentence))
}

/// What an answer says around its quotes, in one language.
struct Frame {
    language: Language,
    memory: &'static str,
    nearest: &'static str,
    talk: &'static str,
    nothing: &'static str,
    kept: &'static str,
    greeting: &'static str,
    thanks: &'static str,
    farewell: &'static str,
    reply: &'static str,
    in_chat: &'static str,
    person: &'static str,
    brain: &'static str,
    comma: &'static str,
}

const ENGLISH: Frame = Frame {
    language: Language::English,
    memory: "From memory, word for word, without a model:",
    nearest: "The nearest that I know, word for word, without a model:",
    talk: "From our conversations:",
    nothing: "I know nothing about that.",
    kept: "I will remember that.",
    greeting: "Hello. Ask me something, or tell me something to remember.",
    thanks: "You are welcome.",
    farewell: "Goodbye.",
    reply: "All right.",
    in_chat: "told in a chat",
    person: "you: ",
    brain: "I: ",
    comma: ", ",
};

const FRENCH: Frame = Frame {
    language: Language::French,
    memory: "De mémoire, mot pour mot, sans modèle :",
    nearest: "Ce que je sais de plus proche, mot pour mot, sans modèle :",
    talk: "De nos conversations :",
    nothing: "Je ne sais rien là-dessus.",
    kept: "Je me souviendrai de ce que tu as dit.",
    greeting: "Bonjour. Pose-moi une question, ou dis-moi quelque chose à retenir.",
    thanks: "De rien.",
    farewell: "Au revoir.",
    reply: "D'accord.",
    in_chat: "dit en conversation",
    person: "toi : ",
    brain: "moi : ",
    comma: ", ",
};

const JAPANESE: Frame = Frame {
    language: Language::Japanese,
    memory: "記憶からの引用です（モデルは使っていません）：",
    nearest: "最も近い記憶の引用です（モデルは使っていません）：",
    talk: "これまでの会話から：",
    nothing: "それについては何も知りません。",
    kept: "今の言葉は覚えておきます。",
    greeting: "こんにちは。質問するか、覚えておくことを話してください。",
    thanks: "どういたしまして。",
    farewell: "さようなら。",
    reply: "わかりました。",
    in_chat: "会話で聞いたこと",
    person: "あなた：",
    brain: "私：",
    comma: "、",
};

const MONTHS: [[&str; 12]; 2] = [
    [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
];

impl Frame {
    fn of(language: Option<Language>) -> &'static Self {
        match language {
            Some(Language::French) => &FRENCH,
            Some(Language::Japanese) => &JAPANESE,
            _ => &ENGLISH,
        }
    }

    fn day(&self, at: Stamp) -> Option<String> {
        let day = date::day_of(at.unix())?;
        let (year, month, of_month) = (day.year(), usize::from(day.month().unsigned_abs()), day.day());
        let name = |of: usize| MONTHS[of][month - 1];
        Some(match self.language {
            Language::French if of_month == 1 => format!("1er {} {year}", name(1)),
            Language::French => format!("{of_month} {} {year}", name(1)),
            Language::Japanese => format!("{year}年{month}月{of_month}日"),
            _ => format!("{of_month} {} {year}", name(0)),
        })
    }
}

/// The answer that the quotes of memories and the turns of conversations make, in the language of what was said; it says what it is.
/// To what is told it says that it is remembered, if it `remembers`.
#[must_use]
pub fn worded(said: &str, quotes: &[Quote], turns: &[Quote], remembers: bool) -> String {
    let act = talk::act(said);
    let polite = || matches!(act, Act::SmallTalk(_)).then(|| talk::language_of_courtesy(said)).flatten();
    let frame = Frame::of(text::language(said).or_else(polite));
    let line = |quote: &Quote| {
        let (said, label) = (uncited(&quote.sentence), uncited(&quote.label));
        match (label.is_empty(), frame.language) {
            (true, _) => format!("- {said} [{}]", quote.n),
            (_, Language::Japanese) => format!("- {said} [{}]（{label}）", quote.n),
            _ => format!("- {said} [{}] ({label})", quote.n),
        }
    };
    let mut lines: Vec<String> = Vec::new();
    let opening = if quotes.iter().any(|quote| quote.fits) { frame.memory } else { frame.nearest };
    for (opening, quotes) in [(opening, quotes), (frame.talk, turns)] {
        if !quotes.is_empty() {
            lines.push(opening.to_owned());
            lines.extend(quotes.iter().map(line));
        }
    }
    let kept = remembers && act == Act::Told;
    match act {
        _ if kept => {
            lines.push(frame.kept.to_owned());
        }
        _ if !lines.is_empty() => {}
        Act::SmallTalk(courtesy) => lines.push(
            match courtesy {
                Courtesy::Greeting => frame.greeting,
                Courtesy::Thanks => frame.thanks,
                Courtesy::Farewell => frame.farewell,
                Courtesy::Acknowledgement => frame.reply,
            }
            .to_owned(),
        ),
        _ => lines.push(frame.nothing.to_owned()),
    }
    lines.join("\n")
}

/// A text whose own numbers in brackets are round ones, and no citations of the answer that quotes it.
fn uncited(text: &str) -> String {
    with_citations(text, |out, numbers| {
        out.push('(');
        out.push_str(numbers);
        out.push(')');
    })
}

/// The numbers that a text cites as `[1]` or `[1, 2]`, each once, in the order in which they stand there.
#[must_use]
pub fn cited(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((inside, _)) = part.split_once(']') else { continue };
        let numbers: Option<Vec<usize>> = inside.split(',').map(|n| n.trim().parse().ok()).collect();
        for n in numbers.unwrap_or_default() {
            if !found.contains(&n) {
                found.push(n);
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
