//! Arguments of `audit` and `bisect`.

use clap::{Args, Subcommand};

use super::CiForge;

/// `audit`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Audit {
    /// Audit this part alone: A..B, or all that leads to a revision. By default all that is new since the last audit; findings of earlier ones
    /// are shown as well.
    pub range: Option<String>,
    /// Audit everything anew.
    #[arg(long, conflicts_with = "range")]
    pub all: bool,
    /// Print SARIF 2.1.0, for a CI.
    #[arg(long, conflicts_with = "json")]
    pub sarif: bool,
    /// Write the workflow that audits every day on a forge, and audit nothing now.
    #[arg(long, value_name = "FORGE", conflicts_with_all = ["range", "all", "sarif"])]
    pub ci: Option<CiForge>,
    /// Git repository from which the workflow installs git-brain.
    #[arg(long, value_name = "URL", requires = "ci")]
    pub git: Option<String>,
    /// What to do instead.
    #[command(subcommand)]
    pub action: Option<AuditAction>,
}

/// An action of `audit`.
#[derive(Debug, Subcommand)]
pub enum AuditAction {
    /// Draw runs for people to look at
    Sample {
        /// Seed: the same one draws the same runs. By default it follows from the tip of wake.
        #[arg(long)]
        seed: Option<u64>,
        /// Share of the runs of agents, at least 0.05 and at most 1.
        #[arg(long, default_value_t = 0.05)]
        share: f64,
        /// Keep nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Note that you looked at a run, or at the commit of a finding, and that it stands
    Accept {
        /// The run by its id, or the commit of a finding.
        #[arg(value_name = "RUN|COMMIT")]
        run: String,
        /// Reason, in words.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        why: String,
    },
}

/// `bisect`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("judge").args(["expect", "avoid", "run"])))]
pub struct Bisect {
    /// The question; needs no quotes.
    #[arg(required = true)]
    pub question: Vec<String>,
    /// A revision that answers right.
    #[arg(long, value_name = "REV")]
    pub good: String,
    /// A later revision that answers wrongly.
    #[arg(long, value_name = "REV", default_value = "wake")]
    pub bad: String,
    /// An answer is right if it holds this text.
    #[arg(long, value_name = "TEXT")]
    pub expect: Option<String>,
    /// An answer is right if it does not hold this text.
    #[arg(long, value_name = "TEXT")]
    pub avoid: Option<String>,
    /// A shell command that judges: answers, one a line, on standard input, the commit in BRAIN_REV. It exits with 0 (right), 1 to 124 (wrong) or 125 (skip).
    #[arg(long, value_name = "CMD")]
    pub run: Option<String>,
    /// Best answers that count.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub top: usize,
}
