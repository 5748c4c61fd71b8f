//! Bounds of what coding agents bring, and of the code that memories cite.

/// Bytes of what a coding agent tells a hook at most: a prompt with pasted files fits, or the messages of a session.
pub const HOOK_INPUT_BYTES: usize = 16 << 20;
/// Bytes of a line of a transcript at most: longer ones hold files and pictures, and no turn of a conversation.
pub const TRANSCRIPT_LINE_BYTES: usize = 4 << 20;
/// Bytes of a turn that are looked through for secrets before it is cut to one stimulus.
pub const TURN_BYTES: usize = 64 << 10;
/// Bytes of a transcript that one look reads at most: the next look goes on there.
pub const TRANSCRIPT_BYTES: usize = 32 << 20;
/// Bytes of a text that is looked at for a rule: who gives one is short.
pub const RULE_BYTES: usize = 400;
/// Bytes of one transcript that are read in a row: what is left waits for the next event of its session.
pub const TRANSCRIPT_LOOK: u64 = 256 << 20;
/// Transcripts whose ends are remembered: those of some months. Of an older one all is read again, and found known.
pub const TRANSCRIPTS: usize = 512;
/// Tokens of what a prompt brings to mind: a few memories, which a person does not notice in the bill.
pub const PROMPTED_TOKENS: usize = 300;
/// Bytes of a prompt's beginning and of its end that are asked: what is pasted between them is no question.
pub const PROMPTED_BYTES: usize = 400;
/// Multiple of `origins.influence` that the sessions of one person with one coding agent may bring in a day: people say more than programs should.
pub const SESSION_INFLUENCE: u64 = 10;
/// Bytes of a settings file of a coding agent at most.
pub const CLIENT_FILE_BYTES: usize = 8 << 20;
/// Places of code that a memory cites, at most: each is looked at when it is recalled.
pub const CITES: usize = 8;
/// Places in a text that are tried for being one of code.
pub const MENTIONS: usize = 32;
/// Longest path of a file that is cited, bytes.
pub const CITED_PATH_BYTES: usize = 512;
/// Lines that one citation has, at most: a function, not a file.
pub const CITED_LINES: u32 = 200;
/// Largest file of which lines are cited, bytes: it is read whole when the memory is recalled.
pub const CITED_FILE_BYTES: usize = 512 << 10;
/// Lines that went times lines that came between two versions of a file, at most, that are followed one by one: some milliseconds.
pub const CITED_DIFFERENCE: usize = 1 << 20;
/// Files that came since a citation was made, at most, among which a file that is gone is looked for.
pub const CITED_CANDIDATES: usize = 64;
/// Files that differ between a citation's commit and the present one, at most, where that is done.
pub const CITED_CHANGES: usize = 4_096;
/// Commits of the code's history that one recall goes through to see on which line memories were made.
pub const CODE_COMMITS: usize = 4_096;
