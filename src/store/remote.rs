//! Other repositories of the same brain: looking at one, fetching from it, pushing to it.
//!
//! The git command does the transport, as a child process: it knows every protocol, credential and proxy that the person
//! has set up. Of the repository's own configuration it is told the addresses of remotes and little else (`shadow`). Arguments only,
//! values behind `--`, no hook, no transport helper that is a command line. What is fetched
//! comes into a namespace of our own; plain git's `origin/…` stays the person's. Nothing is ever forced: a push names
//! what it expects to find, and what it brings descends from that.
//!
//! A remote that is a folder of this machine is another matter than one elsewhere: git works on both ends as the same user, and the
//! hooks and the configuration of that folder count. [`Store::places`] says where a remote leads so.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::{Branch, CommitId, Store, StoreError, child};
use crate::model::ids::hex_hash;

/// Where what was last seen of a remote, and accepted, is remembered: `<remote>/<branch>` below it.
const SEEN: &str = "refs/git-brain/remotes";
/// Where what a remote has is kept while it is judged.
const INCOMING: &str = "refs/git-brain/incoming";
/// The local configuration key that names the remote to sync with.
const CONFIG_REMOTE: &str = "brain.remote";
/// The ref of reviews, here and at remotes.
pub const REVIEWS: &str = "refs/brain/reviews";
/// Longest name of a remote, bytes: it becomes a folder of refs.
const REMOTE_BYTES: usize = 100;

/// Another repository of the brain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// What it is called here; of an address that has no name, `url-` and a hash.
    pub name: String,
    /// What git is told: the name, or the address.
    pub(super) address: String,
    /// Whether the repository's own configuration says where it is, and not the person who asks.
    configured: bool,
}

impl Remote {
    /// Where a clone came from.
    pub(super) fn origin() -> Self {
        Self { name: "origin".to_owned(), address: "origin".to_owned(), configured: true }
    }
}

/// The branches of a remote that are the brain's, with their tips.
pub type Tips = BTreeMap<Branch, CommitId>;

/// A wish for a remote's branch: it is `old` there (`None`: it does not exist) and shall be `new` (`None`: not exist).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The branch.
    pub branch: Branch,
    /// What it must be.
    pub old: Option<CommitId>,
    /// What it shall be.
    pub new: Option<CommitId>,
}

/// A ref of a remote by its whole name, what it must be, and what it shall be.
pub(super) type RefWish = (String, Option<CommitId>, Option<CommitId>);

/// What became of a push. All of it was done, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a lost race is no error, and must be answered"]
pub enum PushOutcome {
    /// All branches moved.
    Done,
    /// Somebody else moved one first: fetch and merge again.
    Modified,
    /// The other side does not want it, and says why.
    Refused(String),
}

impl Pushed {
    pub(super) fn parts(&self) -> RefWish {
        (self.branch.full(), self.old, self.new)
    }
}

impl Store {
    /// The remote that a person names, else `brain.remote` of the local configuration, else that of main's upstream, else the
    /// only one, else `origin`.
    pub fn remote(&self, asked: Option<&str>) -> Result<Remote, StoreError> {
        let by_person = asked.is_some();
        let asked = match asked {
            Some(name) => Some(name.to_owned()),
            None => self.local_config(CONFIG_REMOTE)?,
        };
        let names = self.remote_names()?;
        if let Some(asked) = asked {
            let named = self.named_remote(&asked, &names)?;
            return Ok(Remote { configured: named.configured || !by_person, ..named });
        }
        let upstream =
            self.local_config(&format!("branch.{}.remote", self.main()))?.filter(|name| names.contains(name));
        let origin = || names.iter().find(|name| *name == "origin").cloned();
        match upstream.or_else(|| (names.len() == 1).then(|| names[0].clone())).or_else(origin) {
            Some(name) => self.named_remote(&name, &names),
            None => Err(StoreError::NoRemote { known: names }),
        }
    }

    /// Whether there is another repository to sync with, as far as the configuration says.
    pub fn has_remote(&self) -> Result<bool, StoreError> {
        Ok(!self.remote_names()?.is_empty() || self.local_config(CONFIG_REMOTE)?.is_some())
    }

    pub(super) fn remote_names(&self) -> Result<Vec<String>, StoreError> {
        let names = self.with(|r| Ok(r.remotes()?.iter().flatten().flatten().map(str::to_owned).collect::<Vec<_>>()));
        names.map_err(|e| StoreError::git("remotes", e))
    }

    fn named_remote(&self, asked: &str, names: &[String]) -> Result<Remote, StoreError> {
        let bad = |reason| StoreError::BadRemote { name: asked.chars().take(80).collect(), reason };
        if asked.is_empty() || asked.starts_with('-') || asked.chars().any(char::is_control) {
            return Err(bad("it is empty, starts with '-' or has control characters"));
        }
        if names.iter().any(|name| name == asked) {
            // It becomes a part of refs of ours.
            let fits = asked.len() <= REMOTE_BYTES && Branch::parse(asked).is_ok();
            return if fits {
                Ok(Remote { name: asked.to_owned(), address: asked.to_owned(), configured: true })
            } else {
                Err(bad("git does not allow it in a ref"))
            };
        }
        if asked.contains("::") {
            return Err(bad("git would run a program for it"));
        }
        let address = match std::path::absolute(asked) {
            Ok(path) if Path::new(asked).exists() => path.display().to_string(),
            _ if asked.contains(['/', ':']) => asked.to_owned(),
            _ => return Err(StoreError::NoRemote { known: names.to_vec() }),
        };
        Ok(Remote { name: format!("url-{}", hex_hash(address.as_bytes(), 12)), address, configured: false })
    }

    /// The remotes that the configuration has, `brain.remote` with them if it is an address.
    pub fn remotes(&self) -> Result<Vec<Remote>, StoreError> {
        let names = self.remote_names()?;
        let mut remotes: Vec<Remote> = names.iter().filter_map(|name| self.named_remote(name, &names).ok()).collect();
        let chosen = self.local_config(CONFIG_REMOTE)?.filter(|chosen| !names.contains(chosen));
        let chosen = chosen.and_then(|chosen| self.named_remote(&chosen, &names).ok());
        remotes.extend(chosen.map(|chosen| Remote { configured: true, ..chosen }));
        Ok(remotes)
    }

    /// The places of this machine that a remote leads to because the configuration says so, sorted: git runs the hooks of such a
    /// repository, as whoever calls it. Empty where it leads to other machines only, or where the person has named the place.
    ///
    /// # Errors
    /// Git would run a program for one of its addresses.
    pub fn places(&self, remote: &Remote) -> Result<Vec<String>, StoreError> {
        if !remote.configured {
            return Ok(Vec::new());
        }
        let mut addresses = BTreeSet::from([remote.address.clone()]);
        if self.remote_names()?.contains(&remote.address) {
            // As git understands them, by the person's own `url.….insteadOf`.
            addresses.clear();
            for kind in [&["--all"][..], &["--push", "--all"]] {
                let asked = [&["remote", "get-url"], kind, &["--", &remote.address]].concat();
                let ended = self.transport(&asked)?;
                addresses.extend(String::from_utf8_lossy(&ended.stdout).lines().map(str::to_owned));
            }
        }
        if let Some(odd) = addresses.iter().find(|address| names_a_helper(address)) {
            let (name, reason) = (odd.chars().take(80).collect(), "git would run a program for it");
            return Err(StoreError::BadRemote { name, reason });
        }
        let here = self.here();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let place = |address: &String| match reached(address, &host) {
            Reached::Elsewhere => None,
            Reached::Folder(path) => Some(plain(&here.join(path)).display().to_string()),
            Reached::ThisMachine => Some(address.clone()),
        };
        Ok(addresses.iter().filter_map(place).collect::<BTreeSet<_>>().into_iter().collect())
    }

    /// Where git is called, and relative addresses begin.
    fn here(&self) -> PathBuf {
        self.work_dir().unwrap_or_else(|| self.common.clone())
    }

    /// Whether it is Radicle: what is read there is what its delegates agreed on, and what is pushed is the person's own.
    pub fn is_radicle(&self, remote: &Remote) -> Result<bool, StoreError> {
        Ok(self.address(remote)?.starts_with("rad://"))
    }

    /// The brain's branches that the remote has now (main, wake, and those of runs), and its reviews.
    pub fn remote_tips(&self, remote: &Remote) -> Result<(Tips, Option<CommitId>), StoreError> {
        let runs = self.runs_prefix();
        let patterns = [self.main().full(), self.wake().full(), format!("refs/heads/{runs}*"), REVIEWS.to_owned()];
        let mut arguments = vec!["ls-remote", "--quiet", "--refs", "--", &remote.address];
        arguments.extend(patterns.iter().map(String::as_str));
        let ended = self.transport(&arguments)?;
        if !ended.status.success() {
            return Err(failed(remote, &ended));
        }
        let (mut tips, mut reviews) = (Tips::new(), None);
        for line in String::from_utf8_lossy(&ended.stdout).lines() {
            let Some((id, name)) = line.split_once('\t') else { continue };
            if name == REVIEWS {
                reviews = Some(CommitId::parse(id)?);
            }
            let branch = name.strip_prefix("refs/heads/").and_then(|name| Branch::parse(name).ok());
            // Names that we would refuse are none of ours; so is what a pattern of git's matches elsewhere.
            let Some(branch) = branch.filter(|branch| self.is_ours(branch)) else { continue };
            tips.insert(branch, CommitId::parse(id)?);
        }
        Ok((tips, reviews))
    }

    /// The folder of branches that runs have: `agents/`, or `brain/agents/` where the brain is `brain/wake`.
    pub fn runs_prefix(&self) -> String {
        let wake = self.wake().as_str();
        wake.rsplit_once('/').map_or("agents/".to_owned(), |(folder, _)| format!("{folder}/agents/"))
    }

    fn is_ours(&self, branch: &Branch) -> bool {
        branch == self.main() || branch == self.wake() || branch.as_str().starts_with(&self.runs_prefix())
    }

    /// Fetches branches, objects checked by git and durable. What they are then, which may be newer than what was asked for.
    pub fn fetch(&self, remote: &Remote, branches: &Tips) -> Result<Tips, StoreError> {
        if branches.is_empty() {
            return Ok(Tips::new());
        }
        let place = |branch: &Branch| format!("{INCOMING}/{}/{branch}", remote.name);
        let specs: Vec<String> = branches.keys().map(|b| format!("+{}:{}", b.full(), place(b))).collect();
        self.fetch_specs(remote, &specs)?;
        let mut tips = Tips::new();
        for branch in branches.keys() {
            tips.extend(self.ref_target(&place(branch))?.map(|tip| (branch.clone(), tip)));
        }
        Ok(tips)
    }

    /// Fetches branches to where plain git keeps those of the remote.
    pub(super) fn fetch_to(&self, remote: &Remote, branches: &[&Branch]) -> Result<(), StoreError> {
        let spec = |branch: &&Branch| format!("+{}:refs/remotes/{}/{branch}", branch.full(), remote.name);
        self.fetch_specs(remote, &branches.iter().map(spec).collect::<Vec<_>>())
    }

    /// Fetches one other ref; `name` is what it is kept as while it is judged.
    pub(super) fn fetch_ref(&self, remote: &Remote, full: &str, name: &str) -> Result<Option<CommitId>, StoreError> {
        let place = format!("{INCOMING}/{}/ref-{name}", remote.name);
        self.fetch_specs(remote, &[format!("+{full}:{place}")])?;
        self.ref_target(&place)
    }

    fn fetch_specs(&self, remote: &Remote, specs: &[String]) -> Result<(), StoreError> {
        let mut arguments = vec![
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            "--no-show-forced-updates",
            // Plain git's `origin/…` are not moved along.
            "--refmap=",
            "--",
            &remote.address,
        ];
        arguments.extend(specs.iter().map(String::as_str));
        let ended = self.transport(&arguments)?;
        if !ended.status.success() {
            return Err(failed(remote, &ended));
        }
        self.list_packs().map_err(|e| StoreError::git("fetched packs", e))
    }

    /// Forgets what was kept while it was judged.
    pub fn forget_incoming(&self, remote: &Remote) -> Result<(), StoreError> {
        self.remove_refs(&format!("{INCOMING}/{}/*", remote.name))
    }

    fn remove_refs(&self, pattern: &str) -> Result<(), StoreError> {
        let removed = self.with(|r| r.references_glob(pattern)?.flatten().try_for_each(|mut found| found.delete()));
        removed.map_err(|e| StoreError::git(pattern, e))
    }

    /// What was last seen of a remote and accepted.
    pub fn seen(&self, remote: &Remote) -> Result<Tips, StoreError> {
        let prefix = format!("{SEEN}/{}/", remote.name);
        let tip = |(name, id): (String, CommitId)| Some((Branch::parse(name.strip_prefix(&prefix)?).ok()?, id));
        Ok(self.refs_below(&prefix)?.into_iter().filter_map(tip).collect())
    }

    /// Everything that was seen of any remote: it is known here already.
    pub fn seen_anywhere(&self) -> Result<Vec<CommitId>, StoreError> {
        Ok(self.refs_below(&format!("{SEEN}/"))?.into_values().collect())
    }

    /// Remembers what was seen of a remote: main and wake move, branches of runs come and go.
    pub fn set_seen(&self, remote: &Remote, tips: &Tips) -> Result<(), StoreError> {
        for (branch, tip) in tips.iter().filter(|(branch, _)| *branch == self.main() || *branch == self.wake()) {
            let name = format!("{SEEN}/{}/{branch}", remote.name);
            if self.ref_target(&name)? == Some(*tip) || self.move_rehearsed(&name, Some(*tip)) {
                continue;
            }
            let made = self.with(|r| r.reference(&name, tip.0, true, "git-brain: sync").map(|_| ()));
            made.map_err(|e| StoreError::git(name, e))?;
            self.named(*tip);
        }
        Ok(())
    }

    /// Moves branches of a remote, all or none, each if it is what is expected there. The caller sees to it that each new
    /// tip descends from the old one.
    pub fn push(&self, remote: &Remote, wishes: &[Pushed]) -> Result<PushOutcome, StoreError> {
        self.push_refs(remote, &wishes.iter().map(Pushed::parts).collect::<Vec<_>>())
    }

    /// Moves refs of a remote: whole name, what it must be, what it shall be.
    pub(super) fn push_refs(&self, remote: &Remote, refs: &[RefWish]) -> Result<PushOutcome, StoreError> {
        if self.is_rehearsal() {
            return Ok(PushOutcome::Done);
        }
        let text = |id: Option<CommitId>| id.map_or(String::new(), |id| id.to_string());
        // The program of `rad://` knows no push of all or nothing, and a lease would be about something else. Nothing is forced there either:
        // what is no step forward is refused.
        let is_radicle = self.is_radicle(remote)?;
        let lease = |(name, old, _): &RefWish| format!("--force-with-lease={name}:{}", text(*old));
        let leases: Vec<String> = refs.iter().filter(|_| !is_radicle).map(lease).collect();
        let specs: Vec<String> = refs.iter().map(|(name, _, new)| format!("{}:{name}", text(*new))).collect();
        let mut arguments = vec!["push", "--porcelain", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"];
        arguments.extend((!is_radicle).then_some("--atomic"));
        arguments.extend(leases.iter().map(String::as_str));
        arguments.extend(["--", &remote.address]);
        arguments.extend(specs.iter().map(String::as_str));
        let ended = self.transport(&arguments)?;
        if ended.status.success() {
            return Ok(PushOutcome::Done);
        }
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        let reasons: Vec<&str> = out.lines().filter(|line| line.starts_with('!')).collect();
        if reasons.is_empty() {
            return Err(failed(remote, &ended));
        }
        const LOST: [&str; 7] = [
            "stale info",
            "fetch first",
            "non-fast-forward",
            "cannot lock ref",
            "failed to update ref",
            "incorrect old value",
            "reference already exists",
        ];
        // A lease is checked before anything is sent; the lock of a ref at the other side may still be lost.
        if reasons
            .iter()
            .chain(&err.lines().collect::<Vec<_>>())
            .any(|line| LOST.iter().any(|lost| line.contains(lost)))
        {
            return Ok(PushOutcome::Modified);
        }
        Ok(PushOutcome::Refused(format!("{}\n{}", reasons.join("\n"), said(&err)).trim().to_owned()))
    }

    /// Runs git where it talks to another repository.
    pub(super) fn transport(&self, arguments: &[&str]) -> Result<std::process::Output, StoreError> {
        let shadow = self.bare_shadow()?;
        let mut git = Command::new("git");
        shadow.aim(&mut git);
        // It would overrule what we say about protocols.
        git.env_remove("GIT_ALLOW_PROTOCOL");
        if !std::io::stdin().is_terminal() {
            git.env("GIT_TERMINAL_PROMPT", "0");
        }
        git.env("LC_ALL", "C");
        let settings = [
            "core.hooksPath=/dev/null",
            "core.fsync=all",
            "core.fsmonitor=false",
            "protocol.ext.allow=never",
            "protocol.fd.allow=never",
            "transfer.fsckObjects=true",
            "fetch.fsckObjects=true",
            "fetch.unpackLimit=1",
            "fetch.writeCommitGraph=false",
            "gc.auto=0",
            // Programs of other addresses get options with other letters than ASCII in quotes else.
            "core.quotePath=false",
        ];
        settings.iter().for_each(|setting| {
            git.args(["-c", setting]);
        });
        git.current_dir(self.here()).args(arguments);
        child::ended(&mut git, b"").map_err(StoreError::file("git"))
    }
}

/// Where an address leads.
#[derive(Debug, PartialEq, Eq)]
enum Reached {
    /// A repository of this machine's disk, which git opens itself.
    Folder(PathBuf),
    /// A server of this machine.
    ThisMachine,
    /// Another machine, as far as can be seen.
    Elsewhere,
}

/// Source: git's `url.c` and `connect.c`. What has a scheme is an address; else what has no colon, or a slash before it, is a path;
/// else it is `[user@]host:path`. A server of `git:` or `http:` runs nothing as whoever asks, so that `ssh:` alone is of interest.
fn reached(address: &str, host_name: &str) -> Reached {
    let folder = |path: &str| Reached::Folder(path.into());
    let host = match address.split_once("://") {
        // git reads the escapes of an address before it looks for its parts.
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            let rest = unescaped(rest);
            return folder(rest.find('/').map_or(rest.as_str(), |at| &rest[at..]));
        }
        Some((scheme, rest)) if scheme.to_ascii_lowercase().contains("ssh") => {
            unescaped(rest).split('/').next().unwrap_or_default().to_owned()
        }
        Some(_) => return Reached::Elsewhere,
        None => match address.find([':', '/']) {
            Some(at) if address[at..].starts_with(':') && !address.starts_with('[') => address[..at].to_owned(),
            _ if address.starts_with('[') => address.to_owned(),
            _ => return folder(address),
        },
    };
    // `u@[h]`, `[u@h]`, `[h:port]`, `[::1%lo]`.
    let host = host.rsplit_once('[').map_or(host.as_str(), |(_, rest)| rest.split(']').next().unwrap_or_default());
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split('%').next().unwrap_or_default();
    let is_number = |text: &str| text.parse::<IpAddr>().is_ok();
    let host = if is_number(host) { host } else { host.split(':').next().unwrap_or_default() };
    if is_this_machine(&host.trim_end_matches('.').to_ascii_lowercase(), host_name) {
        Reached::ThisMachine
    } else {
        Reached::Elsewhere
    }
}

/// Whether a host in small letters is this machine, or may be.
fn is_this_machine(host: &str, host_name: &str) -> bool {
    const OURS: [&str; 5] = ["localhost", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback"];
    let Ok(number) = host.parse::<IpAddr>() else {
        let first = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        // Resolvers take `127.1`, `2130706433` and `0x7f.1` for numbers as well; people write no other machine so.
        let odd = host.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
            && host.bytes().all(|b| b.is_ascii_hexdigit() || b"x.".contains(&b));
        return host.is_empty()
            || !host.is_ascii()
            || odd
            || host.ends_with(".localhost")
            || OURS.contains(&first(host).as_str())
            || first(host) == first(host_name);
    };
    let number = match number {
        // `::127.0.0.1` and `64:ff9b::127.0.0.1` are numbers of the fourth version too.
        IpAddr::V6(six) if matches!(six.segments(), [0 | 0x64, 0 | 0xff9b, 0, 0, 0, 0, ..]) && !six.is_loopback() => {
            let [.., a, b, c, d] = six.octets();
            IpAddr::from([a, b, c, d])
        }
        number => number.to_canonical(),
    };
    // A socket takes the addresses of this machine alone.
    number.is_loopback() || number.is_unspecified() || std::net::UdpSocket::bind((number, 0)).is_ok()
}

/// The text behind `%` escapes. What is none stays.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let escape = (*first == b'%').then(|| more.get(..2)).flatten();
        let digits = escape.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let read = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(read.unwrap_or(*first));
        rest = if read.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The path without `.` and `..`, whether or not it exists.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// True for `NAME::…`: git runs `git-remote-NAME`.
fn names_a_helper(address: &str) -> bool {
    let name = address.split_once("::").map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)))
}

pub(super) fn failed(remote: &Remote, ended: &std::process::Output) -> StoreError {
    StoreError::Remote { remote: remote.address.clone(), message: said(&String::from_utf8_lossy(&ended.stderr)) }
}

/// What git or the other side said, for a terminal: no control characters, no endless text.
pub(super) fn said(text: &str) -> String {
    let lines = text.lines().map(|line| line.chars().filter(|c| !c.is_control()).take(300).collect::<String>());
    lines.filter(|line| !line.trim().is_empty()).take(40).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_a_folder_to_this_machine_or_elsewhere() {
        for (address, path) in [
            ("/srv/gate.git", "/srv/gate.git"),
            ("../gate.git", "../gate.git"),
            ("./host:gate.git", "./host:gate.git"),
            ("gate.git", "gate.git"),
            ("file:///srv/gate.git", "/srv/gate.git"),
            ("FILE://localhost/srv/gate.git", "/srv/gate.git"),
            ("file:///srv/g%61te%2egit", "/srv/gate.git"),
            ("file://%2fsrv/100%", "/srv/100%"),
        ] {
            assert_eq!(reached(address, "here"), Reached::Folder(path.into()), "{address}");
        }
        for address in [
            "ssh://localhost/srv/x",
            "ssh://ann@127.8.0.1:22/srv/x",
            "git+ssh://[::1]/x",
            "ann@localhost:x",
            "[::1]:x",
            "[localhost:22]:x",
            "HERE:x",
            "a.localhost:x",
            "0.0.0.0:x",
            "127.1:x",
            "ssh://2130706433/x",
            "ssh://0x7f000001/x",
            "ssh://[::ffff:127.0.0.1]/x",
            "ssh://%6cocalhost/x",
            "ssh://ann%40localhost%2fx",
            "ssh://127%2e0.0.1/x",
            "ssh://localhost./x",
            "LOCALHOST.:x",
            "[u@localhost]:x",
            "[u@localhost:22]:x",
            "ssh://[u@localhost]/x",
            "u@[::1]:x",
            "ssh://u@[::1%25lo]:22/x",
            "ssh://[0:0:0:0:0:0:0:1]/x",
            "ssh://[::127.0.0.1]/x",
            "ssh://[64:ff9b::7f00:1]/x",
            "127.0.0.1.:x",
            "0177.1:x",
            "localhost.localdomain:x",
            "ip6-localhost:x",
            "here.example.org:x",
            "Here.:x",
            "ssh://ｌocalhost/x",
        ] {
            assert_eq!(reached(address, "here"), Reached::ThisMachine, "{address}");
        }
        for address in [
            "ssh://example.org/x",
            "git@example.org:x",
            "https://localhost/x",
            "git://localhost/x",
            "there:x",
            "192.0.2.4:x",
            "ssh://[2001:db8::1]/x",
            "ssh://%65xample.org/localhost",
        ] {
            assert_eq!(reached(address, "here"), Reached::Elsewhere, "{address}");
        }
        assert!(names_a_helper("ext::sh -c x") && names_a_helper("hg::https://x"));
        assert!(!names_a_helper("git@host:a::b") && !names_a_helper("/a::b") && !names_a_helper("ssh://[::1]/x"));
    }
}
