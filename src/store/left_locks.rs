//! Locks of git's that a killed process left on refs of our own. Nobody holds one for seconds: what stays longer belongs to nobody.

use std::path::Path;
use std::time::Duration;

use walkdir::WalkDir;

use super::Store;

/// The age from which a lock is left over: git holds one for the time of a rename.
const STALE: Duration = Duration::from_secs(5);
/// The pause between two looks at a lock until then.
const LOOK: Duration = Duration::from_millis(50);

impl Store {
    /// Waits until nothing locks a ref of ours, and removes the lock once it is left over.
    pub(super) fn outwait(&self, name: &str) {
        self.outwait_file(&self.common.join(format!("{name}.lock")));
    }

    /// The same for every ref below a folder of refs, which one process at a time writes into.
    pub fn outwait_below(&self, folder: &str) {
        let root = self.common.join(folder);
        // A link of a copied folder leads nowhere.
        if !std::fs::symlink_metadata(&root).is_ok_and(|found| found.is_dir()) {
            return;
        }
        for entry in WalkDir::new(root).follow_links(false).into_iter().filter_map(Result::ok) {
            if entry.file_type().is_file() && entry.path().extension().is_some_and(|extension| extension == "lock") {
                self.outwait_file(entry.path());
            }
        }
    }

    fn outwait_file(&self, lock: &Path) {
        while let Ok(found) = std::fs::symlink_metadata(lock) {
            let age = found.modified().ok().and_then(|at| at.elapsed().ok());
            // One from the future says nothing.
            if age.is_none_or(|age| age > STALE) {
                let _ = std::fs::remove_file(lock);
                self.note(format!("{} was left by a killed process, and is removed", lock.display()));
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::sandbox::Sandbox;

    #[test]
    fn lock_that_nobody_holds_is_removed_and_a_living_one_is_waited_for() {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let folder = sandbox.path().join(".git/refs/git-brain/incoming/origin/agents");
        fs::create_dir_all(&folder).unwrap();
        let old = folder.join("wake.lock");
        fs::write(&old, "").unwrap();
        let file = fs::File::options().write(true).open(&old).unwrap();
        file.set_modified(std::time::SystemTime::now() - Duration::from_secs(60)).unwrap();
        fs::write(folder.join("wake"), "0123\n").unwrap();
        store.outwait_below("refs/git-brain/incoming");
        assert!(!old.exists() && folder.join("wake").exists());
        // One that is let go in time is not taken away, and not waited for longer than it lives.
        let living = folder.join("other.lock");
        fs::write(&living, "").unwrap();
        let holder = std::thread::spawn({
            let living = living.clone();
            move || {
                std::thread::sleep(Duration::from_millis(200));
                fs::remove_file(living).is_ok()
            }
        });
        store.outwait_below("refs/git-brain/incoming");
        assert!(holder.join().unwrap(), "its own process removed it");
    }
}
