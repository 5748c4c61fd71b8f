//! The budget: what runs may cost, on all processes of this machine together. **Reserved before the act, settled after it.**
//!
//! A reservation counts as spent until it is settled by what the act did cost. It names the lease of its process; if that
//! process is dead, what it reserved is spent. So a crash never makes money out of nothing. Beyond the budget a run does not
//! start, which is a value: it waits, and the next command asks again.
//!
//! One lock and one small file for each run of a program, which grows with the agents and with nothing else: what each stimulus has cost
//! is appended to a file of the day. Nothing for a reflex, whose runs are counted a round at a time in the tally of what
//! stimuli have caused.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::tally::{day_of, hash_of};
use super::{CycleError, Shared};
use crate::limits;
use crate::model::ids::{AgentName, StimulusId, hash64};
use crate::model::json;
use crate::model::spending::{Budget, Cost};
use crate::store::{Act, Entry};

/// What was spent, or is left. All whole numbers; money in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Sum {
    /// Runs.
    pub runs: u64,
    /// Calls of programs and models.
    pub turns: u64,
    /// Tokens.
    pub tokens: u64,
    /// Money, in millionths.
    pub micros: u64,
}

impl Sum {
    fn of(runs: u64, cost: Cost) -> Self {
        Self { runs, turns: cost.turns, tokens: cost.tokens, micros: cost.micros }
    }

    fn add(&mut self, other: Self) {
        self.runs = self.runs.saturating_add(other.runs);
        self.turns = self.turns.saturating_add(other.turns);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.micros = self.micros.saturating_add(other.micros);
    }

    fn plus(mut self, other: Self) -> Self {
        self.add(other);
        self
    }
}

/// Why something does not start now: nothing but the budget stops it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// Who asked.
    pub agent: AgentName,
    /// The bound that it would pass, as it is called in the settings.
    pub bound: String,
    /// Its value.
    pub most: u64,
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not start: {} = {} would be passed", self.agent, self.bound, self.most)
    }
}

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Spent {
    /// The day (UTC), days since 1970, that `agents` is of.
    day: i64,
    /// What each agent has spent on that day.
    agents: BTreeMap<AgentName, Sum>,
    /// What is reserved and not settled.
    reserved: Vec<Reserved>,
    /// What stimuli have cost on that day or the one before, as far as somebody asks; not in the file.
    #[serde(skip)]
    acts: Vec<Act>,
    /// The newest of that, with their days; the file holds few of them.
    entered: Vec<(i64, Act)>,
}

/// Acts that the file holds before they are appended to those of their day: they wait for the disk together.
const ENTERED: usize = 32;

/// An act for a stimulus by an agent, as the account keeps it.
fn act(root: &StimulusId, agent: &AgentName, sum: Sum) -> Act {
    [hash_of(root), hash64(agent.as_str().as_bytes()), sum.runs, sum.turns, sum.tokens, sum.micros]
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Reserved {
    lease: String,
    number: u64,
    agent: AgentName,
    roots: Vec<StimulusId>,
    sum: Sum,
}

impl Spent {
    fn read(content: &[u8]) -> Result<Self, CycleError> {
        if content.is_empty() {
            return Ok(Self::default());
        }
        // Whoever reads nothing here would spend it all again.
        let what = "the account of the budget (git-brain/account/spent.json)";
        json::strict(content, what, limits::DOCUMENT_BYTES).map_err(|error| CycleError::Refused {
            message: format!("{error}: the spending of today is unknown, so no program and no model starts"),
            hint: Some("remove that file in the folder of git, and the account of today begins anew".to_owned()),
        })
    }

    /// Begins the day that it is.
    fn turn(&mut self, today: i64) {
        if self.day != today {
            self.day = today;
            self.agents.clear();
            self.entered.retain(|(day, _)| *day >= today - 1);
        }
    }

    /// Looks up what stimuli have cost today and yesterday.
    fn look_up(&mut self, entry: &Entry<'_>, roots: &[StimulusId]) -> Result<(), CycleError> {
        let hashes: Vec<u64> = roots.iter().map(hash_of).collect();
        self.acts = entry.acts(&[self.day - 1, self.day], &hashes)?;
        Ok(())
    }

    /// Moves what stimuli have cost to the files of its days, if it is much. Whoever is killed after that and before the account is
    /// written has paid twice, and not never.
    fn tidied(&mut self, entry: &Entry<'_>) -> Result<Vec<u8>, CycleError> {
        if self.entered.len() >= ENTERED {
            let entered = std::mem::take(&mut self.entered);
            for day in [self.day - 1, self.day] {
                let acts: Vec<Act> = entered.iter().filter(|(of, _)| *of == day).map(|(_, act)| *act).collect();
                entry.add_acts(day, self.day - 1, &acts)?;
            }
        }
        Ok(json::pretty(self))
    }

    fn enter(&mut self, agent: &AgentName, roots: &[StimulusId], sum: Sum) {
        self.agents.entry(agent.clone()).or_default().add(sum);
        self.entered.extend(roots.iter().map(|root| (self.day, act(root, agent, sum))));
    }

    fn reserved(&self, counts: impl Fn(&Reserved) -> bool) -> Sum {
        self.reserved.iter().filter(|r| counts(r)).fold(Sum::default(), |sum, r| sum.plus(r.sum))
    }

    /// Spent and reserved on this day, by one agent or by all.
    fn of_day(&self, agent: Option<&AgentName>) -> Sum {
        let asked = |name: &AgentName| agent.is_none_or(|agent| agent == name);
        let spent = self.agents.iter().filter(|(name, _)| asked(name));
        spent.fold(self.reserved(|r| asked(&r.agent)), |sum, (_, s)| sum.plus(*s))
    }

    /// What a stimulus has caused, by one agent or by all.
    fn of_stimulus(&self, root: &StimulusId, agent: Option<&AgentName>) -> Sum {
        let asked = |name: &AgentName| agent.is_none_or(|agent| agent == name);
        let reserved = self.reserved(|r| asked(&r.agent) && r.roots.contains(root));
        let own = |act: &&Act| {
            act[0] == hash_of(root) && agent.is_none_or(|agent| act[1] == hash64(agent.as_str().as_bytes()))
        };
        let cost = |act: &Act| Sum { runs: act[2], turns: act[3], tokens: act[4], micros: act[5] };
        self.acts
            .iter()
            .chain(self.entered.iter().map(|(_, act)| act))
            .filter(own)
            .fold(reserved, |sum, act| sum.plus(cost(act)))
    }

    /// The stimulus that pays for a run, the first that has room of those that have cost least, and the bound that stops the run.
    fn payer<'r>(
        &self,
        agent: &AgentName,
        roots: &'r [StimulusId],
        sum: Sum,
        bounds: [(&str, &Budget, Option<&AgentName>, u64); 2],
    ) -> (Option<&'r StimulusId>, Option<Exhausted>) {
        let cost = |root: &StimulusId| {
            let Sum { runs, turns, tokens, micros } = self.of_stimulus(root, None);
            [micros, tokens, turns, runs]
        };
        let mut all: Vec<(_, &StimulusId)> = roots.iter().map(|root| (cost(root), root)).collect();
        all.sort();
        let of = |root: Option<&StimulusId>| self.passes(agent, root, sum, bounds);
        let least = all.first().map(|(_, root)| *root);
        match of(least) {
            Some(exhausted) => match all.into_iter().skip(1).find(|(_, root)| of(Some(root)).is_none()) {
                Some((_, root)) => (Some(root), None),
                None => (least, Some(exhausted)),
            },
            None => (least, None),
        }
    }

    /// The first bound that one more run would pass, for a stimulus and on its day.
    fn passes(
        &self,
        agent: &AgentName,
        root: Option<&StimulusId>,
        sum: Sum,
        bounds: [(&str, &Budget, Option<&AgentName>, u64); 2],
    ) -> Option<Exhausted> {
        for (whose, bound, of, reflexes) in bounds {
            let mut day = self.of_day(of).plus(sum);
            day.runs = day.runs.saturating_add(reflexes);
            let mut checks = vec![
                ("runs_per_day", bound.runs_per_day, day.runs),
                ("turns_per_day", bound.turns_per_day, day.turns),
                ("tokens_per_day", bound.tokens_per_day, day.tokens),
                ("micros_per_day", bound.micros_per_day, day.micros),
            ];
            if let Some(root) = root {
                let caused = self.of_stimulus(root, of).plus(sum);
                checks.extend([
                    ("turns_per_stimulus", bound.turns_per_stimulus, caused.turns),
                    ("tokens_per_stimulus", bound.tokens_per_stimulus, caused.tokens),
                    ("micros_per_stimulus", bound.micros_per_stimulus, caused.micros),
                ]);
            }
            if let Some((name, most, _)) = checks.into_iter().find(|(_, most, asked)| *most > 0 && asked > most) {
                return Some(Exhausted { agent: agent.clone(), bound: format!("{whose}.{name}"), most });
            }
        }
        None
    }
}

/// Who pays: one run, or one answer of a chat. It is one run however many calls it makes.
#[derive(Clone, Debug)]
pub struct Payer {
    /// The agent; `human` for a chat.
    pub agent: AgentName,
    /// The stimuli that it descends from.
    pub roots: Vec<StimulusId>,
    /// True once a call of it was settled, and with it the run.
    counted: Arc<AtomicBool>,
}

impl Payer {
    /// A run that has made no call yet.
    #[must_use]
    pub fn new(agent: &AgentName, roots: &[StimulusId]) -> Self {
        Self { agent: agent.clone(), roots: roots.to_vec(), counted: Arc::default() }
    }

    /// Calls that are no run of anybody, such as the embeddings of a question.
    #[must_use]
    pub fn beside_runs(agent: &AgentName) -> Self {
        Self { counted: Arc::new(AtomicBool::new(true)), ..Self::new(agent, &[]) }
    }
}

/// What is reserved for one act. Dropping it unsettled leaves it reserved, and so spent when the process ends.
#[must_use = "a reservation that is not settled counts as spent"]
#[derive(Debug)]
pub struct Reservation {
    lease: String,
    number: u64,
    counted: Arc<AtomicBool>,
}

/// What is left of a bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Left {
    /// The bound, as it is called in the settings; an agent's own begins with the agent's name.
    pub bound: String,
    /// Its value.
    pub most: u64,
    /// What is spent or reserved of it.
    pub spent: u64,
}

impl Shared {
    /// Reserves what one call may cost, and with the first one the run. One lock, one small file.
    ///
    /// # Errors
    /// The account cannot be read or written: then nothing may start either.
    pub fn reserve(&self, payer: &Payer, estimate: Cost) -> Result<Result<Reservation, Exhausted>, CycleError> {
        let Payer { agent, roots, counted } = payer;
        let today = day_of(self.world.now());
        let entry = self.account.open()?;
        let mut spent = Spent::read(&entry.content)?;
        spent.turn(today);
        spent.look_up(&entry, roots)?;
        let mut alive: HashMap<String, bool> = HashMap::new();
        for reserved in &spent.reserved {
            if !alive.contains_key(&reserved.lease) {
                alive.insert(reserved.lease.clone(), entry.is_alive(&reserved.lease)?);
            }
        }
        let (kept, dead) = std::mem::take(&mut spent.reserved).into_iter().partition(|r| alive[&r.lease]);
        spent.reserved = kept;
        let dead: Vec<Reserved> = dead;
        for gone in &dead {
            spent.enter(&gone.agent, &gone.roots, gone.sum);
        }
        let own = self.policy.agents.get(agent).map_or(&Budget::UNBOUNDED, |member| &member.agent.budget);
        let sum = Sum::of(u64::from(!counted.load(Ordering::Relaxed)), estimate);
        let all = &self.policy.settings.budget;
        let reflexes = if all.runs_per_day > 0 { self.reflex_runs()? } else { 0 };
        let bounds = [("budget", all, None, reflexes), (agent.as_str(), own, Some(agent), 0)];
        let (root, exhausted) = spent.payer(agent, roots, sum, bounds);
        let exhausted = match exhausted {
            Some(exhausted) if dead.is_empty() => return Ok(Err(exhausted)),
            other => other,
        };
        let lease = entry.lease()?;
        let number = spent.reserved.iter().filter(|r| r.lease == lease).map(|r| r.number + 1).max().unwrap_or(0);
        if exhausted.is_none() {
            let (agent, roots) = (agent.clone(), root.into_iter().cloned().collect());
            spent.reserved.push(Reserved { lease: lease.clone(), number, agent, roots, sum });
        }
        entry.write(&spent.tidied(&entry)?)?;
        Ok(match exhausted {
            Some(exhausted) => Err(exhausted),
            None => Ok(Reservation { lease, number, counted: Arc::clone(counted) }),
        })
    }

    /// Replaces what was reserved by what the act did cost; `None`: nobody knows, and it is spent as reserved.
    pub fn settle(&self, reservation: Reservation, actual: Option<Cost>) -> Result<(), CycleError> {
        self.close(&reservation, |reserved| actual.map_or(reserved, |cost| Sum::of(reserved.runs, cost)))?;
        reservation.counted.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back what was reserved for an act that did not happen.
    pub fn release(&self, reservation: Reservation) -> Result<(), CycleError> {
        self.close(&reservation, |_| Sum::default())
    }

    fn close(&self, reservation: &Reservation, cost: impl FnOnce(Sum) -> Sum) -> Result<(), CycleError> {
        let entry = self.account.open()?;
        let mut spent = Spent::read(&entry.content)?;
        spent.turn(day_of(self.world.now()));
        let is_it = |r: &Reserved| r.lease == reservation.lease && r.number == reservation.number;
        let Some(at) = spent.reserved.iter().position(is_it) else { return Ok(()) };
        let reserved = spent.reserved.remove(at);
        let sum = cost(reserved.sum);
        if sum != Sum::default() {
            spent.enter(&reserved.agent, &reserved.roots, sum);
        }
        // If this is lost with the machine's power, the reservation is there, and counts.
        Ok(entry.write_later(&spent.tidied(&entry)?)?)
    }

    /// What a run of the agent costs at most, as its definition says.
    pub fn estimate(&self, agent: &AgentName) -> Cost {
        self.policy.agents.get(agent).map(|member| member.agent.cost).unwrap_or_default()
    }

    /// Bounds of this day, those of the brain first, and what is spent of each. Reflexes count as runs of the brain alone.
    pub fn budget_left(&self) -> Result<Vec<Left>, CycleError> {
        let today = day_of(self.world.now());
        let mut spent = Spent::read(&self.account.look()?)?;
        spent.turn(today);
        let mut left = Vec::new();
        let mut list = |whose: &str, bound: &Budget, sum: Sum| {
            for (name, most, spent) in [
                ("runs_per_day", bound.runs_per_day, sum.runs),
                ("turns_per_day", bound.turns_per_day, sum.turns),
                ("tokens_per_day", bound.tokens_per_day, sum.tokens),
                ("micros_per_day", bound.micros_per_day, sum.micros),
            ] {
                if most > 0 {
                    left.push(Left { bound: format!("{whose}.{name}"), most, spent });
                }
            }
        };
        let mut all = spent.of_day(None);
        all.runs = all.runs.saturating_add(self.reflex_runs()?);
        list("budget", &self.policy.settings.budget, all);
        for (name, member) in &self.policy.agents {
            list(name.as_str(), &member.agent.budget, spent.of_day(Some(name)));
        }
        Ok(left)
    }
}

impl Shared {
    /// How many more runs may start today; `None`: as many as like.
    pub(super) fn runs_left(&self) -> Result<Option<u64>, CycleError> {
        let most = self.policy.settings.budget.runs_per_day;
        if most == 0 {
            return Ok(None);
        }
        let mut spent = Spent::read(&self.account.look()?)?;
        spent.turn(day_of(self.world.now()));
        let ran = spent.of_day(None).runs.saturating_add(self.reflex_runs()?);
        Ok(Some(most.saturating_sub(ran)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Account;

    fn agent(name: &str) -> AgentName {
        AgentName::parse(name).unwrap()
    }

    fn stimulus(name: &str) -> StimulusId {
        StimulusId::parse(name).unwrap()
    }

    fn cost(turns: u64, micros: u64) -> Sum {
        Sum::of(1, Cost { turns, tokens: 0, micros })
    }

    #[test]
    fn what_is_reserved_counts_as_spent() {
        let (echo, roots) = (agent("echo"), [stimulus("s-1")]);
        let bound = Budget { micros_per_day: 10, turns_per_stimulus: 2, ..Budget::UNBOUNDED };
        let passes = |spent: &Spent, roots: &[StimulusId], sum| {
            let own = (echo.as_str(), &Budget::UNBOUNDED, Some(&echo), 0);
            spent.payer(&echo, roots, sum, [("budget", &bound, None, 0), own]).1.map(|e| e.bound)
        };
        let mut spent = Spent { day: 3, ..Spent::default() };
        assert_eq!(passes(&spent, &roots, cost(1, 10)), None);
        assert_eq!(passes(&spent, &roots, cost(1, 11)).as_deref(), Some("budget.micros_per_day"));
        assert_eq!(passes(&spent, &roots, cost(3, 0)).as_deref(), Some("budget.turns_per_stimulus"));
        let sum = cost(1, 6);
        let both = [stimulus("s-1"), stimulus("s-2")];
        let mut used = spent.clone();
        used.enter(&echo, &both[..1], cost(2, 0));
        assert_eq!(passes(&used, &both, cost(2, 0)), None, "of several stimuli one that has room pays");
        used.enter(&echo, &both[1..], cost(1, 0));
        assert_eq!(passes(&used, &both, cost(2, 0)).as_deref(), Some("budget.turns_per_stimulus"));
        spent.reserved.push(Reserved {
            lease: "l".into(),
            number: 0,
            agent: agent("other"),
            roots: roots.to_vec(),
            sum,
        });
        assert_eq!(passes(&spent, &[], cost(1, 5)).as_deref(), Some("budget.micros_per_day"));
        assert_eq!(passes(&spent, &roots, cost(1, 4)), None);
        assert_eq!(passes(&spent, &roots, cost(2, 0)).as_deref(), Some("budget.turns_per_stimulus"));
        let reserved = spent.reserved.remove(0);
        spent.enter(&reserved.agent, &reserved.roots, reserved.sum);
        assert_eq!(spent.of_day(None), sum);
        assert_eq!(passes(&spent, &roots, cost(2, 0)).as_deref(), Some("budget.turns_per_stimulus"));
        assert_eq!(passes(&spent, &[stimulus("s-2")], cost(2, 0)), None);
    }

    #[test]
    fn every_bound_is_held_at_its_edge() {
        let (echo, roots) = (agent("echo"), [stimulus("s-1")]);
        let once = Sum::of(1, Cost { turns: 2, tokens: 30, micros: 400 });
        let mut spent = Spent { day: 3, ..Spent::default() };
        spent.enter(&echo, &roots, once);
        type Set = fn(&mut Budget, u64);
        let bounds: [(&str, u64, Set); 7] = [
            ("runs_per_day", 2, |bound, most| bound.runs_per_day = most),
            ("turns_per_day", 4, |bound, most| bound.turns_per_day = most),
            ("tokens_per_day", 60, |bound, most| bound.tokens_per_day = most),
            ("micros_per_day", 800, |bound, most| bound.micros_per_day = most),
            ("turns_per_stimulus", 4, |bound, most| bound.turns_per_stimulus = most),
            ("tokens_per_stimulus", 60, |bound, most| bound.tokens_per_stimulus = most),
            ("micros_per_stimulus", 800, |bound, most| bound.micros_per_stimulus = most),
        ];
        for (name, twice, set) in bounds {
            let passes = |most: u64, of_all: bool, root: &StimulusId| {
                let mut bound = Budget::UNBOUNDED;
                set(&mut bound, most);
                let (all, own) = if of_all { (bound, Budget::UNBOUNDED) } else { (Budget::UNBOUNDED, bound) };
                let bounds = [("budget", &all, None, 0), (echo.as_str(), &own, Some(&echo), 0)];
                spent.passes(&echo, Some(root), once, bounds).map(|exhausted| (exhausted.bound, exhausted.most))
            };
            for (of_all, whose) in [(true, "budget"), (false, "echo")] {
                assert_eq!(passes(twice, of_all, &roots[0]), None, "{name}");
                assert_eq!(passes(twice - 1, of_all, &roots[0]), Some((format!("{whose}.{name}"), twice - 1)));
                // What another stimulus has caused counts for the day alone.
                let other = passes(twice - 1, of_all, &stimulus("s-2"));
                assert_eq!(other.is_some(), name.ends_with("_per_day"), "{name}");
            }
        }
    }

    #[test]
    fn a_day_begins_anew_and_a_stimulus_on_the_day_after_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let account = Account::at(folder.path());
        let entry = account.open().unwrap();
        let mut spent = Spent { day: 3, ..Spent::default() };
        let (echo, root) = (agent("echo"), stimulus("s-1"));
        spent.enter(&echo, std::slice::from_ref(&root), cost(1, 6));
        spent.entered.resize(ENTERED, (3, [0; 6]));
        entry.write(&spent.tidied(&entry).unwrap()).unwrap();
        let again = Spent::read(&account.look().unwrap()).unwrap();
        assert_eq!((again.day, &again.agents), (3, &spent.agents));
        assert!(again.acts.is_empty() && again.entered.is_empty());
        assert!(Spent::read(b"{").is_err(), "whoever reads nothing here would spend it all again");
        let on = |day: i64| {
            let mut spent = again.clone();
            spent.turn(day);
            spent.look_up(&entry, std::slice::from_ref(&root)).unwrap();
            (spent.of_day(None), spent.of_stimulus(&root, None))
        };
        assert_eq!(on(3), (cost(1, 6), cost(1, 6)));
        assert_eq!(on(4), (Sum::default(), cost(1, 6)));
        assert_eq!(on(5), (Sum::default(), Sum::default()));
        let mut fresh = Spent { day: 3, ..Spent::default() };
        fresh.enter(&echo, std::slice::from_ref(&root), cost(1, 6));
        fresh.turn(4);
        assert_eq!(fresh.of_stimulus(&root, None), cost(1, 6), "not appended yet");
        fresh.turn(5);
        assert_eq!(fresh.of_stimulus(&root, None), Sum::default());
        spent.enter(&echo, &[root], Sum { micros: u64::MAX, ..Sum::default() });
        spent.enter(&echo, &[], Sum { micros: u64::MAX, ..Sum::default() });
        assert_eq!(spent.of_day(Some(&echo)).micros, u64::MAX, "no sum wraps");
    }

    #[test]
    fn the_file_does_not_grow_with_the_stimuli() {
        let folder = tempfile::tempdir().unwrap();
        let account = Account::at(folder.path());
        let entry = account.open().unwrap();
        let echo = agent("echo");
        let (mut longest, mut longest_at_first) = (0, 0);
        for n in 0..4 * ENTERED {
            let mut spent = Spent::read(&account.look().unwrap()).unwrap();
            spent.turn(3);
            let root = [stimulus(&format!("s-{n}"))];
            spent.look_up(&entry, &root).unwrap();
            assert_eq!(spent.of_stimulus(&root[0], None), Sum::default());
            spent.enter(&echo, &root, cost(1, 6));
            entry.write(&spent.tidied(&entry).unwrap()).unwrap();
            let now = account.look().unwrap().len();
            longest = longest.max(now);
            assert!(n <= ENTERED || now <= longest_at_first + 4 * ENTERED, "{now}");
            longest_at_first = if n <= ENTERED { longest } else { longest_at_first };
        }
        let mut spent = Spent::read(&account.look().unwrap()).unwrap();
        let last = format!("s-{}", 4 * ENTERED - 1);
        for root in ["s-7", &last].map(stimulus) {
            spent.look_up(&entry, std::slice::from_ref(&root)).unwrap();
            assert_eq!(spent.of_stimulus(&root, Some(&echo)), cost(1, 6), "{root}");
        }
        assert_eq!(spent.of_stimulus(&stimulus("s-7"), Some(&agent("other"))), Sum::default());
    }
}
