//! `[deliberation]`: how hypotheses are mined, attacked and judged. What the settings may say of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Stamp;
use super::ids::{AgentName, RunId};
use crate::limits;

/// `[deliberation]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Deliberation {
    /// The mind that mines: `reflex-lexical`, `reflex-structural`, `command`, or a `[models.NAME]`.
    pub gardener: String,
    /// The mind that attacks, of another family than the gardener; empty: nobody does, and there are no rounds.
    pub skeptic: String,
    /// The mind that judges before the nursery.
    pub inspector: String,
    /// The mind that proposes alternatives; `handoff`: a person or a watching agent; empty: none does.
    pub diverger: String,
    /// The mind that says how far a mechanism and its evidence agree; `handoff`: a person or a watching agent.
    pub aligner: String,
    /// Program and arguments of the mind `command`: a question as JSON on standard input, an answer on standard output. Inert until trusted.
    pub argv: Vec<String>,
    /// Files and folders that this program may read, beside its own and those of the system.
    pub reads: Vec<String>,
    /// The goal in words, which minds are told.
    pub about: String,
    /// The JSON schema of a payload where `gates.brain` is false, of the parts `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `minimum`,
    /// `maximum`, `maxLength`, `minItems` and `maxItems`; empty: any object.
    pub payload: BTreeMap<String, serde_json::Value>,
    /// Hypotheses for each tree and cycle, 1 to 16.
    pub hypotheses: u32,
    /// Most rounds of debate, 0 to 8.
    pub max_debate_rounds: u32,
    /// The severity from which on a rejected mechanism is culled.
    pub cull_severity: Severity,
    /// Trees that are worked on in a cycle, 1 to 64.
    pub slots: u32,
    /// Trees that are worked on at once, 1 to 16. Results do not depend on it.
    pub max_concurrent: u32,
    /// Temperatures of gardeners; which one a tree has follows from its id.
    pub temperature_spread: Vec<f64>,
    /// Seeds that are carried to the next cycle, 0 to 256.
    pub seeds: u32,
    /// How long a handoff waits for its answer, minutes; then it times out.
    pub handoff_minutes: u32,
    /// When the weather changes.
    pub weather: Weather,
    /// What gates ask for.
    pub gates: Gates,
    /// Gates that are programs.
    pub gate: Vec<UserGate>,
}

impl Deliberation {
    /// Whether some gate is hidden from those who propose.
    pub fn hides(&self) -> bool {
        self.gate.iter().any(|gate| gate.hidden)
    }
}

/// How grave an objection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// 1.
    Low,
    /// 2.
    Medium,
    /// 3.
    High,
}

/// `[deliberation.weather]`: counts are of cycles in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Weather {
    /// Cycles without fruit before a heatwave.
    pub heatwave_after: u32,
    /// Dead leaves in a row before a thunderstorm.
    pub thunderstorm_after: u32,
    /// Cycles that a thunderstorm freezes a tree for.
    pub freeze: u32,
    /// The share of recent attempts beyond which a tree is flooded, 0..=1.
    pub flood_share: f64,
    /// Cycles without an attempt before a drought.
    pub drought_after: u32,
    /// Every so many cycles all trees that are not frozen are equal; 0: never.
    pub monsoon_every: u32,
    /// Every so many cycles a frozen tree is tried; 0: never.
    pub recheck_every: u32,
}

/// `[deliberation.gates]`: thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gates {
    /// Whether candidates are deltas that are measured on the brain; false: the programs of `[[deliberation.gate]]` and the aligner judge alone.
    pub brain: bool,
    /// G2: least lower bound of the effect on the older half.
    pub effect: f64,
    /// G3: least percentile among random deltas of the same shape, 0..=100.
    pub percentile: f64,
    /// G3: how many random deltas, 19 to 999.
    pub random: u32,
    /// G4: the effect on the newer half must be greater than this.
    pub out_of_sample: f64,
    /// G5: largest share of the tree's weight that changes.
    pub turnover: f64,
    /// G6: the likeness to anything promoted must be less than this.
    pub similarity: f64,
    /// G7: least alignment, 0 to 3.
    pub alignment: u32,
    /// G8: least share of the effect that is left after seven days and a sleep.
    pub decay: f64,
    /// G9: most bytes that neurons may grow by.
    pub bytes: u64,
}

/// `[[deliberation.gate]]`: a program that judges a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserGate {
    /// Its name.
    pub name: String,
    /// Program and arguments; no shell. Inert until trusted.
    pub argv: Vec<String>,
    /// Whether a candidate that fails it cannot become fruit.
    #[serde(default = "yes")]
    pub hard: bool,
    /// Whether gardeners are told nothing of it but the class that came of it.
    #[serde(default)]
    pub hidden: bool,
    /// How long it may take, milliseconds.
    #[serde(default = "patience")]
    pub timeout_ms: u64,
    /// Files and folders that it may read, beside those of the system.
    #[serde(default)]
    pub reads: Vec<String>,
}

fn yes() -> bool {
    true
}

fn patience() -> u64 {
    limits::COMMAND_TIMEOUT_MS
}

impl Default for Deliberation {
    fn default() -> Self {
        Self {
            gardener: "reflex-lexical".to_owned(),
            skeptic: "reflex-structural".to_owned(),
            inspector: "reflex-lexical".to_owned(),
            diverger: String::new(),
            aligner: "reflex-structural".to_owned(),
            argv: Vec::new(),
            reads: Vec::new(),
            about: String::new(),
            payload: BTreeMap::new(),
            hypotheses: 3,
            max_debate_rounds: 2,
            cull_severity: Severity::High,
            slots: 4,
            max_concurrent: 4,
            temperature_spread: vec![0.7, 1.0, 1.3],
            seeds: 32,
            handoff_minutes: 60,
            weather: Weather::default(),
            gates: Gates::default(),
            gate: Vec::new(),
        }
    }
}

impl Default for Weather {
    fn default() -> Self {
        Self {
            heatwave_after: 3,
            thunderstorm_after: 3,
            freeze: 2,
            flood_share: 0.40,
            drought_after: 3,
            monsoon_every: 7,
            recheck_every: 5,
        }
    }
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            brain: true,
            effect: 0.0,
            percentile: 95.0,
            random: 99,
            out_of_sample: 0.0,
            turnover: 0.30,
            similarity: 0.9,
            alignment: 1,
            decay: 0.5,
            bytes: 16 << 10,
        }
    }
}

impl Deliberation {
    /// Ranges that types alone do not hold. The error is (field, what is wrong).
    pub fn check(&self) -> Result<(), (String, String)> {
        let counts = [
            ("hypotheses", self.hypotheses, 1, 16),
            ("max_debate_rounds", self.max_debate_rounds, 0, 8),
            ("slots", self.slots, 1, 64),
            ("max_concurrent", self.max_concurrent, 1, 16),
            ("seeds", self.seeds, 0, 256),
            ("handoff_minutes", self.handoff_minutes, 0, 10_080),
            ("gates.random", self.gates.random, 19, 999),
            ("gates.alignment", self.gates.alignment, 0, 3),
            ("weather.thunderstorm_after", self.weather.thunderstorm_after, 1, 1000),
            ("weather.heatwave_after", self.weather.heatwave_after, 1, 1000),
            ("weather.drought_after", self.weather.drought_after, 1, 1000),
        ];
        for (field, value, least, most) in counts {
            if !(least..=most).contains(&value) {
                return Err((field.to_owned(), format!("{value} is not between {least} and {most}")));
            }
        }
        let shares = [
            ("weather.flood_share", self.weather.flood_share, 1.0),
            ("gates.percentile", self.gates.percentile, 100.0),
            ("gates.turnover", self.gates.turnover, 1.0),
            ("gates.similarity", self.gates.similarity, 1.0),
            ("gates.decay", self.gates.decay, 1.0),
        ];
        for (field, value, most) in shares {
            if !(0.0..=most).contains(&value) {
                return Err((field.to_owned(), format!("{value} is not between 0 and {most}")));
            }
        }
        let chars = self.about.chars().count();
        if chars > limits::DELIBERATED_ABOUT_CHARS {
            let message = format!("has {chars} characters, and {} fit", limits::DELIBERATED_ABOUT_CHARS);
            return Err(("about".to_owned(), message));
        }
        if !self.payload.is_empty() && self.payload.get("type").and_then(|it| it.as_str()) != Some("object") {
            return Err(("payload".to_owned(), "is no schema of an object: `type = \"object\"` is missing".to_owned()));
        }
        let warm = |temperature: &f64| (0.05..=5.0).contains(temperature);
        if self.temperature_spread.is_empty() || !self.temperature_spread.iter().all(warm) {
            return Err(("temperature_spread".to_owned(), "is not a list of numbers from 0.05 to 5".to_owned()));
        }
        for (at, gate) in self.gate.iter().enumerate() {
            let taken = self.gate[..at].iter().any(|other| other.name == gate.name);
            if gate.name.is_empty() || gate.argv.is_empty() || taken {
                return Err((format!("gate[{at}]"), "needs a name of its own and an argv".to_owned()));
            }
            if gate.timeout_ms == 0 {
                return Err((format!("gate[{at}].timeout_ms"), "is 0, and no program answers in no time".to_owned()));
            }
            let mut name = gate.name.chars();
            if name.next() == Some('G') && name.next().is_some_and(|c| c.is_ascii_digit()) {
                return Err((format!("gate[{at}]"), format!("{:?} reads like a built-in gate", gate.name)));
            }
        }
        if !self.gates.brain && !self.gate.iter().any(|gate| gate.hard) {
            let message = "is false, and no hard [[deliberation.gate]] judges in place of the built-in ones".to_owned();
            return Err(("gates.brain".to_owned(), message));
        }
        Ok(())
    }
}

/// A cycle of a deliberation, `network/deliberations/…/<run>.json`: written once, by the run that entered it. The state of a forest follows
/// from its cycles, and is stored nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliberationCycle {
    /// The run, also the file's name.
    pub run: RunId,
    /// The goal that is deliberated on.
    pub goal: AgentName,
    /// The run's clock.
    pub at: Stamp,
    /// What was proposed, judged and decided.
    pub cycle: serde_json::Value,
}
