//! From a question to cues: its words, names, titles, dates, and the speakers whom it names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Method;
use crate::activation::graph::NodeIx;
use crate::activation::index::{Forms, Index, NameIx};
use crate::activation::reading::speaker_hash;
use crate::limits;
use crate::model::Stamp;
use crate::text::{self, Markup, Word};

/// One cue: what it is called, how much its wave counts, where it starts.
pub(super) struct Cue {
    pub words: String,
    /// Of a word that is looked for in texts: its forms.
    pub forms: Option<Forms>,
    pub weight: f64,
    pub seeds: Vec<(NodeIx, f64)>,
    /// What its seeds have of it: `text` (a word), `name`, `title`, `date`, `speaker` or `meaning`.
    pub from: &'static str,
}

/// A question as recall sees it.
pub(super) struct Asked {
    pub cues: Vec<Cue>,
    pub words: Vec<Forms>,
    /// Names that the question has. They bring their memories by themselves, so no wave goes through them.
    pub names: BTreeSet<NameIx>,
    /// [`speaker_hash`] of the speakers that it names, and whether by the whole name.
    pub speakers: BTreeMap<u64, bool>,
}

impl Asked {
    pub fn of(index: &Index<'_>, question: &str, now: Stamp, meaning: &[(NodeIx, f64)], method: &Method) -> Self {
        let words = words_asked(index, question);
        let Speakers { named: speakers, spoken, before_colon } = speakers(index, &words);
        let rest: Vec<&Word<'_>> = words.iter().zip(&spoken).filter(|(_, s)| !**s).map(|(word, _)| word).collect();
        // A question of function words alone is asked with them, and one of a name alone with the name.
        let parts: Vec<String> = words.iter().flat_map(|word| text::identifier_parts(word, index.language())).collect();
        let content: Vec<&Word<'_>> = rest.iter().filter(|word| !word.is_stop).copied().collect();
        let looked_for = [content, rest, words.iter().collect()].into_iter().find(|words| !words.is_empty());
        let mut distinct: Vec<Forms> = Vec::new();
        for word in looked_for.unwrap_or_default() {
            if distinct.iter().all(|forms| forms.stem != word.stem) {
                distinct.push(index.forms(word));
            }
        }
        let whole = distinct.len();
        for part in parts {
            if distinct.iter().all(|forms| forms.stem != part) {
                distinct.push(Forms::one(&part));
            }
        }
        let spelt = Spelt::of(index, &words);
        let mut cues = name_cues(index, &spelt, method);
        cues.extend(title_cues(index, question, &spelt, method));
        let inside: BTreeSet<String> = cues.iter().flat_map(|cue| cue.words.split(' ')).map(str::to_owned).collect();
        let all = index.memories();
        let dates = if method.date > 0.0 { date_cues(index, question, now, method) } else { Vec::new() };
        // Where a date is a cue, the words that say it, and that something happened, say little beside it.
        let of_date: BTreeSet<&str> = match dates.is_empty() {
            true => BTreeSet::new(),
            false => words.iter().filter(|word| says_when(word)).map(|word| word.stem.as_str()).collect(),
        };
        cues.extend(distinct.iter().enumerate().filter_map(|(at, forms)| {
            let stem = &forms.stem;
            let mut seeds = index.word(forms, method.length);
            let labelled = before_colon.get(stem).map(Vec::as_slice).unwrap_or_default();
            add_labelled(index, &mut seeds, labelled, method);
            let share = if forms.stems().any(|stem| inside.contains(stem)) { method.inside } else { 1.0 };
            let share = if at >= whole { share * method.part } else { share };
            let share = if of_date.contains(stem.as_str()) { share * method.dated } else { share };
            let weight = share * method.weight(seeds.len(), all);
            (!seeds.is_empty()).then(|| Cue {
                words: stem.clone(),
                forms: Some(forms.clone()),
                weight,
                seeds,
                from: "text",
            })
        }));
        cues.extend(dates);
        if cues.is_empty() && !speakers.is_empty() {
            let turns = index.all_memories().filter(|memory| speakers.contains_key(&index.speaker(*memory)));
            let seeds: Vec<(NodeIx, f64)> = turns.map(|memory| (memory, 0.5)).collect();
            cues.push(Cue { words: question.to_owned(), forms: None, weight: 1.0, seeds, from: "speaker" });
        }
        let others: f64 = cues.iter().map(|cue| cue.weight).sum();
        let weight = method.meaning * if others > 0.0 { others } else { 1.0 };
        cues.extend(meaning_cue(index, question, meaning, weight, method.alike));
        let names = if method.asked_names { BTreeSet::new() } else { names_asked(index, &spelt) };
        Self { cues, words: distinct, names, speakers }
    }

    /// Holds back the words of those of the best memories that have them far from each other: what answers a question stands together.
    /// `direct` is as [`Asked::direct`] has it, before and after.
    pub fn prefer_passages(&mut self, index: &Index<'_>, method: &Method, direct: &mut [f64]) {
        let by_words = |cue: &&Cue| cue.from == "text";
        let mut seen = NodeSet::new(index.graph.len());
        let mut best: Vec<NodeIx> = Vec::new();
        for (node, _) in self.cues.iter().filter(by_words).flat_map(|cue| &cue.seeds) {
            if seen.insert(*node) {
                best.push(*node);
            }
        }
        if best.len() > method.beam {
            best.select_nth_unstable_by(method.beam, |a, b| {
                let by_direct = direct[b.0 as usize].total_cmp(&direct[a.0 as usize]);
                by_direct.then_with(|| index.graph.order(*a).cmp(&index.graph.order(*b)))
            });
            best.truncate(method.beam);
        }
        let stems = index.weighed(self.cues.iter().filter_map(|cue| Some((cue.forms.as_ref()?, cue.weight))));
        let mut among = NodeSet::new(index.graph.len());
        let mut left: HashMap<NodeIx, f64> = HashMap::with_capacity(best.len());
        for node in best {
            among.insert(node);
            direct[node.0 as usize] = 0.0;
            left.insert(node, 1.0 - method.passage * (1.0 - index.best_passage(node, &stems, method.window)));
        }
        for cue in &mut self.cues {
            for (node, strength) in cue.seeds.iter_mut().filter(|(node, _)| among.has(*node)) {
                if cue.from == "text" {
                    *strength *= left[node];
                }
                direct[node.0 as usize] += cue.weight * *strength;
            }
        }
    }

    /// The share of the question that the memory leaves open which all cues together bring most to: 0 if it has every cue.
    pub fn left_open(&self, index: &Index<'_>, direct: &[f64]) -> f64 {
        let seeds = self.cues.iter().flat_map(|cue| &cue.seeds).map(|(node, _)| *node);
        let best = seeds.max_by(|a, b| {
            let by_direct = direct[a.0 as usize].total_cmp(&direct[b.0 as usize]);
            by_direct.then_with(|| index.graph.order(*b).cmp(&index.graph.order(*a)))
        });
        let Some(best) = best else { return 1.0 };
        let all: f64 = self.cues.iter().map(|cue| cue.weight).sum();
        let has = |cue: &&Cue| cue.seeds.iter().any(|(node, _)| *node == best);
        let had: f64 = self.cues.iter().filter(has).map(|cue| cue.weight).sum();
        if all > 0.0 { 1.0 - had / all } else { 1.0 }
    }

    /// What all cues together bring to each node before anything spreads.
    pub fn direct(&self, index: &Index<'_>) -> Vec<f64> {
        let mut direct = vec![0.0; index.graph.len()];
        for cue in &self.cues {
            for (node, strength) in &cue.seeds {
                direct[node.0 as usize] += cue.weight * strength;
            }
        }
        direct
    }
}

/// Adds memories that have a word before a colon to those that have it in their texts: as much as it would count there once.
fn add_labelled(index: &Index<'_>, seeds: &mut Vec<(NodeIx, f64)>, labelled: &[NodeIx], method: &Method) {
    let held: BTreeSet<NodeIx> = match labelled {
        [] => return,
        _ => seeds.iter().map(|(node, _)| *node).collect(),
    };
    let labelled: BTreeSet<NodeIx> = labelled.iter().copied().filter(|node| !held.contains(node)).collect();
    seeds.extend(labelled.into_iter().map(|node| (node, index.once(node, method.length))));
}

/// Some nodes, in a bit each.
struct NodeSet(Vec<u64>);

impl NodeSet {
    fn new(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(64)])
    }

    fn has(&self, node: NodeIx) -> bool {
        self.0[node.0 as usize / 64] & (1 << (node.0 % 64)) != 0
    }

    /// Takes a node in; true if the set did not have it.
    fn insert(&mut self, node: NodeIx) -> bool {
        let is_new = !self.has(node);
        self.0[node.0 as usize / 64] |= 1 << (node.0 % 64);
        is_new
    }
}

/// The memories that mean most nearly what the question means. Similarities of a model have a scale of their own: the best one counts
/// 1, the best that is left out 0.
fn meaning_cue(index: &Index<'_>, question: &str, meaning: &[(NodeIx, f64)], weight: f64, most: usize) -> Option<Cue> {
    let mut alike: Vec<(NodeIx, f64)> = meaning.to_vec();
    let order = |(a, x): &(NodeIx, f64), (b, y): &(NodeIx, f64)| {
        y.total_cmp(x).then_with(|| index.graph.order(*a).cmp(&index.graph.order(*b)))
    };
    alike.sort_unstable_by(order);
    let best = alike.first()?.1;
    let least = alike.get(most).or(alike[1..].last()).map_or(0.0, |(_, similarity)| *similarity);
    alike.truncate(most);
    let seeds: Vec<(NodeIx, f64)> = alike.into_iter().map(|(node, x)| (node, (x - least) / (best - least))).collect();
    let counts = weight > 0.0 && best > least;
    counts.then(|| Cue { words: question.to_owned(), forms: None, weight, seeds, from: "meaning" })
}

/// The words of a question. One that no memory has in the language of the question, or of most memories, may be one of another
/// language that memories are in.
pub(super) fn words_asked<'q>(index: &Index<'_>, question: &'q str) -> Vec<Word<'q>> {
    let mut words = text::words_in(question, index.language());
    for word in words.iter_mut().filter(|word| !word.is_stop && index.rarity(&word.stem) == 0) {
        // Texts of no known language are stemmed as English.
        let others = index.languages().map(Some).chain([None]).map(|language| text::stem(&word.key, language));
        if let Some(stem) = others.into_iter().find(|stem| index.rarity(stem) > 0) {
            word.stem = stem;
        }
    }
    words
}

/// Speakers that a question names.
pub(super) struct Speakers {
    /// [`speaker_hash`] of each, and whether by the whole name.
    pub named: BTreeMap<u64, bool>,
    /// Which words of the question name one.
    pub spoken: Vec<bool>,
    /// By the stem of a word: the memories that have it before a colon, where it may be no name, as in `Canary: one host that …` and
    /// `Decided: the gate stays open`. It stays a word that is looked for.
    pub before_colon: BTreeMap<String, Vec<NodeIx>>,
}

/// Roles of a chat: names of speakers that are written in lower case.
const ROLES: [&str; 8] = ["user", "assistant", "system", "human", "ai", "bot", "agent", "model"];

/// Whether a word of a question means the speaker of that name: it has a capital, some text writes it as a name, or it is a role.
fn means_speaker(index: &Index<'_>, word: &Word<'_>) -> bool {
    let is_name = |stem: &str| index.name(stem).is_some_and(|name| index.is_name(name));
    !word.surface.starts_with(char::is_lowercase) || ROLES.contains(&word.key.as_str()) || is_name(&word.stem)
}

/// Finds the speakers that a question names, and which of its words name them.
pub(super) fn speakers(index: &Index<'_>, words: &[Word<'_>]) -> Speakers {
    let (mut speakers, mut spoken) = (BTreeMap::new(), vec![false; words.len()]);
    let mut before_colon: BTreeMap<String, Vec<NodeIx>> = BTreeMap::new();
    for from in 0..words.len() {
        let mut name = String::new();
        for to in from..words.len() {
            name.push_str(if to > from { " " } else { "" });
            name.push_str(&words[to].key);
            if !index.names_speaker(&name) {
                break;
            }
            let mut named = index.speakers(&name);
            let is_label = from == to && !means_speaker(index, &words[from]);
            named.retain(|node| {
                let turns = match only_turn(index, *node) {
                    Some(turn) => vec![turn],
                    None if is_label => turns(index, *node),
                    None => return true,
                };
                let stems = words[from..=to].iter().map(|word| word.stem.clone());
                stems.for_each(|stem| before_colon.entry(stem).or_default().extend(&turns));
                false
            });
            if !named.is_empty() {
                spoken[from..=to].fill(true);
            }
            speakers.extend(named.into_iter().map(|node| (speaker_hash(index.graph.id(node)), true)));
        }
        // A part of a name names those who have it, unless it is an ordinary word; it stays a word that is looked for.
        let word = &words[from];
        if !word.is_stop && !spoken[from] {
            let labels = index.speakers_like(word).into_iter().flat_map(|node| turns(index, node));
            let labelled: Vec<NodeIx> = labels.take(limits::LABELLED).collect();
            if !labelled.is_empty() {
                before_colon.entry(word.stem.clone()).or_default().extend(labelled);
            }
        }
        let is_name = !word.is_stop && !word.surface.starts_with(char::is_lowercase);
        for node in index.speakers_called(&word.key).into_iter().filter(|_| is_name && !spoken[from]) {
            speakers.entry(speaker_hash(index.graph.id(node))).or_insert(false);
        }
    }
    Speakers { named: speakers, spoken, before_colon }
}

/// The memories of a speaker, as far as they count where the name is a word.
fn turns(index: &Index<'_>, speaker: NodeIx) -> Vec<NodeIx> {
    let ends = index.graph.spread(speaker).map(|edge| edge.target).filter(|end| index.is_memory(*end));
    let mut turns: Vec<NodeIx> = ends.take(limits::LABELLED).collect();
    turns.sort_unstable();
    turns.dedup();
    turns
}

/// The memory of a speaker who spoke once. Looks at no more edges than it takes to find a second memory.
fn only_turn(index: &Index<'_>, speaker: NodeIx) -> Option<NodeIx> {
    let ends = index.graph.spread(speaker).map(|edge| edge.target);
    let mut turns = ends.filter(|end| index.is_memory(*end));
    let first = turns.next()?;
    turns.all(|turn| turn == first).then_some(first)
}

/// The words of a question with their stems in the languages that names and titles may be stemmed in: the question's, none, and those of memories.
struct Spelt<'q> {
    words: &'q [Word<'q>],
    /// Of each language, the stems of all words; none twice.
    stems: Vec<Vec<String>>,
}

impl<'q> Spelt<'q> {
    fn of(index: &Index<'_>, words: &'q [Word<'q>]) -> Self {
        let mut stems: Vec<Vec<String>> = vec![words.iter().map(|word| word.stem.clone()).collect()];
        for language in [None].into_iter().chain(index.languages().map(Some)) {
            let row: Vec<String> = words.iter().map(|word| text::stem(&word.key, language)).collect();
            if !stems.contains(&row) {
                stems.push(row);
            }
        }
        Self { words, stems }
    }

    /// Some words, joined by spaces, in each language.
    fn joined(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = String> {
        self.stems.iter().map(move |row| row[range.clone()].join(" "))
    }
}

/// The names of several words in a question, the longest first at each place.
fn name_cues(index: &Index<'_>, spelt: &Spelt<'_>, method: &Method) -> Vec<Cue> {
    let found = longest_first(spelt, 2, index.longest(), |stems, _| {
        index.name(stems).filter(|name| index.is_name(*name)).map(|name| index.sharing(name))
    });
    distinct_cues(index, found, method.name, "name", method)
}

/// Stems of words that ask what there was, and say nothing of it.
const HAPPENED: [&str; 4] = ["happen", "occur", "new", "pass"];

/// Whether a word of a question that names a date asks when, not what.
pub(super) fn says_when(word: &Word<'_>) -> bool {
    text::date::is_of_date(word.surface) || HAPPENED.contains(&word.stem.as_str())
}

/// The dates that a question writes out, and the times that it counts from today.
fn date_cues(index: &Index<'_>, question: &str, now: Stamp, method: &Method) -> Vec<Cue> {
    let written = text::date::asked(question).into_iter().map(|asked| (asked.to_string(), index.date(&asked)));
    let today = text::date::day_of(now.unix());
    let counted = today.map(|today| text::date::relative_to(question, today)).unwrap_or_default();
    let counted = counted.into_iter().map(|period| {
        let words = match period.first == period.last {
            true => period.first.to_string(),
            false => format!("{} to {}", period.first, period.last),
        };
        (words, index.dated(|other| period.meets(other)))
    });
    let found = written.chain(counted).filter(|(_, seeds)| !seeds.is_empty());
    let cue = |(words, seeds): (String, Vec<(NodeIx, f64)>)| {
        let weight = method.date * method.weight(seeds.len(), index.memories());
        Cue { words, forms: None, weight, seeds, from: "date" }
    };
    found.map(cue).collect()
}

/// The titles in a question, the longest first at each place. A title of one word must look like one: no function word,
/// and with a capital that the start of the question does not explain.
fn title_cues(index: &Index<'_>, question: &str, spelt: &Spelt<'_>, method: &Method) -> Vec<Cue> {
    let markup = Markup::of(question);
    let found = longest_first(spelt, 1, index.longest_title(), |stems, row| {
        let cased = |word: &Word<'_>| word.surface.chars().any(|c| c.is_uppercase() || c.is_lowercase());
        let named = |word: &Word<'_>| !word.surface.starts_with(char::is_lowercase) && markup.is_inside(word.start);
        let plain = |word: &Word<'_>| word.is_stop || cased(word) && spelt.words.len() > 1 && !named(word);
        let titled = if row.len() > 1 || !plain(&row[0]) { index.titled(stems) } else { Vec::new() };
        (!titled.is_empty()).then(|| titled.into_iter().map(|memory| (memory, 1.0)).collect())
    });
    distinct_cues(index, found, method.title, "title", method)
}

/// What is known of rows of at least and at most so many words, the longest first at each place, with the row's stems.
fn longest_first<T>(
    spelt: &Spelt<'_>,
    least: usize,
    most: usize,
    known: impl Fn(&str, &[Word<'_>]) -> Option<T>,
) -> Vec<(String, T)> {
    let (words, mut list) = (spelt.words, Vec::new());
    let mut at = 0;
    while at < words.len() {
        let ends = (at + least..=words.len().min(at + most)).rev();
        let found = ends.into_iter().find_map(|to| {
            let found = |stems: String| known(&stems, &words[at..to]).map(|what| (to, stems, what));
            spelt.joined(at..to).find_map(found)
        });
        let Some((to, stems, what)) = found else {
            at += 1;
            continue;
        };
        list.push((stems, what));
        at = to;
    }
    list
}

/// A cue for each row of words that was found, none twice, with this share of a word's weight.
fn distinct_cues(
    index: &Index<'_>,
    found: Vec<(String, Vec<(NodeIx, f64)>)>,
    share: f64,
    from: &'static str,
    method: &Method,
) -> Vec<Cue> {
    let mut cues: Vec<Cue> = Vec::new();
    for (words, seeds) in found {
        if share > 0.0 && !seeds.is_empty() && cues.iter().all(|cue| cue.words != words) {
            let weight = share * method.weight(seeds.len(), index.memories());
            cues.push(Cue { words, forms: None, weight, seeds, from });
        }
    }
    cues
}

/// Every name that is written somewhere in a question, inside longer ones as well.
fn names_asked(index: &Index<'_>, spelt: &Spelt<'_>) -> BTreeSet<NameIx> {
    let all = spelt.words.len();
    let ends = |at: usize| at + 1..=all.min(at + index.longest());
    let rows = (0..all).flat_map(|at| ends(at).map(move |to| at..to));
    let names = rows.flat_map(|row| spelt.joined(row)).filter_map(|stems| index.name(&stems));
    names.filter(|name| index.is_name(*name)).collect()
}
