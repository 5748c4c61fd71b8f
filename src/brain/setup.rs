//! `setup`: the settings files of a coding agent with our entries, and without them.
//!
//! All files are read and edited in memory before the first is written: a file that is broken, or that a link leads away from, changes none. What
//! was inserted where is kept outside of the files, so that taking it out again gives back every byte; a file that was changed since is searched.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError, World};
use crate::client::edit::{Found, Piece, cut, found, keeps_settings, missing, with, without};
use crate::client::{Client, PlannedFile, Purpose, Root, Scope, plan, remarks};
use crate::model::ids::hash_fields;
use crate::model::shell_word;
use crate::store::{Store, StoreError};
use crate::world::{
    SettingsFile, codex_folder, config_folder, is_program, read_settings, remove_settings, true_path, write_settings,
};

/// What `setup` is asked for.
#[derive(Clone, Debug)]
pub struct SetupRequest {
    /// The client.
    pub client: String,
    /// In the person's home, instead of the project.
    pub user: bool,
    /// In this folder, as a plugin.
    pub plugin: Option<PathBuf>,
    /// How this program is called.
    pub program: String,
    /// What is to be done.
    pub order: SetupOrder,
    /// Write nothing.
    pub dry_run: bool,
}

/// What is to be done with a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupOrder {
    /// Put it in, or bring it up to date.
    Install,
    /// Look at it.
    Check,
    /// Take it out.
    Remove,
}

/// How a file of a set-up is, or what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SetupState {
    /// Nothing of ours is there.
    Missing,
    /// Something of ours is there, and not as it should be.
    Differs,
    /// All of it is there.
    Ready,
    /// It was written.
    Written,
    /// Ours was taken out, and the file stays.
    Cleaned,
    /// The file was ours, and is gone.
    Removed,
    /// Another client's set-up needs it.
    Shared,
}

/// One file of a set-up.
#[derive(Clone, Debug, Serialize)]
pub struct SetupFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is for.
    pub purpose: Purpose,
    /// How it is, or what became of it.
    pub state: SetupState,
}

/// What `setup` did, or found.
#[derive(Clone, Debug, Serialize)]
pub struct SetupReport {
    /// The client's name.
    pub client: String,
    /// Its files.
    pub files: Vec<SetupFile>,
    /// What a person still has to do.
    pub remarks: Vec<String>,
    /// What is wrong, one sentence each.
    pub faults: Vec<String>,
    /// Whether nothing was written because nothing was to be.
    pub dry_run: bool,
}

/// What is kept of a file that was edited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    client: Client,
    path: PathBuf,
    /// A hash of the text afterwards.
    after: String,
    inserted: Vec<(usize, usize)>,
    /// Whether the file was made.
    created: bool,
}

/// A file of a plan, as it is.
struct Planned {
    root: PathBuf,
    file: PlannedFile,
    settings: SettingsFile,
    found: Found,
}

/// What is to be written.
enum Write {
    Text(String),
    Remove,
}

impl Brain {
    /// Joins a coding agent to the brain of a folder, looks how that is, or takes it back.
    ///
    /// # Errors
    /// An unknown client, a project without a brain (exit code 2); a settings file that cannot be read or leads elsewhere (3, 5). Nothing is
    /// changed then.
    pub fn setup(dir: &Path, world: &World, request: &SetupRequest) -> Result<SetupReport, BrainError> {
        let client: Client = request.client.parse().map_err(BrainError::usage)?;
        let scope = match (&request.plugin, request.user) {
            (Some(_), _) => Scope::Plugin,
            (None, true) => Scope::User,
            (None, false) => Scope::Project,
        };
        let (project, records) = places(dir, world, scope)?;
        let mut kept = read_records(&records);
        let mut report = SetupReport {
            client: client.name().to_owned(),
            files: Vec::new(),
            remarks: Vec::new(),
            faults: Vec::new(),
            dry_run: request.dry_run,
        };
        let files = plan(client, scope, &request.program);
        if files.is_empty() {
            return Err(BrainError::Usage {
                message: format!("{} has no plugins that are folders", client.name()),
                hint: Some(format!("`git brain setup {client}` sets up a project, and `--user` all of them")),
            });
        }
        let files = files
            .into_iter()
            .map(|file| as_it_is(file, (project.as_deref(), request.plugin.as_deref()), world))
            .collect::<Result<Vec<_>, BrainError>>()?;
        if request.order == SetupOrder::Check {
            for file in &files {
                let state = state_of(file.found);
                let path = shown(file, project.as_deref());
                if state != SetupState::Ready {
                    let what = if state == SetupState::Missing {
                        "has nothing of git-brain"
                    } else {
                        "differs from what `setup` writes"
                    };
                    report.faults.push(format!("{} {what}", path.display()));
                }
                report.files.push(SetupFile { path, purpose: file.file.purpose, state });
            }
            if !is_program(&request.program) {
                report.faults.push(format!("there is no program {}", request.program));
            }
            return Ok(report);
        }
        let mut writes = Vec::new();
        for file in &files {
            let (write, state) = match request.order {
                SetupOrder::Install => installed(file, client, &mut kept)?,
                _ => removed(file, client, &mut kept)?,
            };
            report.files.push(SetupFile { path: shown(file, project.as_deref()), purpose: file.file.purpose, state });
            writes.extend(write.map(|write| (file, write)));
        }
        if request.order == SetupOrder::Install {
            report.remarks = remarks(client, scope).into_iter().map(str::to_owned).collect();
            if !is_program(&request.program) || request.program.contains('/') {
                report.remarks.push(format!(
                    "these files name {}: put git-brain on your path and run `git brain setup {client}` again before you share them",
                    request.program
                ));
            }
        }
        if !request.dry_run {
            // Known before it is written, and as long as it is there.
            if request.order == SetupOrder::Install {
                write_records(&records, &kept)?;
            }
            for (file, write) in writes {
                match write {
                    Write::Text(text) => write_settings(&file.settings.place, &text)?,
                    Write::Remove => remove_settings(&file.root, &file.settings.place)?,
                }
            }
            write_records(&records, &kept)?;
        }
        Ok(report)
    }

    /// What is wrong with the set-ups of a project: of each client that is set up there in part. Also the clients that are set up well.
    pub(super) fn client_faults(store: &Store, program: &str) -> (Vec<&'static str>, Vec<(Client, String)>) {
        let (mut well, mut faults) = (Vec::new(), Vec::new());
        let Some(project) = store.work_dir() else { return (well, faults) };
        for client in Client::ALL {
            let (mut is_there, mut wrong) = (false, Vec::new());
            for file in plan(client, Scope::Project, program) {
                let path = first_path(&file, &project);
                let name = path.display().to_string();
                let found = read_settings(&project, &path).map_err(|error| error.to_string()).and_then(|settings| {
                    let text = settings.text.unwrap_or_default();
                    found_by_any(&text, &file, client, program).map_err(|why| format!("{name}, {why}"))
                });
                match found {
                    Ok(Found::All) => is_there |= file.purpose != Purpose::Pointer,
                    Ok(Found::Some) => {
                        is_there |= file.purpose != Purpose::Pointer;
                        wrong.push(format!("{name} differs from what `git brain setup` writes"));
                    }
                    Ok(Found::None) => wrong.push(format!("{name} has nothing of git-brain")),
                    Err(why) => wrong.push(why),
                }
            }
            match (is_there, wrong.is_empty()) {
                (true, true) => well.push(client.name()),
                (true, false) => faults.extend(wrong.into_iter().map(|why| (client, why))),
                _ => {}
            }
        }
        (well, faults)
    }
}

/// How much is found, whichever of its names the program is called by.
fn found_by_any(text: &str, file: &PlannedFile, client: Client, program: &str) -> Result<Found, String> {
    let own = found(text, &file.pieces)?;
    if own == Found::All || program == "git-brain" {
        return Ok(own);
    }
    let plain = plan(client, Scope::Project, "git-brain").into_iter().find(|other| other.paths == file.paths);
    Ok(match plain {
        Some(plain) if found(text, &plain.pieces)? == Found::All => Found::All,
        _ => own,
    })
}

/// The project, and where it is kept what was inserted.
fn places(dir: &Path, world: &World, scope: Scope) -> Result<(Option<PathBuf>, PathBuf), BrainError> {
    const RECORDS: &str = "setup.json";
    if scope != Scope::Project {
        let state = world.state_dir();
        let state = state.ok_or_else(|| {
            BrainError::usage("neither HOME nor XDG_STATE_HOME is set, so there is no home to set up")
        })?;
        return Ok((None, state.join(RECORDS)));
    }
    let store = Store::open(dir).map_err(|error| match error {
        StoreError::NoBrain { .. } | StoreError::NoRepository { .. } => BrainError::Usage {
            message: format!("there is no brain in {}", dir.display()),
            hint: Some(
                "`git brain init --in-repo .` makes one beside your code; `--user` sets up all projects".to_owned(),
            ),
        },
        other => other.into(),
    })?;
    let Some(project) = store.work_dir() else {
        return Err(BrainError::usage("a bare repository has no project to set up"));
    };
    Ok((Some(project), store.private_dir().join(RECORDS)))
}

fn root_of(
    root: Root,
    (project, plugin): (Option<&Path>, Option<&Path>),
    world: &World,
) -> Result<PathBuf, BrainError> {
    let home = || world.home().ok_or_else(|| BrainError::usage("HOME is not set, so there is no home to set up"));
    Ok(match root {
        Root::Project => project.map(Path::to_owned).ok_or_else(|| BrainError::usage("there is no project"))?,
        Root::Plugin => plugin.map(true_path).ok_or_else(|| BrainError::usage("there is no plugin"))?,
        Root::Home => home()?,
        Root::Codex => codex_folder(&home()?),
        Root::Config => config_folder(&home()?),
        Root::Code if cfg!(target_os = "macos") => home()?.join("Library/Application Support/Code/User"),
        Root::Code => config_folder(&home()?).join("Code/User"),
    })
}

/// The path of a file that is meant: the first that is there, or the first.
fn first_path(file: &PlannedFile, root: &Path) -> PathBuf {
    let there = file.paths.iter().find(|path| root.join(path).exists());
    PathBuf::from(there.unwrap_or(&file.paths[0]))
}

fn as_it_is(file: PlannedFile, places: (Option<&Path>, Option<&Path>), world: &World) -> Result<Planned, BrainError> {
    let root = root_of(file.root, places, world)?;
    let path = first_path(&file, &root);
    let settings = read_settings(&root, &path)?;
    let found = found(settings.text.as_deref().unwrap_or_default(), &file.pieces)
        .map_err(|why| broken(&root.join(&path), &why))?;
    let found = if settings.text.is_none() { Found::None } else { found };
    Ok(Planned { root, file, settings, found })
}

fn broken(path: &Path, why: &str) -> BrainError {
    BrainError::Refused {
        message: format!("{}, {why}", path.display()),
        hint: Some("nothing was changed; put the file right, then try again".to_owned()),
    }
}

fn shown(file: &Planned, project: Option<&Path>) -> PathBuf {
    let place = &file.settings.place;
    let project = project.map(true_path);
    project.and_then(|project| place.strip_prefix(project).ok().map(Path::to_owned)).unwrap_or_else(|| place.clone())
}

fn state_of(found: Found) -> SetupState {
    match found {
        Found::None => SetupState::Missing,
        Found::Some => SetupState::Differs,
        Found::All => SetupState::Ready,
    }
}

fn hash(text: &str) -> String {
    format!("{:016x}", hash_fields(&[text.as_bytes()]))
}

/// The text of a file without ours: to the byte as it was, where it was not changed since.
fn cleaned(file: &Planned, kept: &[Kept]) -> Result<Option<String>, BrainError> {
    let Some(text) = &file.settings.text else { return Ok(None) };
    let mark = hash(text);
    let record =
        kept.iter().find(|one| one.path == file.settings.place && one.after == mark && !one.inserted.is_empty());
    if let Some(record) = record
        && let Some(before) = cut(text, &record.inserted)
    {
        return Ok(if record.created && before.is_empty() { None } else { Some(before) });
    }
    without(text, &file.file.pieces).map_err(|why| broken(&file.settings.place, &why))
}

fn installed(file: &Planned, client: Client, kept: &mut Vec<Kept>) -> Result<(Option<Write>, SetupState), BrainError> {
    let place = &file.settings.place;
    let is_known = kept.iter().any(|one| one.client == client && one.path == *place);
    if file.found == Found::All {
        if !is_known {
            let after = hash(file.settings.text.as_deref().unwrap_or_default());
            kept.push(Kept { client, path: place.clone(), after, inserted: Vec::new(), created: false });
        }
        return Ok((None, SetupState::Ready));
    }
    let text = file.settings.text.as_deref().unwrap_or_default();
    keeps_settings(text, &file.file.pieces).map_err(|why| broken(place, &why))?;
    let is_as_written =
        kept.iter().any(|one| one.path == *place && one.after == hash(text) && !one.inserted.is_empty());
    // What is there as it should be stays as it is, with what a person made of it.
    let (before, pieces, is_whole) = match file.found {
        Found::None => (file.settings.text.clone(), file.file.pieces.clone(), true),
        _ if is_as_written => (cleaned(file, kept)?, file.file.pieces.clone(), true),
        _ => {
            let missing = missing(text, &file.file.pieces).map_err(|why| broken(place, &why))?;
            (without(text, &missing).map_err(|why| broken(place, &why))?, missing, false)
        }
    };
    let edited = with(before.as_deref().unwrap_or_default(), &pieces).map_err(|why| broken(place, &why))?;
    kept.retain(|one| !(one.client == client && one.path == *place));
    kept.push(Kept {
        client,
        path: place.clone(),
        after: hash(&edited.text),
        inserted: if is_whole { edited.inserted } else { Vec::new() },
        created: before.is_none(),
    });
    Ok((Some(Write::Text(edited.text)), SetupState::Written))
}

fn removed(file: &Planned, client: Client, kept: &mut Vec<Kept>) -> Result<(Option<Write>, SetupState), BrainError> {
    let place = &file.settings.place;
    let own = kept.iter().position(|one| one.client == client && one.path == *place).map(|at| kept.remove(at));
    let is_shared_kind = matches!(file.file.pieces[..], [Piece::Fence(_)]);
    if is_shared_kind && let Some(other) = kept.iter_mut().find(|one| one.path == *place) {
        // What was inserted is the other's now.
        if let Some(own) = own.filter(|own| !own.inserted.is_empty()) {
            *other = Kept { client: other.client, ..own };
        }
        return Ok((None, SetupState::Shared));
    }
    if file.found == Found::None {
        return Ok((None, SetupState::Missing));
    }
    let records: Vec<Kept> = own.into_iter().collect();
    Ok(match cleaned(file, &records)? {
        // What is left of ours was changed by a person.
        Some(text) if Some(&text) == file.settings.text.as_ref() => (None, SetupState::Differs),
        Some(text) => (Some(Write::Text(text)), SetupState::Cleaned),
        None => (Some(Write::Remove), SetupState::Removed),
    })
}

fn read_records(path: &Path) -> Vec<Kept> {
    let bytes = crate::world::read_bounded(path, crate::limits::CLIENT_FILE_BYTES).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn write_records(path: &Path, kept: &[Kept]) -> Result<(), BrainError> {
    let text = serde_json::to_string(kept).expect("invariant: paths and numbers are JSON");
    Ok(write_settings(path, &text)?)
}

/// How `setup` of a client is called, for hints.
pub(super) fn call(client: Client) -> String {
    format!("`git brain setup {}`", shell_word(client.as_str()))
}
