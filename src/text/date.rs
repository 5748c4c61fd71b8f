//! Dates in texts: days, months and years that are written out, in figures, or relative to the day they are said on.
//!
//! English, French and Japanese, by the names of their calendar words alone. Place in the flow: a memory's text and time
//! → **dates** → what recall can find it by, and a question → **dates** → what it asks for. Must not know clocks: the day
//! on which something is said is given.

use std::fmt;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::surface::fold;

/// A span of days that a text names, both ends inclusive. A day has equal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
}

/// What of a date a text says: absent parts are left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// The year.
    pub year: Option<i16>,
    /// 1..=12.
    pub month: Option<i8>,
    /// 1..=31; only with a month.
    pub day: Option<i8>,
}

impl fmt::Display for Asked {
    /// As ISO 8601 has it; what is left open is `*`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.year {
            Some(year) => write!(f, "{year:04}")?,
            None => f.write_str("*")?,
        }
        self.month.map_or(Ok(()), |month| write!(f, "-{month:02}"))?;
        self.day.map_or(Ok(()), |day| write!(f, "-{day:02}"))
    }
}

impl Asked {
    /// Whether a period can be meant: a day that fits lies in it.
    ///
    /// A period that is longer than what is asked for counts too: who says "last week" may mean each day of it. But who says "in 2020" means
    /// no day or month that is asked for without a year.
    pub fn meets(&self, period: &Period) -> bool {
        let has_all = period.first.saturating_add(31.days()) < period.last;
        if has_all && self.month.is_some() && self.year.is_none() {
            return false;
        }
        let mut day = period.first;
        loop {
            let year = self.year.is_none_or(|year| year == day.year());
            let month = self.month.is_none_or(|month| month == day.month());
            if year && month && self.day.is_none_or(|wanted| wanted == day.day()) {
                return true;
            }
            if day >= period.last {
                return false;
            }
            let Ok(next) = day.tomorrow() else { return false };
            day = next;
        }
    }
}

impl Period {
    /// Whether some day lies in both.
    pub fn meets(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// One day.
    pub fn day(date: Date) -> Self {
        Self { first: date, last: date }
    }

    fn days(first: Option<Date>, last: Option<Date>) -> Option<Self> {
        Some(Self { first: first?, last: last? })
    }
}

/// Months by their folded English and French names; abbreviations of at least three letters count where they are unmistakable.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "janvier", "janv"],
    &["february", "feb", "fevrier", "fev"],
    &["march", "mars", "mar"],
    &["april", "apr", "avril", "avr"],
    &["may", "mai"],
    &["june", "jun", "juin"],
    &["july", "jul", "juillet", "juil"],
    &["august", "aug", "aout"],
    &["september", "sept", "sep", "septembre"],
    &["october", "oct", "octobre"],
    &["november", "nov", "novembre"],
    &["december", "dec", "decembre"],
];
const WEEKDAYS: [(&[&str], Weekday); 7] = [
    (&["monday", "lundi"], Weekday::Monday),
    (&["tuesday", "mardi"], Weekday::Tuesday),
    (&["wednesday", "mercredi"], Weekday::Wednesday),
    (&["thursday", "jeudi"], Weekday::Thursday),
    (&["friday", "vendredi"], Weekday::Friday),
    (&["saturday", "samedi"], Weekday::Saturday),
    (&["sunday", "dimanche"], Weekday::Sunday),
];
/// Numbers that stand in words before "days ago" and the like.
const NUMBERS: [&[&str]; 12] = [
    &["a", "an", "one", "un", "une"],
    &["two", "deux"],
    &["three", "trois"],
    &["four", "quatre"],
    &["five", "cinq"],
    &["six"],
    &["seven", "sept"],
    &["eight", "huit"],
    &["nine", "neuf"],
    &["ten", "dix"],
    &["eleven", "onze"],
    &["twelve", "douze"],
];

/// A run of letters, a run of digits, or a sign that dates are written with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Letters(String),
    Digits(u32, usize),
    Sign(char),
}

/// The dates that a text names without regard to when it is said: what a question asks for.
pub fn asked(text: &str) -> Vec<Asked> {
    let mut found = written(&parts(text));
    found.sort();
    found.dedup();
    found
}

/// The periods that a text names when it is said on `said`: written dates, a missing year being the one that lies nearest,
/// and relative ones.
pub fn periods(text: &str, said: Date) -> Vec<Period> {
    let parts = parts(text);
    let mut found: Vec<Period> = written(&parts).into_iter().filter_map(|asked| resolved(asked, said)).collect();
    found.extend(counted(text, &parts, said));
    found.sort();
    found.dedup();
    found
}

/// The periods that a text names by the day on which it is said: `yesterday`, `last week`, `三日前`.
pub fn relative_to(text: &str, said: Date) -> Vec<Period> {
    let mut found = counted(text, &parts(text), said);
    found.sort();
    found.dedup();
    found
}

fn counted(text: &str, parts: &[Part], said: Date) -> Vec<Period> {
    let mut found = relative(parts, said);
    if text.chars().any(super::language::is_japanese) {
        found.extend(relative_japanese(text, said));
    }
    found
}

/// Whether a word is a part of dates: a figure, the name of a month or of a weekday, or a word by which days are counted from today.
pub fn is_of_date(word: &str) -> bool {
    const COUNTED: [&str; 25] = [
        "yesterday",
        "today",
        "tonight",
        "tomorrow",
        "ago",
        "last",
        "past",
        "next",
        "day",
        "days",
        "week",
        "weeks",
        "month",
        "months",
        "year",
        "years",
        "weekend",
        "hier",
        "demain",
        "dernier",
        "derniere",
        "semaine",
        "mois",
        "jour",
        "jours",
    ];
    let fits = |part: &Part| matches!(part, Part::Letters(word) if COUNTED.contains(&word.as_str())) || is_bare(part);
    let parts = parts(word);
    !parts.is_empty() && parts.iter().all(fits)
}

/// Whether a part may stand in a date that is nothing else.
fn is_bare(part: &Part) -> bool {
    match part {
        Part::Letters(_) => month(Some(part)).is_some() || weekday(Some(part)).is_some(),
        Part::Digits(..) => true,
        Part::Sign(c) => ",./-年月日".contains(*c),
    }
}

/// The day of a moment, UTC, in seconds of the epoch; `None` beyond the calendar.
pub fn day_of(unix: i64) -> Option<Date> {
    let moment = jiff::Timestamp::from_second(unix).ok()?;
    Some(moment.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// Whether a text is a date and nothing else: it names no thing that texts could share.
pub fn is_date(text: &str) -> bool {
    let parts = parts(text);
    !parts.is_empty() && parts.iter().all(is_bare)
}

/// The day that a text is, and nothing else: with its weekday, as a heading of a diary says it.
pub fn day_named(text: &str) -> Option<Date> {
    let parts = parts(text);
    let fits = |part: &Part| match part {
        Part::Letters(word) => {
            ["st", "nd", "rd", "th", "er", "of", "the", "le"].contains(&word.as_str())
                || month(Some(part)).is_some()
                || weekday(Some(part)).is_some()
        }
        Part::Digits(..) => true,
        Part::Sign(c) => ",./-:()（）年月日曜火水木金土".contains(*c),
    };
    match written(&parts)[..] {
        [Asked { year: Some(year), month: Some(month), day: Some(day) }] if parts.iter().all(fits) => {
            Date::new(year, month, day).ok()
        }
        _ => None,
    }
}

/// Lower case without accents, cut into parts. Full-width digits count as digits.
fn parts(text: &str) -> Vec<Part> {
    let mut list: Vec<Part> = Vec::new();
    let mut letters = String::new();
    let mut digits = String::new();
    for c in fold(&text.to_lowercase()).chars().chain([' ']) {
        let c = match c {
            '０'..='９' => char::from_digit(c as u32 - '０' as u32, 10).unwrap_or(c),
            other => other,
        };
        if !c.is_ascii_digit() && !digits.is_empty() {
            // A longer number is no part of a date.
            list.push(Part::Digits(digits.parse().unwrap_or(u32::MAX), digits.len()));
            digits.clear();
        }
        let latin = c.is_alphabetic() && !super::language::is_japanese(c);
        if !latin && !letters.is_empty() {
            list.push(Part::Letters(std::mem::take(&mut letters)));
        }
        match c {
            c if c.is_ascii_digit() => digits.push(c),
            c if latin => letters.push(c),
            c if c.is_whitespace() => {}
            c => list.push(Part::Sign(c)),
        }
    }
    list
}

fn word(part: Option<&Part>) -> Option<&str> {
    match part {
        Some(Part::Letters(word)) => Some(word),
        _ => None,
    }
}

fn sign(part: Option<&Part>, wanted: &[char]) -> bool {
    matches!(part, Some(Part::Sign(c)) if wanted.contains(c))
}

fn number(part: Option<&Part>, least: u32, most: u32) -> Option<u32> {
    match part {
        Some(Part::Digits(n, _)) if (least..=most).contains(n) => Some(*n),
        _ => None,
    }
}

fn year(part: Option<&Part>) -> Option<i16> {
    match part {
        Some(Part::Digits(n, 4)) if (1000..=2999).contains(n) => i16::try_from(*n).ok(),
        _ => None,
    }
}

fn month(part: Option<&Part>) -> Option<i8> {
    let word = word(part)?;
    let at = MONTHS.iter().position(|names| names.contains(&word))?;
    i8::try_from(at + 1).ok()
}

fn day(part: Option<&Part>) -> Option<i8> {
    number(part, 1, 31).and_then(|n| i8::try_from(n).ok())
}

/// Written dates, at each place the longest form that fits.
fn written(parts: &[Part]) -> Vec<Asked> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let form = [iso, slashes, japanese, day_first, month_first, lone_year].iter().find_map(|form| form(parts, at));
        match form {
            Some((asked, length)) => {
                found.push(asked);
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

type Form = Option<(Asked, usize)>;

/// `2023-05-07`, `2023/5/7`.
fn iso(parts: &[Part], at: usize) -> Form {
    let get = |offset: usize| parts.get(at + offset);
    let year = year(get(0))?;
    (sign(get(1), &['-', '/', '.']) && parts.get(at + 1) == parts.get(at + 3)).then_some(())?;
    let month = i8::try_from(number(get(2), 1, 12)?).ok()?;
    Some((Asked { year: Some(year), month: Some(month), day: Some(day(get(4))?) }, 5))
}

/// `7/5/2023`: day first, unless only the other order is possible.
fn slashes(parts: &[Part], at: usize) -> Form {
    let get = |offset: usize| parts.get(at + offset);
    let (first, second) = (number(get(0), 1, 31)?, number(get(2), 1, 31)?);
    (sign(get(1), &['/', '.']) && parts.get(at + 1) == parts.get(at + 3)).then_some(())?;
    let year = year(get(4))?;
    let (day, month) = if second <= 12 { (first, second) } else { (second, first) };
    (month <= 12).then_some(())?;
    let asked = Asked { year: Some(year), month: i8::try_from(month).ok(), day: i8::try_from(day).ok() };
    Some((asked, 5))
}

/// `2023年5月7日` and its parts.
fn japanese(parts: &[Part], at: usize) -> Form {
    let get = |offset: usize| parts.get(at + offset);
    let mut asked = Asked::default();
    let mut length = 0;
    if let Some(named) = year(get(0)).filter(|_| sign(get(1), &['年'])) {
        asked.year = Some(named);
        length = 2;
    }
    if let Some(named) = number(get(length), 1, 12).filter(|_| sign(get(length + 1), &['月'])) {
        asked.month = i8::try_from(named).ok();
        length += 2;
        if let Some(named) = day(get(length)).filter(|_| sign(get(length + 1), &['日'])) {
            asked.day = Some(named);
            length += 2;
        }
    }
    (length > 0).then_some((asked, length))
}

/// `7 May, 2023`, `7th of May`, `1er mai 2023`.
fn day_first(parts: &[Part], at: usize) -> Form {
    let day = day(parts.get(at))?;
    let mut here = at + 1;
    while word(parts.get(here)).is_some_and(|w| ["st", "nd", "rd", "th", "er", "of"].contains(&w)) {
        here += 1;
    }
    let month = month(parts.get(here))?;
    here += 1;
    let year = year_after(parts, &mut here);
    Some((Asked { year, month: Some(month), day: Some(day) }, here - at))
}

/// `May 7, 2023`, `May 2023`; a bare month only where it cannot be another word.
fn month_first(parts: &[Part], at: usize) -> Form {
    let month = month(parts.get(at))?;
    let mut here = at + 1;
    let mut named = None;
    if let Some(day) = day(parts.get(here)) {
        named = Some(day);
        here += 1;
        while word(parts.get(here)).is_some_and(|w| ["st", "nd", "rd", "th"].contains(&w)) {
            here += 1;
        }
    }
    let year = year_after(parts, &mut here);
    // "may", "march" and the like are words as well: alone they count after a word that leads to a month.
    let ambiguous =
        word(parts.get(at)).is_some_and(|w| ["may", "march", "mars", "mai", "jan", "sept", "dec"].contains(&w));
    let led = at > 0
        && word(parts.get(at - 1)).is_some_and(|w| {
            ["in", "of", "during", "since", "until", "by", "last", "this", "next", "en", "de", "depuis", "mois"]
                .contains(&w)
        });
    (!ambiguous || led || named.is_some() || year.is_some())
        .then_some((Asked { year, month: Some(month), day: named }, here - at))
}

fn year_after(parts: &[Part], here: &mut usize) -> Option<i16> {
    let mut next = *here;
    if sign(parts.get(next), &[',', '.']) || word(parts.get(next)) == Some("of") {
        next += 1;
    }
    let found = year(parts.get(next))?;
    *here = next + 1;
    Some(found)
}

/// `2023`, of the centuries that conversations and articles mostly speak of.
fn lone_year(parts: &[Part], at: usize) -> Form {
    let year = year(parts.get(at)).filter(|year| (1900..=2099).contains(year))?;
    let part_of_number = at > 0 && sign(parts.get(at - 1), &['.', ',', '$', '€', '#']);
    // `INV-2024-003`, `order_2024`; not `mid-2024`, `2023-2024`.
    let joined = |at: Option<usize>| at.is_some_and(|at| sign(parts.get(at), &['-', '_', '/']));
    let of_id = |at: Option<usize>| match at.and_then(|at| parts.get(at)) {
        Some(Part::Letters(word)) => !["mid", "early", "late", "debut", "fin"].contains(&word.as_str()),
        Some(Part::Digits(_, length)) => *length != 4,
        _ => false,
    };
    let before = joined(at.checked_sub(1)) && of_id(at.checked_sub(2));
    let behind = joined(Some(at + 1)) && of_id(Some(at + 2));
    (!part_of_number && !before && !behind).then_some((Asked { year: Some(year), month: None, day: None }, 1))
}

/// The period of a written date that is said on a day: without a year, the year in which it lies nearest to that day.
fn resolved(asked: Asked, said: Date) -> Option<Period> {
    let in_year = |year: i16| match (asked.month, asked.day) {
        (Some(month), Some(day)) => Date::new(year, month, day).ok().map(Period::day),
        (Some(month), None) => {
            let first = Date::new(year, month, 1).ok()?;
            Some(Period { first, last: first.last_of_month() })
        }
        _ => Period::days(Date::new(year, 1, 1).ok(), Date::new(year, 12, 31).ok()),
    };
    if let Some(year) = asked.year {
        return in_year(year);
    }
    let distance = |period: &Period| (period.first - said).get_days().abs();
    (said.year() - 1..=said.year() + 1).filter_map(in_year).min_by_key(distance)
}

fn week(monday: Option<Date>) -> Option<Period> {
    let monday = monday?;
    Some(Period { first: monday, last: monday.checked_add(6.days()).ok()? })
}

fn monday_of(day: Date) -> Option<Date> {
    day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

/// A span of whole days, weeks, months or years before (negative) or after a day.
fn moved(said: Date, unit: &str, by: i64) -> Option<Period> {
    match unit {
        "day" | "days" | "jour" | "jours" | "日" => said.checked_add(by.days()).ok().map(Period::day),
        "week" | "weeks" | "semaine" | "semaines" | "週" => week(monday_of(said.checked_add(by.weeks()).ok()?)),
        "month" | "months" | "mois" | "月" => {
            let first = said.first_of_month().checked_add(by.months()).ok()?;
            Some(Period { first, last: first.last_of_month() })
        }
        "year" | "years" | "an" | "ans" | "annee" | "annees" | "年" => {
            let year = said.year().checked_add(i16::try_from(by).ok()?)?;
            Period::days(Date::new(year, 1, 1).ok(), Date::new(year, 12, 31).ok())
        }
        "weekend" => {
            let saturday = monday_of(said)?.checked_add((7 * by + 5).days()).ok()?;
            Some(Period { first: saturday, last: saturday.checked_add(1.days()).ok()? })
        }
        _ => None,
    }
}

fn count(part: Option<&Part>) -> Option<i64> {
    match part? {
        Part::Digits(n, _) if *n <= 1000 => Some(i64::from(*n)),
        Part::Letters(word) => {
            NUMBERS.iter().position(|names| names.contains(&word.as_str())).and_then(|at| i64::try_from(at + 1).ok())
        }
        _ => None,
    }
}

fn weekday(part: Option<&Part>) -> Option<Weekday> {
    let word = word(part)?;
    WEEKDAYS.iter().find(|(names, _)| names.contains(&word)).map(|(_, day)| *day)
}

/// `yesterday`, `last week`, `three days ago`, `la semaine dernière`, `il y a deux mois`.
fn relative(parts: &[Part], said: Date) -> Vec<Period> {
    let mut found = Vec::new();
    for at in 0..parts.len() {
        let get = |offset: usize| parts.get(at + offset);
        let Some(here) = word(get(0)) else {
            // `3 days ago`
            if let (Some(n), Some(unit), Some("ago")) = (count(get(0)), word(get(1)), word(get(2))) {
                found.extend(moved(said, unit, -n));
            }
            continue;
        };
        let next = word(get(1)).unwrap_or("");
        found.extend(match here {
            "yesterday" | "hier" | "tonight" | "today" => {
                moved(said, "day", if matches!(here, "yesterday" | "hier") { -1 } else { 0 })
            }
            "tomorrow" | "demain" => moved(said, "day", 1),
            "last" | "past" => weekday(get(1)).map_or_else(|| moved(said, next, -1), |day| nearest(said, day, -1)),
            "next" => weekday(get(1)).map_or_else(|| moved(said, next, 1), |day| nearest(said, day, 1)),
            "this" => moved(said, next, 0),
            "il" if next == "y" && word(get(2)) == Some("a") => {
                count(get(3)).zip(word(get(4))).and_then(|(n, unit)| moved(said, unit, -n))
            }
            _ if matches!(next, "dernier" | "derniere" | "passe" | "passee") => {
                weekday(get(0)).map_or_else(|| moved(said, here, -1), |day| nearest(said, day, -1))
            }
            _ if matches!(next, "prochain" | "prochaine") => {
                weekday(get(0)).map_or_else(|| moved(said, here, 1), |day| nearest(said, day, 1))
            }
            _ if word(get(2)) == Some("ago") => count(get(0)).and_then(|n| moved(said, next, -n)),
            _ => None,
        });
    }
    found
}

/// The weekday before or after a day, never the day itself.
fn nearest(said: Date, day: Weekday, nth: i32) -> Option<Period> {
    said.nth_weekday(nth, day).ok().map(Period::day)
}

/// `昨日`, `先週`, `三日前`.
fn relative_japanese(text: &str, said: Date) -> Vec<Period> {
    const WORDS: [(&str, &str, i64); 15] = [
        ("一昨日", "日", -2),
        ("昨日", "日", -1),
        ("今日", "日", 0),
        ("明日", "日", 1),
        ("先々週", "週", -2),
        ("先週", "週", -1),
        ("今週", "週", 0),
        ("来週", "週", 1),
        ("先月", "月", -1),
        ("今月", "月", 0),
        ("来月", "月", 1),
        ("一昨年", "年", -2),
        ("去年", "年", -1),
        ("昨年", "年", -1),
        ("来年", "年", 1),
    ];
    const FIGURES: &str = "一二三四五六七八九";
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some((word, unit, by)) = WORDS.iter().find(|(word, ..)| rest.starts_with(word)) {
            found.extend(moved(said, unit, *by));
            rest = &rest[word.len()..];
            continue;
        }
        let after = &rest[c.len_utf8()..];
        let n =
            c.to_digit(10).or_else(|| FIGURES.chars().position(|f| f == c).and_then(|at| u32::try_from(at + 1).ok()));
        let units = [("日前", "日"), ("週間前", "週"), ("か月前", "月"), ("ヶ月前", "月"), ("年前", "年")];
        if let Some(n) = n
            && let Some((_, unit)) = units.iter().find(|(ending, _)| after.starts_with(ending))
        {
            found.extend(moved(said, unit, -i64::from(n)));
        }
        rest = after;
    }
    found
}

#[cfg(test)]
#[path = "date_tests.rs"]
mod tests;
