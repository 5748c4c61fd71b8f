//! The drift of minds as SVG: a row for each mind, ratios on the left and rates on the right, over the days.
//!
//! Names come from a history that anybody may have written, so they are escaped; figures are clipped to what the axes have.

use std::fmt::Write;

use crate::integrity::metrics::Metrics;

const WIDTH: f64 = 860.0;
const ROW: f64 = 190.0;
const LEFT: f64 = 56.0;
const PLOT: f64 = 350.0;
const GAP: f64 = 60.0;
const TOP: f64 = 34.0;
const HEIGHT: f64 = 112.0;

/// A line of a plot: its name, its colour, its figure.
type Line = (&'static str, &'static str, fn(&Metrics) -> Option<f64>);

const RATIOS: [Line; 3] = [
    ("assertion", "#1f5fa8", |metrics| metrics.assertion_ratio),
    ("silence", "#2e8b57", |metrics| metrics.silence_ratio),
    ("guidance", "#b08d00", |metrics| metrics.guidance_rate),
];
const RATES: [Line; 2] = [
    ("self-reference", "#8e6bbf", |metrics| metrics.self_reference_rate),
    ("apologies", "#c0392b", |metrics| metrics.apology_density),
];

/// A mind and its metrics, one for each day that it spoke, oldest first.
pub type Drift<'d> = (&'d str, Vec<(&'d str, Metrics)>);

/// Draws the drift of minds.
pub fn svg(minds: &[Drift<'_>]) -> String {
    let height = 20.0 + ROW * minds.len().max(1) as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    if minds.is_empty() {
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"40\">No reply of a model was measured.</text>");
    }
    for (number, (name, days)) in minds.iter().enumerate() {
        let top = ROW * number as f64 + TOP;
        let _ =
            writeln!(out, "<text x=\"{LEFT}\" y=\"{:.0}\" font-weight=\"bold\">{}</text>", top - 16.0, escaped(name));
        panel(&mut out, (LEFT, top), days, &RATIOS, "ratio", 1.0);
        let values = days.iter().flat_map(|(_, metrics)| RATES.iter().filter_map(|(.., of)| of(metrics)));
        let most = values.filter(|value| value.is_finite()).fold(5.0, f64::max);
        panel(&mut out, (LEFT + PLOT + GAP, top), days, &RATES, "per 1,000 tokens", most);
    }
    out + "</svg>\n"
}

fn panel(out: &mut String, (left, top): (f64, f64), days: &[(&str, Metrics)], lines: &[Line], unit: &str, most: f64) {
    let (right, bottom) = (left + PLOT, top + HEIGHT);
    let steps = days.len().saturating_sub(1).max(1) as f64;
    let x = |at: usize| left + PLOT * at as f64 / steps;
    let y = |value: f64| bottom - HEIGHT * (value / most).clamp(0.0, 1.0);
    let _ = writeln!(out, "<path d=\"M{left} {top:.0}V{bottom:.0}H{right:.0}\" fill=\"none\" stroke=\"#999\"/>");
    let _ = writeln!(out, "<text x=\"{right:.0}\" y=\"{:.0}\" text-anchor=\"end\">{unit}</text>", top - 2.0);
    for (at, label) in [(top + 8.0, figure(most)), (bottom, "0".to_owned())] {
        let _ = writeln!(out, "<text x=\"{:.0}\" y=\"{at:.0}\" text-anchor=\"end\">{label}</text>", left - 5.0);
    }
    if let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) {
        let _ = writeln!(out, "<text x=\"{left}\" y=\"{:.0}\">{}</text>", bottom + 16.0, escaped(first));
        if days.len() > 1 {
            let (at, last) = (bottom + 16.0, escaped(last));
            let _ = writeln!(out, "<text x=\"{right:.0}\" y=\"{at:.0}\" text-anchor=\"end\">{last}</text>");
        }
    }
    for (number, (name, colour, of)) in lines.iter().enumerate() {
        let points: Vec<(f64, f64)> = days
            .iter()
            .enumerate()
            .filter_map(|(at, (_, metrics))| Some((x(at), y(of(metrics).filter(|value| value.is_finite())?))))
            .collect();
        let joined = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "<polyline points=\"{joined}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>");
        for (x, y) in points {
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{colour}\"/>");
        }
        let at = left + 110.0 * number as f64;
        let _ = writeln!(out, "<text x=\"{at:.0}\" y=\"{:.0}\" fill=\"{colour}\">{name}</text>", bottom + 32.0);
    }
}

fn figure(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_is_a_line_with_a_point_for_each_day_that_has_it() {
        let of = |assertion: Option<f64>, apologies: Option<f64>| Metrics {
            assertion_ratio: assertion,
            apology_density: apologies,
            ..Metrics::default()
        };
        let days = vec![("2026-01-01", of(Some(0.0), None)), ("2026-01-02", of(Some(1.0), Some(10.0)))];
        let drawn = svg(&[("per<script>", days)]);
        assert_eq!(drawn.matches("<polyline").count(), 5);
        assert_eq!(drawn.matches("<circle").count(), 3, "no day has a point that it has no figure for");
        // From the floor of the first panel to its ceiling; the scale of the rates ends at their greatest.
        assert!(
            drawn.contains(&format!("points=\"{LEFT:.1},{:.1} {:.1},{TOP:.1}\"", TOP + HEIGHT, LEFT + PLOT)),
            "{drawn}"
        );
        assert!(drawn.contains(&format!("points=\"{:.1},{TOP:.1}\"", LEFT + PLOT + GAP + PLOT)), "{drawn}");
        assert!(drawn.contains("per&lt;script&gt;") && !drawn.contains("<script"), "{drawn}");
        assert!(svg(&[]).contains("No reply"));
    }
}
