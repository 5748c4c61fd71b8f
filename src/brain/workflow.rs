//! The workflow files by which a forge runs the bot, and the audit.

#![allow(clippy::disallowed_methods, reason = "a file of the person's work tree")]

use std::path::PathBuf;

use super::{Brain, BrainError};

/// A forge that runs workflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workflow {
    /// GitHub Actions.
    Github,
    /// GitLab CI.
    Gitlab,
    /// Forgejo Actions, and Gitea's.
    Forgejo,
}

impl Workflow {
    /// The same of the audit.
    pub fn audit_file(self) -> (&'static str, &'static str) {
        match self {
            Self::Github => (".github/workflows/brain-audit.yml", include_str!("workflows/audit-github.yml")),
            Self::Gitlab => (".gitlab/brain-audit.yml", include_str!("workflows/audit-gitlab.yml")),
            Self::Forgejo => (".forgejo/workflows/brain-audit.yml", include_str!("workflows/audit-forgejo.yml")),
        }
    }

    /// The file's path in the work tree, and its text.
    pub fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Github => (".github/workflows/brain.yml", include_str!("workflows/github.yml")),
            Self::Gitlab => (".gitlab-ci.yml", include_str!("workflows/gitlab.yml")),
            Self::Forgejo => (".forgejo/workflows/brain.yml", include_str!("workflows/forgejo.yml")),
        }
    }
}

/// The repository of this program, where it was built with one.
fn repository() -> Option<&'static str> {
    option_env!("CARGO_PKG_REPOSITORY").filter(|url| !url.is_empty())
}

/// The arguments by which cargo installs git-brain from a git repository.
fn install_from(url: &str) -> Result<String, BrainError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/:.@_-~+%".contains(c);
    if url.is_empty() || url.starts_with('-') || !url.chars().all(is_plain) {
        return Err(BrainError::usage(format!("--git {url:?} is no URL of letters, digits and / : . @ _ - ~ + %")));
    }
    Ok(format!("--locked --git {url} git-brain"))
}

impl Brain {
    /// Writes the workflow into the work tree, for the person to commit; returns its path. It installs git-brain from that repository, else by the
    /// name of the crate.
    ///
    /// # Errors
    /// There is no work tree, or another file stands there; a URL that a shell or YAML would read otherwise (exit code 2).
    pub fn write_workflow(&self, workflow: Workflow, from: Option<&str>) -> Result<PathBuf, BrainError> {
        let install = from.or(repository()).map_or_else(|| Ok("--locked git-brain".to_owned()), install_from)?;
        let (path, text) = workflow.file();
        self.write_file((path, &text.replace("INSTALL", &install)), "`git brain ci`")
    }

    /// Writes the workflow of the audit, as [`Brain::write_workflow`] does, but for the name of the crate, which others may take.
    ///
    /// # Errors
    /// The same; no repository is named.
    pub fn write_audit_workflow(&self, workflow: Workflow, from: Option<&str>) -> Result<PathBuf, BrainError> {
        let Some(url) = from.or(repository()) else {
            return Err(BrainError::Usage {
                message: "--git URL is missing: the workflow installs git-brain from a git repository".to_owned(),
                hint: Some("git brain audit --ci github --git https://example.org/git-brain".to_owned()),
            });
        };
        let (path, text) = workflow.audit_file();
        self.write_file((path, &text.replace("INSTALL", &install_from(url)?)), "`git brain audit`")
    }

    fn write_file(&self, (path, text): (&str, &str), job: &str) -> Result<PathBuf, BrainError> {
        let store = &self.cycle.store;
        let runs = store.runs_prefix();
        // A brain in a repository of code has branches of its own, and its clone is one of code.
        let init = if runs.starts_with("agents/") { "--no-hooks" } else { "--in-repo --no-hooks" };
        let text = text
            .replace("MAIN", store.main().as_str())
            .replace("WAKE", store.wake().as_str())
            .replace("RUNS", &runs)
            .replace("PATTERN", &runs.replace('/', "\\/"))
            .replace("init INIT", &format!("init {init}"));
        let Some(dir) = self.cycle.store.work_dir() else {
            return Err(BrainError::usage("a bare repository has no work tree for a workflow: write it in a clone"));
        };
        let file = dir.join(path);
        let failed = |e: std::io::Error| BrainError::usage(format!("{}: {e}", file.display()));
        match std::fs::read_to_string(&file) {
            Ok(there) if there == text => return Ok(file),
            Ok(_) => {
                return Err(BrainError::Refused {
                    message: format!("{} is there, and says something else", file.display()),
                    hint: Some(format!("move it away, or add the job {job} to it by hand")),
                });
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(failed(e)),
        }
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(&file, text).map_err(failed)?;
        Ok(file)
    }
}
