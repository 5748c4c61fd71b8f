//! Keys of the members of councils: ed25519, one file each, outside any repository, readable by their owner alone. Made when first needed.
//!
//! A weakness: all keys of one user lie side by side, so a signature tells which machine asked, and not that members are apart. A program that
//! signs with a key of its own is told from others by more.

use std::io::Write;
use std::path::{Path, PathBuf};

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use super::World;
use crate::model::ids::hex_hash;

/// Bytes of a seed of a key.
const SEED: usize = 32;

/// A failure to read or make a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is no place outside the repository.
    #[error("neither HOME nor XDG_STATE_HOME is set, so there is no place for the keys of a council")]
    NoPlace,
    /// The key could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is no key.
    #[error("{path} is no key of 32 bytes; remove it, and a new one is made")]
    Damaged {
        /// The file.
        path: String,
    },
    /// The system gives no randomness.
    #[error("the system gives no random bits: {0}")]
    Random(String),
}

/// A key of a member.
#[derive(Debug)]
pub struct MemberKey(Ed25519KeyPair);

impl MemberKey {
    /// The key of a member of the brain with that private git folder; made where there is none.
    ///
    /// # Errors
    /// It cannot be read or made, or the file is damaged.
    pub fn of(world: &World, brain: &Path, member: &str) -> Result<Self, KeyError> {
        let folder = world.state_dir().ok_or(KeyError::NoPlace)?.join("council");
        let folder = folder.join(hex_hash(brain.display().to_string().as_bytes(), 16));
        let path = folder.join(format!("{}.key", hex_hash(member.as_bytes(), 16)));
        let fail = |source| KeyError::File { path: path.display().to_string(), source };
        let seed = match std::fs::read(&path) {
            Ok(seed) => seed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => make(&folder, &path)?,
            Err(error) => return Err(fail(error)),
        };
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
        pair.map(Self).map_err(|_| KeyError::Damaged { path: path.display().to_string() })
    }

    /// The public key, 64 hexadecimal digits.
    pub fn public(&self) -> String {
        hex(self.0.public_key().as_ref())
    }

    /// The signature over bytes, 128 hexadecimal digits.
    pub fn sign(&self, bytes: &[u8]) -> String {
        hex(self.0.sign(bytes).as_ref())
    }
}

/// Whether a signature over bytes is that of a public key; both in hexadecimal digits.
pub fn is_signed(key: &str, bytes: &[u8], signature: &str) -> bool {
    let (Some(key), Some(signature)) = (unhex(key), unhex(signature)) else { return false };
    if is_of_small_order(&key) {
        return false;
    }
    UnparsedPublicKey::new(&ED25519, key).verify(bytes, &signature).is_ok()
}

/// Whether a key is a point of small order, for which anybody can sign: all encodings of the eight, without the sign of x.
fn is_of_small_order(key: &[u8]) -> bool {
    const POINTS: [&str; 7] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    let mut plain = key.to_vec();
    if let Some(last) = plain.last_mut() {
        *last &= 0x7f;
    }
    POINTS.iter().any(|point| unhex(point).as_ref() == Some(&plain))
}

/// Makes a seed, whole or not at all. Where two processes make it at once, the first stands.
fn make(folder: &Path, path: &PathBuf) -> Result<Vec<u8>, KeyError> {
    let fail = |source| KeyError::File { path: path.display().to_string(), source };
    let mut seed = [0_u8; SEED];
    getrandom::fill(&mut seed).map_err(|error| KeyError::Random(error.to_string()))?;
    std::fs::create_dir_all(folder).map_err(fail)?;
    // A temporary file of this crate is made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    file.write_all(&seed).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(seed.to_vec()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => std::fs::read(path).map_err(fail),
        Err(error) => Err(fail(error.error)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    is_hex.then(|| (0..text.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_made_once_and_signs() {
        let folder = tempfile::tempdir().unwrap();
        let world = World::default().with_state_dir(folder.path().to_owned());
        let key = |member| MemberKey::of(&world, Path::new("/brain"), member).unwrap();
        let (one, again, other) = (key("a"), key("a"), key("b"));
        assert_eq!(one.public(), again.public());
        assert_ne!(one.public(), other.public());
        let signature = one.sign(b"vote");
        assert!(is_signed(&again.public(), b"vote", &signature));
        assert!(!is_signed(&other.public(), b"vote", &signature));
        assert!(!is_signed(&one.public(), b"other", &signature));
        assert!(!is_signed("é", b"vote", "zz"));
        // The neutral point as key, and a signature that it verifies for any text.
        let neutral = format!("01{}", "0".repeat(62));
        assert!(!is_signed(&neutral, b"vote", &format!("{neutral}{}", "0".repeat(64))));
    }

    #[cfg(unix)]
    #[test]
    fn key_is_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let world = World::default().with_state_dir(folder.path().to_owned());
        MemberKey::of(&world, Path::new("/brain"), "a").unwrap();
        let files = walkdir::WalkDir::new(folder.path()).into_iter().map(Result::unwrap);
        let files: Vec<_> = files.filter(|entry| entry.file_type().is_file()).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
