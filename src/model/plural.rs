//! Counting in sentences: one stimulus, two stimuli. Whatever a room says to people with a number in it goes through here.

use std::fmt::Display;

/// Numbers in order, neighbours as ranges: `1,3-15`.
pub fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let part = |(from, to): &(usize, usize)| if from == to { from.to_string() } else { format!("{from}-{to}") };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

/// A count and what is counted: `1 neuron`, `2 neurons`.
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let word = which(&count, one, many);
    format!("{count} {word}")
}

/// Of two words the one that goes with the count: `wait` or `waits`.
pub fn which<'w, N: PartialEq + From<u8>>(count: &N, one: &'w str, many: &'w str) -> &'w str {
    if *count == N::from(1) { one } else { many }
}

/// The beginning of a text that has at most so many bytes.
pub fn within(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_one() {
        let said: Vec<String> = (0_u32..3).map(|n| plural(n, "stimulus", "stimuli")).collect();
        assert_eq!(said, ["0 stimuli", "1 stimulus", "2 stimuli"]);
        assert_eq!((which(&1_usize, "waits", "wait"), which(&0_usize, "waits", "wait")), ("waits", "wait"));
    }
}
