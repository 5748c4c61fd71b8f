//! The vital signs as lines and small plots. In Unicode where the terminal can show it, in ASCII elsewhere.

use super::output::STYLES;
use crate::brain::{NarrativeGap, SinceSleep, Verdict, VerdictAnswer, Vitals, summed_up};
use crate::model::plural;

/// Width of a bar, characters.
const BAR: usize = 20;

/// The signs that plots are drawn with.
#[derive(Clone, Copy)]
pub(super) struct Signs {
    full: &'static str,
    empty: &'static str,
    steps: [&'static str; 8],
    sigma: &'static str,
    deviation: &'static str,
}

impl Signs {
    /// Unicode's, or ASCII's.
    pub(super) fn of(unicode: bool) -> Self {
        if unicode {
            let steps = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
            Self { full: "█", empty: "░", steps, sigma: "σ", deviation: "±" }
        } else {
            let steps = [".", ":", "-", "=", "+", "*", "%", "#"];
            Self { full: "#", empty: ".", steps, sigma: "sigma", deviation: "+-" }
        }
    }

    /// A share of 0 to 1. Something is never drawn as nothing.
    fn bar(self, share: f64) -> String {
        let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
        let full = if share > 0.0 { full.max(1) } else { full };
        self.full.repeat(full) + &self.empty.repeat(BAR - full)
    }

    /// Figures beside each other, from 0 to `most`; a missing one as a blank.
    pub(super) fn line(self, values: &[Option<f64>], most: f64) -> String {
        let last = (self.steps.len() - 1) as f64;
        let step = |value: &Option<f64>| {
            value.map_or(" ", |value| self.steps[((value / most).clamp(0.0, 1.0) * last).round() as usize])
        };
        values.iter().map(step).collect()
    }

    /// Counts beside each other, as high as they are; none as a blank.
    fn steps(self, counts: &[usize]) -> String {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let step = |count: &usize| match count {
            0 => " ",
            _ => self.steps[(count * self.steps.len()).div_ceil(most) - 1],
        };
        counts.iter().map(step).collect()
    }
}

/// One line a figure, with its name in bold where the terminal can.
pub(super) fn described(v: &Vitals, signs: Signs) -> Vec<String> {
    let mut lines = vec![format!("vital signs at {}:", v.saliences.at)];
    let [bold, plain, ..] = STYLES;
    let mut line = |name: &str, text: String| lines.push(format!("  {bold}{name:<14}{plain} {text}"));
    let s = &v.saliences;
    let of = |tenth: usize| s.deciles.get(tenth).copied().unwrap_or(0);
    let plot = signs.steps(&s.histogram);
    line("saliences", format!("|{plot}| 0 to 65535 in tenths; median {}, nine tenths below {}", of(5), of(9)));
    let share = format!("{} of {} above {} ({})", s.active, s.neurons, s.threshold, percent(s.active_share));
    line("active", format!("{} {share}", signs.bar(s.active_share)));
    line("branching", branching(v));
    structure(v, signs, &mut line);
    line("calibration", calibration(v));
    line("story", v.narrative_gap.as_ref().map_or("none is told".to_owned(), story));
    for (at, age) in v.recall_by_age.ages.iter().enumerate() {
        let name = if at == 0 { "recall" } else { "" };
        let text = match age.share {
            Some(share) => format!(
                "{} {} of {} found among {:.0} others, {} as the first; by chance {}",
                signs.bar(share),
                age.hits,
                plural(age.asked, "memory", "memories"),
                age.distractors.unwrap_or(0.0),
                age.first,
                percent(age.chance.unwrap_or(0.0))
            ),
            None => "none to ask for".to_owned(),
        };
        line(name, format!("{:<6} {text}", if age.age == "older" { "older" } else { under(&age.age) }));
    }
    since_sleep(&v.since_sleep, &mut line);
    if !v.verdicts.is_empty() {
        let (whole, [met, open, unknown]) = summed_up(&v.verdicts);
        let word = if whole == VerdictAnswer::Yes { "yes" } else { "not yet" };
        let counts = format!("{met} of {} criteria met, {open} not yet, {unknown} too early to tell", v.verdicts.len());
        lines.push(format!("is it a brain yet? {word}: {counts}"));
        let told = |verdict: &Verdict| format!("  {bold}{:<14}{plain} {}", verdict.criterion, verdict.text);
        lines.extend(v.verdicts.iter().map(told));
    }
    lines
}

fn under(age: &str) -> &'static str {
    match age {
        "day" => "<day",
        "week" => "<week",
        "month" => "<month",
        _ => "<year",
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// How far the story is from the ledger, and what it tells.
fn story(gap: &NarrativeGap) -> String {
    let alarm = if gap.alarm { "  ALARM: a story without an anchor" } else { "" };
    format!(
        "{:.2} away from the ledger; mood {:+.2}, confidence {:.2} where {:.2} is supported{alarm}",
        gap.gap, gap.mood, gap.confidence, gap.calibrated
    )
}

fn branching(v: &Vitals) -> String {
    let b = &v.branching;
    match b.ratio {
        Some(ratio) => {
            format!(
                "{ratio:.2}: {} caused by {} in {}",
                b.children,
                plural(b.parents, "run", "runs"),
                plural(b.rounds, "round", "rounds")
            )
        }
        None => "no run could cause another yet".to_owned(),
    }
}

fn structure(v: &Vitals, signs: Signs, line: &mut impl FnMut(&str, String)) {
    let Some(s) = &v.structure else { return line("structure", "too few connections to have one".to_owned()) };
    let part = if s.measured < s.neurons {
        format!("; {} of {} neurons, around the most salient", s.measured, s.neurons)
    } else {
        String::new()
    };
    let pairs = plural(s.pairs, "connected pair", "connected pairs");
    line("structure", format!("{pairs}, against {} networks of the same degrees{part}", s.null_models));
    let m = &s.modularity;
    let z = m.z.map(|z| format!(", z {z:.0}")).unwrap_or_default();
    let chance = format!("{:.2} {} {:.2}{z}", m.null.mean, signs.deviation, m.null.deviation);
    line("  modular", format!("{:.2}: {}; by chance {chance}", m.value, plural(m.groups, "group", "groups")));
    let w = &s.small_world;
    let sigma = w.sigma.map_or("unknown".to_owned(), |sigma| format!("{sigma:.2}"));
    let clustering = format!("clustering {:.3}, by chance {:.3}", w.clustering, w.clustering_null.mean);
    let paths = format!("{:.2} hops apart, by chance {:.2}", w.path_length, w.path_length_null.mean);
    line("  small world", format!("{} {sigma}: {clustering}; {paths}", signs.sigma));
    let i = &s.integration;
    let relative = i.relative.map_or("unknown".to_owned(), |relative| format!("{relative:.2}"));
    let reach = i.reach.map(|reach| format!("; {} of other groups in reach of {} hops", percent(reach), i.hops));
    line("  integrated", format!("{relative} of the efficiency by chance{}", reach.unwrap_or_default()));
}

fn calibration(v: &Vitals) -> String {
    let Some(c) = &v.calibration else { return "no prediction was judged yet".to_owned() };
    let side = if c.mean_error < 0.0 { "too sure" } else { "too cautious" };
    let entries = plural(c.count, "prediction", "predictions");
    let off = c.calibration_error.map_or(String::new(), |error| format!(", off by {error:.3} a bin"));
    format!("Brier {:.3}{off}, {:.3} {side}, in {entries}", c.brier, c.mean_error.abs())
}

fn since_sleep(s: &SinceSleep, line: &mut impl FnMut(&str, String)) {
    let changed = s.neurons_made + s.neurons_changed + s.neurons_gone;
    if changed == 0 {
        return line("since sleep", "nothing".to_owned());
    }
    let (made, touched, gone) = (s.neurons_made, s.neurons_changed, s.neurons_gone);
    line("since sleep", format!("{}, {touched} changed, {gone} gone", plural(made, "neuron made", "neurons made")));
    let read = if s.read < changed { format!(", by {} of these neurons", s.read) } else { String::new() };
    let (made, more, less) = (s.connections_made, s.connections_strengthened, s.connections_weakened);
    let (made, gone) = (plural(made, "connection made", "connections made"), s.connections_gone);
    line("", format!("{made}, {more} stronger, {less} weaker, {gone} gone{read}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_steps_show_the_least_there_is_and_fall_back_to_ascii() {
        let (unicode, ascii) = (Signs::of(true), Signs::of(false));
        assert_eq!(unicode.bar(0.5), "██████████░░░░░░░░░░");
        assert_eq!(ascii.bar(0.001), "#...................");
        assert_eq!(ascii.bar(0.0), "....................");
        assert_eq!(ascii.bar(2.0).len(), BAR);
        assert_eq!(unicode.steps(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(unicode.line(&[Some(0.0), None, Some(0.5), Some(9.0)], 1.0), "▁ ▅█");
        assert_eq!(ascii.steps(&[0, 0]), "  ");
        assert!(ascii.steps(&[1, 2, 3, 4, 5, 6, 7, 8]).is_ascii());
    }
}
