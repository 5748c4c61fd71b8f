//! Medians, spans and Markdown tables.

use std::time::Duration;

/// Wall times of one thing, measured several times.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    times_ms: Vec<f64>,
}

impl Figure {
    pub fn add(&mut self, time: Duration) {
        self.times_ms.push(time.as_secs_f64() * 1e3);
        self.times_ms.sort_by(f64::total_cmp);
    }

    /// NaN if nothing was measured.
    pub fn median_ms(&self) -> f64 {
        let (n, t) = (self.times_ms.len(), &self.times_ms);
        match n {
            0 => f64::NAN,
            _ if n % 2 == 1 => t[n / 2],
            _ => (t[n / 2 - 1] + t[n / 2]) / 2.0,
        }
    }

    pub fn mean_ms(&self) -> f64 {
        self.times_ms.iter().sum::<f64>() / self.times_ms.len() as f64
    }

    fn count(&self) -> usize {
        self.times_ms.len()
    }

    /// `median (min–max)`.
    pub fn span(&self) -> String {
        match (self.times_ms.first(), self.times_ms.last()) {
            (Some(min), Some(max)) => format!("{} ({}–{})", shown(self.median_ms()), shown(*min), shown(*max)),
            _ => "—".to_owned(),
        }
    }
}

/// Milliseconds, or seconds from ten thousand on.
fn shown(ms: f64) -> String {
    match ms {
        ms if ms >= 10_000.0 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

/// A ratio with two digits, `—` where a side is missing.
pub fn ratio(over: &Figure, under: &Figure) -> String {
    match over.median_ms() / under.median_ms() {
        ratio if ratio.is_finite() => format!("{ratio:.2}"),
        _ => "—".to_owned(),
    }
}

/// A table whose rows are measured at two sizes.
pub struct Table {
    title: String,
    sizes: (String, String),
    rows: Vec<(String, Figure, Figure)>,
}

impl Table {
    pub fn new(title: &str, sizes: (String, String)) -> Self {
        Self { title: title.to_owned(), sizes, rows: Vec::new() }
    }

    pub fn row(&mut self, name: &str, small: Figure, large: Figure) {
        self.rows.push((name.to_owned(), small, large));
    }

    /// Prints it; each row is compared with the first.
    pub fn print(&self) {
        println!("\n### {}\n", self.title);
        let (small, large) = (&self.sizes.0, &self.sizes.1);
        println!("| | {small} | {large} | large/small | ×git-brain, {small} | ×git-brain, {large} | means | n |");
        println!("|---|---|---|---|---|---|---|---|");
        for (name, small, large) in &self.rows {
            let first = &self.rows[0];
            println!(
                "| {name} | {} | {} | {} | {} | {} | {} / {} | {} / {} |",
                small.span(),
                large.span(),
                ratio(large, small),
                ratio(small, &first.1),
                ratio(large, &first.2),
                shown(small.mean_ms()),
                shown(large.mean_ms()),
                small.count(),
                large.count(),
            );
        }
    }
}
