//! Citations in a text: `src/store.rs:42`, `:42-50`, `:42:7`, `#L42-L50`, and a symbol, `src/store.rs:open`.

use crate::limits;

/// A place in a file that a text names. Whether there is such a file is for others to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path, as it is written.
    pub path: String,
    /// The lines of it.
    pub lines: Lines,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lines {
    /// First and last, from 1.
    Numbers(u32, u32),
    /// The line that defines it.
    Symbol(String),
}

/// The places that a text may cite, in its order, each once, at most [`limits::MENTIONS`].
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    // Nothing in most texts.
    if !text.contains([':', '#']) {
        return found;
    }
    for word in text.split(|c: char| c.is_whitespace() || "`'\"()[]{}<>,;|*「」（）、。".contains(c)) {
        let tail =
            word.rfind(|c: char| !c.is_ascii()).map(|at| at + word[at..].chars().next().map_or(0, char::len_utf8));
        // Text of a language without spaces runs into a path.
        let ends = [Some(word), tail.map(|at| &word[at..]), without_text_behind(word)];
        for mention in ends.into_iter().flatten().filter_map(mention) {
            if !found.contains(&mention) {
                found.push(mention);
            }
            if found.len() == limits::MENTIONS {
                return found;
            }
        }
    }
    found
}

/// The ASCII text that a word begins with, behind letters of another script.
fn without_text_behind(word: &str) -> Option<&str> {
    let start = word.find(|c: char| c.is_ascii() && c != ':')?;
    let rest = &word[start..];
    let end = rest.find(|c: char| !c.is_ascii())?;
    Some(&rest[..end])
}

fn mention(word: &str) -> Option<Mention> {
    let word = word.trim_end_matches(['.', ':', '!', '?', '…']);
    let is_path = |path: &str| {
        !path.is_empty()
            && path.len() <= limits::CITED_PATH_BYTES
            && !path.contains("//")
            && !path.contains(':')
            && !path.ends_with('/')
    };
    if let Some((path, lines)) = word.split_once("#L") {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let last = last.strip_prefix('L').unwrap_or(last);
        return numbers(first, last).filter(|_| is_path(path)).map(|lines| Mention { path: path.to_owned(), lines });
    }
    let (path, rest) = word.split_once([':', '#']).filter(|(path, _)| is_path(path))?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let lines = if rest.starts_with(|c: char| c.is_ascii_digit()) {
        // A column is no part of it.
        let rest = rest.split(':').next().unwrap_or(rest);
        let (first, last) = rest.split_once(['-', '–']).unwrap_or((rest, rest));
        numbers(first, last)?
    } else {
        let symbol = rest.rsplit("::").next().unwrap_or(rest);
        let is_name = symbol.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && symbol.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && path.contains(['.', '/'])).then(|| Lines::Symbol(symbol.to_owned()))?
    };
    Some(Mention { path: path.to_owned(), lines })
}

fn numbers(first: &str, last: &str) -> Option<Lines> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0 && !text.starts_with('+'));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(Lines::Numbers(first, last))
}

/// Names of files that hold secrets, of which nothing is kept.
const SECRET_NAMES: [&str; 18] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".dockercfg",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
];
/// Their beginnings.
const SECRET_STARTS: [&str; 6] = [".env.", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "service-account"];
/// Their ends.
const SECRET_ENDS: [&str; 12] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg", ".age", ".tfstate"];
/// Folders of them.
const SECRET_FOLDERS: [&str; 5] = [".ssh", ".gnupg", ".aws", ".kube", ".git"];

/// True for the path of a file that is made to hold secrets.
pub fn is_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut parts = lower.rsplit('/');
    let name = parts.next().unwrap_or_default();
    SECRET_NAMES.contains(&name)
        || SECRET_STARTS.iter().any(|start| name.starts_with(start))
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
        || parts.any(|folder| SECRET_FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let shown = |mention: &Mention| match &mention.lines {
            Lines::Numbers(first, last) => format!("{} {first} {last}", mention.path),
            Lines::Symbol(symbol) => format!("{} {symbol}", mention.path),
        };
        mentions(text).iter().map(shown).collect()
    }

    #[test]
    fn places_are_found_in_what_people_and_agents_write() {
        for (text, expected) in [
            ("The lock is taken in src/store.rs:42.", vec!["src/store.rs 42 42"]),
            ("See `src/store.rs:42-50`, and (lib/a.py:7:12):", vec!["src/store.rs 42 50", "lib/a.py 7 7"]),
            ("[open](src/store.rs#L42-L50) and src/x.rs#L3", vec!["src/store.rs 42 50", "src/x.rs 3 3"]),
            ("src/store.rs:open src/store.rs::Store::open x.py#main", vec!["src/store.rs open", "x.py main"]),
            ("Makefile:12 says it", vec!["Makefile 12 12"]),
            ("./src/a.rs:1 ../b.rs:2 /tmp/c.rs:3", vec!["./src/a.rs 1 1", "../b.rs 2 2", "/tmp/c.rs 3 3"]),
            ("a.rs:4 and again a.rs:4", vec!["a.rs 4 4"]),
            ("at 12:30 http://localhost:8080/x:3 it is", vec!["12 30 30"]),
            ("none: of: these a.rs:0 a.rs:9-3 a.rs: :5 dir/:7 note:well", vec![]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        assert!(of("ロックはsrc/store.rs:42で取る。").contains(&"src/store.rs 42 42".to_owned()));
        assert!(of("voir « src/store.rs:42 » là").contains(&"src/store.rs 42 42".to_owned()));
        let many: String = (1..200).map(|n| format!("a{n}.rs:{n} ")).collect();
        assert_eq!(mentions(&many).len(), limits::MENTIONS);
    }

    #[test]
    fn files_of_secrets_are_known_by_their_names() {
        for path in
            [".env", "web/.env.local", "keys/id_rsa", "id_ed25519.pub", "a/server.pem", "x/.ssh/config", "b/.ENV"]
        {
            assert!(is_secret(path), "{path}");
        }
        for path in ["src/env.rs", "docs/keys.md", "src/secrets.rs", "a.rs", "environment.toml"] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
