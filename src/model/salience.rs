//! Salience: how vivid a neuron is now. It decays by 1 % an hour, is read without writing, and is stored only by an
//! activation. Source: MagistraAI's technical note, 1.2 (lazy decay).
//!
//! `salience_at(t) = floor(stored · 0.99^hours)`. Powers come from fixed-point tables, because `powf` differs between
//! platforms: 0.99^h for whole hours and 0.99^(s/3600) for whole seconds, Q62, rounded to nearest.

use std::sync::LazyLock;

use super::Stamp;

/// Whole hours after which even the greatest salience has decayed to 0.
const HOURS: usize = 1104;
const ONE: u64 = 1 << 62;
/// 0.99^(1/3600) in Q126, rounded to nearest.
const SECOND_Q126: u128 = 85_070_354_233_894_425_473_230_263_729_434_814_264;

struct Tables {
    hours: Vec<u64>,
    seconds: Vec<u64>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables { hours: hour_table(), seconds: second_table() });

/// 0.99^h by repeated multiplication in Q120: an error of one unit a step stays far below half a unit of Q62.
fn hour_table() -> Vec<u64> {
    let mut power: u128 = 1 << 120;
    let mut table = Vec::with_capacity(HOURS + 1);
    for _ in 0..=HOURS {
        table.push(((power + (1 << 57)) >> 58) as u64);
        power = (power * 99 + 50) / 100;
    }
    table
}

/// 0.99^(s/3600) by repeated multiplication in Q126.
fn second_table() -> Vec<u64> {
    let mut power: u128 = 1 << 126;
    let mut table = Vec::with_capacity(3600);
    for _ in 0..3600 {
        table.push(((power + (1 << 63)) >> 64) as u64);
        power = multiply_q126(power, SECOND_Q126);
    }
    table
}

/// `a · b` for two Q126 numbers of at most 1, rounded down.
fn multiply_q126(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let middle_low = (middle & LOW) + a0 * b1;
    let high = a1 * b1 + (middle >> 64) + (middle_low >> 64);
    (high << 2) | ((middle_low & LOW) >> 62)
}

/// Salience `stored` at `since`, read at `now`: 0..=65535. Nothing is written; a clock that runs backwards decays nothing.
pub fn salience_at(stored: u16, since: Stamp, now: Stamp) -> u16 {
    let elapsed = now.seconds_since(since);
    decay(stored, elapsed)
}

/// `floor(stored · 0.99^(seconds/3600))`.
pub fn decay(stored: u16, seconds: u64) -> u16 {
    let hours = seconds / 3600;
    if hours >= HOURS as u64 {
        return 0;
    }
    let factor = match (TABLES.hours[hours as usize], TABLES.seconds[(seconds % 3600) as usize]) {
        (whole, ONE) => whole,
        (whole, part) => ((u128::from(whole) * u128::from(part)) >> 62) as u64,
    };
    ((u128::from(stored) * u128::from(factor)) >> 62) as u16
}

/// `round(strength · gain)` for a strength in 0..=1: what an activation adds, 0..=65535.
pub fn activation_gain(strength: f64, gain: u16) -> u16 {
    (strength.clamp(0.0, 1.0) * f64::from(gain)).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_figures_of_the_specification() {
        let cases = [
            (65535, 1, 64879),
            (65535, 24, 51489),
            (65535, 168, 12111),
            (65535, 1104, 0),
            (45000, 24, 35355),
            (65000, 1, 64350),
            (65535, 0, 65535),
            (65535, 1_000_000, 0),
        ];
        for (stored, hours, expected) in cases {
            assert_eq!(decay(stored, hours * 3600), expected, "{stored} after {hours} h");
        }
    }

    /// Expected entries were computed with 80-digit decimals, away from this code.
    #[test]
    fn the_tables_are_rounded_to_nearest() {
        let hours = [
            (0, 4_611_686_018_427_387_904),
            (1, 4_565_569_158_243_114_025),
            (2, 4_519_913_466_660_682_885),
            (24, 3_623_300_896_944_676_253),
            (168, 852_260_623_703_082_399),
            (1000, 199_092_238_081_802),
            (1103, 70_709_761_478_589),
        ];
        for (hour, expected) in hours {
            assert_eq!(TABLES.hours[hour], expected, "hour {hour}");
        }
        let seconds = [
            (0, 4_611_686_018_427_387_904),
            (1, 4_611_673_143_724_988_315),
            (2, 4_611_660_269_058_531_754),
            (1800, 4_588_569_652_215_499_216),
            (3599, 4_565_581_904_234_073_316),
        ];
        for (second, expected) in seconds {
            assert_eq!(TABLES.seconds[second], expected, "second {second}");
        }
    }

    #[test]
    fn reading_is_pure_and_never_gains() {
        for seconds in (0..4_000_000).step_by(997) {
            assert!(decay(65535, seconds + 1) <= decay(65535, seconds));
        }
        let (early, late) = (Stamp::from_unix(0), Stamp::from_unix(100_000));
        assert_eq!(salience_at(700, late, early), 700);
    }

    #[test]
    fn gain_saturates() {
        for (strength, expected) in [(0.0, 0), (1.0, 65535), (0.8, 52428), (7.0, 65535), (-1.0, 0), (f64::NAN, 0)] {
            assert_eq!(activation_gain(strength, 65535), expected, "{strength}");
        }
    }
}
