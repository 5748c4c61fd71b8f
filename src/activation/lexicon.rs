//! A sorted list of strings in two arrays: found by binary search, numbered by rank.

/// Strings, ascending by their bytes, each once. A view: see [`LexiconBuf`] for one that owns its arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lexicon<'a> {
    /// Where each string ends; the first starts at 0.
    pub ends: &'a [u32],
    /// All strings, one after the other, UTF-8.
    pub bytes: &'a [u8],
}

impl<'a> Lexicon<'a> {
    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string with that number; empty if there is none.
    pub fn get(&self, at: usize) -> &'a str {
        std::str::from_utf8(self.raw(at)).unwrap_or_default()
    }

    /// The number of a string.
    pub fn find(&self, text: &str) -> Option<usize> {
        let at = self.lower(text);
        (at < self.len() && self.raw(at) == text.as_bytes()).then_some(at)
    }

    /// Whether some string starts with `prefix`.
    pub fn has_prefix(&self, prefix: &str) -> bool {
        let at = self.lower(prefix);
        at < self.len() && self.raw(at).starts_with(prefix.as_bytes())
    }

    /// The numbers of the strings that start with `prefix`.
    pub fn starting_with(&self, prefix: &str) -> impl Iterator<Item = usize> + use<'a> {
        let lexicon = *self;
        let prefix = prefix.to_owned();
        (self.lower(&prefix)..self.len()).take_while(move |at| lexicon.raw(*at).starts_with(prefix.as_bytes()))
    }

    /// How many strings are less than `text`.
    fn lower(&self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.raw(middle) < text.as_bytes() { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn raw(&self, at: usize) -> &'a [u8] {
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or(u32::MAX) };
        let end = self.ends.get(at).copied().unwrap_or(0);
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }
}

/// A lexicon in the making.
#[derive(Clone, Debug, Default)]
pub struct LexiconBuf {
    /// See [`Lexicon::ends`].
    pub ends: Vec<u32>,
    /// See [`Lexicon::bytes`].
    pub bytes: Vec<u8>,
}

impl LexiconBuf {
    /// The strings must come ascending, each once.
    pub fn of<'s>(sorted: impl IntoIterator<Item = &'s str>) -> Self {
        let mut buf = Self::default();
        for text in sorted {
            buf.bytes.extend_from_slice(text.as_bytes());
            buf.ends.push(u32::try_from(buf.bytes.len()).expect("invariant: a brain's words fit in 4 GiB"));
        }
        buf
    }

    /// The lexicon.
    #[cfg(test)]
    pub fn view(&self) -> Lexicon<'_> {
        Lexicon { ends: &self.ends, bytes: &self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_by_rank_and_prefix() {
        let buf = LexiconBuf::of(["", "ab", "ab c", "b", "é"]);
        let lexicon = buf.view();
        for (at, text) in ["", "ab", "ab c", "b", "é"].iter().enumerate() {
            assert_eq!((lexicon.find(text), lexicon.get(at)), (Some(at), *text));
        }
        for text in ["a", "abc", "ab d", "z"] {
            assert_eq!(lexicon.find(text), None, "{text}");
        }
        assert!(lexicon.has_prefix("ab ") && !lexicon.has_prefix("ab d") && !lexicon.has_prefix("f"));
        assert_eq!(lexicon.starting_with("ab").collect::<Vec<_>>(), [1, 2]);
        assert_eq!(lexicon.starting_with("").count(), 5);
        assert_eq!(lexicon.starting_with("f").count(), 0);
        assert_eq!((lexicon.get(9), Lexicon::default().find("a")), ("", None));
    }
}
