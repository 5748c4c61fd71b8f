//! The tools that models of a chat may call: what they are, and carrying them out. Who may call what, and how often, is the
//! chain's business; that a person confirms what changes something, [`super::chat`]'s.
//!
//! Tools of the network read one commit. Tools of files see the folders that the settings name and nothing else: [`files`].
//! What a tool gives is bounded, and no secret is in it. Every neuron that is shown has a number for citations, and the least
//! trusted origin of all that was shown is that of the answer.

mod files;

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{self, Program};
use super::conversation::talk_of;
use super::network::TreeNetwork;
use super::recall::Recalled;
use super::{Cycle, CycleError};
use crate::activation::recall::{Also, Filters};
use crate::activation::{NodeIx, Snapshot};
use crate::cognition::chain::Offer;
use crate::cognition::chain::extract::Evidence;
use crate::cognition::exchange::{Tool, ToolCall};
use crate::limits;
use crate::model::ids::NeuronId;
use crate::model::{Kind, Link, Neuron, Origin, json as model_json, within};
use crate::store::CommitId;
use crate::text::talk::{self, Said, Talk};
use files::Roots;

/// The tools of one answer.
pub(super) struct Tools<'c> {
    cycle: &'c Cycle,
    tip: CommitId,
    snapshot: OnceCell<Snapshot>,
    roots: Roots,
    /// What has a number: the first is 1.
    cited: Vec<NeuronId>,
    origin: Origin,
}

/// A neuron that a look is at, and the link and weight by which it was reached.
type Chosen = (NeuronId, Option<(Link, u16)>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
    #[serde(default)]
    top: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfNeuron {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    link: Option<Link>,
    #[serde(default, rename = "type")]
    kind: Option<Kind>,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfPath {
    #[serde(default = "here")]
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    path: String,
    #[serde(default)]
    from_line: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteFile {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditFile {
    path: String,
    find: String,
    replace: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exec {
    argv: Vec<String>,
}

fn here() -> String {
    ".".to_owned()
}

fn text() -> Value {
    json!({"type": "string"})
}

fn offer(name: &str, description: &str, properties: Value, required: &[&str], changes: bool, defaults: Value) -> Offer {
    let parameters =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let tool = Tool { name: name.to_owned(), description: description.to_owned(), parameters };
    Offer { tool, changes, defaults }
}

impl<'c> Tools<'c> {
    /// The tools over a commit, for an answer to what comes from `origin`.
    pub fn new(cycle: &'c Cycle, tip: CommitId, origin: Origin) -> Self {
        let roots = Roots::of(cycle.shared.policy.chain_roots(), &cycle.shared);
        Self { cycle, tip, snapshot: OnceCell::new(), roots, cited: Vec::new(), origin }
    }

    /// The same without files: what only reads the network.
    pub fn of_the_network(cycle: &'c Cycle, tip: CommitId, origin: Origin) -> Self {
        Self { roots: Roots::of(&[], &cycle.shared), ..Self::new(cycle, tip, origin) }
    }

    /// What models are offered: the tools of files only where there are folders for them.
    pub fn offers(&self) -> Vec<Offer> {
        let int = || json!({"type": "integer", "minimum": 1});
        let mut offers = vec![
            offer(
                "recall",
                "The brain's memories for a question, best first, with their numbers. What was said in conversations comes last, and only \
                 where the question asks for it.",
                json!({"query": text(), "top": int()}),
                &["query"],
                false,
                json!({}),
            ),
            offer("read_neuron", "One neuron of the brain, whole.", json!({"id": text()}), &["id"], false, json!({})),
            offer(
                "query_network",
                "Neurons of the brain: what the neuron `id` leads to, by all links or `link`; without `id` the most vivid, of all \
                 types or `type`.",
                json!({"id": text(), "link": text(), "type": text(), "limit": int()}),
                &[],
                false,
                json!({}),
            ),
        ];
        if self.roots.is_empty() {
            return offers;
        }
        let path = || json!({"path": text()});
        offers.extend([
            offer("list_dir", "The files of a folder.", path(), &[], false, json!({"path": "."})),
            offer(
                "read_file",
                "A text file, from a line on.",
                json!({"path": text(), "from_line": int()}),
                &["path"],
                false,
                json!({"from_line": 1}),
            ),
            offer(
                "write_file",
                "Writes a whole text file. A person confirms it.",
                json!({"path": text(), "content": text()}),
                &["path", "content"],
                true,
                json!({}),
            ),
            offer(
                "edit_file",
                "Replaces a text that stands once in a file. A person confirms it.",
                json!({"path": text(), "find": text(), "replace": text()}),
                &["path", "find", "replace"],
                true,
                json!({}),
            ),
            offer(
                "exec",
                "Runs a program without a shell, network or input. A person confirms it.",
                json!({"argv": {"type": "array", "items": text(), "minItems": 1}}),
                &["argv"],
                true,
                json!({}),
            ),
        ]);
        offers
    }

    /// Says whether a call that a person is to confirm could be carried out at all.
    pub fn check(&self, call: &ToolCall) -> Result<(), String> {
        match call.name.as_str() {
            "write_file" => {
                let WriteFile { path, content } = arguments(call)?;
                self.roots.may_write(&path, content.len())
            }
            "edit_file" => {
                let edit: EditFile = arguments(call)?;
                self.edited(&edit).map(|_| ())
            }
            "exec" => arguments::<Exec>(call).and_then(|exec| match exec.argv.is_empty() {
                true => Err("argv is empty".to_owned()),
                false => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    /// Carries a call out: what it gave, or why it failed, in a sentence.
    pub fn run(&mut self, call: &ToolCall) -> Result<Value, String> {
        let given = match call.name.as_str() {
            "recall" => self.recall(&arguments(call)?),
            "read_neuron" => self.read_neuron(&arguments(call)?),
            "query_network" => self.look(&arguments(call)?),
            "list_dir" => {
                self.shows(&Origin::local());
                self.roots.list(&arguments::<OfPath>(call)?.path)
            }
            "read_file" => {
                let ReadFile { path, from_line } = arguments(call)?;
                self.shows(&imported());
                self.roots.read(&path).map(|text| part(&path, &text, from_line))
            }
            "write_file" => {
                let WriteFile { path, content } = arguments(call)?;
                self.roots.write(&path, &content).map(|()| json!({"path": path, "bytes": content.len()}))
            }
            "edit_file" => {
                let edit: EditFile = arguments(call)?;
                let content = self.edited(&edit)?;
                self.roots.write(&edit.path, &content).map(|()| json!({"path": edit.path, "bytes": content.len()}))
            }
            "exec" => {
                self.shows(&imported());
                self.exec(&arguments(call)?)
            }
            other => Err(format!("there is no tool {other:?}")),
        };
        let secrets = &self.cycle.shared.secrets;
        let given = given.map_err(|why| secrets.redact(&why).into_owned())?;
        // What goes to a model goes further than this machine.
        Ok(match secrets.redact_json(given.to_string().as_bytes()) {
            None => given,
            Some(clean) => serde_json::from_slice(&clean).unwrap_or_else(|_| json!({"error": "[redacted]"})),
        })
    }

    /// The origin of all that was shown so far.
    pub fn origin(&self) -> Origin {
        self.origin.passed_on()
    }

    /// What was shown so far and has a number.
    pub fn numbered(&self) -> &[NeuronId] {
        &self.cited
    }

    /// The neuron that a number stands for.
    pub fn cited(&self, n: usize) -> Option<&NeuronId> {
        self.cited.get(n.checked_sub(1)?)
    }

    /// The best memories that can be quoted.
    pub fn evidence(&mut self, query: &str) -> Result<Vec<Evidence>, CycleError> {
        let found = self.remember(query, limits::CHAT_MEMORIES)?;
        let evidence = |neuron: &Neuron, n: usize| Evidence {
            n,
            text: neuron.concept.clone(),
            source: neuron.source.clone(),
            at: Some(neuron.created_at),
            origin: (neuron.origin != Origin::local()).then(|| neuron.origin.to_string()),
        };
        Ok(found.iter().map(|found| evidence(&found.neuron, self.number(&found.neuron))).collect())
    }

    /// The weight of a word in this brain, by its key.
    pub fn rarity(&self, key: &str) -> Result<f64, CycleError> {
        Ok(self.snapshot()?.index().rarity_weight(key, limits::SMALL_BRAIN))
    }

    /// A neuron that was shown in another way, such as a turn of the conversation: its origin counts.
    pub fn shown(&mut self, neuron: &Neuron) {
        self.shows(&neuron.origin);
    }

    fn shows(&mut self, origin: &Origin) {
        self.origin = self.origin.and(origin);
    }

    /// The number of a neuron that is shown now.
    fn number(&mut self, neuron: &Neuron) -> usize {
        self.shown(neuron);
        let known = self.cited.iter().position(|id| *id == neuron.id);
        1 + known.unwrap_or_else(|| {
            self.cited.push(neuron.id.clone());
            self.cited.len() - 1
        })
    }

    fn snapshot(&self) -> Result<&Snapshot, CycleError> {
        if self.snapshot.get().is_none() {
            let tree = self.cycle.store.tree_of(self.tip)?;
            let made = super::snapshot::snapshot(&self.cycle.store, tree)?;
            let _ = self.snapshot.set(made);
        }
        Ok(self.snapshot.get().expect("invariant: it was set"))
    }

    /// The best memories.
    fn remember(&self, query: &str, top: usize) -> Result<Vec<Recalled>, CycleError> {
        let filters = Filters { top: Some(top), ..Filters::default() };
        let now = self.cycle.shared.world.now();
        Ok(self.cycle.recall(self.tip, self.snapshot()?, query, filters, now, &mut |_, _| ())?.0)
    }

    /// The best turns of conversations, where a question asks for them.
    fn remember_talk(&self, query: &str, said: Said, top: usize) -> Result<Vec<Recalled>, CycleError> {
        let filters = Filters { top: Some(top), ..Filters::default() };
        self.cycle.recall_talk(self.tip, self.snapshot()?, query, &filters, said)
    }

    fn recall(&mut self, query: &Query) -> Result<Value, String> {
        let top = query.top.unwrap_or(limits::CHAT_MEMORIES).clamp(1, limits::CHAT_MEMORIES);
        let mut found = self.remember(&query.query, top).map_err(|e| e.to_string())?;
        if let Some(said) = talk::about_talk(&query.query) {
            found.extend(self.remember_talk(&query.query, said, top).map_err(|e| e.to_string())?);
        }
        let mut memories = Vec::new();
        for Recalled { neuron, copies, .. } in &found {
            let mut memory = json!({
                "n": self.number(neuron), "id": neuron.id, "text": neuron.concept, "at": neuron.created_at, "source": neuron.source,
                "origin": neuron.origin
            });
            if let Some(talk) = talk_of(neuron) {
                memory["no_evidence"] = no_evidence(talk).into();
            }
            let origins = &self.cycle.shared.policy.settings.origins;
            let tainted = |neuron: &Neuron| origins.is_tainted(&neuron.origin);
            // Labels of a copy that is trusted less would taint the answer, and say nothing new.
            let copies: Vec<&Neuron> = copies.iter().filter(|copy| tainted(neuron) || !tainted(copy)).collect();
            if !copies.is_empty() {
                memory["also"] = json!(copies.iter().map(|copy| Also::of(copy)).collect::<Vec<_>>());
                copies.into_iter().for_each(|copy| self.shown(copy));
            }
            memories.push(memory);
        }
        Ok(json!({ "memories": memories }))
    }

    fn read_neuron(&mut self, asked: &OfNeuron) -> Result<Value, String> {
        let id = NeuronId::parse(asked.id.trim()).map_err(|e| e.to_string())?;
        let network = self.network()?;
        let Some(neuron) = network.neuron(&id).map_err(|e| e.to_string())? else {
            return Err(format!("there is no neuron {id}"));
        };
        let mut value = serde_json::to_value(&neuron).map_err(|e| e.to_string())?;
        value["n"] = self.number(&neuron).into();
        if let Some(connections) = value["connections"].as_array_mut() {
            connections.truncate(limits::TOOL_NEURONS);
        }
        Ok(value)
    }

    /// A neuron of the commit, as it is there. It is not shown to anybody by this.
    pub fn look_up(&self, id: &NeuronId) -> Result<Option<Neuron>, CycleError> {
        let store = &self.cycle.store;
        TreeNetwork::remembering(store, store.tree_of(self.tip)?, &self.cycle.shared.neurons).neuron(id)
    }

    fn network(&self) -> Result<TreeNetwork<'c>, String> {
        let store = &self.cycle.store;
        let tree = store.tree_of(self.tip).map_err(|e| e.to_string())?;
        Ok(TreeNetwork::remembering(store, tree, &self.cycle.shared.neurons))
    }

    fn look(&mut self, look: &Look) -> Result<Value, String> {
        let limit = look.limit.unwrap_or(limits::CHAT_MEMORIES).clamp(1, limits::TOOL_NEURONS);
        let chosen = self.chosen(look, limit).map_err(|e| e.to_string())?;
        let network = self.network()?;
        let mut neurons = Vec::new();
        for (id, by) in chosen {
            let Some(neuron) = network.neuron(&id).map_err(|e| e.to_string())? else { continue };
            let now = self.cycle.shared.world.now();
            let mut value = json!({
                "n": self.number(&neuron), "id": id, "type": neuron.kind, "concept": neuron.concept, "salience": neuron.salience_at(now)
            });
            if let Some((link, weight)) = by {
                value["link"] = json!(link);
                value["weight"] = weight.into();
            }
            neurons.push(value);
        }
        Ok(json!({ "neurons": neurons }))
    }

    /// The neurons that a look is at, and by which link.
    fn chosen(&self, look: &Look, limit: usize) -> Result<Vec<Chosen>, CycleError> {
        let graph = self.snapshot()?.graph();
        let id_of = |node: NodeIx| NeuronId::parse(graph.id(node)).ok();
        let of_kind = |node: NodeIx| look.kind.is_none_or(|kind| graph.kind(node) == kind);
        if let Some(id) = &look.id {
            let id = NeuronId::parse(id.trim()).map_err(|e| CycleError::refused(e.to_string()))?;
            let Some(from) = graph.find(&id) else {
                return Err(CycleError::refused(format!("there is no neuron {id}")));
            };
            let mut edges: Vec<_> =
                graph.spread(from).filter(|edge| look.link.is_none_or(|l| l == edge.link)).collect();
            edges.retain(|edge| of_kind(edge.target));
            edges.sort_by_key(|edge| (Reverse(edge.weight), graph.order(edge.target)));
            let edges = edges.into_iter().take(limit);
            return Ok(edges.filter_map(|e| Some((id_of(e.target)?, Some((e.link, e.weight))))).collect());
        }
        let now = self.cycle.shared.world.now();
        // The greatest so far, as many as are shown: salience only fades, so whoever was stored below all of them is none of them now.
        let mut best: BinaryHeap<Reverse<u16>> = BinaryHeap::with_capacity(limit + 1);
        let mut all: Vec<(u16, NodeIx)> = Vec::new();
        for node in graph.nodes().filter(|node| of_kind(*node) && !graph.is_archived(*node)) {
            let least = if best.len() == limit { best.peek().map_or(0, |least| least.0) } else { 0 };
            if graph.stored_salience(node).0 < least {
                continue;
            }
            let salience = graph.salience_at(node, now);
            if salience >= least {
                best.push(Reverse(salience));
                if best.len() > limit {
                    best.pop();
                }
                all.push((salience, node));
            }
        }
        let least = best.peek().map_or(0, |least| least.0);
        all.retain(|(salience, _)| *salience >= least);
        all.sort_by_key(|(salience, node)| (Reverse(*salience), graph.order(*node)));
        Ok(all.into_iter().take(limit).filter_map(|(_, node)| Some((id_of(node)?, None))).collect())
    }

    /// The content that an edit leaves.
    fn edited(&self, edit: &EditFile) -> Result<String, String> {
        if edit.find.is_empty() {
            return Err("`find` is empty".to_owned());
        }
        let content = self.roots.read(&edit.path)?;
        match content.matches(&edit.find).count() {
            1 => {}
            0 => return Err(format!("{:?} is not in {}", clip(&edit.find), edit.path)),
            count => return Err(format!("{:?} is in {} {count} times, not once", clip(&edit.find), edit.path)),
        }
        let content = content.replacen(&edit.find, &edit.replace, 1);
        self.roots.may_write(&edit.path, content.len())?;
        Ok(content)
    }

    fn exec(&self, exec: &Exec) -> Result<Value, String> {
        let program = Program::of_model(exec.argv.clone(), self.roots.names(), self.roots.hidden());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        let ran = runtime.block_on(command::output_of(&program, &self.cycle.shared.place, Vec::new()));
        let (output, _) = ran.map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&output);
        Ok(json!({"output": bounded(&text), "bytes": output.len()}))
    }
}

/// Why a turn of a conversation supports nothing.
fn no_evidence(talk: Talk) -> &'static str {
    match talk {
        Talk::Answer => "the brain itself answered this",
        Talk::Question | Talk::Order => "this is a question",
        Talk::SmallTalk => "this is a courtesy",
    }
}

/// What files say is as far trusted as what a person imports.
fn imported() -> Origin {
    Origin::parse("import").expect("invariant: it is an origin")
}

fn arguments<T: serde::de::DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    model_json::typed(call.arguments.to_string().as_bytes(), &format!("the arguments of {}", call.name))
        .map_err(|e| e.to_string())
}

fn clip(text: &str) -> String {
    crate::delta::render::clip(text)
}

/// As much of a text as a model is shown.
fn bounded(text: &str) -> &str {
    within(text, limits::TOOL_RESULT_BYTES)
}

/// The lines of a file from one on, as many as a model is shown, and where to go on.
fn part(path: &str, text: &str, from_line: usize) -> Value {
    let first = from_line.max(1);
    let skipped: usize = text.split_inclusive('\n').take(first - 1).map(str::len).sum();
    let rest = &text[skipped..];
    let shown = bounded(rest);
    let mut value = json!({"path": path, "from_line": first, "content": shown, "bytes": text.len()});
    if shown.len() < rest.len() {
        value["next_line"] = (first + shown.matches('\n').count()).into();
    }
    value
}
