//! The curves of the lives, as SVG: regret, error of predictions and recall, over the days.

use std::fmt::Write;

use crate::lived::Lived;
use crate::world::World;

const WIDTH: f64 = 760.0;
const PANEL: f64 = 190.0;
const LEFT: f64 = 64.0;
const COLOURS: [&str; 7] = ["#1f5fa8", "#c0392b", "#8e6bbf", "#b08d00", "#2e8b57", "#555555", "#b0b0b0"];

/// A panel's figure of a life between two days.
type Figure = fn(&World, &Lived, usize, usize) -> Option<f64>;
type Lives<'l> = [(&'static str, Vec<(&'l World, &'l Lived)>)];

/// The panels below each other, with one line a life: the mean over seeds.
pub fn svg(lives: &Lives<'_>, days: usize) -> String {
    let panels: [(&str, Figure, bool); 3] = [
        (
            "regret so far",
            |_, lived, _, to| Some(lived.decided.iter().filter(|d| d.day < to).map(|d| d.regret).sum()),
            true,
        ),
        (
            "error of predictions, ten days",
            |_, lived, from, to| {
                let of = lived.decided.iter().filter(|d| (from..to).contains(&d.day)).filter_map(|d| d.error);
                mean(of.collect())
            },
            false,
        ),
        (
            "recall among five, ten days",
            |_, lived, from, to| {
                let of = lived.answered.iter().filter(|a| (from..to).contains(&a.day));
                mean(of.map(|a| f64::from(u8::from(a.place.is_some()))).collect())
            },
            false,
        ),
    ];
    let height = PANEL * panels.len() as f64 + 30.0 + 18.0 * lives.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let step = (days / 20).max(1);
    for (number, (title, figure, sums)) in panels.iter().enumerate() {
        let top = PANEL * number as f64 + 24.0;
        let bottom = top + PANEL - 50.0;
        let mut lines: Vec<(usize, Vec<(f64, f64)>)> = Vec::new();
        for (index, (_, seeds)) in lives.iter().enumerate() {
            let mut points = Vec::new();
            for to in (step..=days).step_by(step) {
                let from = if *sums { 0 } else { to - step };
                let values: Vec<f64> = seeds.iter().filter_map(|(w, l)| figure(w, l, from, to)).collect();
                points.extend(mean(values).map(|value| (to as f64, value)));
            }
            lines.push((index, points));
        }
        let most = lines.iter().flat_map(|(_, points)| points).map(|(_, y)| *y).fold(0.01, f64::max);
        let (x, y) = (
            |day: f64| LEFT + (WIDTH - LEFT - 16.0) * day / days as f64,
            |value: f64| bottom - (bottom - top) * value / most,
        );
        let _ = write!(
            out,
            "<text x=\"{LEFT}\" y=\"{:.0}\">{title}</text>\n\
             <path d=\"M{LEFT} {top:.0}V{bottom:.0}H{:.0}\" fill=\"none\" stroke=\"#999\"/>\n\
             <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{most:.2}</text>\n\
             <text x=\"{:.0}\" y=\"{bottom:.0}\" text-anchor=\"end\">0</text>\n",
            top - 8.0,
            WIDTH - 16.0,
            LEFT - 6.0,
            top + 8.0,
            LEFT - 6.0
        );
        for mark in [0, days / 2, days] {
            let _ = writeln!(
                out,
                "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">day {mark}</text>",
                x(mark as f64),
                bottom + 16.0
            );
        }
        for (index, points) in lines {
            let path: Vec<String> = points.iter().map(|(a, b)| format!("{:.1},{:.1}", x(*a), y(*b))).collect();
            let width = if index == 0 { 2.5 } else { 1.3 };
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"/>",
                path.join(" "),
                COLOURS[index % COLOURS.len()]
            );
        }
    }
    for (index, (name, _)) in lives.iter().enumerate() {
        let y = PANEL * panels.len() as f64 + 20.0 + 18.0 * index as f64;
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {:.0}h24\" stroke=\"{}\" stroke-width=\"2.5\"/><text x=\"{:.0}\" y=\"{y:.0}\">{name}</text>",
            y - 4.0,
            COLOURS[index % COLOURS.len()],
            LEFT + 32.0
        );
    }
    out + "</svg>\n"
}

fn mean(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
