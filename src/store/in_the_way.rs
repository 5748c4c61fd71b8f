//! Refs of a remote in whose place ours would have to be: to git a name is a ref or a folder of refs, never both.

use super::remote::failed;
use super::{Remote, Store, StoreError};

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
