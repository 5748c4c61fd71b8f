//! Every bound of the product, each with its reason. Nothing else in the tree invents a number that limits input.

mod forges;
mod minds;
mod sessions;

pub use forges::*;
pub use minds::*;
pub use sessions::*;

/// Largest delta document, bytes. A run is a reviewable commit; a megabyte of operations no longer is.
pub const DELTA_BYTES: usize = 1 << 20;
/// Most operations in one delta: what a person can still review, and what one merge decides in milliseconds.
pub const DELTA_OPS: usize = 1_000;
/// Most operations of one run of a reflex: a bulk feed of hundreds of stimuli is one commit and one merge. Each run writes all that it
/// touches and the folders of that, so that few large ones cost a fraction of many small ones. The record of one that has as many, of
/// the longest ids, stays below [`DOCUMENT_BYTES`] in every format.
pub const RUN_OPS: usize = 48_000;
/// Most bytes of texts that one run perceives, but for a single text: its record has each of them.
pub const RUN_BYTES: usize = 1 << 20;
/// Deepest nesting of any JSON that comes from outside: far above need, far below a stack overflow.
pub const JSON_DEPTH: usize = 32;
/// Longest sentence about bad JSON, characters: it quotes a key or a value, and is for people to read.
pub const ERROR_CHARS: usize = 400;
/// Longest id, bytes: keeps `network/neurons/ab/c/<id>.json` portable, also with a `.ack.json` suffix.
pub const ID_BYTES: usize = 64;
/// Longest agent name, bytes: a run id is `<19>-<8>-<agent>` and must itself be an id.
pub const AGENT_NAME_BYTES: usize = ID_BYTES - 19 - 1 - 8 - 1;
/// Longest concept, bytes. An episodic neuron's concept is its text.
pub const CONCEPT_BYTES: usize = 4096;
/// Longest key of a word or phrase, bytes; the rest is cut off. No word of a language is longer, a row of one letter may be,
/// and compatibility normalisation can make eleven bytes of one.
pub const WORD_BYTES: usize = 128;
/// Most memories that a word finds by what stands before their colon: more of them have a speaker, and no label.
pub const LABELLED: usize = 256;
/// Most words beside names that become concepts of one stimulus: recall finds the others in the text, and each neuron is a file.
pub const STIMULUS_TERMS: usize = 4;
/// Most concepts that one stimulus links to: four operations each, so that any stimulus fits in one delta.
pub const STIMULUS_CONCEPTS: usize = 100;
/// Longest stimulus text, bytes: it becomes one episodic neuron's concept.
pub const STIMULUS_BYTES: usize = CONCEPT_BYTES;
/// Wanted size of a piece of a text that is too long for one stimulus, bytes: some five sentences, so that an answer is read at once.
pub const PIECE_BYTES: usize = 800;
/// Most stimuli that one stimulus replaces: it replaces one, unless a person says more.
pub const SUPERSEDED: usize = 64;
/// Older memories that one answer names: each is a file to read.
pub const OLDER: usize = 16;
/// Files that one `feed` reads: a folder of notes has thousands, and a home folder is a mistake.
pub const FED_FILES: usize = 20_000;
/// Longest `source`, `session` or `origin` label, bytes.
pub const LABEL_BYTES: usize = 256;
/// Options of one decision: the answer tells of all of them within one payload.
pub const OPTIONS: usize = 20;
/// Memories of one tree of a deliberation: two halves of them, each of which is asked again for every candidate and its random twins.
pub const DELIBERATED_MEMORIES: usize = 240;
/// Memories up to which a deliberation measures on all of them.
pub const DELIBERATED_WHOLE: usize = 600;

/// Stimuli that are followed from one that replaces to what it replaces.
pub const REPLACED_CHAIN: usize = 1_000;

/// Fewest characters of a run's id that stand for it.
pub const RUN_PART: usize = 4;

/// Cycles that a cycle names as the newest that it knew.
pub const DELIBERATED_AFTER: usize = 64;
/// Amendments of gates that the minds of a cycle are told of, the newest.
pub const DELIBERATED_AMENDMENTS: usize = 8;
/// Bytes of what a hypothesis would do.
pub const DELIBERATED_PAYLOAD_BYTES: usize = 8 << 10;
/// How deep that is nested: a cycle's file holds it some levels down, and is read to [`JSON_DEPTH`].
pub const DELIBERATED_PAYLOAD_DEPTH: usize = 16;
/// Characters of the description of a goal: it stands in every prompt of a deliberation.
pub const DELIBERATED_ABOUT_CHARS: usize = 4000;
/// Files that gates of a deliberation may read: each is hashed before every cycle.
pub const GATE_FILES: usize = 4_096;
/// Bytes of them: a second of hashing.
pub const GATE_DATA_BYTES: u64 = 512 << 20;
/// Bytes of such a file that are read at once.
pub const GATE_PIECE_BYTES: usize = 1 << 20;
/// Candidates of which a cycle asks hidden gates again that gave no answer: each may take as long as its gates may.
pub const GATES_ASKED_AGAIN: usize = 4;
/// Claims that a cycle measures again: a colleague's search of some days, and no more than an evening of gates.
pub const CLAIMS_MEASURED: usize = 64;
/// Bytes of a cycle of a deliberation: proposals, verdicts and gates of some trees, and no more than a run may hold.
pub const DELIBERATION_BYTES: usize = 512 << 10;
/// Longest case, action or effect of a seed of wisdom, bytes: a sentence, because dozens are told at once.
pub const SEED_TEXT_BYTES: usize = 512;
/// Runs that a seed cites: the newest of them say as much as all.
pub const SEED_SOURCES: usize = 16;
/// Seeds that one run teaches and forgets.
pub const TAUGHT_SEEDS: usize = 64;
/// Newest outcomes that count for and against a seed: a world that has changed must be able to outweigh the past.
pub const SEED_OUTCOMES: usize = 64;
/// Newest judgements that wisdom is distilled from.
pub const WISDOM_ENTRIES: usize = 1024;
/// Causes and effects that the causal index holds: pairs grow with the product of both.
pub const CAUSES: usize = 2048;
/// Seeds of one bundle.
pub const BUNDLE_SEEDS: usize = 24;
/// Bytes of a bundle: so many seeds with their sources, twice.
pub const BUNDLE_BYTES: usize = 128 << 10;
/// Days that a bundle is good for, at most.
pub const BUNDLE_DAYS: u32 = 366;
/// Cards, memories and tombstones of subjects that one run enters: so many of the longest texts, in hexadecimal digits, stay below [`DELTA_BYTES`].
pub const SEALED_AT_ONCE: usize = 32;
/// Lengths that texts are filled up to before they are sealed, bytes: which of them it was is all that a ciphertext tells of its length. The last
/// holds the longest concept with its time.
pub const SEALED_BLOCKS: [usize; 6] = [256, 512, 1024, 2048, 4096, 8192];
/// Longest name of a subject, bytes: it fills no more than the first block.
pub const SUBJECT_NAME_BYTES: usize = 200;
/// Bytes of a line that holds the key of a subject, with what may stand around it.
pub const SUBJECT_KEY_LINE_BYTES: usize = 256;
/// Bytes that are sealed at once: all of it is held in memory, so that no word waits in a file.
pub const SEALED_INPUT_BYTES: usize = 1 << 20;
/// Largest signal or acknowledgement payload, bytes of compact JSON.
pub const PAYLOAD_BYTES: usize = 16 << 10;
/// Most connections of one reinforced pathway: propagation never goes deeper.
pub const PATHWAY_EDGES: usize = 64;
/// Most connections that one outcome credits, the pathways of several runs together: sixteen full pathways would be half a delta, and
/// a prediction that states more says nothing about any of them.
pub const CREDITED_EDGES: usize = 512;
/// Most runs before a judged one that get a part of its error: at an eligibility of ½ the sixteenth gets a sixty-thousandth.
pub const CREDITED_RUNS: usize = 16;
/// Most words of a text that is compared with another: comparing costs the words times the difference, and a stimulus has fewer.
pub const COMPARED_WORDS: usize = 2_000;
/// Most ledger entries that a setting may let agents look back on: each is a file to read before they think.
pub const LEDGER_ENTRIES: usize = 4_096;
/// Most bytes of ledger entries in one snapshot: what a program reads on its standard input before it thinks.
pub const LEDGER_BYTES: usize = 1 << 20;
/// Longest text that a review compares word by word, bytes: a concept fits, and comparing costs the words times the difference.
pub const REVIEWED_TEXT_BYTES: usize = 2 * CONCEPT_BYTES;
/// Most statements that a decision keeps in words of what it did not let in: a lesson is read whole by whoever starts.
pub const REVIEW_DECLINED: usize = 20;
/// Largest review record, bytes: its reason is a concept at most, beside the numbers of all operations of a delta and its conflicts.
pub const REVIEW_BYTES: usize = 256 << 10;
/// Longest name and address of a reviewer, bytes.
pub const REVIEWER_BYTES: usize = 320;
/// Most rules of `[review]`: each run of an agent is held against all of them.
pub const REVIEW_RULES: usize = 64;
/// Most reviews that come in at once: a year of a team that decides on fifty runs a day.
pub const REVIEWS_AT_ONCE: usize = 20_000;
/// How long a body that came to the webhook is known again, milliseconds: forges send again within minutes, and a replay after that only
/// makes the bot look once more.
pub const WEBHOOK_WINDOW_MS: u64 = 10 * 60 * 1000;
/// Most bodies that are known again: more than a forge sends in that time.
pub const WEBHOOK_REMEMBERED: usize = 1_024;
/// Questions that a belief diff asks before and after the change: each costs two answers of recall.
pub const REVIEW_QUESTIONS: usize = 4;
/// Most passes of a propagation that runs until it is quiet: halved seeds are below any useful minimum long before.
pub const PASSES: u32 = 64;
/// Largest neuron file to which a run or an import adds, bytes: ten thousand connections of the longest ids.
pub const NEURON_BYTES: usize = 2 << 20;
/// Largest neuron file that is read, bytes: what several sides have added to one neuron has room in a merge. Beyond it a file is not a
/// neuron.
pub const MERGED_NEURON_BYTES: usize = 4 * NEURON_BYTES;
/// Most connections from a concept to which memory adds one by itself. What goes with more than that tells nothing apart, and whoever
/// names it would write them all again.
pub const LINKED_CONCEPTS: usize = 1_024;
/// Largest document of another kind read from the tree (agent, settings, run record), bytes.
pub const DOCUMENT_BYTES: usize = 16 << 20;
/// How far ahead of the receiver's clock a stamp may be, seconds. One clock years ahead would freeze all decay.
pub const FUTURE_SECONDS: i64 = 600;
/// Causal distance from a stimulus beyond which no agent is woken: input, memory, decision.
pub const SPAWN_DEPTH: u32 = 3;
/// Most runs that one stimulus may cause.
pub const RUNS_PER_STIMULUS: u32 = 50;
/// Agents that run side by side in one process.
pub const PARALLEL_RUNS: usize = 8;
/// Time a command agent gets unless its definition says less or more, milliseconds.
pub const COMMAND_TIMEOUT_MS: u64 = 60_000;
/// Longest time a definition may ask for, milliseconds.
pub const COMMAND_TIMEOUT_MAX_MS: u64 = 3_600_000;
/// Connections that a session neuron keeps before turn links stop until the next sleep prunes them.
pub const SESSION_LINKS: usize = 256;
/// Neurons of a day that a sleep keeps in memory between looking at them and writing its record; of more, the rest is read twice.
pub const DAY_NEURONS: usize = 262_144;
/// Bytes of lines in one file of a sleep's record; a bulk import before a sleep fills several.
pub const SLEEP_RECORD_BYTES: usize = 4 << 20;
/// How long a command waits for another process that holds a lock, milliseconds, before it says "busy".
pub const LOCK_WAIT_MS: u64 = 120_000;
/// Most runs of other processes that are merged with one's own: some hundred milliseconds, which all of them wait.
pub const GROUP_RUNS: usize = 64;
/// Bytes of their objects beyond which no more are taken along: the pack of a group is written while all wait.
pub const GROUP_BYTES: u64 = 16 << 20;
/// Largest run that is handed over to another process, bytes of its objects: a larger one costs more than the fsyncs that it saves.
pub const WAITING_BYTES: u64 = 4 << 20;
/// How often a reference update that lost a race is tried again before the command says "busy".
pub const REF_RETRIES: usize = 64;
/// Most commits of one audit: half a million runs. An audit goes on from where the last one was, so only the first is that long.
pub const AUDIT_WALK: usize = 1_000_000;
/// Commits between two states that an audit keeps: a kill costs a few seconds.
pub const AUDIT_STEP: usize = 512;
/// Findings that an audit keeps: whoever has more mends a rule, not commits.
pub const AUDIT_FINDINGS: usize = 10_000;
/// Findings that one acceptance settles: another decision settles more.
pub const AUDIT_ACCEPTS: usize = 1_000;
/// Most commits walked to find what the newest run in a history is.
pub const HISTORY_WALK: usize = 100_000;
/// Commits of wake among which `status` looks for the newest run of each agent.
pub const LOOP_WALK: usize = 2_000;
/// Signals beyond which `status` does not say whose are unanswered.
pub const LOOP_SIGNALS: usize = 50_000;
/// Deepest folder in a tree. The layout needs seven; a hostile tree of 100,000 levels must not exhaust the stack.
pub const TREE_DEPTH: usize = 32;
/// Entries of folders that one walk over a tree finds again at other places. A brain's own folders are each there once, people's files
/// may have copies; some hundred kilobytes of trees made for it have more than there is time to see.
pub const REPEATED_ENTRIES: usize = 100_000;
/// Bytes of a repository's own configuration: a thousand times an ordinary one.
pub const GIT_CONFIG_BYTES: u64 = 1 << 20;
/// Bytes of a private file that is read whole.
pub const PRIVATE_BYTES: u64 = 256 << 20;
/// Longest path in a tree, bytes: ids and folders of the layout stay below 200.
pub const PATH_BYTES: usize = 1024;
/// Bytes of objects that a process remembers, and as many of neurons: the folders and hubs that the runs of a round have in common, many
/// times over.
pub const RECENT_BYTES: usize = 32 << 20;
/// Bytes of objects that libgit2 keeps by itself, all repositories of a process together: what is read often, [`RECENT_BYTES`] has. Its
/// own default, 256 MiB, is what a server would grow to.
pub const GIT_CACHE_BYTES: isize = 16 << 20;
/// Bytes of packs that are mapped at once; libgit2's own bound is 8 GiB, and a large feed would have all of its packs in memory. With an eighth of
/// it, putting together packs of a gigabyte takes half as long again, because each object is mapped anew.
pub const MAPPED_PACK_BYTES: usize = 256 << 20;
/// Bytes of a pack that are mapped together.
pub const PACK_WINDOW_BYTES: usize = 1 << 20;
/// So many small packs are put together into one: what a command writes stands whole until then, and takes several times the room.
pub const JOINED: usize = 8;
/// Packs beyond which they are put together though few of them are small: each look-up of a missing object asks every one of them.
pub const PACKS: usize = 64;
/// The largest commit that is read, bytes: what the program writes stays far below.
pub const COMMIT_BYTES: usize = 4 << 20;
/// The most trailers of a commit: a run may have one for each of [`WINDOW_STIMULI`].
pub const TRAILERS: usize = 20_000;
/// Stimuli of one commit: a batch of any length is durable in steps that a killed `feed` resumes after.
pub const STIMULI_PER_COMMIT: usize = 1_000;
/// Signals that one run answers: each can cost some hundred operations.
pub const SIGNALS_PER_RUN: usize = 2;
/// Neurons that a run of perception raises beside those that it names: the greatest `activation.write_back`.
pub const WRITE_BACK: usize = 64;
/// Neurons that an agent is shown beside the one whose activation woke it, and memories of the day that it is shown before a sleep: an
/// answer of a few hundred operations.
pub const ACTIVE_BESIDE: usize = 64;
/// Files of neurons that are looked at for the memories of a day: a tenth of a second.
pub const DAY_MEMORIES: usize = 4_096;
/// Runs that start from one tip before their results are merged: bounds memory, and how far a snapshot falls behind.
pub const RUNS_PER_ROUND: usize = 64;
/// Commits of wake that are looked at to see how the last rounds branched: four full rounds, or a hundred small ones.
pub const ROUNDS_WALK: usize = 256;
/// Waves that are sent to see how far they reach.
pub const MEASURED_WAVES: usize = 10;
/// Neurons of which the structure of a network is measured: a person waits for it, and each null model costs as much again.
pub const MEASURED_NEURONS: usize = 2_000;
/// Neighbours that one neuron brings into that part: a hub alone must not fill it.
pub const MEASURED_NEIGHBOURS: usize = 32;
/// Null models that a structure is compared with: enough for a deviation.
pub const NULL_MODELS: usize = 10;
/// Neurons of one move of wake that a page is told of: more light the whole picture.
pub const LIT_NEURONS: usize = 2_000;
/// Neurons that a picture shows unless more are asked for: what a person still tells apart on one screen.
pub const DRAWN_NEURONS: usize = 300;
/// Most neurons in one picture: as many dots as a screen has room for, drawn in a moment.
pub const DRAWN_AT_MOST: usize = 200_000;
/// Connections that are drawn from one neuron, the strongest first: more are one grey fan.
pub const DRAWN_CONNECTIONS: usize = 64;
/// Neurons whose names are looked for room for: beyond it there is none.
pub const DRAWN_LABELS: usize = 400;
/// Neurons of a picture that are read from their files, for names and origins; of the others a page asks one by one.
pub const DRAWN_READ: usize = 5_000;
/// Newest entries of the ledger in one chart: more points than a plot has room for.
pub const CHARTED_ENTRIES: usize = 600;
/// Agents with a panel of their own in a chart of the ledger, those with most entries first.
pub const CHARTED_AGENTS: usize = 12;
/// Newest chapters of the story in one chart.
pub const CHARTED_CHAPTERS: usize = 400;
/// Days of a brain in one chart.
pub const CHARTED_DAYS: i64 = 120;
/// Commits of wake that are read for them: a second or two of work.
pub const CHARTED_COMMITS: usize = 20_000;
/// Changed neurons by which these days are counted back from now: a second or two of work.
pub const CHARTED_CHANGES: usize = 200_000;
/// Neurons from which hops are counted in each of them.
pub const MEASURED_SOURCES: usize = 100;
/// Memories of one age that are asked for in a self-test: the share is good to some six points, and a person waits for it.
pub const CLOZES: usize = 60;
/// Changed neurons that are read to see what changed since the last sleep.
pub const MEASURED_CHANGES: usize = 2_000;
/// Newest entries of the ledger that are read for calibration.
pub const MEASURED_ENTRIES: usize = 2_000;
/// Effects of the runs that one run takes back at most: its record has the neurons that go whole, and stays below [`DOCUMENT_BYTES`].
pub const REVERTED_EFFECTS: usize = 4_096;
/// Memories that are ranked where some of the best are not trusted or many say the same, so that these cannot push the others out of
/// sight.
pub const RANKED_WIDELY: usize = 4_096;
/// Memories that are ranked beyond those that are answered, to take the places of those that say the same as others.
pub const SPARE_MEMORIES: usize = 16;
/// Memories of one text that an answer names, the best and those it stands for: each is read.
pub const COPIES: usize = 8;
/// Memories that are tried where tokens bound the answer: as many as recall follows and ranks exactly.
pub const FITTED_MEMORIES: usize = 256;
/// Shortest beginning of an id that names a neuron, characters: of an id that is a hash, 24 bits.
pub const ID_PREFIX_CHARS: usize = 8;
/// Largest input file, bytes: a book is some megabytes, a year of conversations some hundred.
pub const INPUT_BYTES: usize = 1 << 30;
/// Bytes of a file that are read at once.
pub const CHUNK_BYTES: usize = 256 << 10;
/// Bytes of a text that are looked through for secrets at once, and bytes behind them that are seen with them: what is a secret is decided by
/// what follows, and no rule but that of private keys looks further.
pub const REDACTED_BYTES: usize = 1 << 20;
/// See [`REDACTED_BYTES`].
pub const REDACTED_REACH: usize = 64 << 10;
/// Bytes of texts of a feed beyond which the rest waits until these are perceived: several full runs.
pub const WINDOW_BYTES: usize = 4 << 20;
/// The same for the number of stimuli.
pub const WINDOW_STIMULI: usize = 16 * STIMULI_PER_COMMIT;
/// Bytes of texts of one feed that are held in memory; more wait in a file that has no name.
pub const SPOOL_BYTES: usize = 4 << 20;
/// Neurons in a checked-out tree beyond which `doctor` proposes to take them out of it: every `git status` looks at each file.
pub const CHECKED_OUT_NEURONS: usize = 50_000;
/// Files of a folder that is moved in: years of notes have tens of thousands, and a whole disk is a mistake.
pub const MOVED_FILES: usize = 1_000_000;
/// Longest line or note that is moved in, bytes: it is held whole, and longer ones are no memories.
pub const MOVED_BYTES: usize = 64 << 20;
/// Bytes of a file's beginning by which its format is known.
pub const MOVED_HEAD_BYTES: usize = 64 << 10;
/// Files of a folder by whose beginnings its format is known.
pub const MOVED_HEADS: usize = 32;
/// Things that cannot be held which a report names; the rest is counted.
pub const MOVED_UNHELD: usize = 10_000;
/// Names that a note of an export lists: those that its memories are connected with most.
pub const MOVED_NAMES: usize = 64;
/// Most neurons of one run of an import: its record holds what the run did to each, and stays below [`DOCUMENT_BYTES`].
pub const IMPORT_NEURONS: usize = 8_192;
/// Most bytes of the imported document in one run, for the same reason: a record says a connection in up to half as much again.
pub const IMPORT_BYTES: u64 = 6 << 20;
/// Longest text of one neuron in an imported document, bytes: escapes make it longer than the neuron's file.
pub const IMPORT_NEURON_BYTES: usize = MERGED_NEURON_BYTES;
/// Most connections of one run of imported triples, for the same reason.
pub const IMPORT_LINKS: usize = 50_000;
/// Bytes of a snapshot's overlay beyond which, and beyond one [`OVERLAY_SHARE`]th of its base, a new base is made: what follows a
/// run writes the whole overlay again.
pub const OVERLAY_BYTES: usize = 512 << 10;
/// See [`OVERLAY_BYTES`].
pub const OVERLAY_SHARE: usize = 64;
/// Neurons that may differ, beyond one [`OVERLAY_SHARE`]th of all, for a snapshot to follow a tree instead of being made anew.
pub const FOLLOWED_NEURONS: usize = 2_000;
/// The same for a snapshot that is asked once and not kept.
pub const BESIDE_NEURONS: usize = 20_000;
/// Bases of snapshots that are kept, each with what lies over it: wake's, and pasts that were asked since it was made.
pub const SNAPSHOTS: usize = 3;
/// Snapshots of so many bytes are read, in two milliseconds, and larger ones mapped: nothing that happens to a file is felt by who has read it.
pub const READ_SNAPSHOT_BYTES: u64 = 4 << 20;
/// Most bytes of all bases but the newest: a past is kept for speed alone, and not where it takes as much room as the texts.
pub const PAST_SNAPSHOT_BYTES: u64 = 8 << 20;
/// Bytes of wake's reflog, some hundred moves, beyond which it forgets its older half: history itself has them.
pub const WAKE_REFLOG_BYTES: u64 = 16 << 10;
/// Overlays that are kept: the newest, and the one before it for whoever is reading it. Each has all that differs from its base.
pub const OVERLAYS: usize = 2;
/// Neurons that may differ from the newest kept snapshot before the command that changed them makes the next one: fewer are followed
/// by the first question in a few milliseconds.
pub const UNFOLLOWED_NEURONS: usize = 500;
/// Files that may differ, from where `status` found all readable, for it to look at them again: each takes its folder's tree twice, 10 KB
/// at a million neurons.
pub const STATUS_FILES: usize = 1_000;
/// Neurons of a brain beyond which `status` tells the vital signs that were taken last: a hundred questions to a larger one take more
/// than a moment.
pub const VITALS_AT_ONCE: usize = 5_000;
/// Files that cannot be read and are told one by one: more than a person corrects by hand, and a screen.
pub const TOLD_FILES: usize = 20;
/// Most bytes of a small document in the cache: of a run that waits it has some 170, of the vital signs of any brain some kilobytes.
pub const CACHED_DOCUMENT_BYTES: u64 = 4 << 20;
/// Heaps of the C library's allocator: what threads leave in them is not given back.
pub const HEAPS: i32 = 2;
/// Free bytes at the end of a heap that are kept.
pub const HEAP_SLACK_BYTES: i32 = 32 << 20;
/// Age from which a half-written file of the cache is a killed process's, seconds.
pub const LEFTOVER_SECONDS: u64 = 3_600;
/// Time that an answer waits for embeddings unless a setting says less or more, milliseconds: a question takes a local model tens of
/// them and a remote one hundreds; what is left brings memories in that have no vector yet.
pub const EMBEDDINGS_TIMEOUT_MS: u64 = 10_000;
/// Longest time that a setting may ask for, milliseconds.
pub const EMBEDDINGS_TIMEOUT_MAX_MS: u64 = 600_000;
/// Texts of one request for embeddings: the smallest bound among common servers.
pub const EMBEDDING_BATCH: usize = 32;
/// Memories that one recall gets vectors for, at most: what a person asked one question for must not cost a year of memories at once.
pub const EMBEDDED_PER_RECALL: usize = 2_048;
/// Largest answer of an endpoint for embeddings, bytes: a batch of the longest vectors with twenty digits a number is half of it.
pub const EMBEDDINGS_BYTES: usize = 32 << 20;
/// Most numbers of one vector: four times those of the longest that are offered.
pub const EMBEDDING_DIMENSIONS: usize = 16_384;
/// How often a request for embeddings is made again that failed for a reason that may pass.
pub const EMBEDDING_RETRIES: usize = 2;
/// Longest text of a chapter of the narrative, bytes: some pages, which is what a person reads of a night's story.
pub const CHAPTER_TEXT_BYTES: usize = 16 << 10;
/// Most claims of one chapter: beyond some thousand judgements between two sleeps the file would no longer be read by anybody.
pub const CHAPTER_CLAIMS: usize = 4_096;
/// Entries of the ledger that a narrator is shown: some hundred bytes each, together what a small model's context takes.
pub const NARRATOR_ENTRIES: usize = 200;
/// Longest answer of a narrator, bytes: the longest text, escaped, and the most claims.
pub const NARRATION_BYTES: usize = 512 << 10;
/// Longest memory that `serotonin.memory` may ask for, judgements: a confidence that nothing moves any more says nothing.
pub const CONFIDENCE_MEMORY: u32 = 10_000;
/// Most days that `demo --days` lives: a year, which takes some minutes.
pub const DEMO_DAYS: u64 = 366;
/// How often a sync that somebody else outran fetches and merges again: each round takes the place of one that succeeded elsewhere.
pub const SYNC_ROUNDS: usize = 32;
/// Longest first pause of such a sync, milliseconds; it doubles six times, to some seconds.
pub const SYNC_PAUSE_MS: u64 = 50;
/// Runs that the commit by which two machines' wakes are merged names; the tree has all.
pub const NAMED_RUNS: usize = 64;
/// Faults that a refusal of what comes from elsewhere names: whoever mends them begins with the first.
pub const NAMED_FAULTS: usize = 20;
/// Newest commits whose signatures `doctor` verifies, each by a process of its own; `check` verifies all.
pub const SIGNATURES_LOOKED_AT: usize = 100;
/// Branches of one push that the gate of a remote looks at: far more than wait for review at a time.
pub const PUSHED_REFS: usize = 10_000;
/// Processes that one command agent may have at a time: what a build or a browser needs, and a fork bomb is far beyond at once.
pub const CHILD_PROCESSES: usize = 128;
/// Bytes of memory that all processes of a command agent together may have unless its definition says otherwise: what a runtime with a
/// large heap asks for, and a machine with few gigabytes survives.
pub const CHILD_MEMORY_MB: u64 = 4 << 10;
/// Most that a definition may ask for, MiB.
pub const CHILD_MEMORY_MAX_MB: u64 = 1 << 20;
/// Largest file that a command agent may write, bytes.
pub const CHILD_FILE_BYTES: u64 = 1 << 30;
/// Room of a command agent's own folder, bytes: as much as the largest file in it. In namespaces it is memory.
pub const CHILD_FOLDER_BYTES: u64 = 1 << 30;
/// Files and folders in a command agent's own folder, where it is memory: what an archive of sources unpacks to.
pub const CHILD_FOLDER_FILES: u64 = 100_000;
/// Files that each process of a command agent may have open: what systems give by default.
pub const CHILD_FILES: u64 = 1024;
/// Bytes that the queue of a socket holds where the kernel does not say: its own default.
pub const CHILD_SOCKET_BYTES: u64 = 212_992;
/// Bytes that a pipe holds: the kernel's default.
pub const CHILD_PIPE_BYTES: u64 = 64 << 10;
/// Folders and files that a definition may list to be read, or to be written.
pub const CHILD_PATHS: usize = 64;
/// How deep in a folder of a chat git folders are looked for, to hide them from programs: `SRC/GROUP/PROJECT/.git`.
pub const TOOL_GIT_DEPTH: usize = 4;
/// Files and folders that are looked at for that, at most.
pub const TOOL_GIT_ENTRIES: usize = 20_000;
/// How often a command agent's processes are counted, milliseconds: looking costs the machine's processes.
pub const CHILD_LOOK_MS: i64 = 100;
/// How long killing what a command agent has started may take, milliseconds, before its supervisor itself is killed.
pub const CHILD_KILL_MS: u64 = 4_000;
/// Calls of programs and models on one day unless a setting says less or more: a mistake costs a day's budget and not a month's.
pub const TURNS_PER_DAY: u64 = 10_000;
/// Calls of programs and models that one stimulus may cause unless a setting says less or more: as many as its runs.
pub const TURNS_PER_STIMULUS: u64 = RUNS_PER_STIMULUS as u64;
/// Shortest value of a variable that is a secret, bytes: a shorter one stands in any text by chance.
pub const SECRET_BYTES: usize = 8;
/// Longest answer that a model is asked for unless a setting says otherwise, tokens: a delta of some dozen operations.
pub const MODEL_ANSWER_TOKENS: u32 = 2048;
/// What a model is taken to read and write in one exchange unless a setting says otherwise, tokens: what small local models can.
pub const MODEL_CONTEXT_TOKENS: u32 = 8192;
/// Most tokens that a setting may say: beyond any model of today.
pub const MODEL_CONTEXT_MAX_TOKENS: u32 = 16 << 20;
/// How long one exchange with a model may take unless a setting says otherwise, milliseconds: a long answer of a slow machine.
pub const MODEL_TIMEOUT_MS: u64 = 120_000;
/// Longest that a setting may say, milliseconds.
pub const MODEL_TIMEOUT_MAX_MS: u64 = 3_600_000;
/// How often a model is asked again after a failure that may pass.
pub const MODEL_RETRIES: u32 = 2;
/// Most often.
pub const MODEL_RETRIES_MAX: u32 = 10;
/// Largest answer of a model's endpoint, bytes, with all that its protocol adds: far beyond any text that is asked for.
pub const MODEL_REPLY_BYTES: usize = 8 << 20;
/// Longest text of a model's reply that is kept, bytes: as long as a delta may be.
pub const MODEL_TEXT_BYTES: usize = DELTA_BYTES;
/// Tools that one reply may call.
pub const MODEL_CALLS: usize = 32;
/// How often a model may answer once more when its answer is refused.
pub const MODEL_REPAIRS: u32 = 1;
/// Most often.
pub const MODEL_REPAIRS_MAX: u32 = 5;
/// Longest template of a prompt, bytes.
pub const PROMPT_BYTES: usize = 64 << 10;
/// Times that a model may say the same in a row before its answer is broken off: a refrain is said less often.
pub const GUARD_REPEATS: usize = 8;
/// Bytes that a repetition has at least before it is one: a line across a page is shorter.
pub const GUARD_REPEATED_BYTES: usize = 512;
/// Longest text whose repetition is noticed, bytes: a paragraph.
pub const GUARD_UNIT_BYTES: usize = 512;
/// Calls of models that one answer of the chain may take unless a setting says less or more: where fifteen were tried, the
/// rest were loops.
pub const CHAIN_TURNS: u32 = 8;
/// Most that a setting may ask for, in all and of one step.
pub const CHAIN_TURNS_MAX: u32 = 64;
/// Most steps of the chain: each waits for the one before.
pub const CHAIN_STEPS: usize = 16;
/// Characters from which on a message is long, unless a setting says otherwise.
pub const CHAIN_LONG_CHARS: u32 = 200;
/// Calls of tools that fail in a row before the step is stopped.
pub const CHAIN_FAILURES: u32 = 3;
/// Calls of tools of one reply that are carried out; a small model in a loop writes hundreds.
pub const CALLS_PER_REPLY: usize = 8;
/// Longest part of one tool's result that a model is shown, bytes: some thousand tokens.
pub const TOOL_RESULT_BYTES: usize = 16 << 10;
/// Most bytes of data (memories, results, what other steps said) that one step is shown: what a small model's context takes.
pub const CHAIN_DATA_BYTES: usize = 48 << 10;
/// Longest text of one step that is kept: an answer is for a person to read.
pub const CHAIN_REPLY_BYTES: usize = 64 << 10;
/// Longest message to a chat, bytes: as many stimuli as a person still reads again.
pub const CHAT_MESSAGE_BYTES: usize = 64 << 10;
/// Longest name of a conversation, bytes: with a prefix it is a label.
pub const CONVERSATION_BYTES: usize = 128;
/// Turns of a conversation before the present one that models are shown.
pub const CHAT_HISTORY: usize = 12;
/// Memories that an answer begins with, and most that one `recall` of a tool brings.
pub const CHAT_MEMORIES: usize = 10;
/// Memories of a brain that is small: a word is not taken for common because there is little beside it.
pub const SMALL_BRAIN: usize = 100;
/// Neurons that one look of a tool into the network lists.
pub const TOOL_NEURONS: usize = 50;
/// Entries of a folder that a tool lists.
pub const TOOL_ENTRIES: usize = 500;
/// Largest file that a tool reads or writes, bytes.
pub const TOOL_FILE_BYTES: usize = 100 << 10;
/// How long a tool that changes something waits for a person to confirm it, milliseconds.
pub const CONFIRM_MS: u64 = 60_000;
/// How long a model may be silent before whoever listens is asked whether it still does, milliseconds: a person who has gone away is
/// noticed within a second, and a line each second loads nothing.
pub const LISTENER_LOOK_MS: u64 = 1_000;
/// Time that a program gets which a tool starts, milliseconds.
pub const TOOL_EXEC_MS: u64 = 60_000;
/// Tokens of an answer to a client of a tool protocol that asks for no other number: it is read into a model's context.
pub const CLIENT_TOKENS: usize = 1_000;
/// Fewest and most that it may ask for. Below, no citation has room; above, no context is served by one answer.
pub const CLIENT_TOKENS_LEAST: usize = 150;
/// See [`CLIENT_TOKENS_LEAST`].
pub const CLIENT_TOKENS_MOST: usize = 20_000;
/// Memories of one question that a client may page through.
pub const CLIENT_MEMORIES: usize = 100;
/// Texts that a client remembers by one call, and bytes of them together: some pages of a transcript.
pub const CLIENT_TEXTS: usize = 100;
/// See [`CLIENT_TEXTS`].
pub const CLIENT_BYTES: usize = 256 << 10;
/// Ids of new memories that one answer names.
pub const CLIENT_IDS: usize = 50;
/// Origins whose statements wait for approval that one answer names: each with the command that approves it.
pub const CLIENT_ORIGINS: usize = 16;
/// Lines of changes that one answer names.
pub const CLIENT_LINES: usize = 40;
/// Longest name of a client, bytes: with `mcp-` or `http-` before it, it is an agent's.
pub const CLIENT_NAME_BYTES: usize = AGENT_NAME_BYTES - 5;
/// Characters of a commit's id in a citation.
pub const CITED_COMMIT: usize = 12;
/// Longest line of a client on standard input, bytes: the texts of one call, escaped.
pub const MCP_LINE_BYTES: usize = 2 << 20;
/// Calls of clients that one server carries out at a time; others wait.
pub const MCP_CALLS: usize = 8;
/// Sessions by HTTP that are open at a time: each may hold a body's worth of what its client says of itself.
pub const MCP_SESSIONS: usize = 64;
/// Largest body of a request by HTTP, bytes: some messages of [`CHAT_MESSAGE_BYTES`], whatever they are escaped to.
pub const HTTP_BODY_BYTES: usize = 1 << 20;
/// Connections that one server has open at a time, if the process may have four times as many files open: a browser has six for one page.
/// Beyond them the one that has been silent for longest is dropped.
pub const HTTP_CONNECTIONS: usize = 64;
/// Time that the head of a request may take to come in, milliseconds, and a connection may be silent between two.
pub const HTTP_HEAD_MS: u64 = 10_000;
/// Pause after a connection that could not be accepted, milliseconds: there are too many open files.
pub const HTTP_PAUSE_MS: u64 = 50;
/// Time that the body of a request may take to come in, milliseconds: it comes from this machine.
pub const HTTP_BODY_MS: u64 = 10_000;
/// Answers that one server makes at a time: each has a thread, and models of its own.
pub const HTTP_CHATS: usize = 8;
/// Events of an answer that wait for a listener who reads slowly.
pub const HTTP_EVENTS: usize = 256;
/// Time between signs of life while an answer is on its way, milliseconds: proxies and browsers wait for half a minute and more.
pub const HTTP_ALIVE_MS: u64 = 15_000;
/// Time that requests under way have left when a server is stopped, milliseconds.
pub const HTTP_LEAVE_MS: u64 = 3_000;
/// Pages that may watch a brain at a time: each is a connection that stays, and looks at the refs a few times a second.
pub const HTTP_WATCHERS: usize = 16;
/// Time between two looks at the refs for who watches, milliseconds: as soon as a person notices, and a thousandth of a processor.
pub const HTTP_PULSE_MS: u64 = 400;
/// Pictures of the network that a server keeps, and their bytes together: a page goes back and forth between a few.
pub const HTTP_PICTURES: usize = 32;
/// See [`HTTP_PICTURES`].
pub const HTTP_PICTURE_BYTES: usize = 32 << 20;
/// Entries of the log that a page asks for at once: what its slider and its list can show.
pub const HTTP_HISTORY: usize = 200;
/// Entries of the ledger that a page asks for at once, and those that it shows by itself.
pub const HTTP_LEDGER: usize = 100;
/// See [`HTTP_LEDGER`].
pub const HTTP_LEDGER_USUAL: usize = 20;
/// Turns of a conversation that a page shows again.
pub const VIEW_TURNS: usize = 100;
/// Connections of a neuron whose targets a page names by their concepts.
pub const VIEW_CONCEPTS: usize = 100;
/// Neurons whose names a page asks for at once: the rows of a table, or the dots in sight; each is a file to read.
pub const VIEW_NAMES: usize = 200;
/// Changes of a neuron that a page lists.
pub const VIEW_TOUCHES: usize = 50;
/// Commits in which they are looked for: some seconds of work.
pub const VIEW_COMMITS: usize = 20_000;
/// Lines of what a commit changed that a page shows.
pub const VIEW_LINES: usize = 500;
/// Memories that an extractive answer quotes, and turns of conversations: more is a list, which `recall` prints.
pub const EXTRACTED_QUOTES: usize = 3;
