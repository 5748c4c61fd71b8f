//! Refs of a remote in whose place ours would have to be: to git a name is a ref or a folder of refs, never both.

use super::remote::failed;
use super::{REVIEWS, Remote, Store, StoreError};

impl Store {
    /// Of refs that are to be made at a remote, those that cannot be, each with the ref that is in its way there.
    pub fn in_the_way(&self, remote: &Remote, made: &[String]) -> Result<Vec<(String, String)>, StoreError> {
        if made.is_empty() {
            return Ok(Vec::new());
        }
        let ended = self.transport(&["ls-remote", "--quiet", "--refs", "--", &remote.address])?;
        if !ended.status.success() {
            return Err(failed(remote, &ended));
        }
        let listed = String::from_utf8_lossy(&ended.stdout);
        let there: Vec<&str> = listed.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
        let blocks = |name: &str| {
            there
                .iter()
                .find(|other| is_folder_of(other, name) || is_folder_of(name, other))
                .map(|other| (*other).to_owned())
        };
        Ok(made.iter().filter_map(|name| Some((name.clone(), blocks(name)?))).collect())
    }

    /// The ref here in whose place another would have to be made, also if it is packed and no file betrays it.
    pub fn in_the_way_here(&self, name: &str) -> Result<Option<String>, StoreError> {
        for (at, _) in name.match_indices('/').skip(1) {
            if self.ref_target(&name[..at])?.is_some() {
                return Ok(Some(name[..at].to_owned()));
            }
        }
        Ok(self.refs_below(&format!("{name}/"))?.into_keys().next())
    }

    /// Refs here in whose place branches of runs or decisions have to be, each with one of those.
    pub fn all_in_the_way_here(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut found = Vec::new();
        let folder = format!("refs/heads/{}", self.runs_prefix());
        let folder = folder.trim_end_matches('/');
        let mut places: Vec<String> = vec![REVIEWS.to_owned(), format!("{folder}/AGENT/RUN")];
        // A branch right below the folder of runs is in the place of an agent's folder.
        let is_of_an_agent = |name: &String| name[folder.len() + 1..].split('/').count() == 1;
        let agents = self.refs_below(&format!("{folder}/"))?.into_keys().filter(is_of_an_agent);
        places.extend(agents.map(|name| format!("{name}/RUN")));
        for place in places {
            found.extend(self.in_the_way_here(&place)?.map(|other| (other, place)));
        }
        Ok(found)
    }
}

/// That a ref here leaves no place for another, and the way on.
pub fn in_the_way(name: &str, other: &str) -> String {
    format!("{other} is in the place of {name}; {}", remedy(other))
}

/// The command that makes room.
pub(super) fn remedy(other: &str) -> String {
    match other.strip_prefix("refs/heads/") {
        Some(branch) => format!("`git branch -m {branch} NAME` gives that branch another name"),
        None => format!("`git update-ref -d {other}` removes it, if it may go (`git log {other}` shows it)"),
    }
}

/// Whether a ref lies below another.
fn is_folder_of(folder: &str, name: &str) -> bool {
    name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_is_in_the_way_of_those_below_and_above_it() {
        assert!(is_folder_of("refs/heads/agents", "refs/heads/agents/human/r"));
        assert!(!is_folder_of("refs/heads/agents", "refs/heads/agents-2/r"));
        assert!(!is_folder_of("refs/heads/agents", "refs/heads/agents"));
    }
}
