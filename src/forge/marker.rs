//! Marks by which we find again what we wrote.
//!
//! A mark counts as the first line alone, and in texts of our own account alone. Memories are quoted below it, so a mark inside a
//! memory is a line like any other.

/// The first line of the one comment of ours under a request. It is not shown by any forge.
pub const COMMENT_MARKER: &str = "<!-- git-brain: review -->";

/// The first line of a request's text where the forge does not tell the branch.
pub(super) fn of_branch(branch: &str) -> String {
    format!("<!-- git-brain: request {branch} -->")
}

/// The branch that the first line of a request's text names.
pub(super) fn branch_in(text: &str) -> Option<&str> {
    let line = text.lines().next()?.trim_end();
    line.strip_prefix("<!-- git-brain: request ")?.strip_suffix(" -->")
}

/// The text below a mark.
pub(super) fn marked(marker: &str, text: &str) -> String {
    format!("{marker}\n{text}")
}

/// Whether a text begins with a mark, as a line of its own.
pub(super) fn begins(marker: &str, text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.trim_end() == marker)
}

/// Whether two texts are the same to a forge, which may write other line ends and drop blanks at the end.
pub(super) fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_counts_as_the_first_line_alone() {
        let mark = COMMENT_MARKER;
        assert!(begins(mark, &marked(mark, "text")) && begins(mark, "<!-- git-brain: review -->\r\ntext"));
        for text in ["", "x\n<!-- git-brain: review -->", " <!-- git-brain: review -->", "<!-- git-brain: review --> x"]
        {
            assert!(!begins(mark, text), "{text:?}");
        }
        let branch = "agents/perception/r";
        assert_eq!(branch_in(&marked(&of_branch(branch), "text")), Some(branch));
        assert_eq!(branch_in(&format!("text\n{}", of_branch(branch))), None);
        assert!(same("a\r\nb\n", "a\nb") && !same("a", "b"));
    }
}
