//! Signed commits: SSH signatures as git makes and verifies them, through `ssh-keygen`.
//!
//! Who signs, whose signatures count and whether unsigned commits are accepted is read from the repository's own
//! configuration alone, and the keys are files of this machine: nothing that is fetched has a say. A signature covers the
//! whole commit: its tree, its parents, its author and its message.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use git2::ObjectType;

use super::{Author, CommitId, Store, StoreError, child};

/// Local configuration: true, and every commit that is made here is signed.
pub const CONFIG_SIGN: &str = "brain.sign";
/// Local configuration: the key to sign with, a file or a public key whose private half an agent holds. Else `user.signingKey`.
pub const CONFIG_KEY: &str = "brain.signingKey";
/// Local configuration: a folder of keys, one file an agent, named after it. An agent without one signs with the key above.
pub const CONFIG_AGENT_KEYS: &str = "brain.agentKeys";
/// Local configuration: the file of allowed signers. Else `gpg.ssh.allowedSignersFile`. Source: `ssh-keygen(1)`.
pub const CONFIG_SIGNERS: &str = "brain.allowedSigners";
/// Local configuration: true, and what is not signed by an allowed key is not merged.
pub const CONFIG_REQUIRE: &str = "brain.requireSignatures";
/// Local configuration: the commit from which on signatures are required; what it reaches is older than the rule.
pub const CONFIG_SINCE: &str = "brain.signedSince";

/// What git signs commits for. Source: git's `gitformat-signature`.
const NAMESPACE: &str = "git";
const HEADER: &str = "gpgsig";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";

/// What a commit's signature says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// There is none.
    Missing,
    /// It is by a key that may sign for the identity that was asked about.
    Good,
    /// It is whole, and by a key that may not sign for that identity, or not any more.
    OtherKey(String),
    /// It is of another content, or no signature that SSH knows.
    Bad(String),
}

/// How commits are signed here.
#[derive(Clone, Debug)]
pub(super) struct Signer {
    key: Option<String>,
    agent_keys: Option<PathBuf>,
}

impl Signer {
    /// As the local configuration says; `None` if commits are not signed here.
    pub(super) fn of(store: &Store) -> Result<Option<Self>, StoreError> {
        if !store.flag(CONFIG_SIGN)? {
            return Ok(None);
        }
        let own = store.local_config(CONFIG_KEY)?;
        Ok(Some(Self {
            key: own.or_else(|| store.user_value("user.signingKey")),
            agent_keys: store.local_config(CONFIG_AGENT_KEYS)?.map(|folder| home_relative(&folder)),
        }))
    }

    /// The key that an author signs with.
    fn key_of(&self, author: &Author) -> Result<String, StoreError> {
        if let (Author::Agent(agent), Some(folder)) = (author, &self.agent_keys) {
            let file = folder.join(agent.as_str());
            if file.is_file() {
                return Ok(file.display().to_string());
            }
        }
        let missing = || unusable(format!("{CONFIG_SIGN} is on, and neither {CONFIG_KEY} nor user.signingKey is set"));
        self.key.clone().ok_or_else(missing)
    }

    /// The commit with its author's signature as a header.
    pub(super) fn sign(&self, commit: Vec<u8>, author: &Author) -> Result<Vec<u8>, StoreError> {
        let key = self.key_of(author)?;
        let literal = key.strip_prefix("key::").or_else(|| key.starts_with("ssh-").then_some(&key));
        let mut arguments: Vec<OsString> = ["-q", "-Y", "sign", "-n", NAMESPACE].map(OsString::from).to_vec();
        let public = literal.map(|text| temporary(format!("{text}\n").as_bytes())).transpose()?;
        let file = match &public {
            // The private half is with the SSH agent.
            Some(file) => {
                arguments.push("-U".into());
                file.path().as_os_str().to_owned()
            }
            None => home_relative(&key).into_os_string(),
        };
        arguments.extend(["-f".into(), file]);
        let signed = ssh_keygen(&arguments, &commit)?
            .map_err(|said| unusable(format!("ssh-keygen cannot sign with {key}: {said}")))?;
        let signature = String::from_utf8_lossy(&signed).into_owned();
        if !signature.starts_with(BEGIN) {
            return Err(unusable("ssh-keygen gave no signature".to_owned()));
        }
        let header = format!("{HEADER} {}\n", signature.trim_end().replace('\n', "\n "));
        let end = end_of_header(&commit);
        Ok([&commit[..end], header.as_bytes(), &commit[end..]].concat())
    }
}

impl Store {
    /// A commit as it is stored: signed, where this machine signs.
    pub(super) fn signed(&self, commit: Vec<u8>, author: &Author) -> Result<Vec<u8>, StoreError> {
        if self.signer.get().is_none() {
            let _ = self.signer.set(Signer::of(self)?);
        }
        match self.signer.get().and_then(Option::as_ref) {
            Some(signer) => signer.sign(commit, author),
            // It would be in the way for ever: nobody who requires signatures could take what is built upon it.
            None if self.requires_signatures()? => Err(unusable(format!(
                "{CONFIG_REQUIRE} is on and {CONFIG_SIGN} is not, so what is made here could be merged nowhere"
            ))),
            None => Ok(commit),
        }
    }

    /// Whether only what allowed keys have signed may be merged here.
    pub fn requires_signatures(&self) -> Result<bool, StoreError> {
        self.flag(CONFIG_REQUIRE)
    }

    /// The commits from which on signatures are required, as far as any are named: of the trunks, and of the decisions.
    pub fn signed_since(&self) -> Result<Vec<CommitId>, StoreError> {
        let mut since = Vec::new();
        for text in super::local_values(&self.repository, CONFIG_SINCE)? {
            match self.resolve(&text)? {
                Some(commit) => since.push(commit),
                // A whole id of a commit that has not come yet: until then it lets nothing in.
                None if CommitId::parse(&text).is_ok() => {}
                None => return Err(unusable(format!("{CONFIG_SINCE} is {text}, which names no commit"))),
            }
        }
        Ok(since)
    }

    /// Whether a commit leads to one of those, such as the ones from which on signatures are required.
    pub fn leads_to_any(&self, commit: CommitId, those: &[CommitId]) -> Result<bool, StoreError> {
        for that in those {
            if self.is_ancestor(commit, *that)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Is that commit signed by a key that may sign for that identity, an address of the file of allowed signers?
    ///
    /// # Errors
    /// There is no such file, or no `ssh-keygen`: then nothing is known, and nothing may be taken for good.
    pub fn signature(&self, commit: CommitId, identity: &str) -> Result<Signature, StoreError> {
        self.signature_in(&self.object(commit.0, ObjectType::Commit, "commit")?, identity)
    }

    /// Why what the person at this machine signs would not be taken here; nothing, if it would, or if signatures are not required.
    pub fn refused_key(&self) -> Result<Option<String>, StoreError> {
        if !self.requires_signatures()? {
            return Ok(None);
        }
        let (_, address) = self.user();
        Ok(match self.signature_in(&self.signed(b"probe\n\nprobe\n".to_vec(), &Author::User)?, &address)? {
            Signature::Good => None,
            Signature::Missing => Some("it is not signed".to_owned()),
            Signature::OtherKey(said) | Signature::Bad(said) => Some(format!("it is not signed by {address}: {said}")),
        })
    }

    fn signature_in(&self, commit: &[u8], identity: &str) -> Result<Signature, StoreError> {
        let (payload, signature) = split(commit);
        let signature = match signature {
            Split::None => return Ok(Signature::Missing),
            Split::Odd => return Ok(Signature::Bad("it has several signatures, or none of SSH".to_owned())),
            Split::One(text) => text,
        };
        if identity.is_empty()
            || identity.starts_with('-')
            || identity.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Ok(Signature::Bad(format!("{identity:?} is no identity of a signer")));
        }
        let allowed = self.allowed_signers()?;
        let file = temporary(signature.as_bytes())?;
        let arguments: Vec<OsString> = vec![
            "-Y".into(),
            "verify".into(),
            "-n".into(),
            NAMESPACE.into(),
            "-f".into(),
            allowed.into_os_string(),
            "-I".into(),
            identity.into(),
            "-s".into(),
            file.path().as_os_str().to_owned(),
        ];
        Ok(match ssh_keygen(&arguments, &payload)? {
            Ok(_) => Signature::Good,
            Err(said) => match self.key_of_signature(&payload, file.path())? {
                Some(key) => Signature::OtherKey(format!("{key}: {said}")),
                None => Signature::Bad(said),
            },
        })
    }

    /// The key that made a signature, as `ssh-keygen` names it, if the signature is one of that content.
    fn key_of_signature(&self, payload: &[u8], signature: &std::path::Path) -> Result<Option<String>, StoreError> {
        let mut arguments: Vec<OsString> =
            ["-Y", "check-novalidate", "-n", NAMESPACE, "-s"].map(OsString::from).to_vec();
        arguments.push(signature.as_os_str().to_owned());
        let Ok(said) = ssh_keygen(&arguments, payload)? else { return Ok(None) };
        Ok(String::from_utf8_lossy(&said).split_once(" with ").map(|(_, key)| key.trim().to_owned()))
    }

    /// The file of allowed signers, if there is one to be used.
    pub fn signers_file(&self) -> Option<PathBuf> {
        self.allowed_signers().ok()
    }

    /// The text of the file of allowed signers.
    pub fn signers_text(&self) -> Result<String, StoreError> {
        let file = self.allowed_signers()?;
        std::fs::read_to_string(&file).map_err(|error| unusable(format!("{}: {error}", file.display())))
    }

    fn allowed_signers(&self) -> Result<PathBuf, StoreError> {
        let own = self.local_config(CONFIG_SIGNERS)?;
        let file = own.map_or_else(|| self.local_config("gpg.ssh.allowedSignersFile"), |file| Ok(Some(file)))?;
        let Some(file) = file else {
            return Err(unusable(format!("{CONFIG_REQUIRE} is on, and {CONFIG_SIGNERS} names no file")));
        };
        let path = home_relative(&file);
        // A relative path would lead into whatever folder the command is called from, the brain's own files for one.
        if !path.is_absolute() || !path.is_file() {
            return Err(unusable(format!("{CONFIG_SIGNERS} is {file}, which is no file with a full path")));
        }
        Ok(path)
    }

    fn flag(&self, key: &str) -> Result<bool, StoreError> {
        match self.local_config(key)? {
            None => Ok(false),
            Some(text) => match text.to_ascii_lowercase().as_str() {
                "" | "true" | "yes" | "on" | "1" => Ok(true),
                "false" | "no" | "off" | "0" => Ok(false),
                _ => Err(unusable(format!("{key} is {text:?}, which is neither true nor false"))),
            },
        }
    }

    /// A value as git resolves it for this user, the global file included.
    fn user_value(&self, key: &str) -> Option<String> {
        self.repository.config().and_then(|mut c| c.snapshot()).ok()?.get_string(key).ok()
    }
}

fn unusable(message: String) -> StoreError {
    StoreError::Signing { message }
}

fn home_relative(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(text),
    }
}

fn temporary(content: &[u8]) -> Result<tempfile::NamedTempFile, StoreError> {
    let write = || {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(content)?;
        file.flush()?;
        Ok(file)
    };
    write().map_err(StoreError::file(std::env::temp_dir()))
}

/// Runs `ssh-keygen` with that on its standard input. The inner error is what it said.
fn ssh_keygen(arguments: &[OsString], input: &[u8]) -> Result<Result<Vec<u8>, String>, StoreError> {
    let mut command = Command::new("ssh-keygen");
    let ended = child::ended(command.args(arguments), input);
    let ended = ended.map_err(|e| unusable(format!("ssh-keygen cannot be asked: {e}")))?;
    if ended.status.success() {
        return Ok(Ok(ended.stdout));
    }
    let said = [ended.stderr, ended.stdout].concat();
    let said = String::from_utf8_lossy(&said).lines().last().unwrap_or("it said nothing").trim().to_owned();
    Ok(Err(said))
}

/// Where the empty line after the header begins.
fn end_of_header(commit: &[u8]) -> usize {
    commit.windows(2).position(|pair| pair == b"\n\n").map_or(commit.len(), |at| at + 1)
}

enum Split {
    None,
    One(String),
    Odd,
}

/// What was signed, and the signature: a header whose further lines begin with a space.
fn split(commit: &[u8]) -> (Vec<u8>, Split) {
    let end = end_of_header(commit);
    let (mut payload, mut found) = (Vec::with_capacity(commit.len()), Vec::new());
    let mut inside = false;
    for line in commit[..end].split_inclusive(|b| *b == b'\n') {
        let prefix = format!("{HEADER} ");
        if let Some(first) = line.strip_prefix(prefix.as_bytes()) {
            inside = true;
            found.push(first.to_vec());
        } else if inside && line.starts_with(b" ") {
            found.last_mut().expect("invariant: inside one").extend_from_slice(&line[1..]);
        } else {
            inside = false;
            payload.extend_from_slice(line);
        }
    }
    payload.extend_from_slice(&commit[end..]);
    let found: Vec<String> = found.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    let split = match found.as_slice() {
        [] => Split::None,
        [one] if one.starts_with(BEGIN) => Split::One(one.clone()),
        _ => Split::Odd,
    };
    (payload, split)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "tree 0\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nsubject\n\ngpgsig no header\n";

    #[test]
    fn a_signature_is_taken_out_of_the_header_and_nowhere_else() {
        let signed = COMMIT.replacen("\n\n", &format!("\n{HEADER} {BEGIN}\n abc\n def\nencoding x\n\n"), 1);
        let (payload, found) = split(signed.as_bytes());
        let Split::One(text) = found else { panic!("one signature") };
        assert_eq!(text, format!("{BEGIN}\nabc\ndef\n"));
        assert_eq!(String::from_utf8(payload).unwrap(), COMMIT.replacen("\n\n", "\nencoding x\n\n", 1));
        assert!(matches!(split(COMMIT.as_bytes()), (same, Split::None) if same == COMMIT.as_bytes()));
    }

    #[test]
    fn two_signatures_and_those_of_others_count_for_nothing() {
        let two = format!("\n{HEADER} {BEGIN}\n a\n{HEADER} {BEGIN}\n b\n\n");
        for header in [two.as_str(), "\ngpgsig -----BEGIN PGP SIGNATURE-----\n a\n\n"] {
            assert!(matches!(split(COMMIT.replacen("\n\n", header, 1).as_bytes()).1, Split::Odd));
        }
    }
}
