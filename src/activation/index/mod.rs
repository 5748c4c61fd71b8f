//! What recall looks things up in: the words, names, turns, sessions, speakers and times of a network's memories.
//!
//! A view of a snapshot's arrays: of a base, and of what lies over it. It answers as if all rows had been indexed at once,
//! to the last bit. Texts are read apart from edges, so that a concept named by one memory is found in all others, in any
//! form of its words. Must not know questions, or how a snapshot is kept.

mod advance;
mod assemble;
mod beneath;
mod conversation;
mod finder;
mod forms;
mod links;
mod part;
mod passage;
mod texts;
mod told;

use super::graph::{Graph, NodeIx, Spread};
use super::reading::{self, Batch, LANGUAGES, Role, WORD_SHIFT};
use super::sections::{Damaged, Sections, Writer};
use crate::model::{Kind, Link, Stamp};
use crate::text::Language;
use crate::text::date::{Asked, Period};
use beneath::Beneath;
pub(in crate::activation) use forms::Forms;
use links::Links;
use part::{Part, Stems};
use texts::Texts;
pub use told::Told;

/// BM25's saturation in a session, and in talk.
const SESSION_K1: f64 = 0.9;
/// How much the length of a session counts, whose words are looked for as in one text (BM25's b).
const SESSION_B: f64 = 0.4;

/// How much the length of a memory counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// BM25's saturation.
    pub k1: f64,
    /// BM25's b.
    pub b: f64,
    /// Content words of a text that is short: below that a mean says nothing.
    pub short: f64,
}

/// A key of concepts, or a word that is written as a name. Numbers of the base's keys, then of those that lie over it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NameIx(u32);

/// A session: numbers of the base's, then of those that lie over it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionIx(u32);

impl SessionIx {
    /// The session of that number.
    pub(super) fn new(at: u32) -> Self {
        Self(at)
    }

    /// The place in a list of all sessions.
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// The index of a network.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    /// The network.
    pub graph: Graph<'a>,
    base: Texts<'a>,
    over: Option<Texts<'a>>,
    base_links: Links<'a>,
    over_links: Option<Links<'a>>,
}

/// One of the two tables and a row of it.
type At<'i, 'a> = (&'i Texts<'a>, usize, bool);

impl<'a> Index<'a> {
    /// The index in a snapshot's base and in what lies over it.
    ///
    /// # Errors
    /// An array is missing.
    pub fn of(graph: Graph<'a>, base: &'a Sections, over: Option<&'a Sections>) -> Result<Self, Damaged> {
        Ok(Self {
            graph,
            base: Texts::of(base)?,
            over: over.map(Texts::of).transpose()?,
            base_links: Links::of(base)?,
            over_links: over.map(Links::of).transpose()?,
        })
    }

    /// The table and the row of a node.
    fn at(&self, node: NodeIx) -> Option<At<'_, 'a>> {
        if let Some(over) = &self.over
            && let Some(row) = over.find(node.0)
        {
            return Some((over, row, true));
        }
        Some((&self.base, self.base.find(node.0)?, false))
    }

    /// How often things are counted: over everything.
    fn totals(&self) -> texts::Totals {
        self.over.as_ref().unwrap_or(&self.base).totals
    }

    /// How many memories there are.
    pub fn memories(&self) -> usize {
        self.totals().memories as usize
    }

    /// Words of the longest name, or more.
    pub(super) fn longest(&self) -> usize {
        self.totals().longest.max(self.base.totals.longest) as usize
    }

    /// Words of the longest title, or more.
    pub(super) fn longest_title(&self) -> usize {
        self.totals().longest_title.max(self.base.totals.longest_title) as usize
    }

    /// The memories whose title is written with these stems, with or without what stands in brackets at its end.
    pub(super) fn titled(&self, stems: &str) -> Vec<NodeIx> {
        let of = |texts: &Texts<'a>| texts.title_keys.find(stems).map_or(&[][..], |title| texts.titled(title));
        let own = self.over.as_ref().map_or(&[][..], of);
        self.lives(of(&self.base)).chain(own.iter().map(|node| NodeIx(*node))).collect()
    }

    /// The language of most memories: that of a question that does not show its own.
    pub(super) fn language(&self) -> Option<Language> {
        let counts = self.totals().languages;
        let most = (0..LANGUAGES.len()).filter(|at| counts[*at] > 0).max_by_key(|at| (counts[*at], LANGUAGES[*at]));
        most.map(|at| LANGUAGES[at])
    }

    /// Whether a concept leads to a memory.
    pub fn leads_to_memory(&self, concept: NodeIx) -> bool {
        self.graph.spread(concept).any(|edge| self.is_memory(edge.target))
    }

    /// The languages that memories are in.
    pub(super) fn languages(&self) -> impl Iterator<Item = Language> + use<> {
        let counts = self.totals().languages;
        (0..LANGUAGES.len()).filter(move |at| counts[*at] > 0).map(|at| LANGUAGES[at])
    }

    /// What a node is to recall.
    pub fn role(&self, node: NodeIx) -> Role {
        self.at(node).map_or(Role::None, |(texts, row, _)| texts.role(row))
    }

    /// True for what is answered.
    pub(super) fn is_memory(&self, node: NodeIx) -> bool {
        self.at(node).is_some_and(|(texts, row, _)| texts.is_memory(row))
    }

    /// How many memories have a word, by its stem.
    pub fn rarity(&self, stem: &str) -> usize {
        self.postings(stem).count()
    }

    /// When a neuron was created.
    pub fn created(&self, node: NodeIx) -> Stamp {
        Stamp::from_unix(self.at(node).map_or(0, |(texts, row, _)| texts.created(row)))
    }

    /// The classes of a neuron's origin: see [`crate::model::Origin::class_bits`].
    pub fn origins(&self, node: NodeIx) -> u8 {
        self.at(node).map_or(0, |(texts, row, _)| texts.origins(row))
    }

    /// Who speaks in a memory: see [`reading::speaker_hash`]; 0 for nobody.
    pub(super) fn speaker(&self, node: NodeIx) -> u64 {
        self.at(node).map_or(0, |(texts, row, _)| texts.speaker(row))
    }

    /// [`reading::text_hash`] of what a memory says; 0 for other neurons.
    pub fn text_hash(&self, node: NodeIx) -> u64 {
        self.at(node).map_or(0, |(texts, row, _)| texts.text(row))
    }

    /// Every memory with [`reading::text_hash`] of what it says, ascending by number.
    pub fn said(&self) -> impl Iterator<Item = (NodeIx, u64)> + use<'_, 'a> {
        self.all_memories().map(|node| (node, self.text_hash(node)))
    }

    /// The neurons of speakers whose name has these words, joined by spaces.
    pub(super) fn speakers(&self, name: &str) -> Vec<NodeIx> {
        let of = |texts: &Texts<'a>| texts.speaker_names.find(name).map_or(&[][..], |name| texts.speakers(name));
        let over = self.over.as_ref().map_or(&[][..], of);
        self.lives(of(&self.base)).chain(over.iter().map(|node| NodeIx(*node))).collect()
    }

    /// The neurons of speakers of whose name of several words this is one. Speakers are few: all names are looked through.
    pub(super) fn speakers_called(&self, word: &str) -> Vec<NodeIx> {
        let called = |name: &str| name.contains(' ') && name.split(' ').any(|part| part == word);
        let of = |texts: &Texts<'a>| {
            let names = (0..texts.speaker_names.len()).filter(|name| called(texts.speaker_names.get(*name)));
            names.map(|name| texts.speakers(name)).collect::<Vec<_>>()
        };
        let base = of(&self.base).into_iter().flat_map(|nodes| self.lives(nodes).collect::<Vec<_>>());
        let over = self.over.as_ref().map(of).unwrap_or_default();
        base.chain(over.into_iter().flatten().map(|node| NodeIx(*node))).collect()
    }

    /// Whether some speaker's name starts with these words.
    pub(super) fn names_speaker(&self, prefix: &str) -> bool {
        let starts = |texts: &Texts<'_>| texts.speaker_names.has_prefix(prefix);
        starts(&self.base) || self.over.as_ref().is_some_and(starts)
    }

    /// All memories, ascending by number.
    pub(super) fn all_memories(&self) -> impl Iterator<Item = NodeIx> + use<'_, 'a> {
        let nodes = self.over.as_ref().map_or(&[][..], |over| over.nodes);
        let live = self.base.memories().filter(move |node| nodes.binary_search(node).is_err());
        live.chain(self.over.as_ref().into_iter().flat_map(Texts::memories)).map(NodeIx)
    }

    /// Of some nodes of the base, ascending, those whose rows nothing lies over.
    fn lives<'l>(&self, nodes: &'l [u32]) -> impl Iterator<Item = NodeIx> + use<'a, 'l> {
        self.lives_at(nodes).map(|(_, node)| node)
    }

    /// The same with their places in the list.
    fn lives_at<'l>(&self, nodes: &'l [u32]) -> impl Iterator<Item = (usize, NodeIx)> + use<'a, 'l> {
        let mut over = self.over.as_ref().map_or(&[][..], |over| over.nodes);
        nodes.iter().enumerate().filter_map(move |(at, node)| {
            while let [first, rest @ ..] = over
                && first < node
            {
                over = rest;
            }
            (over.first() != Some(node)).then_some((at, NodeIx(*node)))
        })
    }

    /// Memories that have a stem, how often, and the content words of each.
    fn postings(&self, stem: &str) -> impl Iterator<Item = (NodeIx, u16, u32)> + use<'_, 'a> {
        let of = |texts: &Texts<'a>| texts.stems.find(stem).map(|stem| texts.postings(stem)).unwrap_or_default();
        let (nodes, times) = of(&self.base);
        let live = self.lives_at(nodes).map(move |(at, node)| (node, times[at], self.base.length(node.0 as usize)));
        let (own_nodes, own_times) = self.over.as_ref().map(of).unwrap_or_default();
        let own = own_nodes.iter().zip(own_times).filter_map(move |(node, n)| {
            let over = self.over.as_ref()?;
            Some((NodeIx(*node), *n, over.length(over.find(*node)?)))
        });
        live.chain(own)
    }

    /// The memories that the concepts of a key lead to, ascending, by the greatest weight of an edge, in (0, 1].
    fn led_to(&self, name: NameIx) -> Vec<(NodeIx, f64)> {
        let edges = self.concepts_of(name).into_iter().flat_map(|concept| self.graph.spread(concept));
        let to_memory = edges.filter(|edge| follows(edge) && self.is_memory(edge.target));
        let mut led: Vec<(NodeIx, u16)> = to_memory.map(|edge| (edge.target, edge.weight)).collect();
        led.sort_unstable_by_key(|(node, weight)| (*node, std::cmp::Reverse(*weight)));
        led.dedup_by_key(|(node, _)| *node);
        led.into_iter().map(|(node, weight)| (node, f64::from(weight) / 65535.0)).collect()
    }

    /// The key that is written with these stems.
    pub(super) fn name(&self, stems: &str) -> Option<NameIx> {
        let of_base = self.base.keys.find(stems).map(|key| NameIx(key as u32));
        of_base.or_else(|| Some(NameIx((self.base.keys.len() + self.over.as_ref()?.keys.find(stems)?) as u32)))
    }

    /// The stems of a key, joined by spaces.
    pub(super) fn stems_of(&self, name: NameIx) -> &'a str {
        match (name.0 as usize).checked_sub(self.base.keys.len()) {
            None => self.base.keys.get(name.0 as usize),
            Some(key) => self.over.as_ref().map_or("", |over| over.keys.get(key)),
        }
    }

    /// A key's numbers in the base and in what lies over it.
    fn keys(&self, name: NameIx) -> (Option<usize>, Option<usize>) {
        match (name.0 as usize).checked_sub(self.base.keys.len()) {
            None => (Some(name.0 as usize), self.over.as_ref().and_then(|over| over.keys.find(self.stems_of(name)))),
            Some(key) => (None, Some(key)),
        }
    }

    /// Whether memories share it.
    pub(super) fn is_name(&self, name: NameIx) -> bool {
        match self.keys(name) {
            (_, Some(key)) => self.over.as_ref().is_some_and(|over| over.is_name(key)),
            (Some(key), None) => self.base.is_name(key),
            (None, None) => false,
        }
    }

    /// The concepts of a key, ascending by id.
    pub(super) fn concepts_of(&self, name: NameIx) -> Vec<NodeIx> {
        let (base, over) = self.keys(name);
        let mut nodes: Vec<NodeIx> = self.lives(base.map_or(&[][..], |key| self.base.key_concepts(key))).collect();
        let own = self.over.as_ref().zip(over).map_or(&[][..], |(over, key)| over.key_concepts(key));
        nodes.extend(own.iter().map(|node| NodeIx(*node)));
        nodes.sort_unstable_by_key(|node| self.graph.order(*node));
        nodes
    }

    /// How many memories hold a name in their texts.
    pub(super) fn holding(&self, name: NameIx) -> usize {
        if self.over.is_none() { self.base.key_memories(name.0 as usize).len() } else { self.holders(name).count() }
    }

    fn holders(&self, name: NameIx) -> impl Iterator<Item = NodeIx> + use<'a> {
        let (base, over) = self.keys(name);
        let own = self.over.as_ref().zip(over).map_or(&[][..], |(over, key)| over.key_memories(key));
        let base = base.map_or(&[][..], |key| self.base.key_memories(key));
        self.lives(base).chain(own.iter().map(|node| NodeIx(*node)))
    }

    /// The memories that have a name: in their texts, by 1; or where one of its concepts leads to, by the edge's weight.
    pub(super) fn sharing(&self, name: NameIx) -> Vec<(NodeIx, f64)> {
        let mut sharing: Vec<(NodeIx, f64)> = self.holders(name).map(|node| (node, 1.0)).collect();
        let led = self.led_to(name);
        if !led.is_empty() {
            sharing.extend(led);
            sharing.sort_by(|(a, x), (b, y)| a.cmp(b).then(y.total_cmp(x)));
            sharing.dedup_by_key(|(node, _)| *node);
        }
        sharing
    }

    /// The names that a memory has, those of more words first, each with its weight as in [`Index::sharing`].
    pub(super) fn names_of(&self, memory: NodeIx) -> Vec<(NameIx, f64)> {
        let Some((texts, row, is_over)) = self.at(memory) else { return Vec::new() };
        let number = |texts: &Texts<'a>, key: usize, is_over: bool| {
            if is_over { self.name(texts.keys.get(key)) } else { Some(NameIx(key as u32)) }
        };
        let in_text = texts.names(row).iter().filter_map(|key| Some((number(texts, *key as usize, is_over)?, 1.0)));
        let of_concept = |leading: links::Leading| {
            let concept = self.at(leading.concept).filter(|(texts, row, _)| texts.role(*row) == Role::Concept);
            let (texts, row, is_over) = concept?;
            let name = number(texts, texts.key(row)?, is_over).filter(|name| self.is_name(*name))?;
            Some((name, f64::from(leading.weight) / 65535.0))
        };
        let mut names: Vec<(NameIx, f64)> = in_text.chain(self.leading_to(memory).filter_map(of_concept)).collect();
        names.sort_by(|(a, x), (b, y)| a.cmp(b).then(y.total_cmp(x)));
        names.dedup_by_key(|(name, _)| *name);
        names.sort_by_cached_key(|(name, _)| {
            let stems = self.stems_of(*name);
            (std::cmp::Reverse(stems.split(' ').count()), stems)
        });
        names
    }

    /// The concepts that lead to a memory by an edge.
    fn leading_to(&self, memory: NodeIx) -> impl Iterator<Item = links::Leading> + use<'a> {
        let graph = self.graph;
        let counts = move |leading: &links::Leading| {
            let owner = if leading.link == Link::Recalls { memory } else { leading.concept };
            !graph.is_patched(owner.0)
        };
        let own = self.over_links.map(|links| links.row(memory));
        let all = self.base_links.row(memory).filter(counts).chain(own.into_iter().flatten());
        all.filter(|leading| leading.weight > 0)
    }

    /// The memories that a memory brings to mind by an edge, and its weight in (0, 1].
    pub(super) fn turns(&self, memory: NodeIx) -> impl Iterator<Item = (NodeIx, Link, f64)> + use<'_, 'a> {
        self.memories_along(memory, &[Link::FeedsInto, Link::Recalls])
    }

    /// The memories that a memory influences or inhibits, and by which weight, in (0, 1].
    pub(super) fn effects(&self, memory: NodeIx) -> impl Iterator<Item = (NodeIx, Link, f64)> + use<'_, 'a> {
        self.memories_along(memory, &[Link::Influences, Link::Inhibits])
    }

    fn memories_along(
        &self,
        memory: NodeIx,
        links: &'static [Link],
    ) -> impl Iterator<Item = (NodeIx, Link, f64)> + use<'_, 'a> {
        let graph = self.graph;
        let hidden = graph.is_patched(memory.0);
        graph.rows(memory).into_iter().flat_map(move |(row, is_base)| {
            let edges = row.edges().filter_map(move |(to, weight, link)| {
                Some((to, weight, *links.iter().find(|known| **known as u8 == link)?))
            });
            let counts = edges.filter(move |(to, _, link)| !is_base || !graph.hides(hidden, *to, *link as u8));
            let known = counts.filter(|(to, ..)| self.is_memory(NodeIx(*to)));
            known.map(|(to, weight, link)| (NodeIx(to), link, f64::from(weight) / 65535.0))
        })
    }

    /// What a date brings to mind: memories of that time, and those whose texts speak of it.
    pub(super) fn date(&self, asked: &Asked) -> Vec<(NodeIx, f64)> {
        self.dated(|period| asked.meets(period))
    }

    /// Memories of a time that fits.
    pub(super) fn dated(&self, fits: impl Fn(&Period) -> bool) -> Vec<(NodeIx, f64)> {
        let meets = |node: &NodeIx| {
            let periods = self.at(*node).map_or(&[][..], |(texts, row, _)| texts.periods(row));
            periods.iter().filter_map(|days| reading::period(*days)).any(|period| fits(&period))
        };
        self.all_memories().filter(meets).map(|node| (node, 1.0)).collect()
    }

    /// Concepts that have one of these stems, and their words.
    pub(super) fn concepts_with(&self, stem: &str) -> Vec<NodeIx> {
        let of = |texts: &Texts<'a>| texts.stems.find(stem).map_or(&[][..], |stem| texts.concepts(stem));
        let own = self.over.as_ref().map_or(&[][..], of);
        self.lives(of(&self.base)).chain(own.iter().map(|node| NodeIx(*node))).collect()
    }

    /// How many memories recall reaches by a concept: those that hold its words, if it is a name or one word, and those it leads to.
    pub(super) fn memories_of(&self, concept: NodeIx) -> usize {
        let stems = self.stems_in(concept);
        match self.name(&stems.join(" ")) {
            Some(name) if self.is_name(name) || stems.len() != 1 => self.sharing(name).len(),
            _ => self.word(&Forms::one(stems.first().unwrap_or(&"")), Length { k1: 1.0, b: 0.0, short: 1.0 }).len(),
        }
    }

    /// Concepts that have a stem which starts like this, ascending by number.
    pub(super) fn concepts_starting(&self, prefix: &str) -> Vec<NodeIx> {
        let of = |texts: &Texts<'a>| -> Vec<u32> {
            let stems = texts.stems.starting_with(prefix);
            let mut nodes: Vec<u32> = stems.flat_map(|stem| texts.concepts(stem)).copied().collect();
            nodes.sort_unstable();
            nodes
        };
        let mut nodes: Vec<NodeIx> = self.lives(&of(&self.base)).collect();
        nodes.extend(self.over.as_ref().map(of).unwrap_or_default().into_iter().map(NodeIx));
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The stems of a node's words, in their order.
    pub(super) fn stems_in(&self, node: NodeIx) -> Vec<&'a str> {
        let Some((texts, row, _)) = self.at(node) else { return Vec::new() };
        texts.words(row).iter().map(|word| texts.stem(word >> WORD_SHIFT)).collect()
    }

    /// How many sessions there are.
    pub(super) fn sessions(&self) -> usize {
        self.totals().sessions as usize
    }

    /// The session of a memory.
    pub(super) fn session_of(&self, memory: NodeIx) -> Option<SessionIx> {
        let (texts, row, is_over) = self.at(memory)?;
        let session = texts.session(row)?;
        if !is_over {
            return Some(SessionIx(session as u32));
        }
        let of_base = self.base.labels.find(texts.labels.get(session));
        Some(SessionIx(of_base.unwrap_or(self.base.labels.len() + session) as u32))
    }

    /// A session's numbers in the base and in what lies over it.
    fn labels(&self, session: SessionIx) -> (Option<usize>, Option<usize>) {
        match (session.0 as usize).checked_sub(self.base.labels.len()) {
            None => {
                let label = self.base.labels.get(session.0 as usize);
                (Some(session.0 as usize), self.over.as_ref().and_then(|over| over.labels.find(label)))
            }
            Some(own) => (None, Some(own)),
        }
    }

    /// The memories of a session.
    pub(super) fn members(&self, session: SessionIx) -> Vec<NodeIx> {
        let (base, over) = self.labels(session);
        let own = self.over.as_ref().zip(over).map_or(&[][..], |(over, session)| over.members(session));
        let base = base.map_or(&[][..], |session| self.base.members(session));
        self.lives(base).chain(own.iter().map(|node| NodeIx(*node))).collect()
    }

    /// How well each session matches some words, as if it were one text.
    pub(super) fn session_scores(&self, words: &[Forms]) -> Vec<f64> {
        let totals = self.totals();
        let mean = mean(totals.session_length, totals.sessions);
        let all = self.base.labels.len() + self.over.as_ref().map_or(0, |over| over.labels.len());
        let (mut scores, mut frequency) = (vec![0.0; all], vec![0_u32; all]);
        let mut found: Vec<SessionIx> = Vec::new();
        for word in words {
            for (node, n, _) in self.having(word) {
                let Some(session) = self.session_of(node) else { continue };
                if frequency[session.at()] == 0 {
                    found.push(session);
                }
                frequency[session.at()] += u32::from(n);
            }
            let idf = idf(found.len(), self.sessions());
            for session in found.drain(..) {
                let n = f64::from(std::mem::take(&mut frequency[session.at()]));
                scores[session.at()] += idf * saturated(n, self.session_length(session) / mean, SESSION_K1, SESSION_B);
            }
        }
        scores
    }

    fn session_length(&self, session: SessionIx) -> f64 {
        let totals = match self.labels(session) {
            (_, Some(own)) => self.over.as_ref().and_then(|over| over.label_totals.get(own)),
            (Some(base), None) => self.base.label_totals.get(base),
            (None, None) => None,
        };
        totals.map_or(0.0, |[length, _]| *length as f64)
    }
}

fn follows(edge: &Spread) -> bool {
    matches!(edge.link, Link::FeedsInto | Link::Recalls)
}

/// Inverse document frequency of what `found` of `all` texts have (BM25, never negative).
pub(super) fn idf(found: usize, all: usize) -> f64 {
    let (found, all) = (found as f64, (all as f64).max(found as f64));
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
}

/// Saturated term frequency of BM25, in [0, 1), of a text so many times as long as usual.
fn saturated(frequency: f64, length: f64, k1: f64, b: f64) -> f64 {
    frequency / (frequency + k1 * (1.0 - b + b * length))
}

fn mean(total: u64, count: u64) -> f64 {
    (total as f64 / count.max(1) as f64).max(1.0)
}

/// Writes what recall needs of all nodes of a graph: each batch with the nodes of its rows.
pub(super) fn write_base(graph: &Graph<'_>, batches: &[(Batch, Vec<u32>)], writer: &mut Writer) {
    let parts = batches.iter().map(|(batch, nodes)| Part {
        stems: Stems::Batch(batch),
        rows: nodes.iter().enumerate().map(|(at, node)| (*node, batch.row(at))).collect(),
    });
    let parts: Vec<Part<'_>> = parts.collect();
    assemble::assemble(&parts, &Beneath::nothing(), Some(graph.len()), writer);
    links::write(graph, all_edges(graph), writer);
}

/// Writes what recall needs of the nodes that differ from the base: `changed` with the `nodes` of its rows, and what lay
/// over the base before. `graph` is the network now.
pub(super) fn write_over(before: &Index<'_>, graph: &Graph<'_>, changed: &Batch, nodes: &[u32], writer: &mut Writer) {
    // Most changes are of salience and edges: a text that is as it was needs no row.
    let same = |at: usize, node: u32| {
        let Some((texts, row, _)) = before.at(NodeIx(node)) else { return changed.row(at).role == Role::None };
        let stem = |number| texts.stem(number);
        changed.row(at).says_the_same(|number| changed.stem(number), &texts.row(row), stem)
    };
    let differ: Vec<usize> = (0..changed.len()).filter(|at| !same(*at, nodes[*at])).collect();
    let rows = differ.iter().map(|at| (nodes[*at], changed.row(*at))).collect();
    advance::advance(before.base, before.over, Part { stems: Stems::Batch(changed), rows }, writer);
    let patch = graph.patch.unwrap_or_default();
    let edges = patch.row_nodes.iter().flat_map(|from| {
        patch
            .row(*from)
            .unwrap_or_default()
            .edges()
            .map(move |(to, weight, link)| (NodeIx(*from), NodeIx(to), link, weight))
    });
    links::write(graph, edges, writer);
}

/// Writes what recall needs of a network that lies in one base now: `places` are the new numbers of the old ones.
pub(super) fn write_compacted<'a>(before: &Index<'a>, graph: &Graph<'_>, places: &[u32], writer: &mut Writer) {
    let part = |texts: Texts<'a>, live: &dyn Fn(u32) -> bool| Part {
        stems: Stems::Lexicon(texts.stems),
        rows: (0..texts.len())
            .filter(|row| texts.role(*row) != Role::None && live(texts.node(*row)))
            .map(|row| (places[texts.node(row) as usize], texts.row(row)))
            .collect(),
    };
    let live = |node: u32| before.over.is_none_or(|over| over.find(node).is_none());
    let mut parts = vec![part(before.base, &live)];
    parts.extend(before.over.map(|over| part(over, &|_| true)));
    assemble::assemble(&parts, &Beneath::nothing(), Some(graph.len()), writer);
    links::write(graph, all_edges(graph), writer);
}

/// All edges of concepts in the columns, also those that cannot be followed now, and of ids that may become concepts.
fn all_edges<'g>(graph: &'g Graph<'_>) -> impl Iterator<Item = (NodeIx, NodeIx, u8, u16)> + use<'g> {
    let may_lead = |node: NodeIx| graph.kind(node) == Kind::Semantic || !graph.is_present(node);
    let concepts = (0..graph.len() as u32).filter(move |node| may_lead(NodeIx(*node)));
    concepts.flat_map(|from| {
        graph.base.row(from).edges().map(move |(to, weight, link)| (NodeIx(from), NodeIx(to), link, weight))
    })
}
