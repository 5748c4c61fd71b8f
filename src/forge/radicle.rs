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
        // Each is a paragraph of its own, and git takes no line end in one.
        let paragraphs = std::iter::once(proposal.title.as_str()).chain(proposal.body.split("\n\n"));
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines = paragraphs.map(line).filter(|line| !line.is_empty());
        let options = lines.take(crate::limits::FORGE_PARAGRAPHS).map(|line| format!("patch.message={line}"));
        let order = PushOrder { reference: Some("refs/patches".to_owned()), options: options.collect() };
        let said = push(&order)?;
        Ok(Request {
            id: patch(&said.text).unwrap_or_default(),
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

    fn set_status(&self, _commit: &str, _check: Check, _description: &str) -> Result<Written, ForgeError> {
        lacks("statuses")
    }
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
    fn the_patch_is_what_the_push_says() {
        let id = "90c77f2c33b7e472e058de4a586156f8a7fec7d6";
        assert_eq!(patch(&format!("✓ Patch {id} opened\n")).as_deref(), Some(id));
        assert_eq!(patch("remote: Patch was refused"), None);
    }
}
