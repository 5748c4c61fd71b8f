//! The folders that tools may see. A path is resolved, links included, and must lie in one of them; it is then opened
//! beneath that folder without following any link, so that nothing can be swapped in between.
//!
//! Nothing of git is shown or written, whatever folder is named (what lies in a git folder can make git run programs), nor the
//! record of trust.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use serde_json::{Value, json};

use crate::cycle::Shared;
use crate::cycle::confine::Confinement;
use crate::limits;

/// The folders, resolved.
pub(super) struct Roots {
    folders: Vec<PathBuf>,
    private: Vec<PathBuf>,
}

/// A path that lies in a root: the root, and the rest, without links.
struct Inside {
    root: PathBuf,
    rest: PathBuf,
}

impl Roots {
    /// The folders that the settings name and that are there.
    pub fn of(named: &[String], shared: &Shared) -> Self {
        let home = shared.world.home();
        let here = |name: &String| match (name.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(name),
        };
        let folders = named.iter().filter_map(|name| here(name).canonicalize().ok()).filter(|folder| folder.is_dir());
        // The first of these is the git folder; the work tree beside it is the person's to name.
        let git = shared.place.private.first().cloned();
        let private = [git, shared.world.state_dir()].into_iter().flatten().filter_map(|p| p.canonicalize().ok());
        Self { folders: folders.collect(), private: private.collect() }
    }

    /// Whether tools may see no file at all.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The folders as text.
    pub fn names(&self) -> Vec<String> {
        self.folders.iter().map(|folder| folder.display().to_string()).collect()
    }

    /// What programs do not see of the folders: what is private, and, where the kernel can hide it, folders of git near their top.
    pub fn hidden(&self) -> Vec<PathBuf> {
        let mut hidden = self.private.clone();
        if !Confinement::of_machine().namespaces {
            return hidden;
        }
        for root in &self.folders {
            let entries = walkdir::WalkDir::new(root).max_depth(limits::TOOL_GIT_DEPTH).into_iter();
            let git = |entry: &walkdir::DirEntry| entry.file_name() == ".git";
            // What lies in a git folder is no git folder of its own.
            let entries = entries.filter_entry(move |entry| {
                entry.depth() < 2 || entry.path().parent().is_none_or(|p| !p.ends_with(".git"))
            });
            let found = entries.take(limits::TOOL_GIT_ENTRIES).flatten().filter(git);
            hidden.extend(found.map(walkdir::DirEntry::into_path));
        }
        hidden
    }

    /// What is in a folder, sorted by name.
    pub fn list(&self, path: &str) -> Result<Value, String> {
        let inside = self.existing(path)?;
        let whole = inside.whole();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = inside.open(flags, Mode::empty()).map_err(|e| failed("list", path, &e))?;
        let entries = Dir::read_from(&folder).map_err(|e| failed("list", path, &e.into()))?;
        let mut found: Vec<(String, &str)> = Vec::new();
        // A folder of millions is not read to its end.
        for entry in entries.take(limits::TOOL_ENTRIES * 4).flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if [".", "..", ".git"].contains(&name.as_str()) || self.is_private(&whole.join(&name)) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Directory => "folder",
                FileType::Symlink => "link",
                FileType::RegularFile => "file",
                _ => "other",
            };
            found.push((name, kind));
        }
        found.sort();
        let more = found.len() > limits::TOOL_ENTRIES;
        found.truncate(limits::TOOL_ENTRIES);
        let entries: Vec<Value> = found.into_iter().map(|(name, kind)| json!({"name": name, "type": kind})).collect();
        Ok(json!({"path": path, "entries": entries, "more": more}))
    }

    /// A text file, whole.
    pub fn read(&self, path: &str) -> Result<String, String> {
        let inside = self.existing(path)?;
        // A pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = inside.open(flags, Mode::empty()).map_err(|e| failed("read", path, &e))?;
        let about = file.metadata().map_err(|e| failed("read", path, &e))?;
        if !about.is_file() {
            return Err(format!("{path} is no file"));
        }
        let most = limits::TOOL_FILE_BYTES;
        let mut bytes = Vec::new();
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|e| failed("read", path, &e))?;
        if bytes.len() > most {
            return Err(format!("{path} has more than {most} bytes"));
        }
        String::from_utf8(bytes).map_err(|_| format!("{path} is no text"))
    }

    /// Says whether a file could be written.
    pub fn may_write(&self, path: &str, bytes: usize) -> Result<(), String> {
        let most = limits::TOOL_FILE_BYTES;
        if bytes > most {
            return Err(format!("{bytes} bytes are more than {most}"));
        }
        self.target(path).map(|_| ())
    }

    /// Writes a whole file, new or not: beside it first, then into its place.
    pub fn write(&self, path: &str, content: &str) -> Result<(), String> {
        self.may_write(path, content.len())?;
        let (folder, name) = self.target(path)?;
        let fail = |e: std::io::Error| failed("write", path, &e);
        let folder = folder.open(OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(fail)?;
        let mode = match rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(known) => Mode::from_raw_mode(known.st_mode & 0o777),
            Err(_) => Mode::from_raw_mode(0o644),
        };
        let beside = format!(".{}.git-brain-{}", clean(&name), std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&folder, &beside, flags, mode).map_err(|e| fail(e.into()))?;
        let mut file = File::from(made);
        let written = file.write_all(content.as_bytes()).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| Ok(rustix::fs::renameat(&folder, &beside, &folder, &name)?));
        placed.map_err(|e| {
            // It is of no use to anybody; what is left is said by the error.
            let _ = rustix::fs::unlinkat(&folder, &beside, AtFlags::empty());
            fail(e)
        })
    }

    /// A path that exists, inside a root.
    fn existing(&self, path: &str) -> Result<Inside, String> {
        let mut reason = format!("{path} is not there");
        for candidate in self.candidates(path)? {
            match candidate.canonicalize() {
                Ok(whole) => match self.inside(&whole) {
                    Some(inside) => return Ok(inside),
                    None => reason = self.outside(path),
                },
                Err(_) if !self.folders.iter().any(|root| candidate.starts_with(root)) => reason = self.outside(path),
                Err(_) => {}
            }
        }
        Err(reason)
    }

    /// The folder of a file that may be written, and its name there. What lies in the name's place may be a plain file or nothing.
    fn target(&self, path: &str) -> Result<(Inside, std::ffi::OsString), String> {
        let mut reason = self.outside(path);
        for candidate in self.candidates(path)? {
            let (Some(folder), Some(name)) = (candidate.parent(), candidate.file_name()) else { continue };
            let Ok(folder) = folder.canonicalize() else {
                reason = format!("the folder of {path} is not there");
                continue;
            };
            let whole = folder.join(name);
            if std::fs::symlink_metadata(&whole).is_ok_and(|about| !about.is_file()) {
                return Err(format!("{path} is no plain file"));
            }
            if let (Some(inside), Some(_)) = (self.inside(&folder), self.inside(&whole)) {
                return Ok((inside, name.to_owned()));
            }
        }
        Err(reason)
    }

    /// Where a path may mean: as it is if it is whole, else in each of the folders.
    fn candidates(&self, path: &str) -> Result<Vec<PathBuf>, String> {
        let path = path.trim();
        if path.is_empty() || path.len() > limits::PATH_BYTES || path.contains('\0') {
            return Err("the path is empty, too long or no path".to_owned());
        }
        let given = Path::new(path);
        if given.is_absolute() {
            return Ok(vec![given.to_owned()]);
        }
        Ok(self.folders.iter().map(|root| root.join(given)).collect())
    }

    /// A resolved path, if it lies in a root and is nobody's secret.
    fn inside(&self, whole: &Path) -> Option<Inside> {
        if self.is_private(whole) || whole.components().any(|part| part == Component::Normal(".git".as_ref())) {
            return None;
        }
        let root = self.folders.iter().find(|root| whole.starts_with(root))?;
        let rest = whole.strip_prefix(root).ok()?.to_owned();
        Some(Inside { root: root.clone(), rest })
    }

    fn is_private(&self, whole: &Path) -> bool {
        self.private.iter().any(|private| whole.starts_with(private))
    }

    fn outside(&self, path: &str) -> String {
        format!("{path} is outside of what tools may see: {}", self.names().join(", "))
    }
}

impl Inside {
    fn whole(&self) -> PathBuf {
        self.root.join(&self.rest)
    }

    /// Opens it beneath its root, following no link.
    fn open(&self, flags: OFlags, mode: Mode) -> std::io::Result<File> {
        let rest = if self.rest.as_os_str().is_empty() { Path::new(".") } else { &self.rest };
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            use rustix::io::Errno;
            let root = File::open(&self.root)?;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&root, rest, flags, mode, resolve) {
                // An old kernel, or a sandbox that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return Ok(File::from(opened?)),
            }
        }
        Ok(File::from(rustix::fs::open(self.root.join(rest), flags | OFlags::NOFOLLOW, mode)?))
    }
}

fn failed(what: &str, path: &str, error: &std::io::Error) -> String {
    format!("cannot {what} {path}: {error}")
}

/// A name that can be part of another.
fn clean(name: &std::ffi::OsStr) -> String {
    name.to_string_lossy().chars().filter(|c| c.is_ascii_alphanumeric()).take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        _folder: tempfile::TempDir,
        roots: Roots,
        outside: PathBuf,
    }

    /// A root with `a.txt` and `sub/b.txt`, and a secret outside, to which links lead.
    fn world() -> World {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        for path in [root.join("sub"), root.join(".git/hooks"), root.join("private"), outside.clone()] {
            std::fs::create_dir_all(path).unwrap();
        }
        std::fs::write(root.join("a.txt"), "alpha").unwrap();
        std::fs::write(root.join("sub/b.txt"), "beta").unwrap();
        std::fs::write(root.join(".git/config"), "x").unwrap();
        std::fs::write(root.join("private/key"), "x").unwrap();
        std::fs::write(outside.join("secret"), "s").unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("way")).unwrap();
        std::os::unix::fs::symlink(root.join("a.txt"), root.join("inner")).unwrap();
        let roots = Roots { folders: vec![root.clone()], private: vec![root.join("private")] };
        World { _folder: folder, roots, outside }
    }

    #[test]
    fn what_lies_inside_is_read() {
        let World { roots, _folder, .. } = world();
        let whole = roots.folders[0].join("a.txt");
        for path in ["a.txt", "./a.txt", "sub/../a.txt", "inner", whole.to_str().unwrap()] {
            assert_eq!(roots.read(path).as_deref(), Ok("alpha"), "{path}");
        }
        let listed = roots.list(".").unwrap();
        let names: Vec<&str> =
            listed["entries"].as_array().unwrap().iter().filter_map(|e| e["name"].as_str()).collect();
        assert_eq!(names, ["a.txt", "inner", "link", "sub", "way"]);
        assert!(roots.read("missing").unwrap_err().contains("not there"));
        assert!(roots.read("sub").unwrap_err().contains("no file"));
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let World { roots, outside, _folder } = world();
        let secret = outside.join("secret");
        for path in [
            "link",
            "way/secret",
            "../outside/secret",
            secret.to_str().unwrap(),
            "/etc/passwd",
            ".git/config",
            "private/key",
            "/",
        ] {
            assert!(roots.read(path).is_err(), "{path}");
            assert!(roots.list(path).is_err(), "{path}");
            assert!(roots.write(path, "x").is_err(), "{path}");
        }
        for path in
            ["../outside/new", "way/new", ".git/hooks/pre-commit", "private/new", "sub", "", "a\0b", "nowhere/new"]
        {
            assert!(roots.write(path, "x").is_err(), "{path}");
        }
        assert_eq!(std::fs::read_to_string(secret).unwrap(), "s");
        assert_eq!(std::fs::read_dir(outside).unwrap().count(), 1);
    }

    #[test]
    fn files_are_bounded_text() {
        let World { roots, _folder, .. } = world();
        let root = &roots.folders[0];
        std::fs::write(root.join("big"), vec![b'a'; limits::TOOL_FILE_BYTES + 1]).unwrap();
        std::fs::write(root.join("binary"), [0xff, 0xfe]).unwrap();
        assert!(roots.read("big").unwrap_err().contains("more than"));
        assert!(roots.read("binary").unwrap_err().contains("no text"));
        assert!(roots.write("new", &"a".repeat(limits::TOOL_FILE_BYTES + 1)).is_err());
        assert!(!root.join("new").exists());
    }

    #[test]
    fn a_file_is_written_whole_and_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let World { roots, _folder, .. } = world();
        let path = roots.folders[0].join("a.txt");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        roots.write("a.txt", "new").unwrap();
        roots.write("sub/c.txt", "c").unwrap();
        assert_eq!(roots.read("a.txt").as_deref(), Ok("new"));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let left = std::fs::read_dir(roots.folders[0].join("sub")).unwrap().count();
        assert_eq!(left, 2, "nothing half-written is left");
    }
}
