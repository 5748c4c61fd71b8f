//! Bounds of councils, and of the integrity of minds.

/// Members of a council at most: pairs are compared, so the cost grows with the square.
pub const COUNCIL_MEMBERS: usize = 64;
/// Bytes of a reasoning at most: longer ones cost time in every pair, and no reader follows them.
pub const COUNCIL_REASONING_BYTES: usize = 16 * 1024;
/// Items of evidence in one vote at most: as many as a voter can have been shown.
pub const COUNCIL_EVIDENCE_ITEMS: usize = 64;
/// Bytes of one item of evidence at most: an item is a pointer or a quotation, not a document.
pub const COUNCIL_EVIDENCE_BYTES: usize = 4 * 1024;
/// Bytes of the content of a message at most: a vote of the largest size, written as JSON, fits.
pub const COUNCIL_CONTENT_BYTES: usize = 1024 * 1024;
/// Age and lead of a message's timestamp at most: ids of this span are remembered, and clocks differ by less.
pub const COUNCIL_WINDOW_MS: i64 = 5 * 60 * 1000;
/// Memories that a council is shown as evidence: a third goes to all, and the rest makes slices of some items each.
pub const COUNCIL_MEMORIES: usize = 24;
/// Seconds that the members of a council have by default: a model thinks for some, a program may start slowly.
pub const COUNCIL_TIMEOUT_S: u64 = 60;
/// Milliseconds after the deadline of seals in which votes are opened: they are here, and opening takes no time.
pub const COUNCIL_OPEN_MS: i64 = 60 * 1000;
/// Bytes of `/etc/hosts` at most. Names of a longer one are not looked for.
pub const HOSTS_BYTES: usize = 1024 * 1024;
/// The longest time from the call of a council to its verdict.
pub const COUNCIL_LASTS_MS: i64 = 24 * 60 * 60 * 1000;
/// Bytes of a question at most: a page. Longer material belongs into memories.
pub const COUNCIL_QUESTION_BYTES: usize = 8 * 1024;
/// Bytes of the question about a run that a council decides on, at most: it is shown whole or not at all, and a model reads it in one go.
pub const COUNCIL_RUN_BYTES: usize = 64 * 1024;
/// Bytes of the record of a council at most: sixteen votes of the longest reasoning, each written out twice with its evidence, fit.
pub const COUNCIL_RECORD_BYTES: usize = 2 << 20;
/// Bytes of a document of members at most: sixty-four members with roles of their own.
pub const COUNCIL_DOCUMENT_BYTES: usize = 256 << 10;
/// Votes that one reply of a program is read for at most: the first counts, the others are refused one by one.
pub const COUNCIL_REPLIES: usize = 16;
/// Councils that a page shows at once: each is a card for a person to read.
pub const COUNCILS_SHOWN: usize = 20;
/// Councils that wait for a person which the status of a client names: each costs the client's context a line.
pub const COUNCILS_TOLD: usize = 5;
/// Past councils whose outcomes are compared or that asked the same question, and outcomes of the ledger that a rule looks at.
pub const COUNCIL_HISTORY: usize = 1_000;
/// Milliseconds after which `git brain run` asks a council about a run again of which too few members voted: an endpoint that is down for longer
/// costs one record an hour.
pub const COUNCIL_AGAIN_MS: i64 = 60 * 60 * 1000;
/// Councils that one run of an agent holds at most: each may ask several models. Signals beyond them are answered by the next run.
pub const COUNCILS_PER_RUN: usize = 4;
/// Councils of one document on one commit of which too few members voted: the votes of those who did could be rolled until they please.
pub const COUNCIL_TRIES: usize = 2;
/// Locks for asking councils that decide on runs: their files stay, and councils of different runs seldom wait for each other.
pub const COUNCIL_LOCKS: u8 = 16;
/// Replies that steer a prompt by default: a day of conversation, and enough tokens for rates.
pub const INTEGRITY_REPLIES: usize = 20;
/// Replies that steer a prompt at most: older ones say how a model was, and not how it is.
pub const INTEGRITY_REPLIES_MAX: usize = 200;
/// Commits of wake in which the last replies of a mind are looked for: some milliseconds, however long the history is.
pub const INTEGRITY_WALK: usize = 1_000;
/// Bytes between two looks of a guard at what a model has said so far: a sentence or two.
pub const INTEGRITY_LOOK_BYTES: usize = 64;
/// The longest rest of a sentence, in bytes, that a model may end before it is corrected.
pub const INTEGRITY_SENTENCE_BYTES: usize = 400;
