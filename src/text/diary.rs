//! Days of a diary: when the pieces of a file happened, by its name, by the dates that head them, or by the date that one begins with.

use jiff::civil::Date;

use super::date::day_named;
use super::piece::{is_marked_heading, is_rule, starts_with_day};

/// The days of the pieces of a file, asked one after the other.
#[derive(Debug)]
pub struct Days {
    of_file: Option<Date>,
    /// The last heading that is a date, and its level; one without a mark is of no level.
    headed: Option<(usize, Date)>,
}

impl Days {
    /// Those of a file of that name.
    pub fn of(name: &str) -> Self {
        Self { of_file: day_of_name(name), headed: None }
    }

    /// The day of the next piece as noon, UTC, in seconds of the epoch.
    pub fn next(&mut self, piece: &str) -> Option<i64> {
        let lines: Vec<&str> = piece.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut own = None;
        for (at, line) in lines.iter().enumerate() {
            if at > 0 && is_rule(line) {
                continue;
            }
            let underlined = lines.get(at + 1).is_some_and(|next| is_rule(next));
            let level = match is_marked_heading(line) {
                true => line.len() - line.trim_start_matches('#').len(),
                false => usize::from(underlined),
            };
            let text = line.trim_matches('#').trim();
            match day_named(text).or_else(|| leading(text).filter(|_| level > 0)) {
                Some(day) => self.headed = Some((level, day)),
                None if level > 0 => self.headed = self.headed.filter(|(above, _)| *above < level),
                None => {
                    own = leading(line);
                    break;
                }
            }
        }
        let day = self.of_file.or(self.headed.map(|(_, day)| day)).or(own)?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second() + 43_200)
    }
}

/// The day that a line begins with, as `2026-01-26`.
fn leading(line: &str) -> Option<Date> {
    let line = line.trim_start_matches(['[', '(']);
    starts_with_day(line).then(|| line[..10].parse().ok()).flatten()
}

/// The day that the name of a file tells: `2026-01-26.md`, `2026-01-26-notes.md`, `20260126.md`.
fn day_of_name(path: &str) -> Option<Date> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    if let Some(day) = leading(name) {
        return ends(&name[10..]).then_some(day);
    }
    let digits = name.get(..8).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let day = Date::new(digits[..4].parse().ok()?, digits[4..6].parse().ok()?, digits[6..].parse().ok()?).ok()?;
    (ends(&name[8..]) && (1900..2100).contains(&day.year())).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, name: &str) -> Vec<Option<String>> {
        let pieces = crate::text::pieces(text);
        let day = |unix: Option<i64>| unix.and_then(crate::text::date::day_of).map(|day| day.to_string());
        let mut days = Days::of(name);
        pieces.iter().map(|piece| day(days.next(piece))).collect()
    }

    #[test]
    fn a_name_tells_a_day() {
        for name in ["2026-11-17.md", "n/2026-11-17-notes.md", "~/20261117.md"] {
            assert_eq!(told("It rained.", name), [Some("2026-11-17".to_owned())], "{name}");
        }
        for name in ["2026-13-17.md", "202611170.md", "12345678.md", "2026-11.md", "notes.md", "日記日記.md"] {
            assert_eq!(told("It rained.", name), [None], "{name}");
        }
    }

    #[test]
    fn headings_and_lines_tell_days() {
        for heading in [
            "# Monday 16 November 2026",
            "## 2026-11-16",
            "## 16 novembre 2026",
            "## 2026年11月16日",
            "## 2026年11月16日（月）",
            "2026-11-16\n==========",
            "16 November 2026",
            "## 16th of November, 2026",
        ] {
            let day = Some("2026-11-16".to_owned());
            assert_eq!(
                told(&format!("{heading}\n\nIt rained.\n\nThe ferry left."), "d.md"),
                [day.clone(), day],
                "{heading}"
            );
        }
        let text = "# Diary\n\n## 2026-03-05\n\nIt rained.\n\n### Work\n\nAnna called.\n\n## Later\n\nNobody called.\n\n2026-03-07 Met Jasper at the station.";
        let day = |day: &str| Some(format!("2026-03-{day}"));
        assert_eq!(told(text, "d.md"), [day("05"), day("05"), None, day("07")]);
        assert_eq!(told("## November 2026\n\nIt rained.\n\nOn 2026-03-05 it snowed.", "d.md"), [None, None]);
    }
}
