//! Redaction of a text that comes in parts: the same as of the whole, without holding it.
//!
//! A text is divided at white space that lies in nothing that a rule looks at, and only where enough of what follows is known: what is a
//! secret depends on what stands behind it. A private key that nobody ends is held up to its end.

use super::{Found, Plain, Secrets, without};
use crate::limits;

/// A text on its way, without its secrets.
pub struct Redaction<'s> {
    secrets: &'s Secrets,
    held: String,
    /// So much is looked at next.
    wanted: usize,
    window: usize,
    /// So much is seen behind a place where the text is divided.
    reach: usize,
    redacted: usize,
}

impl Secrets {
    /// Begins a text that comes in parts.
    #[must_use]
    pub fn in_parts(&self) -> Redaction<'_> {
        self.in_parts_of(limits::REDACTED_BYTES, limits::REDACTED_REACH)
    }

    fn in_parts_of(&self, window: usize, reach: usize) -> Redaction<'_> {
        let longest = self.known.as_ref().map_or(0, |known| known.max_pattern_len());
        let reach = reach.max(longest);
        Redaction { secrets: self, held: String::new(), wanted: window + reach, window, reach, redacted: 0 }
    }

    /// The ranges of a text that matches depend on, allowed or not.
    fn looked_at(&self, text: &str) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> =
            self.hits(text.as_bytes()).into_iter().map(|(from, f)| (from, f.end)).collect();
        if let Some(plain) = Plain::of(text.as_bytes()) {
            let hits = self.hits(&plain.text).into_iter();
            ranges.extend(hits.map(|(from, f)| (plain.start(from), plain.end(f.end))));
        }
        ranges
    }
}

impl Redaction<'_> {
    /// Adds a part, and hands on what is known to be clean.
    pub fn add(&mut self, part: &str, clean: &mut dyn FnMut(&str)) {
        self.held.push_str(part);
        while self.held.len() >= self.wanted {
            let Some(end) = self.division() else {
                self.wanted = self.held.len() * 2;
                return;
            };
            self.wanted = self.window + self.reach;
            let found = self.secrets.find(self.held.as_bytes()).into_iter().filter(|found| found.start < end).collect();
            self.hand_on(end, found, clean);
        }
    }

    /// Ends the text. Returns the number of its secrets.
    pub fn finish(&mut self, clean: &mut dyn FnMut(&str)) -> usize {
        let found = self.secrets.find(self.held.as_bytes());
        self.hand_on(self.held.len(), found, clean);
        std::mem::take(&mut self.redacted)
    }

    fn hand_on(&mut self, end: usize, found: Vec<Found>, clean: &mut dyn FnMut(&str)) {
        self.redacted += found.len();
        match found.is_empty() {
            true => clean(&self.held[..end]),
            false => clean(&without(&self.held[..end], &found)),
        }
        self.held.drain(..end);
    }

    /// Where the text can be divided: behind a line, else behind a word.
    fn division(&self) -> Option<usize> {
        let ranges = self.secrets.looked_at(&self.held);
        [&b"\n"[..], b" \t"].into_iter().find_map(|spaces| {
            let mut end = self.held.len() - self.reach;
            loop {
                let at = self.held.as_bytes()[..end].iter().rposition(|byte| spaces.contains(byte))? + 1;
                match ranges.iter().filter(|(from, to)| *from < at && at < *to).map(|(from, _)| *from).min() {
                    None => return Some(at),
                    Some(from) => end = from,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_parts(secrets: &Secrets, text: &str, window: usize, sizes: &[usize]) -> (String, usize, usize) {
        let (mut redaction, mut clean, mut most) = (secrets.in_parts_of(window, 400), String::new(), 0);
        let mut rest = text;
        for size in sizes.iter().cycle() {
            let mut at = rest.len().min(*size);
            while !rest.is_char_boundary(at) {
                at += 1;
            }
            redaction.add(&rest[..at], &mut |part| clean.push_str(part));
            most = most.max(redaction.held.len());
            rest = &rest[at..];
            if rest.is_empty() {
                break;
            }
        }
        let count = redaction.finish(&mut |part| clean.push_str(part));
        (clean, count, most)
    }

    #[test]
    fn a_long_text_is_not_held() {
        let text = "It rained on the canal.\nghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R\n".repeat(2_000);
        let secrets = Secrets::default();
        let (clean, count, most) = in_parts(&secrets, &text, 1_000, &[300]);
        assert_eq!((clean.as_str(), count), (&*secrets.redact(&text), 2_000));
        assert!(most < 2_000, "{most}");
    }

    proptest! {
        #[test]
        fn a_text_in_parts_is_redacted_as_the_whole(
            lines in proptest::collection::vec(prop_oneof![
                Just("It rained on the canal all day. "),
                Just("\n"),
                Just("\n\n"),
                Just("ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"),
                Just("password:"),
                Just(" hunter2A9b8C7d6 "),
                Just("Authorization: Bearer\n"),
                Just("-----BEGIN RSA PRIVATE KEY-----\nabc\n\ndef\n"),
                Just("-----END RSA PRIVATE KEY-----\n"),
                Just("a value\n\nof two lines"),
                Just("ｐａｓｓｗｏｒｄ＝hunter2A9b8C7d6"),
                Just("sk-\u{200b}0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"),
                Just("postgres://ann:s3cr3tW0rd@db/x"),
                Just("猫がお茶を飲む。"),
            ], 0..120),
            window in 1..1_500_usize,
            sizes in proptest::collection::vec(1..500_usize, 1..20),
        ) {
            let text = lines.concat();
            let secrets = Secrets::new(&["url-password".to_owned()], &["a value\n\nof two lines".to_owned()]).unwrap();
            let (clean, count, _) = in_parts(&secrets, &text, window, &sizes);
            prop_assert_eq!((clean.as_str(), count), (&*secrets.redact(&text), secrets.find(text.as_bytes()).len()));
        }
    }
}
