//! Drift of what an agent says: its first replies against its newest ones.

use serde::{Deserialize, Serialize};

use crate::integrity::metrics::{Counts, Metrics};

/// Tokens of the first replies, which later ones are compared with, and of the newest ones: rates need 200.
const SPAN: u64 = 400;

/// Replies of an agent, as counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Voice {
    first: Counts,
    newest: Counts,
    /// Whether a drift was told of the newest span.
    is_told: bool,
}

impl Voice {
    /// Takes in a reply; a drift that begins with it, in words.
    pub fn hear(&mut self, counts: Counts) -> Option<String> {
        if self.first.tokens < SPAN {
            self.first = std::mem::take(&mut self.first) + counts;
            return None;
        }
        self.newest = std::mem::take(&mut self.newest) + counts;
        if self.newest.tokens < SPAN {
            return None;
        }
        let (before, now) = (Metrics::from(&self.first), Metrics::from(&self.newest));
        self.newest = Counts::default();
        let rises = |before: Option<f64>, now: Option<f64>, by: f64| {
            before.zip(now).filter(|(before, now)| *now > 2.0 * before && now - before > by)
        };
        let told = rises(before.apology_density, now.apology_density, 3.0)
            .map(|pair| ("apologies in 1,000 tokens", pair))
            .or(rises(before.self_reference_rate, now.self_reference_rate, 5.0)
                .map(|pair| ("mentions of being a model in 1,000 tokens", pair)))
            .or(before
                .assertion_ratio
                .zip(now.assertion_ratio)
                .filter(|(before, now)| before - now > 0.4)
                .map(|pair| ("plain statements, as a share of all", pair)));
        let was_told = std::mem::replace(&mut self.is_told, told.is_some());
        let (what, (before, now)) = told.filter(|_| !was_told)?;
        Some(format!("{what}: {now:.2} in the newest replies, {before:.2} in the first"))
    }
}
