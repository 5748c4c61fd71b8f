//! The weights that a night and its day moved most: what the message of S shows of a record that may be long.

use serde_json::Value;

use super::record::{CONNECTIONS, Line};

/// The weights that moved most, as the message of S shows them.
#[derive(Debug)]
pub struct Largest {
    most: usize,
    /// How much, which connection, from, to, why; the largest first, and of equal ones the first by name.
    found: Vec<Moved>,
}

/// A weight that moved.
#[derive(Debug)]
pub struct Moved {
    by: u64,
    /// See [`Line::what`].
    pub what: String,
    old: u64,
    new: u64,
    /// See [`Line::why`].
    pub why: String,
}

impl Largest {
    /// Of at most so many.
    pub fn new(most: usize) -> Self {
        Self { most, found: Vec::new() }
    }

    /// Looks at a weight before and after; `what` names it.
    pub fn see(&mut self, old: Option<u16>, new: Option<u16>, what: impl FnOnce() -> String, why: &str) {
        let (old, new) = (u64::from(old.unwrap_or(0)), u64::from(new.unwrap_or(0)));
        let by = old.abs_diff(new);
        let full = self.found.len() >= self.most;
        if full && self.found.last().is_none_or(|least| least.by > by) {
            return;
        }
        let what = what();
        let at = self.found.partition_point(|moved| (by, &moved.what) <= (moved.by, &what));
        self.found.insert(at, Moved { by, what, old, new, why: why.to_owned() });
        self.found.truncate(self.most);
    }

    /// Looks at a line; all but connections are passed over.
    pub fn see_line(&mut self, line: &Line) {
        let weight = |value: &Value| value.as_u64().and_then(|weight| u16::try_from(weight).ok());
        if line.what.contains(CONNECTIONS) {
            self.see(weight(&line.old), weight(&line.new), || line.what.clone(), &line.why);
        }
    }

    /// With those of another list, which comes after this one.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for moved in other.found {
            let at = self.found.partition_point(|own| (moved.by, &own.what) <= (own.by, &moved.what));
            self.found.insert(at, moved);
        }
        self.found.truncate(self.most);
        self
    }

    /// Those whose reason is not known yet, to be given one.
    pub fn unexplained(&mut self) -> impl Iterator<Item = &mut Moved> {
        self.found.iter_mut().filter(|moved| moved.why.is_empty())
    }

    /// A line each.
    pub fn lines(&self) -> Vec<String> {
        let shown = self.found.iter().map(|moved| {
            let (what, old, new) = (moved.what.replacen(CONNECTIONS, " → ", 1), moved.old, moved.new);
            format!("  {what}  {old} → {new} ({:+})  {}", new as i64 - old as i64, moved.why)
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn largest_changes_are_those_that_a_sort_finds() {
        let weights =
            [(Some(5), Some(900)), (None, Some(895)), (Some(900), None), (Some(7), Some(8)), (Some(1), Some(896))];
        let lines: Vec<Line> = weights
            .iter()
            .enumerate()
            .map(|(n, (old, new))| Line {
                what: format!("a connections.b{}.recalls", (n * 7) % 5),
                old: json!(old),
                new: json!(new),
                why: n.to_string(),
            })
            .collect();
        let mut sorted: Vec<&Line> = lines.iter().collect();
        let by = |line: &Line| line.old.as_u64().unwrap_or(0).abs_diff(line.new.as_u64().unwrap_or(0));
        sorted.sort_by(|a, b| by(b).cmp(&by(a)).then_with(|| a.what.cmp(&b.what)));
        let mut largest = Largest::new(3);
        lines.iter().for_each(|line| largest.see_line(line));
        largest.see_line(&Line { what: "neuron a".into(), ..lines[0].clone() });
        let found = largest.lines();
        assert_eq!(found.len(), 3);
        for (line, found) in sorted.iter().zip(&found) {
            assert!(found.ends_with(&format!("  {}", line.why)), "{found}");
        }
        assert!(found[0].starts_with("  a → b4.recalls  900 → 0 (-900)"), "{found:?}");
    }
}
