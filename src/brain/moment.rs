//! Moments that people write: RFC 3339, seconds of the epoch, days, months and years, and the words that git knows.
//!
//! Days are those of UTC, as everywhere in a brain. Git skips words that it does not know, so they are refused here: `5 bananas ago`
//! would be the fifth of the month.

use jiff::civil::Date;

use super::{Brain, BrainError};
use crate::model::{BEYOND, Stamp};
use crate::store::date_in_words;

/// The end of a day that a date without a time of day stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayEdge {
    /// Its first second.
    Start,
    /// Its last one.
    End,
    /// Its noon, today's not before it has come; of a month or year, that of the first day.
    Noon,
}

/// Words of dates, and those that git may skip.
const DAYS: [&str; 27] = [
    "day",
    "week",
    "month",
    "year",
    "yesterday",
    "today",
    "last",
    "ago",
    "of",
    "at",
    "on",
    "the",
    "and",
    "st",
    "nd",
    "rd",
    "th",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
];
/// Git knows these by their first three letters too.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// These as well.
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Words that go with a time of day.
const TIMES: [&str; 13] =
    ["now", "second", "minute", "hour", "noon", "midnight", "tea", "am", "pm", "t", "z", "utc", "gmt"];
const DAY_SECONDS: i64 = 86_400;

/// What a date is, as far as it can be told without git.
#[derive(Debug, PartialEq)]
enum Written {
    Moment(Stamp),
    /// First and last day.
    Days(Date, Date),
    /// What git is asked, and whether it has a time of day.
    Words(String, bool),
}

impl Brain {
    /// The moment that a person means: RFC 3339, seconds of the epoch, `2024-05-01`, `2024-05`, or what git knows as a date. A date
    /// without a time of day is that end of the day, month or year. `flag` is named where it is no date.
    ///
    /// # Errors
    /// It is no date (exit code 2), or git cannot be started.
    pub fn moment(&self, flag: &str, text: &str, edge: DayEdge) -> Result<Stamp, BrainError> {
        let now = self.cycle.shared.world.now();
        let refuse = |why: String| BrainError::Usage {
            message: format!("--{flag} {text:?}: {why}"),
            hint: Some(
                "dates are such as 2024-05-01, 2024-05, yesterday, \"2 weeks ago\", \"last friday\", 2024-05-01T14:00Z"
                    .to_owned(),
            ),
        };
        let day = |first: Date, last: Date| match edge {
            DayEdge::Start => start_of(first),
            DayEdge::End => start_of(last) + DAY_SECONDS - 1,
            // Today's noon may be still to come: then it is now.
            DayEdge::Noon => noon(first, now.unix()),
        };
        let kept = |seconds: i64| Stamp::exactly(seconds).ok_or_else(|| refuse(BEYOND.to_owned()));
        match written(text).map_err(refuse)? {
            Written::Moment(at) => Ok(at),
            Written::Days(first, last) => kept(day(first, last)),
            Written::Words(words, is_timed) => {
                let at = match words.as_str() {
                    "now" | "today" => Some(now),
                    words => date_in_words(words, now)?,
                };
                let at = at.ok_or_else(|| refuse("git sees no date in it".to_owned()))?;
                let (year, month, date) = at.date();
                let date = Date::new(year, month, date).ok();
                // Git guesses where it does not know the year.
                let said =
                    words.split([' ', 't']).next().and_then(days).flatten().filter(|(first, last)| first == last);
                if let (Some((said, _)), Some(date)) = (said, date)
                    && (start_of(said) - start_of(date)).abs() > DAY_SECONDS
                {
                    return Err(refuse(format!("git takes it for {at}; 2024-05-01T14:00:00Z is read without git")));
                }
                date.filter(|_| !is_timed).map_or(Ok(at), |date| kept(day(date, date)))
            }
        }
    }
}

fn noon(day: Date, now: i64) -> i64 {
    let noon = start_of(day) + DAY_SECONDS / 2;
    if start_of(day) <= now { noon.min(now) } else { noon }
}

/// Seconds of the epoch at which a day begins, UTC.
fn start_of(day: Date) -> i64 {
    let days = jiff::civil::date(1970, 1, 1).until(day).map_or(0, |span| span.get_days());
    i64::from(days) * DAY_SECONDS
}

fn written(text: &str) -> Result<Written, String> {
    let text = text.trim();
    match text.parse::<Stamp>() {
        Ok(at) => return Ok(Written::Moment(at)),
        Err(error) if error.is_beyond() => return Err(BEYOND.to_owned()),
        Err(_) => {}
    }
    let digits = text.strip_prefix('@').unwrap_or(text);
    if let Ok(seconds) = digits.parse::<i64>()
        && (digits.len() > 8 || digits.len() < text.len())
    {
        let at = Stamp::from_unix(seconds);
        return if at.unix() == seconds { Ok(Written::Moment(at)) } else { Err(BEYOND.to_owned()) };
    }
    let (date, rest) = text.split_at(text.find(['T', 't', ' ']).unwrap_or(text.len()));
    match days(date) {
        Some(Some((first, last))) if rest.is_empty() => return Ok(Written::Days(first, last)),
        Some(None) => return Err(format!("there is no day {date}")),
        _ => {}
    }
    in_words(text)
}

/// The days of `2024-05-01`, `2024-05` or `2024`; the inner `None` if the calendar has no such day, the outer one for other texts.
fn days(text: &str) -> Option<Option<(Date, Date)>> {
    let mut parts = text.split('-').map(|part| part.parse::<i16>().ok().filter(|_| part.len() == 2 || part.len() == 4));
    let year = parts.next()?.filter(|_| text.find('-').unwrap_or(text.len()) == 4)?;
    let rest: Option<Vec<i8>> = parts.map(|part| i8::try_from(part?).ok()).collect();
    Some(match rest?[..] {
        [] => Date::new(year, 1, 1).ok().zip(Date::new(year, 12, 31).ok()),
        [month] => Date::new(year, month, 1).ok().map(|first| (first, first.last_of_month())),
        [month, day] => Date::new(year, month, day).ok().map(|day| (day, day)),
        _ => None,
    })
}

fn in_words(text: &str) -> Result<Written, String> {
    let lower = text.to_lowercase();
    // Git counts in words, but not by articles.
    let counted = lower.strip_prefix("a ").or(lower.strip_prefix("an ")).map(|rest| format!("one {rest}"));
    let lower = counted.unwrap_or(lower);
    if lower.chars().any(|c| !c.is_ascii_alphanumeric() && !" .,:-+/_".contains(c)) {
        return Err("git knows no such date".to_owned());
    }
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
    let known = |list: &[&str], word: &str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        list.contains(&word) || (singular.len() > 2 && list.contains(&singular))
    };
    let begins = |names: &[&str], word: &str| word.len() > 2 && names.iter().any(|name| name.starts_with(word));
    let is_time = |word: &str| known(&TIMES, word);
    let is_date = |word: &str| known(&DAYS, word) || begins(&MONTHS, word) || begins(&WEEKDAYS, word);
    if let Some(word) = words.iter().find(|word| !is_date(word) && !is_time(word)) {
        return Err(format!("git does not know {word:?} in a date"));
    }
    let is_timed = lower.contains(':') || words.iter().any(|word| is_time(word));
    if words.is_empty() && !is_timed {
        return Err("a date in figures is written year first, as in 2024-05-01".to_owned());
    }
    let mut numbers = lower.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    if words.iter().any(|word| begins(&MONTHS, word)) && numbers.all(|number| number.len() == 4) {
        // Git would take today's day of that month.
        return Err("the day is missing; a whole month is written as 2024-05".to_owned());
    }
    // Git takes a bare `friday` for no date.
    let asked = if begins(&WEEKDAYS, &lower) { format!("last {lower}") } else { lower };
    Ok(Written::Words(asked, is_timed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_figures_need_no_git() {
        let moment = |text: &str| match written(text) {
            Ok(Written::Moment(at)) => at.to_string(),
            Ok(Written::Days(first, last)) => format!("{first} {last}"),
            other => panic!("{text}: {other:?}"),
        };
        for (text, expected) in [
            ("2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00Z"),
            ("1714550400", "2024-05-01T08:00:00Z"),
            ("@0", "1970-01-01T00:00:00Z"),
            ("2024-02-29", "2024-02-29 2024-02-29"),
            ("2024-02", "2024-02-01 2024-02-29"),
            (" 2024 ", "2024-01-01 2024-12-31"),
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
    }

    #[test]
    fn words_go_to_git_if_it_knows_all_of_them() {
        for (text, asked, is_timed) in [
            ("yesterday", "yesterday", false),
            ("2 weeks ago", "2 weeks ago", false),
            ("Last Friday", "last friday", false),
            ("fri", "last fri", false),
            ("a week ago", "one week ago", false),
            ("3 May 2021", "3 may 2021", false),
            ("3.days.ago", "3.days.ago", false),
            ("2 hours ago", "2 hours ago", true),
            ("yesterday 15:00", "yesterday 15:00", true),
            ("2024-05-01 15:00", "2024-05-01 15:00", true),
            ("3pm yesterday", "3pm yesterday", true),
        ] {
            assert_eq!(written(text), Ok(Written::Words(asked.to_owned(), is_timed)), "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_dates_are_refused() {
        for (text, says) in [
            ("yestreday", "\"yestreday\""),
            ("5 bananas ago", "\"bananas\""),
            ("in 2 days", "\"in\""),
            ("2024-02-30", "no day 2024-02-30"),
            ("2024-13-01 10:00", "no day 2024-13-01"),
            ("05/01/2024", "year first"),
            ("12", "year first"),
            ("May 2024", "day is missing"),
            ("", "year first"),
            ("昨日", "no such date"),
            ("a\0b", "no such date"),
            ("@99999999999999", BEYOND),
            ("9999-12-31T23:59:59Z", BEYOND),
            ("9999-12-30T23:00:00-02:00", BEYOND),
        ] {
            let refused = written(text).unwrap_err();
            assert!(refused.contains(says), "{text}: {refused}");
        }
    }
}
