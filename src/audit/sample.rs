//! The sample: decisions that go to people whatever the audit found. A floor upon all that is escalated anyway.

use crate::model::ids::hash_fields;

/// The runs to look at, of all: at least that share, and at least one of any; the same for the same seed on every machine.
///
/// Each run gets a number from seed and id, and the smallest are drawn. So a run that comes later changes little of what was drawn before.
pub fn draw<'r>(runs: &[&'r str], seed: u64, share: f64) -> Vec<&'r str> {
    let wanted = ((runs.len() as f64 * share.clamp(0.0, 1.0)).ceil() as usize).min(runs.len());
    let wanted = if share > 0.0 && !runs.is_empty() { wanted.max(1) } else { wanted };
    let mut ranked: Vec<(u64, &str)> =
        runs.iter().map(|run| (hash_fields(&[&seed.to_le_bytes(), run.as_bytes()]), *run)).collect();
    ranked.sort_unstable();
    ranked.dedup();
    let mut drawn: Vec<&str> = ranked.into_iter().take(wanted).map(|(_, run)| run).collect();
    drawn.sort_unstable();
    drawn
}

/// A seed that nobody knew who chose an id: the tip of wake that has all those runs, with their ids.
pub fn seed_of(tip: &str, runs: &[&str]) -> u64 {
    let fields: Vec<&[u8]> = std::iter::once(tip).chain(runs.iter().copied()).map(str::as_bytes).collect();
    hash_fields(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_repeats_itself_and_depends_on_the_seed() {
        let all: Vec<String> = (0..1000).map(|n| format!("run-{n:04}")).collect();
        let runs: Vec<&str> = all.iter().map(String::as_str).collect();
        let drawn = draw(&runs, 7, 0.05);
        assert_eq!((drawn.len(), &drawn), (50, &draw(&runs, 7, 0.05)));
        assert_ne!(drawn, draw(&runs, 8, 0.05));
        assert_eq!(draw(&runs[..3], 7, 0.05).len(), 1);
        assert_eq!(draw(&runs, 7, 1.0).len(), 1000);
        assert!(draw(&[], 7, 0.05).is_empty());
        // Every part of the history is as likely.
        let early = (0..200).flat_map(|seed| draw(&runs, seed, 0.05)).filter(|run| *run < "run-0500").count();
        assert!((4700..5300).contains(&early), "{early}");
    }
}
