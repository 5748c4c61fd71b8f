//! The second person of a team: whatever `init` and `sync` print where a clone knows nothing of the team's brain is typed, exactly.

use crate::sandbox::{PROGRAM, Sandbox};

/// A hub with code, a clone `a`, and clones of it that were made before there was a brain.
struct Team(Sandbox);

impl Team {
    fn new() -> Self {
        let team = Self(Sandbox::empty());
        team.git(".", &["init", "-q", "--bare", "-b", "main", "hub.git"]);
        team.git(".", &["clone", "-q", "hub.git", "a"]);
        for at in 0..3 {
            team.git("a", &["commit", "-q", "--allow-empty", "-m", &format!("code {at}")]);
        }
        team.git("a", &["push", "-q", "origin", "HEAD:main"]);
        team
    }

    fn git(&self, place: &str, args: &[&str]) -> String {
        self.0.git(&[&["-C", place], args].concat())
    }

    fn type_in(&self, place: &str, line: &str) -> (i32, String) {
        // `git brain` finds the program as people have it.
        let folder = std::path::Path::new(PROGRAM).parent().unwrap().display().to_string();
        let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
        let mut command = self.0.command("sh", &["-c", line]);
        let ended = command.env("PATH", path).current_dir(self.0.dir().join(place)).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
        (ended.status.code().unwrap_or(-1), said)
    }

    #[track_caller]
    fn does(&self, place: &str, line: &str) -> String {
        let (code, said) = self.type_in(place, line);
        assert_eq!(code, 0, "{line}: {said}");
        said
    }

    /// The brain of `a`, which knows something, at the hub.
    fn starts(&self) {
        self.does("a", "git brain init --in-repo . && git brain feed 'The port is 77.' && git brain sync");
    }

    #[track_caller]
    fn knows(&self, place: &str) {
        let said = self.does(place, "git brain sync && git brain recall which port");
        assert!(said.contains("The port is 77."), "{said}");
        let root = |place: &str| self.git(place, &["rev-list", "--max-parents=0", "brain/wake"]);
        assert_eq!(root(place), root("a"), "two brains");
    }

    /// Types the commands in backticks that a text names from `from` on.
    fn types_all(&self, place: &str, said: &str, from: &str) {
        let remedy = &said[said.find(from).unwrap_or_else(|| panic!("no {from:?}: {said}"))..];
        let commands: Vec<&str> = remedy.split('`').skip(1).step_by(2).collect();
        assert!(commands.len() >= 2, "{said}");
        for command in commands {
            self.does(place, command);
        }
    }
}

#[test]
fn init_asks_the_remote_of_a_clone_that_has_not_fetched_its_brain() {
    let team = Team::new();
    let hub = format!("file://{}", team.0.dir().join("hub.git").display());
    team.git(".", &["clone", "-q", "hub.git", "late"]);
    team.git(".", &["clone", "-q", "--single-branch", "hub.git", "single"]);
    team.git(".", &["clone", "-q", "--depth", "1", &hub, "shallow"]);
    team.starts();
    team.git(".", &["clone", "-q", "--depth", "1", &hub, "later"]);
    for place in ["late", "single", "shallow", "later"] {
        let said = team.does(place, "git brain init --in-repo .");
        assert!(said.contains("Adopted"), "{place}: {said}");
        team.knows(place);
    }
    team.does("shallow", "git brain feed 'The host is crane.' && git brain sync && git brain audit");
}

#[test]
fn remedy_of_a_clone_that_made_its_own_brain_is_typed_exactly() {
    let team = Team::new();
    let hub = format!("file://{}", team.0.dir().join("hub.git").display());
    team.git(".", &["clone", "-q", "hub.git", "whole"]);
    team.git(".", &["clone", "-q", "--single-branch", "hub.git", "single"]);
    team.git(".", &["clone", "-q", "--depth", "1", &hub, "shallow"]);
    team.git(".", &["clone", "-q", "-o", "hub", "hub.git", "other"]);
    for place in ["whole", "single", "shallow", "other"] {
        team.does(place, "git brain init --in-repo . && git brain feed 'Ben likes tea.'");
    }
    team.starts();
    for place in ["whole", "single", "shallow", "other"] {
        let (code, said) = team.type_in(place, "git brain sync");
        assert!(code == 3 && said.contains("has another brain"), "{place}: {said}");
        team.types_all(place, &said, "keeps it):");
        team.knows(place);
    }
}

#[test]
fn init_says_where_it_could_not_ask_and_what_to_type() {
    let team = Team::new();
    team.git(".", &["clone", "-q", "hub.git", "b"]);
    team.starts();
    std::fs::rename(team.0.dir().join("hub.git"), team.0.dir().join("away.git")).unwrap();
    let said = team.does("b", "git brain init --in-repo .");
    assert!(said.contains("could not be asked"), "{said}");
    std::fs::rename(team.0.dir().join("away.git"), team.0.dir().join("hub.git")).unwrap();
    team.types_all("b", &said, "take that before");
    team.knows("b");
    // A brain whose branches are gone says what to do, too.
    team.does("b", "git branch -D brain/main brain/wake");
    let (code, said) = team.type_in("b", "git brain status");
    assert!(code != 0 && said.contains("git brain init --in-repo"), "{said}");
    team.does("b", "git brain init --in-repo");
    team.knows("b");
    let (code, said) = team.type_in("b", "git brain init --in-repo");
    assert!(code == 2 && said.contains("already"), "{said}");
}

#[test]
fn remedy_of_a_brain_of_its_own_is_typed_exactly() {
    let team = Team(Sandbox::empty());
    team.git(".", &["init", "-q", "--bare", "-b", "main", "hub.git"]);
    for place in ["a", "b"] {
        team.does(".", &format!("git brain init --no-hooks {place} && git -C {place} remote add origin ../hub.git"));
    }
    team.does("a", "git brain feed 'The port is 77.' && git brain sync");
    let (code, said) = team.type_in("b", "git brain sync");
    assert!(code == 3 && said.contains("has another brain"), "{said}");
    team.types_all("b", &said, "keeps it):");
    let said = team.does("team-brain", "git brain sync && git brain recall which port");
    assert!(said.contains("The port is 77."), "{said}");
}
