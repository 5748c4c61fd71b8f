//! `wisdom`: seeds that were learnt, why they are believed, and how they reach another brain.

use serde::Serialize;

use super::inputs::{Source, read_source};
use super::write::{ApplyReport, Given};
use super::{Brain, BrainError, HUMAN};
use crate::cycle::network::TreeNetwork;
use crate::delta::{Document, Operation};
use crate::limits;
use crate::model::ids::AgentName;
use crate::model::wisdom::{Polarity, Seed, Teaching, is_key};
use crate::model::{Origin, Stamp, json};
use crate::store::TreeId;
use crate::text;
use crate::wisdom::standing::bears_on;
use crate::wisdom::{BADLY, Bundle, BundleFault, Causes, Exchange, WELL, against, is_kept_out, spelt, worded};
use crate::world::{MemberKey, is_signed};

pub use crate::model::wisdom::Polarity as SeedPolarity;
pub use crate::wisdom::standing::seed_line;
pub use crate::wisdom::{Causal, SeedStanding, State as SeedState};

/// The name under which the key of a brain's bundles is kept.
const KEEPER: &str = "wisdom";
/// The class of origins of what a bundle brings.
const BROUGHT: &str = "import:wisdom";
/// Causes that are shown.
const CAUSES: usize = 12;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// Seeds, and how they stand.
#[derive(Clone, Debug, Serialize)]
pub struct WisdomList {
    /// False: `wisdom.enabled` is false, and agents are told of none.
    pub enabled: bool,
    /// The seeds; without those that are not told, unless all were asked for.
    pub seeds: Vec<SeedStanding>,
    /// Number of the others.
    pub hidden: usize,
}

/// An exchange that speaks for or against a seed.
#[derive(Clone, Debug, Serialize)]
pub struct SeedEvidence {
    /// The run that acted.
    pub run: String,
    /// The run that said what came of it.
    pub judged_by: String,
    /// What it belongs to.
    pub session: String,
    /// The case.
    pub condition: String,
    /// The action.
    pub action: String,
    /// What came, in words.
    pub effect: String,
    /// Its karma, -1 to 1.
    pub karma: f64,
    /// Outcome, consensus and sycophancy, as far as they are known.
    pub parts: [Option<f64>; 3],
    /// Whether the seed cites it.
    pub cited: bool,
    /// The stimuli that the run rests on, in words.
    pub words: Vec<String>,
}

/// Why a seed is believed.
#[derive(Clone, Debug, Serialize)]
pub struct WisdomWhy {
    /// The seed, and how it stands.
    pub seed: SeedStanding,
    /// What speaks for and against it, oldest first.
    pub evidence: Vec<SeedEvidence>,
    /// What goes with its effect in such cases, the strongest first.
    pub causes: Vec<Causal>,
}

/// What was taught, forgotten, distilled or inherited.
#[derive(Clone, Debug, Serialize)]
pub struct TeachReport {
    /// The run; null: nothing was new.
    pub run: Option<String>,
    /// The seeds that it enters.
    pub seeds: Vec<TaughtSeed>,
    /// The seeds that it forgets.
    pub forgot: Vec<String>,
    /// Whether it is in wake.
    pub merged: bool,
    /// What is worth knowing, one sentence each.
    pub notes: Vec<String>,
    /// True if nothing was written because nothing was to be.
    pub dry_run: bool,
}

/// A seed of a teaching.
#[derive(Clone, Debug, Serialize)]
pub struct TaughtSeed {
    /// Its id.
    pub id: String,
    /// The seed.
    #[serde(flatten)]
    pub seed: Seed,
}

/// A bundle that was made.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedWisdom {
    /// The bundle.
    pub bundle: Bundle,
    /// Seeds that stay here because of a personal fact, each with its kind.
    pub left_out: Vec<(String, &'static str)>,
    /// Seeds that say the opposite of each other, one sentence for each pair.
    pub notes: Vec<String>,
}

impl Brain {
    /// The seeds that are told, the surest first; all of them, if asked for; those about a text, if there is one.
    ///
    /// # Errors
    /// A record that cannot be read (exit code 5).
    pub fn wisdom(&self, about: Option<&str>, all: bool) -> Result<WisdomList, BrainError> {
        let (tree, enabled) = (self.wisdom_tree()?, self.cycle.shared.policy.settings.wisdom.enabled);
        let mut seeds = self.cycle.standings(tree)?;
        let count = seeds.len();
        if let Some(about) = about.filter(|_| all) {
            let asked = crate::wisdom::words::stems(about);
            let says = |seed: &Seed| {
                [&seed.condition, &seed.action, &seed.effect].map(|text| crate::wisdom::words::stems(text))
            };
            seeds.retain(|standing| says(&standing.seed).iter().any(|said| !said.is_disjoint(&asked)));
        } else if let Some(about) = about {
            let found = self.cycle.counsel(tree, &[about], count)?;
            let place = |id: &str| found.iter().position(|one| one.seed == id);
            seeds.retain(|seed| place(&seed.id).is_some());
            seeds.sort_by_key(|seed| place(&seed.id));
        } else {
            seeds.retain(|seed| all || seed.state == SeedState::Active);
            let worth = |s: &SeedStanding| 0.3 * s.causal + 0.2 * s.confidence;
            seeds.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.id.cmp(&b.id)));
        }
        Ok(WisdomList { enabled, hidden: count - seeds.len(), seeds })
    }

    /// Why a seed is believed, down to the words that its runs rest on.
    ///
    /// # Errors
    /// No seed, or several, of that id (exit code 2); a file that cannot be read (5).
    pub fn wisdom_why(&self, id: &str) -> Result<WisdomWhy, BrainError> {
        let tree = self.wisdom_tree()?;
        let seed = self.seed_named(tree, id)?;
        let exchanges = self.cycle.exchanges(tree)?;
        let network = TreeNetwork::new(&self.cycle.store, tree);
        let mut evidence = Vec::new();
        for exchange in &exchanges {
            let cited = seed.seed.sources.contains(&exchange.run);
            if cited || bears_on(&seed.seed, exchange) {
                evidence.push(self.evidence(&network, exchange, cited)?);
            }
        }
        let all = worded(&exchanges);
        let case = crate::wisdom::words::stems(&seed.seed.condition);
        let alike = all.iter().filter(|told| crate::wisdom::words::share(&case, &told.case) >= 1.0);
        let effect = if seed.seed.polarity == Polarity::Do { "well" } else { "badly" };
        let mut causes = Causes::of(alike).of_effect(effect);
        causes.truncate(CAUSES);
        spelt(&mut causes, &all);
        Ok(WisdomWhy { seed, evidence, causes })
    }

    fn evidence(
        &self,
        network: &TreeNetwork<'_>,
        exchange: &Exchange,
        cited: bool,
    ) -> Result<SeedEvidence, BrainError> {
        let mut words = Vec::new();
        if let Some(record) = network.record(&exchange.run)? {
            for id in &record.stimuli {
                words.extend(network.stimulus_ever(id)?.map(|stimulus| stimulus.text));
            }
        }
        let karma = exchange.karma;
        Ok(SeedEvidence {
            run: exchange.run.to_string(),
            judged_by: exchange.judged_by.to_string(),
            session: exchange.session.clone(),
            condition: exchange.condition.clone(),
            action: exchange.action.clone(),
            effect: exchange.effect.clone(),
            karma: karma.score(),
            parts: [karma.outcome, karma.consensus, karma.sycophancy],
            cited,
            words,
        })
    }

    /// What goes with an effect, the strongest first: of all exchanges, or of those whose case has the words of a text.
    ///
    /// # Errors
    /// A file that cannot be read (exit code 5).
    pub fn causes(&self, about: Option<&str>, effect: &str, most: usize) -> Result<Vec<Causal>, BrainError> {
        let exchanges = self.cycle.exchanges(self.wisdom_tree()?)?;
        let all = worded(&exchanges);
        let asked = about.map(crate::wisdom::words::stems).unwrap_or_default();
        let of_case = all.iter().filter(|told| asked.is_empty() || asked.is_subset(&told.case));
        let index = Causes::of(of_case);
        let mut found = match effect.trim().to_lowercase().as_str() {
            whole @ (WELL | BADLY) => index.of_effect(whole),
            _ => index.of_effects(&crate::wisdom::words::stems(effect)),
        };
        found.truncate(most);
        spelt(&mut found, &all);
        Ok(found)
    }

    /// Enters a seed that a person states.
    ///
    /// # Errors
    /// A text that is empty or too long (exit code 2).
    pub fn teach(&self, seed: Seed, dry_run: bool) -> Result<TeachReport, BrainError> {
        let notice = self.cycle.shared.secrets.notice(&json::pretty(&seed));
        let seed = self.without_secrets(seed);
        let mut report = self.teach_clean(seed, dry_run)?;
        report.notes.extend(notice);
        Ok(report)
    }

    fn teach_clean(&self, seed: Seed, dry_run: bool) -> Result<TeachReport, BrainError> {
        seed.check().map_err(|(field, why)| BrainError::usage(format!("the {field} {why}")))?;
        for (field, said) in [("condition", &seed.condition), ("action", &seed.action)] {
            if text::words(said).iter().all(|word| word.is_stop) {
                return Err(BrainError::usage(format!("the {field} {said:?} has no word that says anything")));
            }
        }
        let standings = self.cycle.standings(self.wisdom_tree()?)?;
        let known = standings.iter().find(|known| known.id == seed.id());
        match known.map(|known| known.state) {
            Some(SeedState::Forgotten) => Err(BrainError::refused(format!(
                "{} was forgotten: `git brain revert RUN` of the run that forgot it brings it back, and other words teach it again",
                seed.id()
            ))),
            Some(state) if state != SeedState::Waiting => {
                Ok(TeachReport { notes: vec![format!("{} is known", seed.id())], ..nothing(dry_run) })
            }
            _ => {
                let against = opposed(&seed, &standings);
                let teaching = Teaching { seeds: vec![seed], forget: Vec::new() };
                let mut report = self.enter_seeds(teaching, "teach", "apply", None, dry_run)?;
                report.notes.extend(against);
                Ok(report)
            }
        }
    }

    /// Forgets seeds: they are told to nobody, distilled no more and in no bundle.
    ///
    /// # Errors
    /// No seed, or several, of an id (exit code 2).
    pub fn forget_seeds(&self, ids: &[String], dry_run: bool) -> Result<TeachReport, BrainError> {
        let tree = self.wisdom_tree()?;
        let mut forget = Vec::new();
        for id in ids {
            let seed = self.seed_named(tree, id)?;
            if seed.state != SeedState::Forgotten && !forget.contains(&seed.id) {
                forget.push(seed.id);
            }
        }
        if forget.is_empty() {
            return Ok(TeachReport { notes: vec!["forgotten already".to_owned()], ..nothing(dry_run) });
        }
        let mut report = self.enter_seeds(Teaching { seeds: Vec::new(), forget }, "forget", "apply", None, dry_run)?;
        report.notes.push(
            "git history, records and the ledger keep the words: docs/wisdom.md, \"What does forgetting remove?\""
                .to_owned(),
        );
        Ok(report)
    }

    /// Distils what past outcomes support. The same ledger gives the same seeds, once.
    ///
    /// # Errors
    /// A file that cannot be read (exit code 5).
    pub fn distil(&self, dry_run: bool) -> Result<TeachReport, BrainError> {
        let seeds = self.cycle.distilled(self.wisdom_tree()?)?;
        if seeds.is_empty() {
            let off = !self.cycle.shared.policy.settings.wisdom.enabled;
            let note = off.then(|| "wisdom.enabled is false: nothing is distilled".to_owned());
            return Ok(TeachReport { notes: note.into_iter().collect(), ..nothing(dry_run) });
        }
        self.enter_seeds(Teaching { seeds, forget: Vec::new() }, "distil", "reflex:wisdom", None, dry_run)
    }

    /// A signed bundle of the best active seeds without personal facts.
    ///
    /// # Errors
    /// Days out of range (exit code 2); no seed to give, or no place for a key (3).
    pub fn export_wisdom(&self, days: u32) -> Result<ExportedWisdom, BrainError> {
        if !(1..=limits::BUNDLE_DAYS).contains(&days) {
            return Err(BrainError::usage(format!("--days {days} is not between 1 and {}", limits::BUNDLE_DAYS)));
        }
        let standings = self.cycle.standings(self.wisdom_tree()?)?;
        let key = self.wisdom_key()?;
        let made = self.cycle.shared.world.now();
        let expires = Stamp::from_unix(made.unix() + i64::from(days) * DAY);
        let (mut bundle, left_out) = Bundle::of(&standings, &key.public(), made, expires);
        if bundle.seeds.is_empty() {
            let left = match left_out.first() {
                Some((id, kind)) => format!("{} left out: {id} holds a personal fact ({kind})", left_out.len()),
                None => "`git brain wisdom list --all` shows what there is".to_owned(),
            };
            let message = "there is no active seed to give".to_owned();
            return Err(BrainError::Refused { message, hint: Some(left) });
        }
        bundle.signature = key.sign(&bundle.signed_bytes());
        let (seeds, mut notes) = (bundle.heirs(), Vec::new());
        for seed in seeds.iter().filter(|seed| seed.polarity == Polarity::Do) {
            let is_in = |other: &&SeedStanding| seeds.iter().any(|one| one.id() == other.id);
            for other in against(seed, &standings).into_iter().filter(is_in) {
                notes.push(format!("{} and {} say the opposite, and both are in the bundle", seed.id(), other.id));
            }
        }
        Ok(ExportedWisdom { bundle, left_out, notes })
    }

    /// Takes over the seeds of a bundle that is signed by `key`. Nothing of a bundle that is refused enters.
    ///
    /// # Errors
    /// A key that is none (exit code 2); a bundle of another format (5), or one that is changed, expired, signed by another key, or holds a
    /// personal fact (3).
    pub fn inherit(&self, source: &Source, key: &str, dry_run: bool) -> Result<TeachReport, BrainError> {
        if !is_key(key) {
            return Err(BrainError::Usage {
                message: format!("--key {key} is not 64 lower-case hexadecimal digits"),
                hint: Some(
                    "the teacher's `git brain wisdom export --key` prints it: get it by another way than the bundle"
                        .to_owned(),
                ),
            });
        }
        let (bytes, what) = read_source(source, limits::BUNDLE_BYTES)?;
        let bundle =
            Bundle::read(&bytes, key, self.cycle.shared.world.now(), &is_signed).map_err(|fault| match fault {
                BundleFault::Format(why) => json::JsonError::at(&what, 1, "format", why).into(),
                fault => BrainError::refused(format!("{what}: {fault}")),
            })?;
        let known = self.cycle.standings(self.wisdom_tree()?)?;
        let is_new = |seed: &Seed| known.iter().all(|known| known.id != seed.id()) && !is_kept_out(seed, &known);
        let (seeds, left): (Vec<Seed>, Vec<Seed>) = bundle.heirs().into_iter().partition(is_new);
        let note =
            (!left.is_empty()).then(|| format!("{} of them known here or forgotten, and left as they are", left.len()));
        let against: Vec<String> = seeds.iter().flat_map(|seed| opposed(seed, &known)).collect();
        let mut report = match seeds.is_empty() {
            true => nothing(dry_run),
            false => {
                let origin: Origin = Origin::parse(BROUGHT).expect("invariant: a constant origin");
                self.enter_seeds(Teaching { seeds, forget: Vec::new() }, "inherit", "import", Some(&origin), dry_run)?
            }
        };
        report.notes.extend(note.into_iter().chain(against));
        let origin = Origin::parse(BROUGHT).expect("invariant: a constant origin");
        if !report.seeds.is_empty() && self.cycle.shared.policy.settings.origins.is_tainted(&origin) {
            let first = match (&report.run, report.merged) {
                (Some(run), false) => format!("`git brain approve {run}`, then "),
                _ => String::new(),
            };
            report.notes.push(format!(
                "no agent is told of them until a person approves: {first}`git brain approve --origin {origin}`"
            ));
        }
        Ok(report)
    }

    /// The public key of this brain's bundles, made when first needed.
    ///
    /// # Errors
    /// There is no place for it.
    pub fn wisdom_public_key(&self) -> Result<String, BrainError> {
        Ok(self.wisdom_key()?.public())
    }

    fn wisdom_key(&self) -> Result<MemberKey, BrainError> {
        MemberKey::of(&self.cycle.shared.world, &self.cycle.store.private_dir(), KEEPER)
            .map_err(|error| BrainError::refused(error.to_string()))
    }

    fn wisdom_tree(&self) -> Result<TreeId, BrainError> {
        Ok(self.cycle.store.tree_of(self.at(None)?)?)
    }

    fn seed_named(&self, tree: TreeId, id: &str) -> Result<SeedStanding, BrainError> {
        let mut found: Vec<SeedStanding> =
            self.cycle.standings(tree)?.into_iter().filter(|seed| seed.id.starts_with(id)).collect();
        match found.len() {
            1 => Ok(found.remove(0)),
            count => Err(BrainError::Usage {
                message: match count {
                    0 => format!("there is no seed {id}"),
                    _ => format!("{id} is the beginning of {count} ids of seeds: name one of them"),
                },
                hint: Some("`git brain wisdom list --all` lists them".to_owned()),
            }),
        }
    }

    fn enter_seeds(
        &self,
        teaching: Teaching,
        reason: &'static str,
        cognition: &str,
        from: Option<&Origin>,
        dry_run: bool,
    ) -> Result<TeachReport, BrainError> {
        let agent = AgentName::parse(HUMAN).expect("invariant: a constant name");
        // Ids are those of what is stored.
        let seeds = teaching.seeds.into_iter().map(|seed| self.without_secrets(seed)).collect();
        let teaching = Teaching { seeds, ..teaching };
        let ops = vec![Operation::Wisdom(teaching.clone())];
        let document = Document { agent: Some(agent.clone()), prediction: None, ops };
        let (bytes, cognition) = (json::pretty(&document), cognition.to_owned());
        let given = Given { document, bytes, lines: Vec::new(), agent, reason, cognition };
        let ApplyReport { run, merged, notes, .. } = self.apply_from(given, from, false, dry_run)?;
        let seeds = teaching.seeds.into_iter().map(|seed| TaughtSeed { id: seed.id(), seed }).collect();
        Ok(TeachReport { run: (!dry_run).then_some(run), seeds, forgot: teaching.forget, merged, notes, dry_run })
    }
}

impl Brain {
    /// A seed as it is stored.
    fn without_secrets(&self, seed: Seed) -> Seed {
        let clean = |text: &str| self.cycle.shared.secrets.redact(text).into_owned();
        let [condition, action, effect] = [&seed.condition, &seed.action, &seed.effect].map(|text| clean(text));
        Seed { condition, action, effect, ..seed }
    }
}

/// The seeds that are told and say the opposite of one, a sentence each.
fn opposed(seed: &Seed, known: &[SeedStanding]) -> Vec<String> {
    let said = |other: &SeedStanding| {
        let id = &other.id;
        format!("{id} says the opposite and is told as well: `git brain wisdom forget {id}` if it is wrong")
    };
    against(seed, known).into_iter().map(said).collect()
}

/// A seed that a person states, with a plain effect where none is given.
pub fn stated(condition: &str, action: &str, effect: Option<&str>, polarity: Polarity) -> Seed {
    let effect = effect.unwrap_or(polarity.expected_effect());
    let [condition, action, effect] = [condition, action, effect].map(str::to_owned);
    Seed { condition, action, effect, polarity, sources: Vec::new(), inherited: None }
}

fn nothing(dry_run: bool) -> TeachReport {
    TeachReport { run: None, seeds: Vec::new(), forgot: Vec::new(), merged: false, notes: Vec::new(), dry_run }
}
