//! Pages of wikis and notebooks: what a piece of one links to, its tags, and the lines of its front matter.
//!
//! The source of such a piece begins with [`PAGE`], and the first line of its text is the page's title.

/// How the source of a piece of a page begins; the page's name and a mark of the piece follow.
pub const PAGE: &str = "page:";
/// Longest name that a link or a tag can have, bytes.
const NAME_BYTES: usize = 200;

/// The name that a page goes by in links: the last part of its path.
pub fn page_name(source: &str) -> Option<&str> {
    let (name, _) = source.strip_prefix(PAGE)?.split_once('#').filter(|(name, _)| !name.is_empty())?;
    Some(name.rsplit('/').next().unwrap_or(name))
}

/// The names that a piece of a page is connected with, each with the byte where it stands: its title, links and tags.
pub fn names(text: &str) -> Vec<(usize, String)> {
    let title = text.lines().next().unwrap_or_default();
    let mut found = vec![(0, title.to_owned())];
    let mut at = 0;
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            links(line, at, &mut found);
            if at > 0 {
                tags(line, at, &mut found);
            }
        }
        at += line.len();
    }
    found
}

/// The targets of `[[NAME]]`, `[[folder/NAME#part|shown]]`.
fn links(line: &str, at: usize, found: &mut Vec<(usize, String)>) {
    let mut from = 0;
    while let Some(open) = line[from..].find("[[").map(|open| from + open + 2) {
        let Some(close) = line[open..].find("]]").map(|close| open + close) else { return };
        let target = line[open..close].split(['|', '#', '^']).next().unwrap_or_default().trim();
        let name = target.rsplit('/').next().unwrap_or(target).trim_end_matches(".md");
        if !name.is_empty() && name.len() <= NAME_BYTES && !name.contains('[') {
            found.push((at + open, name.to_owned()));
        }
        from = close + 2;
    }
}

/// `#tag` and `#part/tag`: with a letter, and not behind another word.
fn tags(line: &str, at: usize, found: &mut Vec<(usize, String)>) {
    for (sign, _) in line.match_indices('#') {
        if !line[..sign].is_empty() && !line[..sign].ends_with(|c: char| c.is_whitespace() || c == '(') {
            continue;
        }
        let rest = &line[sign + 1..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_-/".contains(c))).unwrap_or(rest.len());
        let tag = rest[..end].trim_end_matches('/');
        if tag.chars().any(char::is_alphabetic) && tag.len() <= NAME_BYTES {
            found.push((at + sign, tag.to_owned()));
        }
    }
}

/// The value of a line `KEY: VALUE` of front matter, without quotes; `None` where it is missing, empty or a list.
pub fn property(lines: &str, key: &str) -> Option<String> {
    let value = value(lines, key)?;
    let value = match value.chars().next()? {
        '"' => serde_json::from_str(value).ok()?,
        '\'' => value.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'"),
        '[' | '{' | '|' | '>' => return None,
        _ => value.to_owned(),
    };
    (!value.is_empty()).then_some(value)
}

fn value<'l>(lines: &'l str, key: &str) -> Option<&'l str> {
    lines.lines().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))
}

/// The items of a list of front matter, as `KEY: [a, b]`, `KEY: a, b` or one a line.
pub fn listed(lines: &str, key: &str) -> Vec<String> {
    let Some(inline) = value(lines, key) else { return Vec::new() };
    let clean = |item: &str| item.trim().trim_matches(['"', '\'']).trim_start_matches('#').to_owned();
    let items: Vec<String> = if inline.is_empty() {
        let below = lines.lines().skip_while(|line| !line.starts_with(&format!("{key}:"))).skip(1);
        below.map_while(|line| line.trim_start().strip_prefix("- ")).map(clean).collect()
    } else {
        inline.trim_start_matches('[').trim_end_matches(']').split(',').map(clean).collect()
    };
    items.into_iter().filter(|item| !item.is_empty() && item.len() <= NAME_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        names(text).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn names_are_title_links_and_tags() {
        for (text, expected) in [
            ("Plan\nWith [[Anna]] and [[people/Bo Berg|Bo]] #work.", vec!["Plan", "Anna", "Bo Berg", "work"]),
            ("Plan\n[[C++#Part]] (#a/b) x#y # no #12 [[]] [[open", vec!["Plan", "C++", "a/b"]),
            ("Plan\n```\n[[ -f x ]] #include\n```\nsee [[Z.md]]", vec!["Plan", "Z"]),
            ("#1", vec!["#1"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        assert_eq!(page_name("page:a/b c#0123abcd"), Some("b c"));
        assert_eq!(page_name("pages:a#1"), None);
    }

    #[test]
    fn front_matter_is_read_line_by_line() {
        let lines =
            "title: \"A: b\"\ntags:\n  - work\n  - '#home'\naliases: [X, \"Y z\"]\nstatus: done\nempty:\nold: 'it''s'";
        assert_eq!(property(lines, "title").as_deref(), Some("A: b"));
        assert_eq!(property(lines, "old").as_deref(), Some("it's"));
        assert_eq!([property(lines, "tags"), property(lines, "stat"), property(lines, "empty")], [None, None, None]);
        assert_eq!(listed(lines, "tags"), ["work", "home"]);
        assert_eq!(listed(lines, "aliases"), ["X", "Y z"]);
        assert_eq!(listed("tags: a, b", "tags"), ["a", "b"]);
    }
}
