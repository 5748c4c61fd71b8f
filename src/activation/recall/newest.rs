//! A newer memory stands before the older answer that it changes.
//!
//! Two kinds of evidence, both of the words alone: the newer memory says the same but for one value, or a sentence of it says that something
//! changed ([`crate::text::change`]) and is about the same. The newer one takes the place of the older: nothing is passed that did not stand
//! behind the older answer. Must not know where memories come from; whoever asks says whom it trusts.

use std::collections::{BTreeMap, BTreeSet};

use super::question::Asked;
use super::ranking::{By, Candidate};
use super::{Evidence, Method, Trust};
use crate::activation::graph::NodeIx;
use crate::activation::index::{Forms, Index, Told, idf};
use crate::activation::reading::{ASKS, CAPITAL, CHANGED, CONTENT, OWNER};
use crate::model::NeuronId;
use crate::text::Language;
use crate::text::change::{self, Change};

/// Most words of a value.
const VALUE: usize = 4;
/// Most words of a sentence that says that something changed.
const SENTENCE: usize = 40;
/// Most function words between who does something and that it is done.
const BETWEEN: usize = 4;
/// Among how many of the best a statement that is the same but for a value is looked for.
const VALUE_AMONG: usize = 64;
/// Memories with the words of an older one that are looked at for newer ones: those of its rarest words first.
const LOOKED: usize = 8_192;
/// Stems of words by which who speaks says that it is about the speaker.
const FIRST_PERSON: [&str; 16] =
    ["i", "i've", "i'v", "i'm", "we", "we've", "we'v", "we're", "we'r", "j", "je", "nous", "on", "ai", "avon", "avons"];
/// Particles behind what a Japanese sentence is about.
const TOPIC: [&str; 3] = ["は", "が", "も"];

/// The parts of a question that tell which memories are about the same.
pub(super) struct Wanted<'q> {
    /// Its content words.
    pub words: &'q [&'q Forms],
    /// Whether it names this speaker.
    pub names: &'q dyn Fn(u64) -> bool,
}

impl<'q> Wanted<'q> {
    /// The stems of its words in texts of a language: those of which a memory keeps a bit.
    fn stems(&self, language: Option<Language>) -> impl Iterator<Item = &'q str> + use<'q> {
        self.words.iter().take(64).map(move |forms| forms.stem_in(language))
    }
}

/// A memory with the words of the question that it has, as a bit each.
pub(super) struct Memory<'a> {
    told: Told<'a>,
    /// Content words.
    content: BTreeSet<&'a str>,
    has: u64,
}

impl<'a> Memory<'a> {
    pub fn new(told: Told<'a>, wanted: &Wanted<'_>) -> Self {
        let content: BTreeSet<&str> = content(&told.words).collect();
        let has = held(&content, told.language, wanted);
        Self { told, content, has }
    }

    /// The relations that it speaks of, a bit each.
    fn about(&self) -> u8 {
        self.told.words.iter().fold(0, |all, (stem, _)| all | change::about(self.told.language, stem))
    }

    /// The sentence that says that something changed.
    fn sentence(&self) -> &[(&'a str, u32)] {
        let from = self.told.words.iter().position(|(_, flags)| flags & CHANGED != 0).unwrap_or(0);
        let rest = &self.told.words[from..];
        let to = rest.iter().position(|(_, flags)| flags & CHANGED == 0).unwrap_or(rest.len());
        &rest[..to]
    }
}

fn content<'w, 'a: 'w>(words: &'w [(&'a str, u32)]) -> impl Iterator<Item = &'a str> + use<'w, 'a> {
    words.iter().filter(|(_, flags)| flags & CONTENT != 0).map(|(stem, _)| *stem)
}

fn held(content: &BTreeSet<&str>, language: Option<Language>, wanted: &Wanted<'_>) -> u64 {
    let stems = wanted.stems(language).enumerate();
    stems.filter(|(_, stem)| content.contains(*stem)).fold(0, |has, (at, _)| has | 1 << at)
}

/// Puts what is newer before the older answer that it changes, with that one's score.
pub(super) fn newest_first(
    index: &Index<'_>,
    question: &str,
    asked: &Asked,
    found: &mut Vec<Candidate>,
    method: &Method,
    is_trusted: Trust<'_>,
) {
    // A question about a time wants the state of then.
    if method.older == 0
        || !method.change && !method.value
        || asked.cues.iter().any(|cue| cue.from == "date")
        || change::asks_before(question, index.language())
    {
        return;
    }
    let names = |speaker: u64| asked.speakers.contains_key(&speaker);
    // In Japanese what stands in hiragana alone is how a word ends.
    let words: Vec<&Forms> = asked.words.iter().filter(|forms| !change::is_ending(&forms.stem)).collect();
    let wanted = Wanted { words: &words, names: &names };
    let read = |node: NodeIx| index.told(node, method.brief).map(|told| Memory::new(told, &wanted));
    let olders: Vec<Option<Memory<'_>>> = found.iter().take(method.older).map(|one| read(one.node)).collect();
    let mut changes: Vec<(i64, usize, usize, Evidence)> = Vec::new();
    for (at, one) in found.iter().enumerate().take(method.beam).skip(1) {
        let says = method.change && index.says_change(one.node, method.brief);
        if matches!(one.by, By::Words) || !says && (!method.value || at >= VALUE_AMONG) {
            continue;
        }
        let created = index.created(one.node).unix();
        let mut newer = None;
        let before = olders.iter().take(at).enumerate().filter_map(|(at, older)| Some((at, older.as_ref()?)));
        for (older_at, older) in before.filter(|(_, older)| older.told.created < created) {
            let Some(newer) = newer.get_or_insert_with(|| read(one.node)) else { break };
            let evidence = (says && says_change(older, newer, &wanted))
                .then_some(Evidence::Change)
                .or_else(|| (method.value && same_but_for_a_value(older, newer)).then_some(Evidence::Value));
            // An untrusted memory passes no trusted one.
            let trusts = |one: &Candidate| is_trusted(index.graph.id(one.node));
            let may_pass = || trusts(one) || !found[older_at..at].iter().any(trusts);
            if let Some(evidence) = evidence.filter(|_| may_pass()) {
                changes.push((created, at, older_at, evidence));
                break;
            }
        }
    }
    if changes.is_empty() {
        return;
    }
    // The newest last: it goes before all that were put before the same answer.
    changes.sort_by_key(|(created, at, ..)| (*created, std::cmp::Reverse(*at)));
    let mut order: Vec<usize> = (0..found.len()).collect();
    let mut put: Vec<(usize, usize)> = Vec::new();
    for (_, at, older, evidence) in changes {
        let is_of_group = |other: &usize| *other == older || put.contains(&(*other, older));
        let (Some(to), Some(from)) = (order.iter().position(is_of_group), order.iter().position(|other| *other == at))
        else {
            continue;
        };
        put.push((at, older));
        if to < from {
            let score = found[order[to]].score;
            found[at].score = found[at].score.max(score);
            found[at].changes = Some((found[older].node, evidence));
            order[to..=from].rotate_right(1);
        }
    }
    *found = order.into_iter().map(|at| found[at]).collect();
}

/// Whether a newer memory says by its words that what an older one says changed, whatever was asked.
pub fn names_change(index: &Index<'_>, older: &NeuronId, newer: &NeuronId) -> bool {
    let most = Method::default().brief;
    let wanted = Wanted { words: &[], names: &|_| false };
    let told = |id: &NeuronId| index.graph.find(id).and_then(|node| Some((node, index.told(node, most)?)));
    let (Some((_, older)), Some((node, newer))) = (told(older), told(newer)) else { return false };
    older.created < newer.created
        && index.says_change(node, most)
        && is_changed_by(&Memory::new(older, &wanted), &Memory::new(newer, &wanted), &wanted)
}

/// Whether a newer memory says that what an older one says changed, or that what it names is no more.
fn is_changed_by(older: &Memory<'_>, newer: &Memory<'_>, wanted: &Wanted<'_>) -> bool {
    says_change(older, newer, wanted) || ends_a_value(older, newer)
}

/// Whether the newer memory says that something was replaced or ended that the older one has by its name, behind what it speaks of: `We dropped
/// Mattermost, everyone is on Zulip` beside `The chat runs on Mattermost`.
fn ends_a_value(older: &Memory<'_>, newer: &Memory<'_>) -> bool {
    let words = newer.sentence();
    if words.is_empty() || words.len() > SENTENCE {
        return false;
    }
    let sentence = Sentence::of(words, newer.told.language, older);
    let told = sentence.told();
    let mut named = older.told.words.iter().filter(|(_, flags)| flags & CONTENT != 0).skip(1);
    let is_name = |stem: &str, flags: u32| flags & CAPITAL != 0 || stem.contains(|c: char| c == '.' || c.is_numeric());
    (sentence.said.replaced || sentence.said.ended)
        && named.any(|(stem, flags)| is_name(stem, *flags) && told.contains(stem))
}

/// Memories that say by their words that what one of these says changed, and are newer, oldest first; of more than `most` those that share the
/// rarest words with it. Whatever was asked, and at a cost that is bounded whatever the size of the network.
pub fn changing(index: &Index<'_>, older: &[&NeuronId], most: usize) -> Vec<NeuronId> {
    let brief = Method::default().brief;
    let wanted = Wanted { words: &[], names: &|_| false };
    let read = |node: NodeIx| index.told(node, brief).map(|told| Memory::new(told, &wanted));
    let mut found: BTreeMap<NodeIx, f64> = BTreeMap::new();
    for older in older.iter().filter_map(|id| read(index.graph.find(id)?)) {
        let mut stems: Vec<(usize, &str)> = older.content.iter().map(|stem| (index.rarity(stem), *stem)).collect();
        stems.sort_unstable();
        let mut shared: BTreeMap<NodeIx, f64> = BTreeMap::new();
        let mut looked = 0;
        for (count, stem) in stems {
            // The rarest word is always looked for.
            if looked > 0 && looked + count > LOOKED {
                break;
            }
            looked += count;
            let says =
                |node: &NodeIx| index.created(*node).unix() > older.told.created && index.says_change(*node, brief);
            for node in index.with_stem(stem).filter(says) {
                *shared.entry(node).or_default() += idf(count, index.memories());
            }
        }
        shared.retain(|node, _| read(*node).is_some_and(|newer| is_changed_by(&older, &newer, &wanted)));
        found.extend(shared);
    }
    let mut found: Vec<(NodeIx, f64)> = found.into_iter().collect();
    let age = |node: NodeIx| (index.created(node), index.graph.order(node));
    found.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| age(*b).cmp(&age(*a))));
    found.truncate(most);
    found.sort_by_key(|(node, _)| age(*node));
    found.into_iter().filter_map(|(node, _)| NeuronId::parse(index.graph.id(node)).ok()).collect()
}

/// Whether two statements are one but for a value: the same words around it, of the same speaker.
pub(super) fn same_but_for_a_value(older: &Memory<'_>, newer: &Memory<'_>) -> bool {
    let asks = newer.told.words.last().is_some_and(|(_, flags)| flags & ASKS != 0);
    if asks || older.told.speaker != newer.told.speaker || older.has != newer.has {
        return false;
    }
    let (a, b) = (&older.told.words, &newer.told.words);
    let same = |(x, y): (&(&str, u32), &(&str, u32))| x.0 == y.0;
    let before = a.iter().zip(b).take_while(|pair| same(*pair)).count();
    let most = a.len().min(b.len()) - before;
    let after = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|pair| same(*pair)).count();
    let (old, new) = (&a[before..a.len() - after], &b[before..b.len() - after]);
    let common = || a[..before].iter().chain(&a[a.len() - after..]);
    let is_value = |words: &[(&str, u32)]| words.len() <= VALUE && words.iter().any(|(_, flags)| flags & CONTENT != 0);
    let longer = a.len().max(b.len());
    (before + after) * 2 >= longer
        && before + after >= 2
        && common().any(|(_, flags)| flags & CONTENT != 0)
        && is_value(old)
        && is_value(new)
        && is_of_a_kind(old, new)
}

/// Whether new words can be a value in the place of old ones: a name for a name, a number for a number.
fn is_of_a_kind(old: &[(&str, u32)], new: &[(&str, u32)]) -> bool {
    let is_name = |words: &[(&str, u32)]| words.iter().any(|(_, flags)| flags & CAPITAL != 0);
    let is_number =
        |words: &[(&str, u32)]| words.iter().any(|(stem, _)| stem.starts_with(|c: char| c.is_ascii_digit()));
    (!is_name(old) || is_name(new)) && (!is_number(old) || is_number(new))
}

/// Whether the newer memory says that something changed, and that is what the older one says.
pub(super) fn says_change(older: &Memory<'_>, newer: &Memory<'_>, wanted: &Wanted<'_>) -> bool {
    let words = newer.sentence();
    let same_speaker = older.told.speaker == newer.told.speaker;
    if words.is_empty() || words.len() > SENTENCE || (wanted.names)(older.told.speaker) && !same_speaker {
        return false;
    }
    let sentence = Sentence::of(words, newer.told.language, older);
    let mut all = newer.content.clone();
    all.retain(|stem| !sentence.is_of_another(stem));
    let missing = older.has & !held(&all, newer.told.language, wanted);
    let shared: BTreeSet<&str> = sentence.told().intersection(&older.content).copied().collect();
    if !same_speaker && shared.is_empty() {
        return false;
    }
    let said = &sentence.said;
    let least = sentence.told().len().min(older.content.len());
    let is_about_it = shared.len() >= 2 || shared.len() == 1 && least <= 2;
    let is_asked = |stem: &&str| wanted.stems(newer.told.language).any(|asked| asked == *stem);
    let ends_it = || shared.iter().any(|stem| !is_asked(stem)) || sentence.told().is_subset(&older.content);
    let holds_all = missing == 0
        && (said.replaced && is_about_it
            || said.ended && is_about_it && ends_it()
            || said.present && sentence.has_frame(older));
    holds_all || sentence.changes_relation(older, missing, wanted, same_speaker)
}

/// A sentence that says that something changed, beside an older memory.
struct Sentence<'w, 'a> {
    words: &'w [(&'a str, u32)],
    language: Option<Language>,
    said: Change,
    /// Which words name whose something is of which the older memory does not speak: `Anna's brother` is not Anna.
    of_another: Vec<bool>,
}

impl<'w, 'a> Sentence<'w, 'a> {
    fn of(words: &'w [(&'a str, u32)], language: Option<Language>, older: &Memory<'_>) -> Self {
        let stems: Vec<&str> = words.iter().map(|(stem, _)| *stem).collect();
        let spoken_of = older.about();
        let said = change::change(language, &stems);
        let is_another = |at: usize| {
            let unknown = |thing: usize| {
                let stem = words[thing].0;
                !said.by[thing] && !older.content.contains(stem) && change::about(language, stem) & spoken_of == 0
            };
            // `instead of tea` owns nothing.
            let is_said = at > 0 && said.by[at - 1];
            words[at].1 & OWNER != 0 && !is_said && owned(words, at, language).is_some_and(unknown)
        };
        let of_another = (0..words.len()).map(is_another).collect();
        Self { words, language, said, of_another }
    }

    fn is_of_another(&self, stem: &str) -> bool {
        self.words.iter().zip(&self.of_another).any(|((word, _), is)| *is && *word == stem)
    }

    /// The content words beside those that say that something changed.
    fn told(&self) -> BTreeSet<&'a str> {
        let words = self.words.iter().enumerate();
        let told = words.filter(|(at, (_, flags))| flags & CONTENT != 0 && !self.said.by[*at] && !self.of_another[*at]);
        told.map(|(_, (stem, _))| *stem).collect()
    }

    /// Whether half of it and of the older memory are the same words in the same order, and the others of a kind.
    fn has_frame(&self, older: &Memory<'_>) -> bool {
        let rest = self.words.iter().enumerate().filter(|(at, _)| !self.said.by[*at]).map(|(_, word)| *word);
        let (old, new) = (&older.told.words, rest.collect::<Vec<_>>());
        let common = common(old, &new);
        let (old_places, new_places): (BTreeSet<usize>, BTreeSet<usize>) = common.iter().copied().unzip();
        let (old_left, new_left) = (without(old, &old_places), without(&new, &new_places));
        common.iter().any(|(at, _)| old[*at].1 & CONTENT != 0)
            && common.len() * 2 >= old.len().max(new.len())
            && content(&new_left).next().is_some()
            && is_of_a_kind(&old_left, &new_left)
    }

    /// Whether it says that a relation changed, of which the older memory speaks, and all of the question that it does not say itself: who
    /// moved lives elsewhere.
    fn changes_relation(&self, older: &Memory<'_>, missing: u64, wanted: &Wanted<'_>, same_speaker: bool) -> bool {
        let lacks = wanted.stems(self.language).enumerate().filter(|(at, _)| missing & 1 << at != 0);
        let explained = lacks.fold(older.about(), |all, (_, stem)| all & change::about(self.language, stem));
        // Somebody may move to a place without a name; who works at Acme, and joins a choir, has no other work.
        let names = |words: &[(&str, u32)], known: &BTreeSet<&str>| {
            words.iter().any(|(stem, flags)| flags & CAPITAL != 0 && !known.contains(stem))
        };
        let is_of_a_kind = |relation: u8| {
            relation == change::HOME || !names(&older.told.words, &self.told()) || names(self.words, &older.content)
        };
        let is_said = |(relation, at): &(u8, usize)| {
            explained & 1 << relation != 0 && is_of_a_kind(*relation) && self.is_of(*at, older, same_speaker)
        };
        explained != 0 && self.said.relations.iter().any(is_said)
    }

    /// Whether who does what is said at that place is whom the older memory speaks of.
    fn is_of(&self, at: usize, older: &Memory<'_>, same_speaker: bool) -> bool {
        let is_known = |at: usize| older.content.contains(self.words[at].0) && !self.of_another[at];
        let is_content = |at: &usize| self.words[*at].1 & CONTENT != 0;
        if self.language == Some(Language::Japanese) {
            let is_topic = |at: &usize| self.words.get(at + 1).is_some_and(|(next, _)| TOPIC.contains(next));
            let named = (0..self.words.len()).filter(|at| is_content(at) && is_topic(at)).collect::<Vec<_>>();
            return if named.is_empty() { same_speaker } else { named.into_iter().all(is_known) };
        }
        let before = (0..at).rev().take_while(|at| !is_content(at)).collect::<Vec<_>>();
        let subject = at.checked_sub(before.len() + 1);
        let is_i = |at: &usize| FIRST_PERSON.contains(&self.words[*at].0);
        match subject {
            _ if before.iter().any(is_i) => same_speaker,
            Some(subject) => before.len() <= BETWEEN && is_known(subject),
            None => before.is_empty() && same_speaker && older.told.speaker != 0,
        }
    }
}

/// The words at other places than these.
fn without<'a>(words: &[(&'a str, u32)], places: &BTreeSet<usize>) -> Vec<(&'a str, u32)> {
    (0..words.len()).filter(|at| !places.contains(at)).map(|at| words[at]).collect()
}

/// The place of the content word whose owner stands at a place.
fn owned(words: &[(&str, u32)], at: usize, language: Option<Language>) -> Option<usize> {
    let is_content = |at: &usize| words[*at].1 & CONTENT != 0;
    let is_behind = language != Some(Language::French) && !(at > 0 && words[at - 1].0 == "of");
    if is_behind { (at + 1..words.len()).find(is_content) } else { (0..at).rev().find(is_content) }
}

/// The longest row of words that two texts have in the same order, as pairs of places.
fn common(a: &[(&str, u32)], b: &[(&str, u32)]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut most = vec![0_u16; (a.len() + 1) * width];
    for x in (0..a.len()).rev() {
        for y in (0..b.len()).rev() {
            most[x * width + y] = match a[x].0 == b[y].0 {
                true => most[(x + 1) * width + y + 1] + 1,
                false => most[(x + 1) * width + y].max(most[x * width + y + 1]),
            };
        }
    }
    let (mut x, mut y, mut pairs) = (0, 0, Vec::new());
    while x < a.len() && y < b.len() {
        if a[x].0 == b[y].0 {
            pairs.push((x, y));
            (x, y) = (x + 1, y + 1);
        } else if most[(x + 1) * width + y] >= most[x * width + y + 1] {
            x += 1;
        } else {
            y += 1;
        }
    }
    pairs
}
