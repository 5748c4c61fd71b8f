//! Radicle: a patch is opened by a push to `refs/patches`. Comments, reviews and states lie in its own objects, which are not read.

use super::{Check, Forge, ForgeError, Kind, Proposal, Push, PushOrder, Request, Review, State, Written};

/// A repository on Radicle.
pub(super) struct Radicle;

fn lacks<T>(what: &str) -> Result<T, ForgeError> {
    Err(ForgeError::Lacks { forge: Kind::Radicle.name(), message: format!("has no {what} that git-brain can reach") })
}

impl Forge for Radicle {
    fn kind(&self) -> Kind {
        Kind::Radicle
    }

    fn lacks(&self) -> Option<String> {
        Some("Radicle has no interface for states, comments, reviews and statuses; `rad patch` shows them".to_owned())
    }

    fn find(&self, _branch: &str, _base: &str, _commit: &str) -> Result<Option<Request>, ForgeError> {
        lacks("list of patches")
    }

    fn open(&self, proposal: &Proposal, push: Push<'_>) -> Result<Request, ForgeError> {
        // Each option is a paragraph of its own, and git takes no line end in one. A line of text is one, so that lists stay lists.
        let title = proposal.title.replace(['"', '\\'], "'");
        let lines =
            std::iter::once(title).chain(proposal.body.lines().map(plain)).filter(|line| !line.trim().is_empty());
        let options = lines.take(crate::limits::FORGE_PARAGRAPHS).map(|line| format!("patch.message={line}"));
        let order = PushOrder { reference: Some("refs/patches".to_owned()), options: options.collect() };
        let said = push(&order)?;
        let Some(id) = patch(&said.text) else {
            let message = "the push names no patch: `rad patch list` shows whether one was opened".to_owned();
            return Err(ForgeError::Push { reference: "refs/patches".to_owned(), message });
        };
        Ok(Request {
            id,
            url: None,
            state: State::Open,
            title: proposal.title.clone(),
            body: String::new(),
            commit: Some(proposal.commit.clone()),
        })
    }

    fn update(&self, _request: &Request, _proposal: &Proposal, _push: Push<'_>) -> Result<Written, ForgeError> {
        lacks("way to change a patch")
    }

    fn comment(&self, _request: &Request, _text: &str) -> Result<Written, ForgeError> {
        lacks("comments")
    }

    fn reviews(&self, _request: &Request) -> Result<Vec<Review>, ForgeError> {
        lacks("reviews")
    }

    fn open_requests(&self, _base: &str) -> Result<Vec<(String, Request)>, ForgeError> {
        lacks("list of patches")
    }

    fn settle(&self, _request: &Request, _landed: bool) -> Result<bool, ForgeError> {
        lacks("way to close a patch")
    }

    fn set_status(&self, _commit: &str, _check: Check, _description: &str) -> Result<Written, ForgeError> {
        lacks("statuses")
    }
}

/// A line of Markdown without what git would quote: it hands an option to the program of `rad://` in quotes then, which that program
/// takes for a part of it.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut signs = line.trim_end().chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some(next) => text.push_str(&format!("&#{};", u32::from(next))),
                None => text.push_str("&#92;"),
            },
            '"' => text.push_str("&quot;"),
            sign if sign.is_control() => text.push(' '),
            sign => text.push(sign),
        }
    }
    text
}

/// The id in `✓ Patch 90c77f2… opened`.
fn patch(said: &str) -> Option<String> {
    let words: Vec<&str> = said.split_whitespace().collect();
    let is_id = |word: &str| word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let pair = words.windows(2).find(|pair| pair[0] == "Patch" && is_id(pair[1]))?;
    Some(pair[1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_needs_quotes() {
        assert_eq!(plain(r#"    - <ins>\+ recalls "anna"</ins>  "#), "    - <ins>&#43; recalls &quot;anna&quot;</ins>");
        assert_eq!(plain("a\tb\\"), "a b&#92;");
    }

    #[test]
    fn the_patch_is_what_the_push_says() {
        let id = "90c77f2c33b7e472e058de4a586156f8a7fec7d6";
        assert_eq!(patch(&format!("✓ Patch {id} opened\n")).as_deref(), Some(id));
        assert_eq!(patch("remote: Patch was refused"), None);
    }
}
