//! One cue's wave over the memories: to those that share a name with the best, then along turns.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use super::question::{Asked, Cue};
use super::{LEAST, Method, Way};
use crate::activation::graph::NodeIx;
use crate::activation::index::{Index, NameIx};
use crate::model::Link;

/// The memories that share a name.
struct Sharing {
    /// With the weight of each.
    all: Vec<(NodeIx, f64)>,
    /// Those that have it as their title: they are about it.
    titled: Vec<NodeIx>,
}

/// What memories have to do with each other, looked up once for all waves of a question.
pub(super) struct Surroundings<'i, 'a> {
    index: &'i Index<'a>,
    fan: f64,
    /// Content words beyond which a turn is long.
    long: f64,
    inside_text: bool,
    turn: f64,
    names: HashMap<NodeIx, Rc<[(NameIx, f64)]>>,
    /// Of each node the place in `turn_rows`, 0 if it was not looked up yet.
    turns_at: Vec<u32>,
    turn_rows: Vec<(usize, usize)>,
    turns: Vec<(NodeIx, Link, f64)>,
    sharing: HashMap<NameIx, Rc<Sharing>>,
}

impl<'i, 'a> Surroundings<'i, 'a> {
    pub fn new(index: &'i Index<'a>, fan: f64, method: &Method) -> Self {
        Self {
            index,
            fan,
            long: method.long_turn * index.mean_length(),
            inside_text: method.inside_text,
            turn: method.turn,
            names: HashMap::new(),
            turns_at: vec![0; index.graph.len()],
            turn_rows: vec![(0, 0)],
            turns: Vec::new(),
            sharing: HashMap::new(),
        }
    }

    /// The memories that a memory brings to mind by an edge, and its weight.
    fn turns(&mut self, memory: NodeIx) -> &[(NodeIx, Link, f64)] {
        let at = &mut self.turns_at[memory.0 as usize];
        if *at == 0 {
            *at = self.turn_rows.len() as u32;
            let start = self.turns.len();
            let (index, long, turn) = (self.index, self.long, self.turn);
            let document = if self.inside_text { 0 } else { index.document(memory) };
            let elsewhere = |to: NodeIx| document == 0 || index.document(to) != document;
            // No arrival is stronger than what it came from: ways end.
            let held_back = |to: NodeIx| (long / f64::from(index.length(to).max(1))).sqrt().min(1.0);
            let turns = index.turns(memory).filter(|(to, ..)| elsewhere(*to));
            self.turns.extend(turns.map(|(to, link, weight)| (to, link, (turn * weight * held_back(to)).min(1.0))));
            self.turn_rows.push((start, self.turns.len()));
        }
        let (start, end) = self.turn_rows[*at as usize];
        &self.turns[start..end]
    }

    fn names_of(&mut self, memory: NodeIx) -> Rc<[(NameIx, f64)]> {
        let names = || self.index.names_of(memory).into();
        Rc::clone(self.names.entry(memory).or_insert_with(names))
    }

    /// The memories that share a name; `None` if too little of a strength would reach them.
    fn sharing(&mut self, name: NameIx, strength: f64) -> Option<Rc<Sharing>> {
        let reaches = |many: usize| strength * (many as f64).powf(-self.fan) >= LEAST;
        if !self.sharing.contains_key(&name) && !reaches(self.index.holding(name).max(1)) {
            return None;
        }
        let look_up = || {
            let titled = self.index.titled(self.index.stems_of(name));
            Rc::new(Sharing { all: self.index.sharing(name), titled })
        };
        let sharing = self.sharing.entry(name).or_insert_with(look_up);
        reaches(sharing.all.len()).then(|| Rc::clone(sharing))
    }
}

/// What brought a memory to mind.
#[derive(Clone, Copy)]
pub(super) enum Parent {
    Cue,
    /// A name that this memory has too.
    Name(NameIx, NodeIx),
    Turn(Link, NodeIx),
}

/// A wave under way. One for all waves of a question: its arrays have a place for every node, and only the pages of those that
/// are reached are ever touched.
pub(super) struct Front {
    strength: Vec<f64>,
    /// What brought it: a place in `parents`, of which the first is the cue.
    parent: Vec<u32>,
    parents: Vec<Parent>,
    reached: Vec<NodeIx>,
}

impl Front {
    pub fn new(index: &Index<'_>) -> Self {
        let nodes = index.graph.len();
        Self { strength: vec![0.0; nodes], parent: vec![0; nodes], parents: vec![Parent::Cue], reached: Vec::new() }
    }

    pub fn seed(&mut self, cue: &Cue) {
        for (node, strength) in &cue.seeds {
            self.arrive(*node, *strength, 0);
        }
    }

    /// Keeps the greatest arrival, of equal ones the first; true if this is one.
    fn arrive(&mut self, node: NodeIx, strength: f64, parent: u32) -> bool {
        let at = node.0 as usize;
        let better = strength >= LEAST && strength > self.strength[at];
        if better {
            if self.strength[at] == 0.0 {
                self.reached.push(node);
            }
            (self.strength[at], self.parent[at]) = (strength, parent);
        }
        better
    }

    fn parent(&mut self, parent: Parent) -> u32 {
        self.parents.push(parent);
        self.parents.len() as u32 - 1
    }

    /// The best memories of the wave, by all cues together, bring others to mind by the names they share: the less the
    /// more share one, but with half of that loss those whose title it is. Of those that have a name, the strongest brings
    /// most, so it alone counts.
    pub fn share_names(
        &mut self,
        around: &mut Surroundings<'_, '_>,
        asked: &Asked,
        cue: &Cue,
        method: &Method,
        direct: &[f64],
        open: f64,
    ) {
        let mut carried: Vec<(NameIx, NodeIx, f64)> = Vec::new();
        let mut places: HashMap<NameIx, usize> = HashMap::new();
        for (from, strength) in best(around.index, cue, method.spreading, direct) {
            for (name, weight) in around.names_of(from).iter().filter(|(name, _)| !asked.names.contains(name)) {
                let there = if method.both_ways { strength * weight } else { strength };
                match places.entry(*name) {
                    Entry::Vacant(free) => {
                        free.insert(carried.len());
                        carried.push((*name, from, there));
                    }
                    Entry::Occupied(known) if carried[*known.get()].2 < there => {
                        carried[*known.get()] = (*name, from, there);
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        for (name, from, there) in carried {
            let Some(sharing) = around.sharing(name, there) else { continue };
            let parent = self.parent(Parent::Name(name, from));
            let all = sharing.all.len() as f64;
            let followed = (method.open * open).clamp(method.followed, 1.0);
            let (about, held_back) =
                (there * all.powf(-around.fan * method.about), followed * there * all.powf(-around.fan));
            let session = around.index.session_of(from).filter(|_| method.inside_session < 1.0);
            for to in &sharing.titled {
                self.arrive(*to, about, parent);
            }
            for (to, weight) in &sharing.all {
                let inside = session.is_some() && around.index.session_of(*to) == session;
                let stays = if inside { method.inside_session } else { 1.0 };
                self.arrive(*to, held_back * weight * stays, parent);
            }
        }
    }

    /// From what the wave reached along turns, level by level; of each level the strongest go on, as many as the beam is wide,
    /// of equal ones those that all cues together bring more to.
    pub fn follow_turns(&mut self, around: &mut Surroundings<'_, '_>, method: &Method, direct: &[f64]) {
        let index = around.index;
        let mut frontier = self.reached.clone();
        for _ in 0..method.turns {
            let strength = |node: &NodeIx| self.strength[node.0 as usize];
            if frontier.len() > method.beam {
                frontier.select_nth_unstable_by(method.beam, |a, b| {
                    let by_direct = direct[b.0 as usize].total_cmp(&direct[a.0 as usize]);
                    let by_order = || index.graph.order(*a).cmp(&index.graph.order(*b));
                    strength(b).total_cmp(&strength(a)).then(by_direct).then_with(by_order)
                });
                frontier.truncate(method.beam);
            }
            frontier.sort_unstable_by_key(|node| index.graph.order(*node));
            frontier.dedup();
            let sources: Vec<(NodeIx, f64)> = frontier.iter().map(|node| (*node, strength(node))).collect();
            frontier.clear();
            for (from, strength) in sources {
                for (to, link, weight) in around.turns(from) {
                    let arrival = strength * weight;
                    if arrival >= LEAST && arrival > self.strength[to.0 as usize] {
                        let parent = self.parent(Parent::Turn(*link, from));
                        self.arrive(*to, arrival, parent);
                        frontier.push(*to);
                    }
                }
            }
        }
    }

    /// What the wave reached; the front is empty again.
    pub fn take(&mut self) -> Wave {
        self.reached.sort_unstable();
        let reached = self.reached.drain(..).map(|node| {
            let at = node.0 as usize;
            (node, std::mem::take(&mut self.parent[at]), std::mem::take(&mut self.strength[at]))
        });
        let reached = reached.collect();
        let parents = std::mem::replace(&mut self.parents, vec![Parent::Cue]);
        Wave { reached, parents }
    }
}

/// The seeds of a cue that all cues together bring most to.
fn best(index: &Index<'_>, cue: &Cue, most: usize, direct: &[f64]) -> Vec<(NodeIx, f64)> {
    let order = |(p, _): &(NodeIx, f64), (q, _): &(NodeIx, f64)| {
        let by_direct = direct[q.0 as usize].total_cmp(&direct[p.0 as usize]);
        by_direct.then_with(|| index.graph.order(*p).cmp(&index.graph.order(*q)))
    };
    // So few of so many that looking at each once is less than sorting or copying them.
    let mut best: Vec<(NodeIx, f64)> = Vec::with_capacity(most + 1);
    for seed in &cue.seeds {
        if best.len() == most && best.last().is_none_or(|last| order(seed, last).is_ge()) {
            continue;
        }
        let at = best.partition_point(|known| order(known, seed).is_lt());
        best.insert(at, *seed);
        best.truncate(most);
    }
    best
}

/// All that one cue does: each memory that it reaches, the place of what brought it, and its strength; ascending by node.
pub(super) struct Wave {
    pub reached: Vec<(NodeIx, u32, f64)>,
    parents: Vec<Parent>,
}

impl Wave {
    pub fn get(&self, node: NodeIx) -> Option<(f64, Parent)> {
        let at = self.reached.binary_search_by_key(&node, |(node, ..)| *node).ok()?;
        let (_, parent, strength) = self.reached[at];
        Some((strength, self.parents[parent as usize]))
    }

    /// The way to a memory, cue first. It never leads back: an arrival is never stronger than what it came from, and
    /// replaces only what is weaker.
    pub fn path(&self, index: &Index<'_>, node: NodeIx, cue: &Cue) -> Vec<Way> {
        let mut steps = Vec::new();
        let mut at = node;
        while let Some((activation, parent)) = self.get(at) {
            let step = |via| Way { at: index.graph.id(at).to_owned(), via, weight: 1.0, activation };
            match parent {
                Parent::Turn(link, from) => {
                    steps.push(step(link.as_str()));
                    at = from;
                }
                Parent::Name(name, from) => {
                    steps.push(step("name"));
                    if let Some(concept) = index.concepts_of(name).first() {
                        steps.push(Way {
                            at: index.graph.id(*concept).to_owned(),
                            via: "name",
                            weight: 1.0,
                            activation,
                        });
                    }
                    at = from;
                }
                Parent::Cue => {
                    steps.push(step(cue.from));
                    break;
                }
            }
        }
        steps.push(Way { at: cue.words.clone(), via: "cue", weight: 1.0, activation: 1.0 });
        steps.reverse();
        for at in 1..steps.len() {
            steps[at].weight = steps[at].activation / steps[at - 1].activation;
        }
        steps
    }
}
