//! Placeholders: values that documentation and code put where a secret belongs.

/// Words that stand in placeholders, and in no secret that is made of them and of [`NOUNS`] alone.
const MARKS: [&str; 14] = [
    "changeme",
    "change",
    "dummy",
    "enter",
    "example",
    "fake",
    "fixme",
    "insert",
    "placeholder",
    "redacted",
    "replace",
    "sample",
    "todo",
    "your",
];
/// The other words of placeholders.
const NOUNS: [&str; 36] = [
    "a",
    "access",
    "account",
    "and",
    "api",
    "app",
    "auth",
    "bearer",
    "client",
    "credential",
    "database",
    "db",
    "for",
    "goes",
    "here",
    "id",
    "in",
    "key",
    "me",
    "my",
    "now",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "private",
    "secret",
    "string",
    "test",
    "the",
    "this",
    "to",
    "token",
    "user",
    "value",
    "with",
];
/// What a reference to another value begins with.
const ROOTS: [&str; 22] = [
    "args",
    "cfg",
    "config",
    "context",
    "credentials",
    "ctx",
    "data",
    "env",
    "inputs",
    "local",
    "module",
    "options",
    "os.environ",
    "params",
    "process.env",
    "props",
    "req",
    "request",
    "secrets",
    "self",
    "settings",
    "this",
];
/// Most figures at the end of a word that is still one.
const FIGURES: usize = 3;
/// Figures that people count with.
const COUNTED: [&str; 4] = ["1234", "12345", "123456", "12345678"];
/// Bytes of the shortest secret.
const SHORTEST: usize = 8;

/// Whether a value stands for a secret and is none: a variable (`%X1%`, `var.x1`), a call, `YOUR_API_KEY_1`, `xxxx1234`, `ab12...`. `next` follows it.
pub(super) fn is_placeholder(value: &[u8], next: Option<u8>) -> bool {
    let Ok(value) = std::str::from_utf8(value) else { return false };
    is_variable(value) || is_call(value, next) || says_so(value) || is_crossed_out(value) || is_cut(value)
}

/// The words of a name, in small letters and without the figures at their ends; `None`: it is no name.
fn words(name: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for part in name.split(['_', '-', '.', ':']).filter(|part| !part.is_empty()) {
        let mut before = ' ';
        let mut word = String::new();
        for c in part.chars() {
            if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
                found.push(std::mem::take(&mut word));
            }
            word.push(c);
            before = c;
        }
        found.push(word);
    }
    let bare = |word: &String| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let figures = &word[letters.len()..];
        let fits = letters.chars().all(|c| c.is_ascii_alphabetic())
            && (figures.len() <= FIGURES || COUNTED.contains(&figures));
        fits.then(|| letters.to_ascii_lowercase())
    };
    let words: Vec<String> = found.iter().map(bare).collect::<Option<_>>()?;
    // Letters of chance fall into many short words.
    let letters: usize = words.iter().map(String::len).sum();
    (letters >= 2 * words.len()).then_some(words)
}

/// `%X%`, `@X@`, `__X__`, a path of code, and `var.x` below a well-known name.
fn is_variable(value: &str) -> bool {
    let between = |mark: &str| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    if let Some(name) = ["%", "@", "__"].into_iter().find_map(between) {
        return !name.is_empty() && words(name).is_some();
    }
    // `proc_macro2::TokenStream`, `node.colon2_token`.
    let is_path = value.contains("::")
        || value.contains('.') && ["token", "key", "secret", "password"].iter().any(|noun| value.ends_with(noun));
    if is_path {
        return value.starts_with(|c: char| c.is_ascii_lowercase()) && words(value).is_some();
    }
    let below = |root: &str| {
        let rest = value.get(..root.len()).filter(|start| start.eq_ignore_ascii_case(root));
        rest.and_then(|_| value[root.len()..].strip_prefix('.'))
    };
    ROOTS.into_iter().chain(["var", "vars"]).find_map(below).is_some_and(|name| words(name).is_some())
}

/// `get_secret2(…`: a name of several words, and a bracket behind it.
fn is_call(value: &str, next: Option<u8>) -> bool {
    let starts = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    next == Some(b'(') && starts && words(value).is_some_and(|words| words.len() > 1)
}

/// `YOUR_API_KEY_1`, `changeme123`: nothing but the words of placeholders; behind `your` also names in between.
fn says_so(value: &str) -> bool {
    let Some(words) = words(value) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let noun = |word: &&str| NOUNS.contains(word);
    let all = words.iter().all(|word| MARKS.contains(word) || noun(word));
    let yours = words.first() == Some(&"your") && words.len() > 1 && words.last().is_some_and(noun);
    yours || all && words.iter().any(|word| MARKS.contains(word))
}

/// `xxxx1234`: crosses are half of it.
fn is_crossed_out(value: &str) -> bool {
    let crosses = value.chars().filter(|c| matches!(c, 'x' | 'X')).count();
    crosses * 2 >= value.len() && (value.contains("xxx") || value.contains("XXX"))
}

/// `ab12...`, `ab12…yz89`: dots for the most of it.
fn is_cut(value: &str) -> bool {
    let dots = value.contains("...") || value.contains('…');
    dots && value.split("...").flat_map(|part| part.split('…')).all(|part| part.trim_matches('.').len() < SHORTEST)
}
