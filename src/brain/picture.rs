//! Pictures: what a neighbourhood, a run or a recall looks like. Nothing is written but the snapshot that recall keeps anyway.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Brain, BrainError, RecallRequest};
use crate::activation::{Graph, NodeIx};
use crate::cycle::network::TreeNetwork;
use crate::limits;
use crate::model::ids::{NeuronId, RunId};
use crate::model::{Kind, Link, Stamp, plural};
use crate::picture::{Edge, Mark, Node, Picture, Stood, choice, line, share};
use crate::review::page::title;
use crate::review::{ChangeKind, Tie};
use crate::store::CommitId;

/// Neurons around one that is named, unless more are asked for.
const AROUND: usize = 60;
/// Salience that a neuron is drawn with while it is in no commit of wake.
const UNKNOWN: u16 = 20_000;

/// A picture to be drawn.
#[derive(Clone, Debug, Default)]
pub struct PictureRequest {
    /// A neuron's id or its beginning, a run's id or branch, or a question; empty: the whole network.
    pub about: String,
    /// Take `about` for a question, whatever it looks like.
    pub question: bool,
    /// The brain as it was at this commit.
    pub at: Option<String>,
    /// Mark the differences to this commit, and begin with them.
    pub since: Option<String>,
    /// Most neurons.
    pub most: Option<usize>,
    /// Where neurons of the network stood in the picture before: there most of them stay.
    pub stood: Stood,
}

/// Words by which a picture names a neuron.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NeuronName {
    /// The neuron.
    pub id: String,
    /// Its concept, cut to a line.
    pub label: String,
    /// Where it comes from.
    pub origin: String,
}

impl Brain {
    /// A picture of a neighbourhood, a run or a recall.
    ///
    /// # Errors
    /// A revision that names no commit, a neuron that is archived, too many neurons (exit code 2), and neurons that cannot be read.
    pub fn picture(&self, request: &PictureRequest) -> Result<Picture, BrainError> {
        check_count(request.most)?;
        let about = request.about.trim();
        if about.is_empty() {
            return self.neighbourhood(None, request);
        }
        if !request.question {
            let last = about.rsplit('/').next().unwrap_or(about);
            if RunId::parse(last).is_ok() {
                return self.picture_of_run(about, request.most.unwrap_or(limits::DRAWN_NEURONS));
            }
            if let Some(id) = self.neuron_named(about, request.at.as_deref()).ok()
                && let Some(picture) = self.picture_around(&id, request)?
            {
                return Ok(picture);
            }
        }
        self.picture_of_recall(about, request)
    }

    /// The neighbourhood of the neuron of that id; `None`: there is none.
    ///
    /// # Errors
    /// As for [`Brain::picture`].
    pub fn neuron_picture(&self, id: &str, request: &PictureRequest) -> Result<Option<Picture>, BrainError> {
        check_count(request.most)?;
        let id = NeuronId::parse(id).map_err(|e| BrainError::usage(e.to_string()))?;
        self.picture_around(&id, request)
    }

    /// Names and origins of neurons at a commit: what a picture leaves out beyond [`limits::DRAWN_READ`]. An id that is not there is left out.
    ///
    /// # Errors
    /// More ids than [`limits::VIEW_NAMES`], and neurons that cannot be read.
    pub fn neuron_names(&self, ids: &[&str], at: Option<&str>) -> Result<Vec<NeuronName>, BrainError> {
        if ids.len() > limits::VIEW_NAMES {
            let (most, count) = (limits::VIEW_NAMES, ids.len());
            return Err(BrainError::usage(format!("{most} names are given at once, and {count} are asked for")));
        }
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(self.at(at)?)?);
        let mut named = Vec::with_capacity(ids.len());
        for id in ids.iter().filter_map(|id| NeuronId::parse(id).ok()) {
            if let Some(neuron) = network.shared(&id)? {
                let (label, origin) = (shown(&neuron.concept), neuron.origin.to_string());
                named.push(NeuronName { id: id.to_string(), label, origin });
            }
        }
        Ok(named)
    }

    fn picture_around(&self, id: &NeuronId, request: &PictureRequest) -> Result<Option<Picture>, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(request.at.as_deref())?)?;
        let Some(neuron) = TreeNetwork::new(&self.cycle.store, tree).neuron(id)? else { return Ok(None) };
        if neuron.is_archived() {
            return Err(BrainError::Usage {
                message: format!("{id} is archived, and activation reaches it no more"),
                hint: Some(format!("`git brain why {id}` tells its life; `--at REV` draws it as it was")),
            });
        }
        self.neighbourhood(Some(id), request).map(Some)
    }

    fn neighbourhood(&self, around: Option<&NeuronId>, request: &PictureRequest) -> Result<Picture, BrainError> {
        let commit = self.at(request.at.as_deref())?;
        let when = Stamp::from_unix(self.cycle.store.commit(commit)?.at);
        let snapshot = self.snapshot_of(commit)?;
        let graph = snapshot.graph();
        let marks: BTreeMap<String, Mark> = match &request.since {
            Some(since) => self.touched(self.at(Some(since))?, commit)?.into_iter().collect(),
            None => BTreeMap::new(),
        };
        let usual = if around.is_some() { AROUND } else { limits::DRAWN_NEURONS };
        let starts: Vec<NodeIx> = match around {
            Some(id) => graph.find(id).into_iter().collect(),
            None => marks.keys().filter_map(|id| graph.find(&NeuronId::parse(id).ok()?)).collect(),
        };
        let nodes = choice::ranked(&graph, &starts, when, request.most.unwrap_or(usual));
        let mut picture = Picture {
            title: match (&request.since, around) {
                (Some(since), None) => format!("Changes since {}", named(since)),
                _ => "The most salient neurons and what they are tied to".to_owned(),
            },
            at: commit.to_string(),
            nodes: self.drawn(&graph, &nodes, commit, when)?,
            edges: choice::between(&graph, &nodes),
            of: graph.nodes().count(),
            ..Picture::default()
        };
        for node in &mut picture.nodes {
            node.mark = marks.get(&node.id).copied().unwrap_or_default();
        }
        if let (Some(_), Some(first)) = (around, picture.nodes.first_mut()) {
            first.mark = Mark::Focus;
            picture.title = format!("The neighbourhood of {}", quoted(&first.label));
        }
        picture.caption = caption(&share(picture.nodes.len(), picture.of), commit, when);
        Ok(picture.laid_out(&request.stood))
    }

    /// Neurons as a picture has them. The first are read for their names and origins.
    fn drawn(
        &self,
        graph: &Graph<'_>,
        nodes: &[NodeIx],
        commit: CommitId,
        when: Stamp,
    ) -> Result<Vec<Node>, BrainError> {
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(commit)?);
        let mut drawn = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            let id = graph.id(*node);
            let read = match NeuronId::parse(id).ok().filter(|_| at < limits::DRAWN_READ) {
                Some(id) => network.shared(&id)?,
                None => None,
            };
            drawn.push(Node {
                id: id.to_owned(),
                label: read.as_ref().map_or_else(|| id.to_owned(), |neuron| shown(&neuron.concept)),
                kind: Some(graph.kind(*node)),
                salience: graph.salience_at(*node, when),
                origin: read.map_or_else(String::new, |neuron| neuron.origin.to_string()),
                ..Node::default()
            });
        }
        Ok(drawn)
    }

    /// What a run changed, or would.
    fn picture_of_run(&self, name: &str, most: usize) -> Result<Picture, BrainError> {
        let belief = self.review(name, false)?;
        let wake = self.at(None)?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(wake)?);
        let mut sketch = Sketch::default();
        let mut of = belief.neurons.len();
        for change in &belief.neurons {
            let mark = match change.what {
                ChangeKind::Born => Mark::Born,
                ChangeKind::Changed => Mark::Changed,
                ChangeKind::Archived | ChangeKind::Removed => Mark::Gone,
            };
            if sketch.nodes.len() < most {
                let known =
                    network.neuron(&NeuronId::parse(&change.id).map_err(|e| BrainError::usage(e.to_string()))?)?;
                sketch.add(Node {
                    id: change.id.clone(),
                    label: shown(&change.concept),
                    kind: change
                        .kind
                        .parse()
                        .ok()
                        .or(known.as_ref().map(|neuron| neuron.kind))
                        .or(Some(Kind::Semantic)),
                    salience: known.as_ref().map_or(UNKNOWN, |neuron| neuron.salience),
                    origin: belief.origin.clone(),
                    mark,
                    ..Node::default()
                });
            }
        }
        for change in &belief.neurons {
            let Some(from) = sketch.place(&change.id) else { continue };
            for tie in &change.ties {
                let target = tie.target.to_string();
                if sketch.place(&target).is_none() {
                    of += 1;
                    if sketch.nodes.len() >= most {
                        continue;
                    }
                    let known = network.neuron(&tie.target)?;
                    let concept = known.as_ref().map(|neuron| neuron.concept.clone()).or_else(|| tie.concept.clone());
                    sketch.add(Node {
                        label: concept.map_or_else(|| target.clone(), |concept| shown(&concept)),
                        kind: Some(known.as_ref().map_or(Kind::Semantic, |neuron| neuron.kind)),
                        salience: known.as_ref().map_or(UNKNOWN, |neuron| neuron.salience),
                        origin: known.map_or_else(|| "local".to_owned(), |neuron| neuron.origin.to_string()),
                        id: target.clone(),
                        ..Node::default()
                    });
                }
                let Some(to) = sketch.place(&target) else { continue };
                let weight = tie.after.or(tie.before).unwrap_or(0);
                sketch.edges.push(Edge { from, to, link: Some(tie.link), weight, mark: mark_of(tie) });
            }
        }
        let Sketch { nodes, edges, .. } = sketch;
        let what = format!("{}, {}", share(nodes.len(), of), line(&belief.run, limits::LABEL_BYTES));
        let (title, at) = (title(&belief), belief.commit.clone());
        let caption = format!("{what}, {}", belief.at.get(..10).unwrap_or(&belief.at));
        Ok(Picture { title, caption, at, nodes, edges, of, groups: 0 }.laid_out(&Stood::new()))
    }

    /// How a question found its answers.
    fn picture_of_recall(&self, question: &str, request: &PictureRequest) -> Result<Picture, BrainError> {
        let asked = RecallRequest {
            query: question.to_owned(),
            top: request.most,
            at: request.at.clone(),
            ..RecallRequest::default()
        };
        let answer = self.recall(&asked)?;
        let commit = self.at(Some(&answer.at))?;
        let network = TreeNetwork::new(&self.cycle.store, self.cycle.store.tree_of(commit)?);
        let mut sketch = Sketch::default();
        let question = shown(question);
        sketch.add(Node { id: "?".to_owned(), label: question.clone(), mark: Mark::Focus, ..Node::default() });
        for (rank, found) in answer.results.iter().enumerate() {
            sketch.add(Node {
                id: found.id.to_string(),
                label: format!("{}. {}", rank + 1, shown(&found.concept)),
                kind: Some(found.kind),
                salience: found.salience,
                origin: found.origin.to_string(),
                mark: Mark::Answer,
                ..Node::default()
            });
        }
        for found in &answer.results {
            let mut from = 0;
            let is_there = found.path.last().is_some_and(|way| way.at == found.id.as_str());
            for way in &found.path {
                let to = match sketch.place(&way.at) {
                    Some(to) if way.via != "cue" => to,
                    _ => {
                        let read = NeuronId::parse(&way.at).ok().filter(|_| way.via != "cue");
                        let read = read.map(|id| network.neuron(&id)).transpose()?.flatten();
                        sketch.add(match read {
                            Some(neuron) => Node {
                                id: way.at.clone(),
                                label: shown(&neuron.concept),
                                kind: Some(neuron.kind),
                                salience: neuron.salience,
                                origin: neuron.origin.to_string(),
                                ..Node::default()
                            },
                            None => Node { id: format!("?{}", way.at), label: shown(&way.at), ..Node::default() },
                        })
                    }
                };
                sketch.way(from, to, way.via.parse().ok(), way.weight);
                from = to;
            }
            if let Some(to) = sketch.place(found.id.as_str()).filter(|_| !is_there) {
                sketch.way(from, to, None, 1.0);
            }
        }
        let Sketch { nodes, edges, .. } = sketch;
        let count = answer.results.len();
        let answers = match (plural(count, "answer", "answers"), answer.nothing_close) {
            _ if count == 0 => "nothing comes to mind".to_owned(),
            (answers, true) => format!("{answers}, none of them close"),
            (answers, false) => answers,
        };
        let when = Stamp::from_unix(self.cycle.store.commit(commit)?.at);
        let title = format!("The ways from {} to its answers", quoted(&question));
        let picture = Picture { title, at: answer.at.clone(), of: nodes.len(), nodes, edges, ..Picture::default() };
        Ok(Picture { caption: caption(&answers, commit, when), ..picture }.laid_out(&Stood::new()))
    }
}

fn check_count(most: Option<usize>) -> Result<(), BrainError> {
    match most.filter(|most| !(1..=limits::DRAWN_AT_MOST).contains(most)) {
        None => Ok(()),
        Some(most) => {
            let all = limits::DRAWN_AT_MOST;
            Err(BrainError::usage(format!("a picture has 1 to {all} neurons, and {most} are asked for")))
        }
    }
}

/// Nodes and connections as they come, each once.
#[derive(Default)]
struct Sketch {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    places: HashMap<String, u32>,
}

impl Sketch {
    fn place(&self, id: &str) -> Option<u32> {
        self.places.get(id).copied()
    }

    /// The place of a node, which is made if there is none of its id.
    fn add(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        let place = *self.places.entry(node.id.clone()).or_insert(next);
        if place == next {
            self.nodes.push(node);
        }
        place
    }

    /// A step on a way, once.
    fn way(&mut self, from: u32, to: u32, link: Option<Link>, weight: f64) {
        if from != to && !self.edges.iter().any(|edge| (edge.from, edge.to) == (from, to)) {
            let weight = (weight.clamp(0.0, 1.0) * 65535.0).round() as u16;
            self.edges.push(Edge { from, to, link, weight, mark: Mark::Answer });
        }
    }
}

fn mark_of(tie: &Tie) -> Mark {
    match (tie.before, tie.after) {
        (None, _) => Mark::Born,
        (_, None) => Mark::Gone,
        (Some(before), Some(after)) if after < before => Mark::Weakened,
        _ => Mark::Changed,
    }
}

/// A concept as a picture has it.
fn shown(concept: &str) -> String {
    line(concept, limits::LABEL_BYTES)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", line(text, 60))
}

/// A revision as a person named it, a whole id cut.
fn named(revision: &str) -> &str {
    let is_id = revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { &revision[..10] } else { revision }
}

fn caption(what: &str, commit: CommitId, when: Stamp) -> String {
    let (commit, when) = (commit.to_string(), when.to_string());
    format!("{what}, commit {} of {}", &commit[..10], when.get(..10).unwrap_or(&when))
}
