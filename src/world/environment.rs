//! The environment: every variable that the program reads, with its documentation. `git brain schema environment`
//! prints this table.

use crate::model::settings::Override;

/// A variable that the program reads.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub does: &'static str,
}

/// All of them.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "BRAIN_NOW",
        does: "fixes the clock (RFC 3339), for tests and replays; commits are marked `Clock: fixed`",
    },
    Variable { name: "BRAIN_SEED", does: "fixes ids, for tests and replays; commits are marked `Clock: fixed`" },
    Variable { name: "BRAIN_<SECTION>_<KEY>", does: "a setting, such as BRAIN_ACTIVATION_MAX_DEPTH=3" },
    Variable {
        name: "<the key_env of a model>",
        does: "the key of that model's endpoint: sent there once the settings are trusted, never kept or printed",
    },
    Variable {
        name: "BRAIN_CASSETTE",
        does: "`record:FILE` adds every exchange with a model to a file, `replay:FILE` answers from it and makes no call",
    },
    Variable {
        name: "BRAIN_TOKEN",
        does: "the bearer token of `git brain serve`; else it makes one and prints the page's address with it",
    },
    Variable {
        name: "BRAIN_WEBHOOK_SECRET",
        does: "the secret by which a forge signs what it sends to `POST /forge/webhook` of `git brain serve`; absent: that is off",
    },
    Variable {
        name: "GITHUB_TOKEN, GH_TOKEN, GITLAB_TOKEN, FORGEJO_TOKEN, GITEA_TOKEN",
        does: "the token for requests on that forge: sent there alone, never kept or printed",
    },
    Variable {
        name: "GITHUB_ACTIONS, GITHUB_EVENT_NAME, GITHUB_SHA",
        does: "set by GitHub Actions: there `git brain ci` writes check runs, and judges the commit of a merge queue",
    },
    Variable { name: "BRAIN_IN_HOOK", does: "set by our hooks for what they start, so that doorbells ring none" },
    Variable {
        name: "BRAIN_COMPLETE",
        does: "set by the scripts of `git brain completions`: the shell that asks how a word goes on",
    },
    Variable { name: "BRAIN_LOG", does: "the parts to trace on standard error, such as git_brain=debug" },
    Variable { name: "XDG_STATE_HOME", does: "the folder in which trust is recorded; else ~/.local/state" },
    Variable { name: "HOME", does: "the same" },
    Variable { name: "CODEX_HOME", does: "the folder of Codex' settings, for `setup codex --user`; else ~/.codex" },
    Variable { name: "XDG_CONFIG_HOME", does: "the folder of programs' settings, for `setup --user`; else ~/.config" },
    Variable {
        name: "GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL",
        does: "the committer, as for git; else user.name and user.email",
    },
    Variable { name: "NO_COLOR", does: "no colours" },
    Variable {
        name: "LC_ALL, LC_CTYPE, LANG",
        does: "plots are drawn in ASCII where the first that is set is not UTF-8",
    },
    Variable { name: "TERM", does: "`dumb`: the same" },
];

/// Sections whose settings the environment can give.
const SECTIONS: [&str; 18] = [
    "activation",
    "recall",
    "learning",
    "sleep",
    "serotonin",
    "wisdom",
    "inhibition",
    "merge",
    "context",
    "cycle",
    "budget",
    "secrets",
    "origins",
    "chain",
    "review",
    "forge",
    "integrity",
    "deliberation",
];

/// The variable by which a shell asks for completions.
pub const COMPLETE: &str = "BRAIN_COMPLETE";

/// The shell that asks this process for completions.
pub fn asking_shell() -> Option<String> {
    text(COMPLETE)
}

/// A variable's text, if it is set, not empty, and UTF-8.
pub(super) fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Settings from `BRAIN_<SECTION>_<KEY>`, sorted by name. Other variables that begin with `BRAIN_` are not ours.
pub(super) fn overrides() -> Vec<Override> {
    let mut found: Vec<Override> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter_map(|(name, value)| setting(&name, value))
        .collect();
    found.sort_by(|a, b| a.place.cmp(&b.place));
    found
}

fn setting(name: &str, value: String) -> Option<Override> {
    let lower = name.strip_prefix("BRAIN_")?.to_lowercase();
    let (section, key) = lower.split_once('_')?;
    SECTIONS.contains(&section).then(|| Override { place: name.to_owned(), key: format!("{section}.{key}"), value })
}

/// The table as Markdown rows.
pub fn environment_table() -> String {
    VARIABLES.iter().map(|v| format!("| `{}` | {} |\n", v.name, v.does)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_plain_settings_is_known() {
        let all = serde_json::to_value(crate::model::Settings::default()).unwrap();
        for section in all.as_object().unwrap().keys().filter(|s| *s != "models") {
            assert!(SECTIONS.contains(&section.as_str()), "BRAIN_{} would be ignored", section.to_uppercase());
        }
    }

    #[test]
    fn only_known_sections_are_settings() {
        let over = setting("BRAIN_ACTIVATION_MAX_DEPTH", "3".into()).unwrap();
        assert_eq!((over.key.as_str(), over.value.as_str()), ("activation.max_depth", "3"));
        for other in
            ["BRAIN_NOW", "BRAIN_SEED", "BRAIN_TOKEN", "BRAIN_WEBHOOK_SECRET", "BRAINS_X_Y", "PATH", "BRAIN_FREEZE_NOW"]
        {
            assert_eq!(setting(other, "x".into()), None, "{other}");
        }
    }
}
