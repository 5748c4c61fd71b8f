//! The curves of the lives as a chart: regret, error of predictions and recall, over the days.

use git_brain::picture::chart::{self, Chart, Column, Line, Panel};

use crate::lived::Lived;
use crate::world::World;

/// A panel's figure of a life between two days.
type Figure = fn(&World, &Lived, usize, usize) -> Option<f64>;
/// A kind of life, and its world and days of each seed.
type Curve<'l> = (&'static str, Vec<(&'l World, &'l Lived)>);

/// The panels below each other, with one line a life: the mean over seeds.
pub fn svg(lives: &[Curve<'_>], days: usize) -> String {
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
    let step = (days / 20).max(1);
    let ends: Vec<usize> = (step..=days).step_by(step).collect();
    let row = |(title, figure, sums): &(&str, Figure, bool)| {
        let at = |seeds: &[(&World, &Lived)], to: usize| {
            let from = if *sums { 0 } else { to - step };
            mean(seeds.iter().filter_map(|(world, lived)| figure(world, lived, from, to)).collect())
        };
        let line = |(index, (name, seeds)): (usize, &Curve<'_>)| {
            Line::new(name, index, ends.iter().map(|to| at(seeds, *to)).collect())
        };
        let panel = Panel {
            title: (*title).to_owned(),
            scale: (0.0, 1.0),
            columns: ends.iter().map(|day| Column::named(&format!("day {day}"))).collect(),
            lines: lives.iter().enumerate().map(line).collect(),
        };
        vec![panel.reaching(0.01)]
    };
    let seeds = lives.first().map_or(0, |(_, seeds)| seeds.len());
    let caption = format!("{days} days, the mean over {seeds} seeds");
    chart::svg(&Chart { title: "Lives".to_owned(), caption, rows: panels.iter().map(row).collect() })
}

fn mean(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
