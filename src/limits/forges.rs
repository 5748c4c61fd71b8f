//! Bounds of what is asked of forges.

/// Largest answer of a forge, bytes: a page of thirty long comments. Beyond it something else answers.
pub const FORGE_ANSWER_BYTES: usize = 4 << 20;
/// Pages of one list that are read of a forge: comments of a request that nobody reads any more.
pub const FORGE_PAGES: usize = 50;
/// Bytes of one list of a forge, all pages together.
pub const FORGE_LIST_BYTES: usize = 32 << 20;
/// How long one request to a forge may take unless the settings say otherwise, milliseconds.
pub const FORGE_TIMEOUT_MS: u64 = 30_000;
/// Longest time that settings may ask for, milliseconds.
pub const FORGE_TIMEOUT_MAX_MS: u64 = 600_000;
/// How long a command waits where a forge asks it to come again later, milliseconds; what takes longer is for another day.
pub const FORGE_WAIT_MS: u64 = 60_000;
/// How often one request to a forge is made.
pub const FORGE_TRIES: u32 = 4;
/// Longest `owner/name` of a repository on a forge, bytes.
pub const FORGE_REPOSITORY_BYTES: usize = 255;
/// Longest text of a request, characters: GitHub takes 65,536.
pub const FORGE_BODY_CHARS: usize = 60_000;
/// Longest title of a request, characters: GitLab takes 255.
pub const FORGE_TITLE_CHARS: usize = 200;
/// Longest description of a status, characters: GitHub takes 140.
pub const FORGE_STATUS_CHARS: usize = 140;
/// Longest option of a push, characters: git sends 65,516 bytes in a line, and a character has up to four.
pub const FORGE_OPTION_CHARS: usize = 15_000;
/// Paragraphs of a patch's message: each is an option of a push.
pub const FORGE_PARAGRAPHS: usize = 500;
/// Requests that one command opens or updates without being told which: each is a page for a person to read.
pub const FORGE_REQUESTS: usize = 100;
/// Seconds between a verdict and the note with its words, where a forge keeps them apart: both come from one press of a button.
pub const FORGE_SAME_MOMENT_SECONDS: u64 = 10;
