//! Stamps: whole seconds, UTC. The only time the network stores.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in whole seconds since 1970-01-01T00:00:00Z, between the beginning of the year 1 and the end of 9999, but for its last
/// day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(i64);

/// Why a text is no stamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is {why}")]
pub struct StampError {
    text: String,
    why: &'static str,
}

const NONE: &str = "not an RFC 3339 time such as 2026-01-26T14:32:00Z";
/// The sentence about a time that cannot be kept.
pub const BEYOND: &str = "beyond the times that can be kept, 0001-01-01T00:00:00Z to 9999-12-30T22:00:00Z";

impl StampError {
    /// Whether it is a time, but none that can be kept.
    pub fn is_beyond(&self) -> bool {
        self.why == BEYOND
    }
}

impl Stamp {
    const FIRST: i64 = -62_135_596_800; // 0001-01-01T00:00:00Z
    const LAST: i64 = 253_402_207_200; // 9999-12-30T22:00:00Z, the last moment that the library of dates knows

    /// From seconds since the Unix epoch; `None` where that moment cannot be kept.
    pub fn exactly(seconds: i64) -> Option<Self> {
        (Self::FIRST..=Self::LAST).contains(&seconds).then_some(Self(seconds))
    }

    /// From seconds since the Unix epoch, held to the years 1 to 9999.
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds.clamp(Self::FIRST, Self::LAST))
    }

    /// Seconds since the Unix epoch.
    pub fn unix(self) -> i64 {
        self.0
    }

    /// Days since 1970-01-01, UTC.
    pub fn day(self) -> i64 {
        self.0.div_euclid(86_400)
    }

    /// Seconds from `earlier` to `self`, 0 if `earlier` is later: time never runs backwards here.
    pub fn seconds_since(self, earlier: Stamp) -> u64 {
        self.0.saturating_sub(earlier.0).max(0) as u64
    }

    /// Year, month and day, UTC.
    pub fn date(self) -> (i16, i8, i8) {
        let date = self.civil().date();
        (date.year(), date.month(), date.day())
    }

    /// The date and time without a zone, UTC.
    pub fn civil(self) -> jiff::civil::DateTime {
        let timestamp = jiff::Timestamp::from_second(self.0).expect("invariant: held to what it knows");
        timestamp.to_zoned(jiff::tz::TimeZone::UTC).datetime()
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = self.civil();
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second()
        )
    }
}

impl FromStr for Stamp {
    type Err = StampError;

    /// Reads any RFC 3339 time; offsets become UTC, fractions of a second are dropped.
    fn from_str(text: &str) -> Result<Self, StampError> {
        // The library of dates knows moments less far than dates.
        let is_time = || {
            let (date, zone) = text.split_at_checked(19)?;
            let has_zone = zone.ends_with(['Z', 'z']) || zone.contains(['+', '-']);
            (has_zone && date.parse::<jiff::civil::DateTime>().is_ok()).then_some(())
        };
        let fail =
            |is_time| StampError { text: text.chars().take(64).collect(), why: if is_time { BEYOND } else { NONE } };
        let zoned = text.parse::<jiff::Timestamp>().map_err(|_| fail(is_time().is_some()))?;
        Self::exactly(zoned.as_millisecond().div_euclid(1000)).ok_or_else(|| fail(true))
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Stamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Stamp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "format": "date-time",
            "description": "RFC 3339, whole seconds, UTC, such as 2026-01-26T14:32:00Z"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_offsets_and_fractions_as_whole_utc_seconds() {
        let cases = [
            ("2026-01-26T14:32:00Z", "2026-01-26T14:32:00Z"),
            ("2026-01-26T14:32:00.999Z", "2026-01-26T14:32:00Z"),
            ("2026-01-26T14:32:00+02:00", "2026-01-26T12:32:00Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"),
        ];
        for (input, expected) in cases {
            assert_eq!(input.parse::<Stamp>().unwrap().to_string(), expected, "{input}");
        }
        for bad in ["", "yesterday", "2026-01-26", "2026-13-01T00:00:00Z", "99999-01-01T00:00:00Z"] {
            assert!(bad.parse::<Stamp>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_ends_of_time_are_dates() {
        for (seconds, date) in [(i64::MIN, (1, 1, 1)), (i64::MAX, (9999, 12, 30))] {
            assert_eq!(Stamp::from_unix(seconds).date(), date);
            assert_eq!(Stamp::from_unix(seconds).to_string().parse::<Stamp>(), Ok(Stamp::from_unix(seconds)));
        }
        for text in ["9999-12-31T23:59:59Z", "9999-12-30T22:00:01Z", "0000-06-01T00:00:00Z"] {
            let refused = text.parse::<Stamp>().unwrap_err().to_string();
            assert!(refused.contains(text) && refused.contains(BEYOND), "{refused}");
        }
    }

    #[test]
    fn time_never_runs_backwards() {
        assert_eq!(Stamp::from_unix(5).seconds_since(Stamp::from_unix(9)), 0);
        assert_eq!(Stamp::from_unix(9).seconds_since(Stamp::from_unix(5)), 4);
    }
}
