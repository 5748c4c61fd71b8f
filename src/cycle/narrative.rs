//! The narrative: from the ledger of a tree to a chapter. Sleep asks for it and writes the file; `git brain story` shows what
//! was told and what would be.
//!
//! A path of its own: it reads `network/ledger`, `network/goals` and `network/narrative`, and writes nothing. Nothing of the
//! cycle but sleep calls it, and no stage reads what it returns; `tests/architecture.rs` holds that.

use std::collections::BTreeMap;

use super::error::left_alone;
use super::ledger::{as_told, taken_back};
use super::one_answer::{Wanted, bad_template};
use super::{Cycle, CycleError, Member, goals};
use crate::chemistry::serotonin::{self, Brief, Chapter, Narration, Slice};
use crate::cognition::chain::quoted;
use crate::cognition::exchange::{Form, Message, Voice};
use crate::cognition::{AgentSummary, Snapshot, llm};
use crate::delta::{LedgerEntry, Method};
use crate::model::document::{Cognition, GoalLevel};
use crate::model::ids::{AgentName, RunId};
use crate::model::layout::{self, Place};
use crate::model::{Stamp, json};
use crate::store::{BlobId, File, StoreError, TreeId};
use crate::text::tokens;

/// The agent that tells the story, if there is one of that name that a person trusts and that thinks with a program or a model.
pub const NARRATOR: &str = "narrator";

/// What a model is told that narrates, unless a person has written `agents/narrator.prompt.md`.
const PROMPT: &str = include_str!("narrator.prompt.md");

impl Cycle {
    /// The chapter that the sleep `sleep_run` tells of the ledger in `tree`: what is new in it since the chapter before. `None`
    /// if nothing is, or `serotonin.enabled` is off. Nothing is written; the file is [`layout::chapter`] of the sleep.
    ///
    /// A trusted agent `narrator` that is a program or a model tells it; without one, or if it fails, the template does, with a note.
    pub fn tell(&self, tree: TreeId, sleep_run: &RunId, at: Stamp) -> Result<Option<Chapter>, CycleError> {
        self.tell_by(tree, sleep_run, at, true)
    }

    /// The same, by the template alone if `narrator` is false: no program runs then.
    pub fn tell_by(&self, tree: TreeId, run: &RunId, at: Stamp, narrator: bool) -> Result<Option<Chapter>, CycleError> {
        let settings = &self.shared.policy.settings.serotonin;
        if !settings.enabled {
            return Ok(None);
        }
        let previous = self.chapters(tree, 1)?.pop();
        let entries = self.new_entries(tree, previous.as_ref())?;
        if entries.is_empty() {
            return Ok(None);
        }
        let goals = self.aims(tree)?;
        let ledger = self.store.folder(tree, layout::LEDGER)?.map(|id| id.to_string());
        let slice =
            Slice { run: run.clone(), at, entries: &entries, previous: previous.as_ref(), goals: &goals, ledger };
        let template = serotonin::told(&slice, settings);
        Ok(Some(if narrator { self.narrate(&slice, template) } else { template }))
    }

    /// The newest chapters of a tree, at most `most`, oldest first. Folders are dated and entered newest first, so that the
    /// cost is that of what is returned.
    pub fn chapters(&self, tree: TreeId, most: usize) -> Result<Vec<Chapter>, CycleError> {
        let mut found = Vec::new();
        for (path, file) in self.newest(tree, most)?.into_iter().rev() {
            found.extend(left_alone(&self.store, Chapter::decode(&self.store.read_file(file, &path)?, &path))?);
        }
        Ok(found)
    }

    /// Files of the newest chapters, newest first.
    fn newest(&self, tree: TreeId, most: usize) -> Result<Vec<(String, File)>, CycleError> {
        let mut days = Vec::new();
        for year in self.store.folders(tree, layout::NARRATIVE)? {
            for month in self.store.folders(tree, &year)? {
                days.extend(self.store.folders(tree, &month)?);
            }
        }
        let mut found: Vec<(String, File)> = Vec::new();
        for day in days.iter().rev() {
            if found.len() >= most {
                break;
            }
            let mut of_day: BTreeMap<RunId, (String, File)> = BTreeMap::new();
            for (path, file) in self.store.files(tree, day)? {
                if let Place::Chapter(run) = Place::of(&path) {
                    of_day.insert(run, (path, file));
                }
            }
            found.extend(of_day.into_values().rev());
        }
        found.truncate(most);
        Ok(found)
    }

    /// The entries of the ledger that the chapter before did not have, oldest first.
    ///
    /// The chapter names the ledger's folder as it was, so that a judgement counts that was made before it and merged after it.
    /// Where git no longer has that folder, as in a shallow clone, entries after its last one are new.
    fn new_entries(&self, tree: TreeId, previous: Option<&Chapter>) -> Result<Vec<LedgerEntry>, CycleError> {
        let Some(now) = self.store.folder(tree, layout::LEDGER)? else { return Ok(Vec::new()) };
        let then = previous.and_then(|p| p.ledger.as_deref()).and_then(|id| TreeId::parse(id).ok());
        let (changes, after) = match then.map(|then| self.store.diff(Some(then), Some(now), "")) {
            Some(Ok(changes)) => (changes, None),
            None | Some(Err(StoreError::Missing { .. })) => {
                (self.store.diff(None, Some(now), "")?, previous.and_then(|p| p.until.clone()))
            }
            Some(Err(error)) => return Err(error.into()),
        };
        let mut found: BTreeMap<RunId, BlobId> = BTreeMap::new();
        for change in changes {
            let path = format!("{}/{}", layout::LEDGER, change.path);
            let (Place::Ledger(run), Some(file), None) = (Place::of(&path), change.new, change.old) else { continue };
            if after.as_ref().is_none_or(|after| run > *after) {
                found.insert(run, file.blob);
            }
        }
        let mut entries = Vec::with_capacity(found.len());
        let back = taken_back(&self.store, tree, found.keys().next())?;
        for (run, blob) in found.into_iter().filter(|(run, _)| !back.contains(run)) {
            let entry = LedgerEntry::decode(&self.store.blob(blob)?, &layout::ledger(&run));
            let Some(entry) = left_alone(&self.store, entry)? else { continue };
            if entry.method != Method::Unjudged {
                entries.push(as_told(&self.store, tree, entry)?);
            }
        }
        Ok(entries)
    }

    fn narrate(&self, slice: &Slice<'_>, template: Chapter) -> Chapter {
        let noted = |why: String| {
            let mut chapter = template.clone();
            chapter.notes.push(format!("told by the template: {}", clipped(&why)));
            chapter
        };
        let name = AgentName::parse(NARRATOR).expect("invariant: a literal name");
        let Some(member) = self.shared.policy.agents.get(&name) else { return template };
        if !member.trusted {
            return noted(format!("{} is not trusted on this machine", member.path));
        }
        let brief = Brief::of(slice, &template);
        let told = match &member.agent.cognition {
            Cognition::Command { .. } => self.ask(member, json::pretty(&brief)),
            Cognition::Llm { model, repairs } => {
                self.ask_model(member, model, *repairs, brief).map_err(|e| e.to_string())
            }
            _ => Err(format!("the agent {NARRATOR} is neither a program nor a model")),
        };
        match told {
            Ok(narration) => serotonin::narrated(template, &name, narration, slice.entries),
            Err(why) => noted(why),
        }
    }

    /// Asks the narrator. What is wrong with its answer is a text for a note: nothing that it does can keep a sleep from ending.
    fn ask(&self, member: &Member, input: Vec<u8>) -> Result<Narration, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        let said = runtime.block_on(self.shared.ask(&member.agent.name, &[], &member.agent.cognition, input));
        let said = said.map_err(|e| e.to_string())?.map_err(|exhausted| exhausted.to_string())?;
        Narration::parse(&said, "the narrator's answer").map_err(|e| e.to_string())
    }

    /// The same of a model: the brief is data, as much of it as the model can read, the newest entries first.
    fn ask_model(&self, member: &Member, model: &str, repairs: u32, mut brief: Brief) -> Result<Narration, CycleError> {
        let (agent, caps) = (&member.agent.name, &member.agent.capabilities);
        let nothing = Snapshot {
            run: RunId::new(self.shared.world.now_ms(), 0, agent),
            agent: agent.clone(),
            at: brief.at,
            trigger: "sleep".to_owned(),
            stimuli: Vec::new(),
            signals: Vec::new(),
            active: Vec::new(),
            flags: Vec::new(),
            answers: Vec::new(),
            raised: Vec::new(),
            agents: vec![AgentSummary { name: agent.clone(), role: member.agent.role.clone() }],
            counsel: Vec::new(),
            neurons: Vec::new(),
            ledger: Vec::new(),
            goals: Vec::new(),
        };
        let (template, path) = Self::template(Some(member), PROMPT);
        let mut messages = llm::messages(&nothing, caps, template, 0).map_err(|e| bad_template(path, e))?;
        messages.truncate(1);
        let room = self.room_for(model)? as usize;
        let taken: usize = messages.iter().map(|message| tokens(&message.text)).sum();
        let data = loop {
            let data = quoted(&String::from_utf8_lossy(&json::pretty(&brief)));
            if taken + tokens(&data) <= room || !brief.shorten() {
                break data;
            }
        };
        messages.push(Message::new(Voice::User, format!("[data: the brief]\n{data}")));
        let form = Form { name: "narration".to_owned(), schema: Narration::schema(&brief) };
        let wanted = Wanted { agent, model, repairs, roots: &[], messages, form, temperature: None, top_p: None };
        self.one_answer(wanted, |text| Ok(Narration::parse(text.as_bytes(), "the narrator's answer")?))
    }

    /// What the brain set out to do: its open terminal goals, in words, by id.
    fn aims(&self, tree: TreeId) -> Result<Vec<String>, CycleError> {
        let open = goals::open(&self.store, tree)?.into_iter();
        Ok(open.filter(|goal| goal.level == GoalLevel::Terminal).map(|goal| goal.text).collect())
    }
}

/// A note in a file that stays: no longer than a line or two.
fn clipped(text: &str) -> String {
    const MOST: usize = 300;
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= MOST { flat } else { flat.chars().take(MOST - 1).chain(['…']).collect() }
}
