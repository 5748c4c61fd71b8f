//! A cycle of a deliberation, run: trees side by side, each a [state machine](crate::deliberation::tree) whose wants are asked of minds, of the
//! bench and of gates that are programs. Nothing is written here: the caller commits the cycle in one run.

mod bench;
mod handoff;
mod minds;
mod past;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cycle, CycleError};
use crate::activation::graph::NodeIx;
use crate::deliberation::cycle::{Setting, answers, conclude, judged_on};
use crate::deliberation::events::Event;
use crate::deliberation::forest::{Forest, read_cycle};
use crate::deliberation::gates::{ALIGNMENT, ExecutionMode, GATES, GateRecord, GateResult, judge};
use crate::deliberation::record::{CycleRecord, ResultRecord};
use crate::deliberation::roles::{Cast, Member, Role};
use crate::deliberation::sky::Forecast;
use crate::deliberation::tree::{Grown, HANDOFF, Told, TreeDeliberation, Unanswered, Want};
use crate::deliberation::verdict::Proposal;
use crate::deliberation::weather::forecast;
use crate::delta::Limits;
use crate::limits;
use crate::model::deliberation::DeliberationCycle;
use crate::model::deliberation::{Deliberation, UserGate};
use crate::model::ids::{AgentName, NeuronId, RunId, concept_id, hash_fields};
use crate::model::json as model_json;
use crate::model::layout::Place;
use crate::model::{Kind, layout};
use crate::store::{CommitId, TreeId};
use bench::Bench;
pub use handoff::Handoff;
use minds::{Silent, Topic, run_program, seed_of};

/// What is told of each step of a tree as it is taken, by whichever thread takes it.
pub type Watch<'a> = &'a (dyn Fn(&Event) + Sync);

/// Tells steps to whoever follows from another process; a store is of one thread.
pub fn told_live(folder: &std::path::Path) -> impl Fn(&Event) + Sync + use<> {
    let (folder, one) = (folder.to_owned(), std::sync::Mutex::new(()));
    move |event| {
        let _one = one.lock();
        if let Ok(store) = crate::store::Store::open(&folder) {
            store.tell_live(&model_json::inline(event));
        }
    }
}

/// What is deliberated on.
#[derive(Clone, Debug)]
pub struct Question {
    /// The goal.
    pub goal: AgentName,
    /// Words of topics, one a tree; none: those of earlier cycles, or the concepts with most memories.
    pub trees: Vec<String>,
    /// What starts it.
    pub initiative: String,
    /// The run that will enter the cycle.
    pub run: RunId,
    /// What that run's agent may do; `None`: a person.
    pub limits: Option<Limits>,
}

impl Cycle {
    /// `[deliberation]` of main, as every machine reads it: no flag and no branch of a proposer changes gates or thresholds.
    pub fn deliberation_of_main(&self) -> Result<Deliberation, CycleError> {
        Ok(self.settings_of_main()?.deliberation)
    }

    /// The cycles of a goal in a tree, in the order of their runs, but for those that were taken back.
    pub fn cycles_of(&self, tree: TreeId, goal: &AgentName) -> Result<Vec<(RunId, CycleRecord)>, CycleError> {
        let Some(folder) = self.store.folder(tree, layout::DELIBERATIONS)? else { return Ok(Vec::new()) };
        let (mut found, mut reverted) = (Vec::new(), None);
        for (path, file) in self.store.files(folder, "")? {
            let path = format!("{}/{path}", layout::DELIBERATIONS);
            let bytes = self.store.read_file(file, &path)?;
            // A cycle of another goal that cannot be read stops nothing of this one.
            let Place::Deliberation(run) = Place::of(&path) else { continue };
            if goal_in(&bytes, &path).as_ref() != Some(goal) {
                continue;
            }
            let taken_back = match &mut reverted {
                Some(known) => known,
                none => none.insert(self.reverted(tree)?),
            };
            if !taken_back.contains_key(&run) {
                found.push((run, cycle_in(&bytes, &path)?.1));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// The cycle that a run entered, if it did.
    pub fn cycle_of(&self, tree: TreeId, run: &RunId) -> Result<Option<CycleRecord>, CycleError> {
        let path = layout::deliberation(run);
        let Some(bytes) = self.store.read(tree, &path)? else { return Ok(None) };
        cycle_in(&bytes, &path).map(|(_, cycle)| Some(cycle))
    }

    /// The goals that were deliberated on.
    pub fn deliberated_goals(&self, tree: TreeId) -> Result<Vec<AgentName>, CycleError> {
        let Some(folder) = self.store.folder(tree, layout::DELIBERATIONS)? else { return Ok(Vec::new()) };
        let mut goals = Vec::new();
        for (path, file) in self.store.files(folder, "")? {
            goals.extend(goal_in(&self.store.read_file(file, &path)?, &path));
        }
        goals.sort();
        goals.dedup();
        Ok(goals)
    }

    /// Runs one cycle. Nothing is written.
    ///
    /// # Errors
    /// A cast that does not play, a mind that cannot be reached, a program that is not trusted: then nothing is kept.
    pub fn deliberate(&self, question: &Question, watch: Watch<'_>) -> Result<CycleRecord, CycleError> {
        let settings = self.deliberation_of_main()?;
        let models = &self.shared.policy.settings.models;
        let cast = Cast::of(&settings, |mind| match mind {
            HANDOFF => Ok(None),
            "command" | "reflex-lexical" | "reflex-structural" => Ok(Some(mind.to_owned())),
            model => models.get(model).map(|model| model.family.clone()).ok_or(()),
        })
        .map_err(|error| CycleError::refused(error.to_string()))?;
        if !settings.gate.is_empty() || [&settings.gardener, &settings.skeptic].iter().any(|mind| *mind == "command") {
            self.shared.policy.require_trusted_programs()?;
        }
        let wake = self.store.need_tip(self.store.wake())?;
        let tree = self.store.tree_of(wake)?;
        let past = self.cycles_of(tree, &question.goal)?;
        let before = Forest::after(past.iter().map(|(_, cycle)| cycle), &settings);
        let titles = self.titles(question, &before, wake, &settings)?;
        let ids: Vec<String> = titles.keys().cloned().collect();
        let sky = forecast(&before, &ids, &settings);
        let job = Job {
            question,
            settings: &settings,
            cast: &cast,
            before: &before,
            past: &past,
            titles: &titles,
            sky: &sky,
            wake,
            watch,
        };
        let grown = self.side_by_side(&job)?;
        let evidence = grown.iter().map(|(grown, hash)| (grown.tree.clone(), hash.clone())).collect();
        let setting = Setting {
            goal: question.goal.as_str(),
            before: &before,
            settings: &settings,
            cast: &cast,
            forecast: &sky,
            evidence: &evidence,
            at: self.shared.world.now(),
            initiative: &question.initiative,
        };
        conclude(&setting, grown.into_iter().map(|(grown, _)| grown).collect()).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            CycleError::refused(format!("the validator refuses the cycle: {}", faults.join("; ")))
        })
    }

    /// What the gates say of a proposal on one tree. Nothing is written, and no mind is asked: the gate of alignment is not answered.
    ///
    /// # Errors
    /// Programs that are not trusted here; files that cannot be read.
    pub fn gates_of(&self, question: &Question, proposal: &Proposal) -> Result<GateRecord, CycleError> {
        let settings = self.deliberation_of_main()?;
        let wake = self.store.need_tip(self.store.wake())?;
        let past = self.cycles_of(self.store.tree_of(wake)?, &question.goal)?;
        self.gates_beside(question, proposal, &Forest::after(past.iter().map(|(_, cycle)| cycle), &settings))
    }

    fn gates_beside(
        &self,
        question: &Question,
        proposal: &Proposal,
        before: &Forest,
    ) -> Result<GateRecord, CycleError> {
        let settings = self.deliberation_of_main()?;
        if !settings.gate.is_empty() {
            self.shared.policy.require_trusted_programs()?;
        }
        let [title] = question.trees.as_slice() else {
            return Err(CycleError::Usage { message: "one tree is examined on: --trees TOPIC".to_owned(), hint: None });
        };
        let wake = self.store.need_tip(self.store.wake())?;
        let bench = Bench::of(self, wake, title, (question.run.clone(), question.limits.clone()))?;
        let tree = concept_id(title).to_string();
        let examined = Examined { question, settings: &settings, before };
        self.examine(&examined, &bench, &tree, proposal)
    }

    /// The words of a tree. A topic that a person named need be no neuron: its id begins with its words.
    fn title_of(&self, wake: CommitId, id: &str) -> Result<String, CycleError> {
        let network = super::network::TreeNetwork::new(&self.store, self.store.tree_of(wake)?);
        let named = NeuronId::parse(id).ok().map(|id| network.neuron(&id)).transpose()?.flatten();
        let words = || id.rsplit_once('-').map_or(id, |(words, _)| words).replace('-', " ");
        Ok(named.map_or_else(words, |neuron| neuron.concept))
    }

    /// Measures a result again that another process measured, beside no other fruit.
    pub fn measured_again(&self, question: &Question, result: &ResultRecord) -> Result<GateRecord, CycleError> {
        let wake = self.store.need_tip(self.store.wake())?;
        let trees = vec![self.title_of(wake, &result.tree)?];
        self.gates_beside(&Question { trees, ..question.clone() }, &result.proposal, &Forest::default())
    }

    /// Trees by id, each with the words that its memories are recalled by.
    fn titles(
        &self,
        question: &Question,
        before: &Forest,
        wake: CommitId,
        settings: &Deliberation,
    ) -> Result<BTreeMap<String, String>, CycleError> {
        let of = |words: &String| (concept_id(words).to_string(), words.clone());
        if !question.trees.is_empty() {
            return Ok(question.trees.iter().map(of).collect());
        }
        let snapshot = super::snapshot::snapshot(&self.store, self.store.tree_of(wake)?)?;
        let graph = snapshot.graph();
        let network = super::network::TreeNetwork::new(&self.store, self.store.tree_of(wake)?);
        let words = |id: &NeuronId| Ok::<_, CycleError>(network.neuron(id)?.map(|neuron| neuron.concept));
        let mut titles = BTreeMap::new();
        if before.trees.is_empty() {
            let mut memories: BTreeMap<NodeIx, usize> = BTreeMap::new();
            for node in graph.nodes().filter(|node| graph.kind(*node) == Kind::Episodic && !graph.is_archived(*node)) {
                for tie in graph.spread(node).filter(|tie| graph.kind(tie.target) == Kind::Semantic) {
                    *memories.entry(tie.target).or_default() += 1;
                }
            }
            let mut hubs: Vec<(usize, NodeIx)> = memories.into_iter().map(|(node, count)| (count, node)).collect();
            hubs.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| graph.id(a.1).cmp(graph.id(b.1))));
            for (_, node) in hubs.into_iter().take(2 * settings.slots as usize) {
                if let Some(words) = NeuronId::parse(graph.id(node)).ok().map(|id| words(&id)).transpose()?.flatten() {
                    titles.extend([of(&words)]);
                }
            }
        } else {
            for id in before.trees.keys() {
                titles.insert(id.clone(), self.title_of(wake, id)?);
            }
        }
        match titles.is_empty() {
            true => {
                Err(CycleError::refused("there is nothing to deliberate on: the brain has no concepts with memories"))
            }
            false => Ok(titles),
        }
    }

    /// The trees that get a gardener, so many at once as the settings say, by id. The first that fails ends all.
    fn side_by_side(&self, job: &Job<'_>) -> Result<Vec<(Grown, String)>, CycleError> {
        let allocated: Vec<&String> = job.sky.allocated().map(|(id, _)| id).collect();
        let next = AtomicUsize::new(0);
        let (folder, dir, shared) = (self.store.common_dir(), &self.dir, &self.shared);
        let threads = (job.settings.max_concurrent as usize).min(allocated.len()).max(1);
        let done = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    let (next, allocated) = (&next, &allocated);
                    scope.spawn(move || {
                        let mut store = crate::store::Store::open(folder)?;
                        store.set_secrets(Arc::clone(&shared.secrets));
                        let cycle = Cycle::beside(dir.clone(), store, Arc::clone(shared));
                        let mut grown = Vec::new();
                        while let Some(id) = allocated.get(next.fetch_add(1, Ordering::SeqCst)) {
                            grown.push(cycle.grow(job, id)?);
                        }
                        Ok::<_, CycleError>(grown)
                    })
                })
                .collect();
            let joined = workers.into_iter().map(|worker| {
                worker.join().unwrap_or_else(|_| Err(CycleError::Busy("a tree's thread ended".to_owned())))
            });
            joined.collect::<Result<Vec<_>, _>>()
        })?;
        let mut grown: Vec<(Grown, String)> = done.into_iter().flatten().collect();
        grown.sort_by(|a, b| a.0.tree.cmp(&b.0.tree));
        Ok(grown)
    }

    /// Drives one tree to its end.
    fn grow(&self, job: &Job<'_>, id: &str) -> Result<(Grown, String), CycleError> {
        let Job { question, settings, cast, before, .. } = job;
        let (title, sky) = (&job.titles[id], &job.sky.trees[id]);
        let bench = Bench::of(self, job.wake, title, (question.run.clone(), question.limits.clone()))?;
        if settings.gates.brain && !question.trees.is_empty() && !bench.evidence.all().iter().any(|one| one.is_of_tree)
        {
            return Err(CycleError::Refused {
                message: format!("no memory is about {title:?}, so no gate could measure anything"),
                hint: Some("`git brain recall` shows what the brain remembers of a topic".to_owned()),
            });
        }
        let hash = bench.evidence.hash();
        let agent = question.run.agent();
        let seed = seed_of(question.goal.as_str(), id, before.cycle + 1, &hash);
        let (past, amendments) = (job.past_of(id), answers(before, settings));
        let known = job.measured_on(&hash);
        let topic = Topic {
            cycle: self,
            goal: question.goal.as_str(),
            title,
            evidence: &bench.evidence,
            seed,
            agent: &agent,
            argv: &settings.argv,
            reads: &settings.reads,
            on_brain: settings.gates.brain,
            past: &past,
            known: &known,
            amendments: &amendments,
        };
        let judged_on = judged_on(Some(&hash), settings);
        let seeds = before.seeds_of(id).filter(|seed| seed.judged_on != judged_on);
        let seeds = seeds.map(|seed| seed.proposal.clone()).collect();
        let share = (sky.hypotheses, sky.temperature);
        let closed = before.closed.iter().cloned().chain(known.iter().map(Proposal::key)).collect();
        let mut tree = TreeDeliberation::new(id, share, seeds, &closed, cast, settings);
        loop {
            let told = match tree.want().clone() {
                Want::Done => break,
                Want::Mine { count, temperature } => said(
                    Role::Gardener,
                    topic.mine(&cast.gardener, count, temperature, &[]).map(Told::Proposals),
                    Told::Malformed,
                ),
                Want::Critique(all) => verdicts(cast, all.iter().map(|one| (one, None)), &topic),
                Want::Challenge(all) => verdicts(cast, all.iter().map(|(one, record)| (one, Some(record))), &topic),
                Want::Revise { of, refused } => {
                    let (asked, refused) = (of.len(), [refused, of].concat());
                    let mined = topic.mine(&cast.gardener, asked, sky.temperature, &refused);
                    said(Role::Gardener, mined.map(|mined| replacements(mined, asked)), |_| {
                        Told::Replacements(vec![None; asked])
                    })
                }
                Want::Diverge(all) => match &cast.diverger {
                    Some(member) if member.mind == HANDOFF => self.hand_off_alternatives(job, id, &all)?,
                    Some(member) => {
                        said(Role::Diverger, topic.diverge(member, &all).map(Told::Proposals), Told::Malformed)
                    }
                    None => Told::TimedOut,
                },
                Want::Inspect(all) => {
                    let mut judged = Vec::with_capacity(all.len());
                    let mut gone = None;
                    for one in &all {
                        match topic.inspect(&cast.inspector, one) {
                            Ok(judgement) => judged.push(Some(judgement)),
                            Err(Silent::Formless(_)) => judged.push(None),
                            Err(Silent::Gone(why)) => gone = Some(why),
                        }
                    }
                    gone.map_or(Told::Judgements(judged), |why| Told::Unreachable(Role::Inspector, why))
                }
                Want::Examine(all) => {
                    let by = Examined { question, settings, before };
                    let examined = all.iter().map(|one| self.examine(&by, &bench, id, one));
                    Told::Records(examined.collect::<Result<_, _>>()?)
                }
                Want::Align(all) => self.align(job, id, &all, &topic)?,
            };
            let before_it = tree.steps().len();
            let taken = tree.take(told);
            for step in &tree.steps()[before_it..] {
                (job.watch)(&Event {
                    ts: self.shared.world.now(),
                    agent: step.agent.clone(),
                    role: step.role,
                    action: step.action,
                    target: step.target.clone(),
                    inputs: step.step.inputs.clone(),
                    outputs: step.step.outputs.clone(),
                    reason: step.step.reason.clone(),
                    cycle: before.cycle + 1,
                    initiative: question.initiative.clone(),
                });
            }
            taken.map_err(|error| CycleError::Unanswered(format!("{title}: {error}")))?;
        }
        Ok((tree.grown(), hash))
    }

    /// The gates of a candidate: those that measure it on the brain, unless the goal has its own alone, and the programs of the settings.
    fn examine(
        &self,
        job: &Examined<'_>,
        bench: &Bench<'_>,
        tree: &str,
        proposal: &Proposal,
    ) -> Result<GateRecord, CycleError> {
        let (domain, candidate) = (format!("{tree}@{}", bench.evidence.hash()), proposal.key());
        // Another cycle, or another goal, is no other throw of the dice.
        let seed = hash_fields(&[domain.as_bytes(), candidate.as_bytes()]);
        let mut record = if job.settings.gates.brain {
            let promoted: Vec<&Value> = job.before.promoted().collect();
            let measured = bench.measure(&proposal.payload, &promoted, job.settings.gates.random, seed);
            judge(&measured, &job.settings.gates, domain, candidate, seed)
        } else {
            let asked = GATES.iter().filter(|(name, ..)| *name == ALIGNMENT).map(|(name, ..)| (*name).to_owned());
            GateRecord {
                domain,
                candidate,
                asked: asked.collect(),
                gates: Vec::new(),
                execution_mode: ExecutionMode::ToolExecuted,
            }
        };
        for gate in &job.settings.gate {
            record.asked.push(gate.name.clone());
            record.gates.push(self.ask_gate(job, gate, tree, proposal)?);
        }
        Ok(record)
    }

    /// Asks a gate that is a program. One that fails, takes too long or says something else has not passed the candidate.
    fn ask_gate(
        &self,
        job: &Examined<'_>,
        gate: &UserGate,
        tree: &str,
        proposal: &Proposal,
    ) -> Result<GateResult, CycleError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Answer {
            passed: bool,
            figure: Option<f64>,
            #[serde(default)]
            threshold: f64,
            #[serde(default)]
            note: String,
        }
        let input = json!({"goal": job.question.goal, "tree": tree, "candidate": proposal.key(), "proposal": proposal});
        let agent = job.question.run.agent();
        let failed = |note: String| GateResult {
            name: gate.name.clone(),
            hard: gate.hard,
            passed: false,
            figure: None,
            threshold: 0.0,
            note: note.chars().take(300).collect(),
            broken: true,
        };
        let said = match run_program(self, &agent, &gate.argv, &gate.reads, gate.timeout_ms, &input) {
            Ok(said) => said,
            Err(error @ (CycleError::Exhausted(_) | CycleError::Store(_) | CycleError::Busy(_))) => return Err(error),
            Err(error) => return Ok(failed(error.to_string())),
        };
        Ok(match serde_json::from_slice::<Answer>(&said) {
            Ok(answer) if answer.figure.is_none_or(f64::is_finite) => GateResult {
                passed: answer.passed,
                figure: answer.figure,
                threshold: answer.threshold,
                note: answer.note.chars().take(300).collect(),
                broken: false,
                ..failed(String::new())
            },
            Ok(_) => failed("its figure is no number".to_owned()),
            Err(error) => failed(format!("its answer is not of the form: {error}")),
        })
    }

    fn align(
        &self,
        job: &Job<'_>,
        tree: &str,
        all: &[(Proposal, GateRecord)],
        topic: &Topic<'_>,
    ) -> Result<Told, CycleError> {
        let member: &Member = &job.cast.aligner;
        if member.mind == HANDOFF {
            let asked = all.iter().map(|(proposal, record)| self.hand_off_alignment(job, tree, proposal, record));
            return Ok(Told::Alignments(asked.collect::<Result<_, _>>()?));
        }
        let mut aligned = Vec::with_capacity(all.len());
        for (proposal, record) in all {
            match topic.align(member, proposal, record) {
                Ok(alignment) => aligned.push(Ok(alignment)),
                Err(Silent::Formless(why)) => aligned.push(Err(Unanswered::Malformed(why))),
                Err(Silent::Gone(why)) => return Ok(Told::Unreachable(Role::Aligner, why)),
            }
        }
        Ok(Told::Alignments(aligned))
    }
}

/// A cycle's file.
fn cycle_in(bytes: &[u8], path: &str) -> Result<(DeliberationCycle, CycleRecord), CycleError> {
    let entered: DeliberationCycle = model_json::strict(bytes, path, limits::DOCUMENT_BYTES)?;
    let cycle = read_cycle(&entered.cycle).map_err(|message| CycleError::Refused {
        message: format!("{path}: cycle: {message}"),
        hint: Some(format!("`git brain revert {}` takes that cycle out of the forest", entered.run)),
    })?;
    Ok((entered, cycle))
}

/// The goal of a cycle's file, if it can be read.
fn goal_in(bytes: &[u8], path: &str) -> Option<AgentName> {
    #[derive(Deserialize)]
    struct Goal {
        goal: AgentName,
    }
    model_json::typed::<Goal>(bytes, path).map(|of| of.goal).ok()
}

/// One cycle on its way, as all its trees see it.
struct Job<'a> {
    question: &'a Question,
    settings: &'a Deliberation,
    cast: &'a Cast,
    before: &'a Forest,
    past: &'a [(RunId, CycleRecord)],
    titles: &'a BTreeMap<String, String>,
    sky: &'a Forecast,
    wake: CommitId,
    watch: Watch<'a>,
}

/// What a candidate is examined by.
struct Examined<'a> {
    question: &'a Question,
    settings: &'a Deliberation,
    before: &'a Forest,
}

/// An answer, or what stands for one without a form.
fn said(role: Role, answer: Result<Told, Silent>, formless: impl FnOnce(String) -> Told) -> Told {
    match answer {
        Ok(told) => told,
        Err(Silent::Formless(why)) => formless(why),
        Err(Silent::Gone(why)) => Told::Unreachable(role, why),
    }
}

fn replacements(mined: Vec<Proposal>, asked: usize) -> Told {
    let mut all: Vec<Option<Proposal>> = mined.into_iter().map(Some).collect();
    all.resize(asked, None);
    Told::Replacements(all)
}

/// Verdicts of the skeptic: one that gives none, in no form, cannot be reached either.
fn verdicts<'p>(
    cast: &Cast,
    all: impl Iterator<Item = (&'p Proposal, Option<&'p GateRecord>)>,
    topic: &Topic<'_>,
) -> Told {
    let Some(skeptic) = &cast.skeptic else { return Told::Verdicts(Vec::new()) };
    let mut verdicts = Vec::new();
    for (proposal, record) in all {
        match topic.attack(skeptic, proposal, record) {
            Ok(verdict) => verdicts.push(verdict),
            Err(Silent::Gone(why)) => return Told::Unreachable(Role::Skeptic, why),
            Err(Silent::Formless(why)) => {
                let why = format!("{} answers in no form, also when it is asked again: {why}", skeptic.mind);
                return Told::Unreachable(Role::Skeptic, why);
            }
        }
    }
    Told::Verdicts(verdicts)
}
