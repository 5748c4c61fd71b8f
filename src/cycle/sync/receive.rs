//! What a remote with our gate takes: the updates of one push, judged together.
//!
//! main, wake and the branches of runs are the brain's; each only ever grows. What is anything else is refused in a
//! repository that is the brain's own. In one that a brain was put into, branches of code are none of our business, unless
//! they lie in the brain's folder.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cycle::admission::{Door, Fault, Kind};
use crate::cycle::commit::run_of;
use crate::cycle::{Cycle, CycleError};
use crate::limits;
use crate::model::ids::RunId;
use crate::model::layout::{self, Place};
use crate::store::{Branch, CommitId, File, REVIEWS, Store, StoreError, Tips};
use crate::world::World;

/// The end of the fault of a branch that is to go and may not.
pub const NOT_REMOVED: &str = "so it is not removed";

/// The private file of a gate with the records that were taken back there: run, content.
const TAKEN_BACK: &str = "taken-back";

/// One line of git's receiving hook: a ref is `old` (`None`: it is not there) and shall be `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The ref's whole name.
    pub name: String,
    /// What it is.
    pub old: Option<CommitId>,
    /// What it shall be.
    pub new: Option<CommitId>,
}

impl Update {
    /// Reads `<old> <new> <ref>` lines. Anything odd refuses all of it.
    pub fn read_all(text: &str) -> Result<Vec<Self>, CycleError> {
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > limits::PUSHED_REFS {
            return Err(CycleError::refused(format!("a push of more than {} branches", limits::PUSHED_REFS)));
        }
        lines.into_iter().map(Self::read).collect()
    }

    fn read(line: &str) -> Result<Self, CycleError> {
        let odd = || CycleError::refused(format!("not a line of a push: {line:?}"));
        let fields: Vec<&str> = line.split(' ').collect();
        let [old, new, name] = fields.as_slice() else { return Err(odd()) };
        let id = |text: &str| -> Result<Option<CommitId>, CycleError> {
            let id = CommitId::parse(text).map_err(|_| odd())?;
            Ok(Some(id).filter(|_| text.bytes().any(|b| b != b'0')))
        };
        Ok(Self { name: (*name).to_owned(), old: id(old)?, new: id(new)? })
    }
}

/// What a ref is to the brain.
enum Meaning {
    /// main or wake.
    Trunk(Branch),
    /// The branch of a run.
    Run(Branch),
    /// The reviews.
    Reviews,
    /// A commit that is kept for rescue.
    Rescue,
    /// Somebody else's, in a repository that the brain is a guest of.
    Foreign,
}

/// Judges a push. No fault: it may go in.
pub fn receive(dir: &Path, world: World, updates: &[Update]) -> Result<Vec<Fault>, CycleError> {
    let store = Store::open(dir)?;
    store.read_quarantine()?;
    let mut tips = Tips::new();
    let mut faults = Vec::new();
    for update in updates {
        match judge_ref(&store, update, updates)? {
            Ok(Some((branch, new))) => drop(tips.insert(branch, new)),
            Ok(None) => {}
            Err(message) => {
                let commit = update.new.or(update.old).map_or(String::new(), |id| id.to_string());
                faults.push(Fault { commit, message: format!("{}: {message}", update.name), ..Fault::default() });
            }
        }
    }
    let reviews = updates.iter().find(|update| update.name == REVIEWS);
    if !faults.is_empty() || tips.is_empty() && reviews.is_none() {
        return Ok(faults);
    }
    let cycle = Cycle::receiving(dir, world, tips.get(store.main()).copied())?;
    if let Some(Update { old, new: Some(new), .. }) = reviews {
        let mut wrong = cycle.judge_reviews(*new, *old)?;
        if let (Some(old), true) = (old, wrong.is_empty()) {
            wrong.extend(cycle.overturned(*old, *new)?.into_iter().map(|path| {
                let message = "would come before the word that closed its council here".to_owned();
                Fault { commit: new.to_string(), path, line: 1, message, ..Fault::default() }
            }));
            wrong.extend(cycle.put_before(*old, *new)?.into_iter().map(|path| {
                let message = "would come before a council on the same commit that was here first".to_owned();
                Fault { commit: new.to_string(), path, line: 1, message, ..Fault::default() }
            }));
        }
        if wrong.is_empty() {
            cycle.store.expect_reviews(*new);
        }
        faults.extend(wrong);
    }
    if tips.is_empty() {
        return Ok(faults);
    }
    let named = |update: &Update| Branch::parse(update.name.strip_prefix("refs/heads/")?).ok();
    let removed = updates.iter().filter(|update| update.new.is_none()).filter_map(named).collect();
    faults.extend(cycle.judge(&tips, &cycle.known()?, &Door::Push { removed })?.faults());
    let after = |branch: &Branch| tips.get(branch).copied().map_or_else(|| store.tip(branch), |tip| Ok(Some(tip)));
    if let (Some(main), Some(wake)) = (after(store.main())?, after(store.wake())?)
        && store.merge_bases(main, wake)?.is_empty()
    {
        let message = format!("{} and {} would have no history in common", store.main(), store.wake());
        faults.push(Fault { commit: wake.to_string(), message, ..Fault::default() });
    }
    if let (Some(old), Some(new)) = (store.tip(store.wake())?, tips.get(store.wake())) {
        faults.extend(second_in_time(&cycle, old, *new, faults.is_empty())?);
    }
    Ok(faults)
}

/// Records that wake gets under the id of runs whose own records were taken back here: machines that still have those could take no other. What a push
/// takes back is remembered, in a file of the gate, once the push is `good`.
fn second_in_time(cycle: &Cycle, old: CommitId, new: CommitId, good: bool) -> Result<Vec<Fault>, CycleError> {
    let store = &cycle.store;
    let mut taken_back: BTreeMap<RunId, String> = cycle.private_document(TAKEN_BACK);
    let (mut faults, mut is_new) = (Vec::new(), false);
    for change in store.diff(Some(store.tree_of(old)?), Some(store.tree_of(new)?), layout::RUNS)? {
        let Place::Run(run) = Place::of(&change.path) else { continue };
        let blob = |file: File| file.blob.to_string();
        let (was, now) = (change.old.map(blob), change.new.map(blob));
        let first = was.clone().or_else(|| taken_back.get(&run).cloned());
        if now.is_some() && first.is_some() && now != first {
            let message = "is a second record of its run: the first one was taken back".to_owned();
            let (commit, path) = (new.to_string(), change.path.clone());
            faults.push(Fault { commit, path, line: 1, message, kind: Kind::SecondRecord });
        } else if let (Some(was), None) = (was, change.new) {
            is_new |= taken_back.insert(run, was).is_none();
        }
    }
    if good && faults.is_empty() && is_new {
        cycle.keep_private(TAKEN_BACK, &taken_back)?;
    }
    Ok(faults)
}

/// Judges what becomes of a ref, without its content. The branch that is to be judged by that.
fn judge_ref(
    store: &Store,
    update: &Update,
    updates: &[Update],
) -> Result<Result<Option<(Branch, CommitId)>, String>, CycleError> {
    // What stands where decisions have to may go.
    if update.new.is_none() && update.name.starts_with(REVIEWS) && update.name != REVIEWS {
        return Ok(Ok(None));
    }
    let meaning = match meaning(store, &update.name) {
        Ok(meaning) => meaning,
        Err(why) => return Ok(Err(why)),
    };
    let branch = match meaning {
        Meaning::Foreign => return Ok(Ok(None)),
        Meaning::Reviews => {
            let grows = match (update.old, update.new) {
                (None, Some(_)) => true,
                (Some(old), Some(new)) => store.is_ancestor(old, new)?,
                (_, None) => false,
            };
            return Ok(if grows { Ok(None) } else { Err("would lose reviews: they only ever come".to_owned()) });
        }
        Meaning::Rescue => {
            let goes = update.new.is_none();
            return Ok(if goes { Ok(None) } else { Err("is of one machine alone, and stays there".to_owned()) });
        }
        Meaning::Trunk(branch) => match update.new {
            None => return Ok(Err("is never removed".to_owned())),
            Some(_) => branch,
        },
        Meaning::Run(branch) => branch,
    };
    let Some(new) = update.new else {
        // Its run is in wake, or will be by this very push.
        let wake = updates.iter().find(|u| u.name == store.wake().full()).and_then(|u| u.new);
        let wake = wake.map_or_else(|| store.tip(store.wake()), |tip| Ok(Some(tip)))?;
        return Ok(match (update.old, wake) {
            (Some(old), Some(wake)) if store.is_ancestor(old, wake)? => Ok(None),
            // So is a second record of a run that wake has.
            (Some(_), Some(wake)) if has_run_of(store, &branch, wake)? => Ok(None),
            _ => Err(format!("is not in wake, {NOT_REMOVED}")),
        });
    };
    if let Err(StoreError::Missing { .. } | StoreError::BadObject { .. }) = store.commit(new) {
        return Ok(Err("is no commit".to_owned()));
    }
    if let Some(old) = update.old
        && !store.is_ancestor(old, new)?
    {
        return Ok(Err("would lose commits: what is there only ever grows".to_owned()));
    }
    Ok(Ok(Some((branch, new))))
}

/// Whether wake has a record of the run that a branch is named after.
fn has_run_of(store: &Store, branch: &Branch, wake: CommitId) -> Result<bool, StoreError> {
    let Some(run) = run_of(&store.runs_prefix(), branch) else { return Ok(false) };
    Ok(store.file(store.tree_of(wake)?, &layout::run(&run))?.is_some())
}

fn meaning(store: &Store, name: &str) -> Result<Meaning, String> {
    if let Some(id) = name.strip_prefix("refs/git-brain/rescue/") {
        return CommitId::parse(id).map(|_| Meaning::Rescue).map_err(|_| "is no rescue ref".to_owned());
    }
    if name == REVIEWS {
        return Ok(Meaning::Reviews);
    }
    let folder = store.wake().as_str().rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
    let short = name.strip_prefix("refs/heads/");
    let in_folder = match (&folder, short) {
        (Some(folder), Some(short)) => short.starts_with(folder.as_str()) || format!("{short}/") == *folder,
        _ => false,
    };
    // A ref below the decisions would leave them no room.
    let is_ours = name.starts_with("refs/git-brain/") || name.starts_with("refs/brain/");
    if folder.is_some() && !in_folder && !is_ours {
        return Ok(Meaning::Foreign);
    }
    let foreign = || "is none of the brain's: those are main, wake and agents/<name>/<run>".to_owned();
    let branch = short.and_then(|short| Branch::parse(short).ok()).ok_or_else(foreign)?;
    if branch == *store.main() || branch == *store.wake() {
        return Ok(Meaning::Trunk(branch));
    }
    match run_of(&store.runs_prefix(), &branch) {
        Some(_) => Ok(Meaning::Run(branch)),
        None => Err(foreign()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_are_read() {
        let (zero, one) = ("0".repeat(40), "1".repeat(40));
        let good = format!("{zero} {one} refs/heads/wake\n{one} {zero} refs/heads/x");
        let read = Update::read_all(&good).unwrap();
        assert_eq!((read[0].old, read[0].new.is_some(), read[1].new), (None, true, None));
        for bad in [
            format!("{one} refs/heads/wake"),
            format!("{one} {one}  refs/heads/wake"),
            "x y z".to_owned(),
            "\n".to_owned(),
        ] {
            assert!(Update::read_all(&bad).is_err(), "{bad:?}");
        }
    }
}
