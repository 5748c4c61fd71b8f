//! A world as bytes: most tests begin with the same one, and a copy of it costs a tenth of what making it does.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use git_brain::model::ids::hex_hash;

/// Folders and files of a world, by their paths in it.
pub struct Picture {
    root: String,
    /// A file's mode and content; `None`: a folder.
    kept: BTreeMap<PathBuf, Option<(u32, Vec<u8>)>>,
}

/// The folder of trust records, which name the brain's path in name and content.
const TRUST: &str = "state/git-brain/trust";

impl Picture {
    /// All that is in a folder.
    pub fn of(root: &Path) -> Self {
        let mut kept = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let kind = fs::symlink_metadata(&path).expect("an entry");
                let name = path.strip_prefix(root).expect("a path below").to_owned();
                assert!(kind.is_dir() || kind.is_file(), "{} is no plain file", path.display());
                let file = || (kind.permissions().mode(), fs::read(&path).expect("a file"));
                kept.insert(name, (!kind.is_dir()).then(file));
                open.extend(kind.is_dir().then_some(path));
            }
        }
        Self { root: root.display().to_string(), kept }
    }

    /// Writes all of it into an empty folder.
    pub fn put(&self, root: &Path) {
        for (name, file) in &self.kept {
            let path = root.join(name);
            match file {
                None => fs::create_dir_all(&path).expect("a folder"),
                Some((_, record)) if name.starts_with(TRUST) => self.put_trust(root, record),
                Some((mode, bytes)) => {
                    fs::write(&path, bytes).expect("a file");
                    fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).expect("a mode");
                }
            }
        }
    }

    fn put_trust(&self, root: &Path, record: &[u8]) {
        let text = String::from_utf8(record.to_vec()).expect("a record is text");
        let text = text.replace(&self.root, &root.display().to_string());
        let mut record: serde_json::Value = serde_json::from_str(&text).expect("a record is JSON");
        let brain = record["brain"].as_str().expect("a path").to_owned();
        // A copy of a brain is trusted less than the one that was made here, which is known by its folder.
        if let Some(made) = record["trusted"].get_mut("made here") {
            let of = fs::metadata(Path::new(&brain).parent().expect("a folder of git")).expect("a folder");
            let since =
                of.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
            *made = format!("{}-{}-{}", of.dev(), of.ino(), since.as_nanos()).into();
        }
        let name = hex_hash(brain.as_bytes(), 16);
        fs::write(root.join(TRUST).join(format!("{name}.json")), record.to_string()).expect("a file");
    }
}
