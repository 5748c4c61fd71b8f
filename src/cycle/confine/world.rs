//! The world of a program in namespaces: a root of its own with the files that it may see, its own processes, and its own
//! folder in memory. What is not there has no name, so that no system call reaches it.

use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, unmount,
};
use rustix::process::{chdir, getegid, geteuid, pivot_root};

use super::{Orders, system};
use crate::limits;

/// Links that are followed from one path at most, as by the kernel.
const LINKS: usize = 40;
const PROC: &str = "/proc";

/// What may be done with a mounted file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum May {
    Read,
    Write,
    Use,
}

/// The namespaces of a program. Without `network` it has one of the network as well, with nothing in it.
pub fn namespaces(network: bool) -> i32 {
    let all = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if network { all } else { all | libc::CLONE_NEWNET }
}

/// Makes the world and enters it. `user` and `group` are those of the supervisor.
pub fn enter(orders: &Orders, user: (u32, u32)) -> Result<(), Error> {
    map_ids(user).map_err(about("cannot name its user"))?;
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let root = &orders.folder;
    memory_at(root, "mode=0755,size=1m").map_err(about("cannot mount its root"))?;
    let (links, mounts) = laid_out(orders);
    for (path, may) in &mounts {
        let covered = mounts.keys().any(|above| above != path && path.starts_with(above));
        let place = below(root, path);
        if !covered {
            stand_in(path, &place)?;
        }
        let failed = about(&format!("cannot mount {}", path.display()));
        mount_bind_recursive(path, &place).map_err(|e| failed(e.into()))?;
        restrict(&place, *may).map_err(failed)?;
    }
    for (path, target) in links.iter().filter(|(path, _)| !mounts.keys().any(|above| path.starts_with(above))) {
        let place = below(root, path);
        place.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        symlink(target, place).or_else(|e| if e.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(e) })?;
    }
    for path in orders.hidden.iter().filter_map(|path| path.canonicalize().ok()) {
        hide(&path, &below(root, &path), &mounts).map_err(about("cannot hide a folder"))?;
    }
    processes_at(&below(root, Path::new(PROC)))?;
    own_folder(orders, &below(root, root))?;
    turn_to(root)?;
    chdir(&orders.folder)?;
    Ok(())
}

fn about(what: &str) -> impl Fn(Error) -> Error + use<> {
    let what = what.to_owned();
    move |error| Error::new(error.kind(), format!("{what}: {error}"))
}

/// Whoever runs the brain is the same user inside, and no other user has a name.
fn map_ids((user, group): (u32, u32)) -> Result<(), Error> {
    // A kernel before 3.19 has no such file.
    match std::fs::write("/proc/self/setgroups", "deny") {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// User and group of this process.
pub fn whoever() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

/// All that is to be seen: symlinks with their targets, and files and folders with what may be done, those above first.
fn laid_out(orders: &Orders) -> (BTreeMap<PathBuf, PathBuf>, BTreeMap<PathBuf, May>) {
    let mut links = BTreeMap::new();
    let mut mounts: BTreeMap<PathBuf, May> = BTreeMap::new();
    let network: &[&str] = if orders.network { &system::NETWORK } else { &[] };
    let system = [&system::PROGRAMS[..], &system::KERNEL, &system::CONFIGURATION, network].concat();
    let system = system.iter().map(|path| (PathBuf::from(path), May::Read));
    let devices = system::DEVICES.iter().map(|path| (PathBuf::from(path), May::Use));
    let reads = orders.reads.iter().map(|path| (path.clone(), May::Read));
    let writes = orders.writes.iter().map(|path| (path.clone(), May::Write));
    for (path, may) in system.chain(devices).chain(reads).chain(writes) {
        let Some(real) = follow(&path, &mut links) else { continue };
        // The folder of its own and the processes are mounted in another way.
        if real.starts_with(PROC) || real == orders.folder {
            continue;
        }
        let each = if real == Path::new("/") { children(&real) } else { vec![real] };
        for real in each.into_iter().filter(|real| !real.starts_with(PROC)) {
            let known = mounts.entry(real).or_insert(may);
            *known = may.max(*known);
        }
    }
    (links, mounts)
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect()
}

/// Where a path leads, with the links on the way; `None`: nowhere.
fn follow(path: &Path, links: &mut BTreeMap<PathBuf, PathBuf>) -> Option<PathBuf> {
    let mut at = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts(path);
    let mut left = LINKS;
    while let Some(name) = rest.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        let here = at.join(&name);
        if !std::fs::symlink_metadata(&here).ok()?.is_symlink() {
            at = here;
            continue;
        }
        left = left.checked_sub(1)?;
        let target = std::fs::read_link(&here).ok()?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        rest.extend(parts(&target));
        links.insert(here, target);
    }
    Some(at)
}

/// The names of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    };
    path.components().rev().filter_map(part).collect()
}

/// A place of the outer world below the new root.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// An empty file or folder to mount on.
fn stand_in(path: &Path, place: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return std::fs::create_dir_all(place);
    }
    place.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(place, "")
}

fn memory_at(place: &Path, options: &str) -> Result<(), Error> {
    let options = CString::new(options)?;
    Ok(mount("tmpfs", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options.as_c_str()))?)
}

/// Takes away, for a mount and all mounts below it, what is not to be done there.
fn restrict(place: &Path, may: May) -> Result<(), Error> {
    let of_all = libc::MOUNT_ATTR_NOSUID;
    set_attributes(
        place,
        match may {
            May::Read => of_all | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY,
            May::Write => of_all | libc::MOUNT_ATTR_NODEV,
            // A device is written to all the same; its own file is not changed.
            May::Use => of_all | libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_RDONLY,
        },
    )
}

#[allow(unsafe_code, reason = "the call has no safe form")]
fn set_attributes(place: &Path, set: u64) -> Result<(), Error> {
    let path = CString::new(place.as_os_str().as_bytes())?;
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let (flags, size) = (libc::AT_RECURSIVE, size_of::<libc::mount_attr>());
    // SAFETY: the path ends in a zero byte, the structure is as large as is said, and both outlive the call.
    let done = unsafe {
        libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path.as_ptr(), flags, &raw const attributes, size)
    };
    if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Puts nothing over a file or folder that lies in what is seen.
fn hide(path: &Path, place: &Path, mounts: &BTreeMap<PathBuf, May>) -> Result<(), Error> {
    if !mounts.keys().any(|above| path.starts_with(above)) {
        return Ok(());
    }
    if path.is_dir() {
        memory_at(place, "mode=0555,size=4k")?;
        return set_attributes(place, libc::MOUNT_ATTR_RDONLY);
    }
    mount_bind_recursive("/dev/null", place)?;
    set_attributes(place, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV)
}

/// Its own processes, which are all that it sees.
fn processes_at(place: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(place)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", place, "proc", flags, None).map_err(|e| about("cannot mount its /proc")(e.into()))?;
    // What is mounted already is changed for all of its mounts by that flag, or for none.
    set_attributes(place, libc::MOUNT_ATTR_RDONLY)
}

/// Its own folder, which goes away with it, and links that shells expect.
fn own_folder(orders: &Orders, place: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(place)?;
    let bytes = limits::CHILD_FOLDER_BYTES.min(orders.memory_bytes);
    let options = format!("mode=0700,size={bytes},nr_inodes={}", limits::CHILD_FOLDER_FILES);
    memory_at(place, &options).map_err(about("cannot mount its folder"))?;
    let devices = below(&orders.folder, Path::new("/dev"));
    std::fs::create_dir_all(&devices)?;
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        let _ = symlink(target, devices.join(name));
    }
    Ok(())
}

/// Makes a folder the root, and lets go of the one before.
fn turn_to(root: &Path) -> Result<(), Error> {
    chdir(root)?;
    pivot_root(".", ".").map_err(|e| about("cannot turn to its root")(e.into()))?;
    // The old root lies on top of the new one.
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    rustix::mount::mount_remount(
        "/",
        MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV,
        "",
    )?;
    Ok(())
}
