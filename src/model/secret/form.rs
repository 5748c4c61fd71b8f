//! How the forms of secrets are written down in `rules`.

/// A form of secrets.
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
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
    /// The anchor as the beginning of a word, then a pattern of one group: a value, which is a secret only if it looks so.
    Spoken(Looks, &'static str),
}

/// How strange a value looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    /// Letters and figures mixed: behind a word that means nothing but a secret.
    Made,
    /// The same, and a figure before a letter or a sign that no name has: `Pa1ntbrush`, `Summer24!`, but not `laptop9`.
    Odd,
    /// A sign that no name has, or letters and figures that change often: behind a word that may mean another thing.
    Strong,
}

impl Looks {
    /// Whether a value, which has letters and figures, looks so.
    pub(super) fn fits(self, value: &[u8]) -> bool {
        let is_figure = |byte: &u8| byte.is_ascii_digit();
        let pairs = || value.windows(2).map(|pair| (is_figure(&pair[0]), is_figure(&pair[1]), pair[1]));
        let goes_on = || pairs().any(|(figure, next, byte)| figure && !next && byte.is_ascii_alphabetic());
        // `tenant#2` is a name.
        let has = |signs: &[u8]| value.iter().any(|byte| signs.contains(byte));
        let has_sign = has(b"!$%&*^") || has(b"#?@~+|") && goes_on();
        let plain: Vec<bool> = value.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(is_figure).collect();
        let changes = plain.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let has_both = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
        match self {
            Self::Made => true,
            Self::Odd => has_sign || goes_on(),
            Self::Strong => {
                let long = value.len() >= LONG;
                has_sign && value.len() >= SHORT
                    || long && changes >= CHANGES
                    || long && has_both && changes + 1 >= CHANGES
            }
        }
    }
}

/// Bytes of a value that people type, at least.
const SHORT: usize = 8;
/// Bytes of a value that a machine makes, at least.
const LONG: usize = 12;
/// How often letters and figures follow each other in a value that a machine makes, at least.
const CHANGES: usize = 4;

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
