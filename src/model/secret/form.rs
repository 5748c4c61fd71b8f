//! How the forms of secrets are written down in `rules`.

/// A form of secrets.
pub(super) struct Rule {
    /// Its kind.
    pub kind: &'static str,
    /// Texts that stand in every secret of the form; most begin it. One in small letters stands for capitals too: words of concepts
    /// are kept in small letters, and would become what the text was not.
    pub anchors: &'static [&'static str],
    /// What follows the anchor, or what stands around it.
    pub form: Form,
    /// A text for each anchor, in the order of the anchors: `{a40}` stands for forty letters and figures, `{x40}` for hexadecimal
    /// digits, `{u40}` for capitals and figures, `{n10}` for figures.
    #[cfg(test)]
    pub samples: &'static [&'static str],
    /// Texts that are nearly so.
    #[cfg(test)]
    pub misses: &'static [&'static str],
}

/// What a secret looks like.
pub(super) enum Form {
    /// The anchor, then at least so many characters of an alphabet.
    Tail(Alphabet, usize),
    /// The anchor, then exactly so many.
    Exactly(Alphabet, usize),
    /// The same, letters mixed with figures: words begin so too.
    Mixed(Alphabet, usize),
    /// As `Tail`, of an anchor so short that words end in it: only where no word stands before it, and only letters mixed with
    /// figures.
    Weak(Alphabet, usize),
    /// The anchor, then a pattern, whose first group is the secret, if it has one.
    From(&'static str),
    /// A pattern that begins at most so many bytes before the anchor.
    Around(usize, &'static str),
    /// The anchor, then a pattern of two groups: the rest of a name, and a value, which is a secret only if it looks made by a
    /// machine and the name says nothing else.
    Doubtful(&'static str),
}

/// The characters of a secret behind its beginning.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    /// Letters and figures.
    Plain,
    /// The same, `_` and `-`.
    Word,
    /// The same and `.`, which does not end it.
    Dotted,
    /// Hexadecimal digits.
    Hex,
    /// Capitals and figures.
    Upper,
    /// Base64 of any kind, percent signs included.
    Base64,
}

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        let plain = byte.is_ascii_alphanumeric();
        match self {
            Self::Plain => plain,
            Self::Word => plain || matches!(byte, b'_' | b'-'),
            Self::Dotted => plain || matches!(byte, b'_' | b'-' | b'.'),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Self::Base64 => plain || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'%'),
        }
    }
}

type Texts = &'static [&'static str];

/// A rule. Samples and misses are the tests'.
#[allow(unused_variables, reason = "samples and misses are the tests'")]
pub(super) const fn rule(kind: &'static str, anchors: Texts, form: Form, samples: Texts, misses: Texts) -> Rule {
    Rule {
        kind,
        anchors,
        form,
        #[cfg(test)]
        samples,
        #[cfg(test)]
        misses,
    }
}
