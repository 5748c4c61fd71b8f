//! A cycle of a deliberation, run: trees side by side, each a [state machine](crate::deliberation::tree) whose wants are asked of minds, of the
//! bench and of gates that are programs. Nothing is written here: the caller commits the cycle in one run.

mod bench;
mod claims;
mod examine;
mod handoff;
mod hidden;
mod minds;
mod past;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::{Cycle, CycleError};
use crate::activation::graph::NodeIx;
use crate::deliberation::contested::{Contest, newest, settle};
use crate::deliberation::cycle::{Setting, answers, conclude, judged_on, opening, rules_of};
use crate::deliberation::events::Event;
use crate::deliberation::forest::{Forest, read_cycle};
use crate::deliberation::gates::GateRecord;
use crate::deliberation::record::CycleRecord;
use crate::deliberation::roles::{Cast, Member, Role};
use crate::deliberation::sky::Forecast;
use crate::deliberation::tree::{Grown, HANDOFF, Told, TreeDeliberation, Unanswered, Want};
use crate::deliberation::verdict::{Proposal, Said};
use crate::deliberation::weather::forecast;
use crate::delta::Limits;
use crate::limits;
use crate::model::deliberation::Deliberation;
use crate::model::deliberation::DeliberationCycle;
use crate::model::ids::{AgentName, NeuronId, RunId, concept_id};
use crate::model::json as model_json;
use crate::model::layout::Place;
use crate::model::{Kind, layout};
use crate::store::{CommitId, TreeId};
use crate::world::is_own_host;
use bench::Bench;
pub use claims::Measured;
use examine::Examined;
pub use handoff::Handoff;
use minds::{Silent, Topic, seed_of};
use programs::Programs;

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
    /// Whether it waits for handoffs. A run of an agent holds the loop, and does not: its questions stay, and a later run finds the answers.
    pub waits: bool,
    /// Fruit that failed when it was measured again, by its cycle's run and its key: no fruit.
    pub refused: BTreeSet<(RunId, String)>,
    /// Whether the cycle will be entered: then this machine notes what it has measured.
    pub writes: bool,
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

    /// The forest that cycles have left by the gates of main as they are here, or, of the past, by those of its last cycle; and what is contested.
    pub fn forest_after(
        &self,
        goal: &AgentName,
        cycles: &mut [(RunId, CycleRecord)],
        is_past: bool,
    ) -> Result<(Forest, Vec<Contest>), CycleError> {
        let settings = self.deliberation_of_main()?;
        let firm = self.firm_in(goal, cycles)?;
        let contested = settle(cycles, &firm);
        // Programs that read too much to have a hash stop a cycle, and no look at what there is.
        let programs = if is_past { None } else { self.programs_of(&settings).ok() };
        let rules = programs.map(|programs| rules_of(&settings, &programs.rules));
        Ok((Forest::after(cycles.iter().map(|(_, cycle)| cycle), &settings, rules.as_deref()), contested))
    }

    /// The hash of what the gates of the settings see, where the brain's are not asked; `None`: they are, or it cannot be read.
    pub fn evidence_of_own_gates(&self) -> Result<Option<String>, CycleError> {
        let settings = self.deliberation_of_main()?;
        let programs = if settings.gates.brain { None } else { self.programs_of(&settings).ok() };
        Ok(programs.map(|programs| programs.evidence_of("", &settings)))
    }

    /// The cycle that a run entered, if it did, with its goal.
    pub fn cycle_of(&self, tree: TreeId, run: &RunId) -> Result<Option<(AgentName, CycleRecord)>, CycleError> {
        let path = layout::deliberation(run);
        let Some(bytes) = self.store.read(tree, &path)? else { return Ok(None) };
        cycle_in(&bytes, &path).map(|(entered, cycle)| Some((entered.goal, cycle)))
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
        let substance = |mind: &str| models.get(mind).map(|model| model.as_mind_on(is_own_host).mind);
        let (mines, attacks) = (&settings.gardener, &settings.skeptic);
        if substance(mines).is_some_and(|one| substance(attacks) == Some(one)) {
            return Err(CycleError::refused(format!(
                "gardener {mines} and skeptic {attacks} are one model of one server, whatever families [models] names"
            )));
        }
        let minds = [&settings.gardener, &settings.skeptic, &settings.inspector, &settings.diverger, &settings.aligner];
        let has_program = minds.iter().any(|mind| *mind == "command");
        if has_program && settings.argv.is_empty() {
            return Err(CycleError::Refused {
                message: "a mind of [deliberation] is `command`, and deliberation.argv names no program".to_owned(),
                hint: Some("argv = [\"python3\", \"/where/it/lies.py\"]".to_owned()),
            });
        }
        if !settings.gate.is_empty() || has_program {
            self.shared.policy.require_trusted_programs()?;
        }
        let programs = self.programs_of(&settings)?;
        let rules = rules_of(&settings, &programs.rules);
        let wake = self.store.need_tip(self.store.wake())?;
        let tree = self.store.tree_of(wake)?;
        let mut past = self.cycles_of(tree, &question.goal)?;
        let refused: BTreeSet<_> = self.claims_that_fail(question, &past, (&settings, &programs, &rules))?;
        for (run, cycle) in &mut past {
            let of = |key: &String| (run.clone(), key.clone());
            cycle
                .results
                .retain(|result| !question.refused.contains(&of(&result.key)) && !refused.contains(&of(&result.key)));
        }
        let mut after = newest(&past);
        after.drain(..after.len().saturating_sub(limits::DELIBERATED_AFTER));
        let firm = self.firm_in(&question.goal, &past)?;
        settle(&mut past, &firm);
        let before = Forest::after(past.iter().map(|(_, cycle)| cycle), &settings, Some(&rules));
        let goal = question.goal.as_str();
        let hands_off = |member: &Member| member.mind == HANDOFF;
        let asks = [cast.diverger.as_ref().is_some_and(hands_off), hands_off(&cast.aligner)];
        let answered: Vec<Handoff> = self.answered_handoffs(goal)?;
        let answered: Vec<Handoff> =
            answered.into_iter().filter(|one| asks[usize::from(one.role == Role::Aligner)]).collect();
        let first: BTreeSet<String> = answered.iter().map(|one| one.tree.clone()).collect();
        let titles = self.titles(question, (&before, &first), wake, &settings)?;
        let ids: Vec<String> = titles.keys().cloned().collect();
        let sky = forecast(&before, &ids, &first, &settings);
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
            programs: &programs,
            rules: &rules,
            answered: &answered,
        };
        let timed_out = self.timed_out(goal, settings.handoff_minutes)?;
        let none = BTreeMap::new();
        let setting = |evidence| Setting {
            goal: question.goal.as_str(),
            before: &before,
            after: &after,
            settings: &settings,
            cast: &cast,
            forecast: &sky,
            rules: rules.clone(),
            evidence,
            at: self.shared.world.now(),
            initiative: &question.initiative,
            timed_out: &timed_out,
        };
        opening(&setting(&none)).iter().for_each(watch);
        let grown = self.side_by_side(&job)?;
        let evidence = grown.iter().map(|(grown, hash)| (grown.tree.clone(), hash.clone())).collect();
        let again = self.hidden_asked_again(&job, &evidence)?;
        let setting = setting(&evidence);
        let cycle = conclude(&setting, grown.into_iter().map(|(grown, _)| grown).collect(), again);
        let cycle = cycle.map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            CycleError::refused(format!("the validator refuses the cycle: {}", faults.join("; ")))
        })?;
        if question.writes {
            self.note_measured(&question.goal, &cycle)?;
        }
        Ok(cycle)
    }

    /// The words of a tree. A topic that a person named need be no neuron: its id begins with its words.
    fn title_of(&self, wake: CommitId, id: &str) -> Result<String, CycleError> {
        let network = super::network::TreeNetwork::new(&self.store, self.store.tree_of(wake)?);
        let named = NeuronId::parse(id).ok().map(|id| network.neuron(&id)).transpose()?.flatten();
        let words = || id.rsplit_once('-').map_or(id, |(words, _)| words).replace('-', " ");
        Ok(named.map_or_else(words, |neuron| neuron.concept))
    }

    /// Trees by id, each with the words that its memories are recalled by.
    fn titles(
        &self,
        question: &Question,
        (before, answered): (&Forest, &BTreeSet<String>),
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
        for id in answered {
            titles.insert(id.clone(), self.title_of(wake, id)?);
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
        if settings.gates.brain && !question.trees.is_empty() {
            bench.need_memories(title)?;
        }
        let memories = bench.evidence.hash();
        let hash = job.programs.evidence_of(&memories, settings);
        let agent = question.run.agent();
        let seed = seed_of(question.goal.as_str(), id, before.cycle + 1, &memories);
        let (past, amendments) = (job.past_of(id), answers(before, settings, job.rules));
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
            about: &settings.about,
            payload: &settings.payload,
            past: &past,
            known: &known,
            amendments: &amendments,
        };
        let judged_on = judged_on(Some(&hash), job.rules);
        let seeds = before.seeds_of(id).filter(|seed| seed.judged_on != judged_on);
        let seeds = seeds.map(|seed| seed.proposal.clone()).collect();
        let share = (sky.hypotheses, sky.temperature);
        let closed = before.closed.iter().cloned().chain(known.iter().map(Proposal::key)).collect();
        let sealed = match settings.gates.brain {
            true => bench.evidence.newer().iter().map(|memory| memory.id.to_string()).collect(),
            false => BTreeSet::new(),
        };
        let here = || job.answered.iter().filter(|one| one.tree == id);
        let mut tree = TreeDeliberation::new(id, share, seeds, &closed, cast, settings)
            .with_sealed(sealed)
            .with_questions(job.leaves(), here().any(|one| one.role == Role::Diverger))
            .going_on_with(here().filter_map(Handoff::proposal).collect());
        loop {
            let before_it = tree.steps().len();
            let told = match tree.want().clone() {
                Want::Done => break,
                Want::Mine { count, temperature } => {
                    let mined = topic.mine(&cast.gardener, count, temperature, &[]);
                    said(Role::Gardener, mined.map(|mined| Told::Proposals(kept(&mut tree, mined))), Told::Malformed)
                }
                Want::Critique(all) => verdicts(cast, all.iter().map(|one| (one, None)), &topic),
                Want::Challenge(all) => verdicts(cast, all.iter().map(|(one, record)| (one, Some(record))), &topic),
                Want::Revise { of, refused } => {
                    let (asked, refused) = (of.len(), [refused, of].concat());
                    let mined = topic.mine(&cast.gardener, asked, sky.temperature, &refused);
                    let mined = mined.map(|mined| kept(&mut tree, mined)).or_else(|silent| match silent {
                        Silent::Formless(why) => {
                            tree.leave_out(vec![why]);
                            Ok(Vec::new())
                        }
                        gone => Err(gone),
                    });
                    said(Role::Gardener, mined.map(|mined| replacements(mined, asked)), Told::Malformed)
                }
                Want::Diverge(all) => match &cast.diverger {
                    Some(member) if member.mind == HANDOFF => self.hand_off_alternatives(job, &mut tree, id, &all)?,
                    Some(member) => {
                        let more = topic.diverge(member, &all).map(|more| Told::Proposals(kept(&mut tree, more)));
                        said(Role::Diverger, more, Told::Malformed)
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
                    let by = Examined { question, settings, before, programs: job.programs, evidence: &hash };
                    let examined = all.iter().map(|one| self.examine(&by, &bench, id, one));
                    Told::Records(examined.collect::<Result<_, _>>()?)
                }
                Want::Align(all) => self.align(job, (&mut tree, id), &all, &topic)?,
            };
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

    fn align(
        &self,
        job: &Job<'_>,
        (tree, id): (&mut TreeDeliberation, &str),
        all: &[(Proposal, GateRecord)],
        topic: &Topic<'_>,
    ) -> Result<Told, CycleError> {
        let member: &Member = &job.cast.aligner;
        if member.mind == HANDOFF {
            return Ok(Told::Alignments(self.hand_off_alignments(job, tree, id, all)?));
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
    programs: &'a Programs,
    rules: &'a str,
    /// Questions of earlier cycles that a person has answered.
    answered: &'a [Handoff],
}

impl Job<'_> {
    /// Whether questions to a person are left for a later cycle.
    fn leaves(&self) -> bool {
        !self.question.waits && self.settings.handoff_minutes > 0
    }
}

/// An answer, or what stands for one without a form.
fn said(role: Role, answer: Result<Told, Silent>, formless: impl FnOnce(String) -> Told) -> Told {
    match answer {
        Ok(told) => told,
        Err(Silent::Formless(why)) => formless(why),
        Err(Silent::Gone(why)) => Told::Unreachable(role, why),
    }
}

/// The proposals of an answer; the tree says of the others why they are none.
fn kept(tree: &mut TreeDeliberation, said: Said) -> Vec<Proposal> {
    tree.leave_out(said.left_out.iter().map(ToString::to_string).collect());
    said.proposals
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
