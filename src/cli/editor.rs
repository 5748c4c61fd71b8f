//! A document that a person edits in the editor of git's settings.

#![allow(clippy::disallowed_methods, reason = "the boundary to the person's editor")]

use std::io::Write;

use crate::brain::{Brain, BrainError};

/// An error after an edit, with the place where the edited text is kept.
pub(super) fn kept(error: BrainError, text: &str) -> BrainError {
    let file = tempfile::Builder::new().prefix("git-brain-review-").suffix(".json").tempfile();
    let Ok((mut file, path)) = file.and_then(|file| file.keep().map_err(|e| e.error)) else { return error };
    match file.write_all(text.as_bytes()) {
        Ok(()) => BrainError::Refused {
            message: format!("{error}; your edit is kept in {}", path.display()),
            hint: Some(format!("mend it, then `git brain approve RUN --document {}`", path.display())),
        },
        Err(_) => error,
    }
}

/// A run's document as a person edited it; `None`: as it was.
pub(super) fn edited(brain: &Brain, run: &str) -> Result<Option<String>, BrainError> {
    let before = brain.document_of(run)?;
    let failed = |what: &str, error: std::io::Error| BrainError::usage(format!("{what}: {error}"));
    let file = tempfile::Builder::new().prefix("git-brain-review-").suffix(".json").tempfile();
    let mut file = file.map_err(|e| failed("a file to edit", e))?;
    file.write_all(before.as_bytes()).and_then(|()| file.flush()).map_err(|e| failed("a file to edit", e))?;
    let editor = editor();
    // The person's own setting, run as git runs it.
    let ended = std::process::Command::new("sh")
        .args(["-c", &format!("{editor} \"$@\""), &editor])
        .arg(file.path())
        .status()
        .map_err(|e| failed(&editor, e))?;
    if !ended.success() {
        return Err(BrainError::usage(format!("{editor} ended with {ended}: nothing is decided")));
    }
    let after = std::fs::read_to_string(file.path()).map_err(|e| failed("the edited file", e))?;
    Ok((after.trim() != before.trim() && !after.trim().is_empty()).then_some(after))
}

/// The editor that the person has chosen, outside of any repository: `core.editor` of a copied one is the choice of whoever made it.
fn editor() -> String {
    let chosen = std::env::var("GIT_EDITOR").ok().filter(|editor| !editor.trim().is_empty());
    let asked = || {
        let mut git = std::process::Command::new("git");
        git.args(["var", "GIT_EDITOR"])
            .env("GIT_DIR", "/dev/null")
            .env_remove("GIT_CONFIG_PARAMETERS")
            .current_dir("/");
        let said = String::from_utf8(git.output().ok()?.stdout).ok()?;
        Some(said.trim().to_owned()).filter(|editor| !editor.is_empty())
    };
    chosen.or_else(asked).unwrap_or_else(|| "vi".to_owned())
}
