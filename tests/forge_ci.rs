//! The whole life of a review on a double of each forge: request, comment, changes asked, a new run, approval, landing, learning, and a
//! second clone.

use serde_json::{Value, json};

use crate::forge_double::{Comment, Double, held, world};
use crate::machines::World;

/// Gives `ci` to brain `a`, with settings for this forge.
fn ci(world: &World, double: &Double, kind: &str) -> Value {
    let (kind, url) = (format!("forge.kind={kind}"), format!("forge.url={}", double.url()));
    let args = ["--json", "-c", &kind, "-c", &url, "-c", "forge.repository=ann/brain", "ci"];
    world.try_brain("a", &args).document()
}

/// What a person says of the newest request, as each forge tells it.
fn says(double: &Double, kind: &str, login: &str, approves: bool, commit: &str, words: &str) {
    let mut inner = double.inner();
    if kind == "gitlab" {
        let state = if approves { "approved" } else { "requested_changes" };
        let text = if approves { "approved this merge request" } else { "requested changes" };
        let id = 200 + inner.comments.len() as u64;
        if !words.is_empty() {
            inner.comments.push(Comment { id, author: login.to_owned(), body: words.to_owned() });
        }
        inner.comments.push(Comment { id: id + 50, author: login.to_owned(), body: text.to_owned() });
        let by = if approves { json!([{"user": {"username": login}}]) } else { json!([]) };
        inner.others = vec![
            ("/approvals", json!({"approved_by": by})),
            ("/reviewers", json!([{"user": {"username": login}, "state": state}])),
            ("/versions", json!([{"id": 1, "head_commit_sha": commit, "created_at": "2026-01-26T14:00:00.000Z"}])),
        ];
        return;
    }
    let state = match (kind, approves) {
        (_, true) => "APPROVED",
        ("github", false) => "CHANGES_REQUESTED",
        (_, false) => "REQUEST_CHANGES",
    };
    let id = inner.reviews.len() + 1;
    inner.reviews.push(json!({
        "id": id, "user": {"login": login}, "state": state, "commit_id": commit, "body": words, "submitted_at": "2026-01-26T14:32:00Z",
    }));
}

fn quiet(double: &Double) {
    let mut inner = double.inner();
    inner.reviews.clear();
    inner.others.clear();
    inner.comments.clear();
}

fn lives(kind: &'static str, variable: &str) {
    let world = world(variable);
    world.clone("b");
    let double = Double::at(&world, kind);
    world.write(
        "a",
        "brain.toml",
        &format!("[review]\nreviewers = [\"{kind}:ann\"]\nbots = [\"ann@example.invalid\"]\n"),
    );
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "reviewers"]);
    let first = held(&world, "Anna grows green tea.");
    let opened = ci(&world, &double, kind);
    let run = &opened["runs"][0];
    assert_eq!((&run["verified"], &run["request"]["request"]), (&json!(true), &json!("made")), "{kind}: {opened}");
    assert_eq!((&run["decided"], &run["status"]), (&Value::Null, &json!("made")), "{kind}: {opened}");
    assert!(double.inner().pulls[0].body.contains("Anna grows green tea."));
    let head = world.tip("a", &first);
    // A stranger, and one who may about another commit, decide nothing.
    says(&double, kind, "eve", true, &head, "");
    assert_eq!(ci(&world, &double, kind)["runs"][0]["decided"], Value::Null, "{kind}: a stranger");
    quiet(&double);
    says(&double, kind, "ann", true, "0123456789012345678901234567890123456789", "");
    assert_eq!(ci(&world, &double, kind)["runs"][0]["decided"], Value::Null, "{kind}: another commit");
    quiet(&double);
    says(&double, kind, "ann", false, &head, "Which Anna?");
    let rejected = ci(&world, &double, kind);
    assert_eq!(rejected["runs"][0]["decided"], "reject", "{kind}: {rejected}");
    assert_eq!(rejected["runs"][0]["by"], format!("{kind}:ann"));
    assert_eq!(world.git("remote.git", &["branch", "--list", "agents/*"]), "", "{kind}: {rejected}");
    let states = |double: &Double| double.inner().pulls.iter().map(|pull| pull.state).collect::<Vec<_>>();
    assert_eq!(
        (states(&double), rejected["closed"].as_array().unwrap().len()),
        (vec!["closed"], 1),
        "{kind}: {rejected}"
    );
    quiet(&double);
    let second = held(&world, "Anna Weber grows green tea.");
    let head = world.tip("a", &second);
    let opened = ci(&world, &double, kind);
    assert_eq!(opened["runs"][0]["request"]["request"], "made", "{kind}: {opened}");
    says(&double, kind, "ann", true, &head, "Yes.");
    let landed = ci(&world, &double, kind);
    assert_eq!(landed["runs"][0]["decided"], "approve", "{kind}: {landed}");
    // What a forge sees of itself is left to it: the commit of a branch that is in the base.
    let ended = match kind {
        "forgejo" => "merged",
        "gitea" => "closed",
        _ => "open",
    };
    assert_eq!(states(&double), ["closed", ended], "{kind}: {landed}");
    assert!(world.json("a", &["recall", "Weber"])["results"].to_string().contains("green tea"));
    world.sync("b");
    world.same(&["a", "b"]);
    let by = world.git("b", &["log", "wake", "--format=%(trailers:key=Reviewed-by,valueonly)"]);
    assert!(by.contains(&format!("{kind}:ann")), "{by}");
    let decided = world.json("b", &["review", "--decided"]);
    let decisions: Vec<(&str, &str)> = decided["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["verdict"].as_str().unwrap(), one["via"].as_str().unwrap()))
        .collect();
    assert!(matches!(decisions[..], [("approve", _), ("reject", _)]), "{decisions:?}");
    assert!(decisions.iter().all(|(_, via)| via.ends_with(&format!("by {kind}:ann"))), "{decisions:?}");
    let ledger = world.json("b", &["ledger"])["entries"].to_string();
    assert!(ledger.contains(&format!("rejected by {kind}:ann")) && ledger.contains("approved by"), "{ledger}");
}

#[test]
fn a_review_lives_on_github() {
    lives("github", "GITHUB_TOKEN");
}

#[test]
fn a_review_lives_on_gitlab() {
    lives("gitlab", "GITLAB_TOKEN");
}

#[test]
fn a_review_lives_on_forgejo() {
    lives("forgejo", "FORGEJO_TOKEN");
}

#[test]
fn a_review_lives_on_gitea() {
    lives("gitea", "GITEA_TOKEN");
}

/// Check runs are for GitHub's own CI alone, where the commit of a merge queue is judged as well.
#[test]
fn inside_actions_a_run_has_a_check_run_and_a_merge_queue_a_status() {
    let World { sandbox } = world("GITHUB_TOKEN");
    let world = World { sandbox: sandbox.with("GITHUB_ACTIONS", "true") };
    let double = Double::at(&world, "github");
    held(&world, "Anna grows green tea.");
    let first = ci(&world, &double, "github");
    assert_eq!(first["runs"][0]["check_run"], "made", "{first}");
    let run = double.inner().check_runs[0].clone();
    assert_eq!((&run["name"], &run["conclusion"]), (&json!("brain/belief"), &json!("success")), "{run}");
    assert!(run["output"]["summary"].as_str().unwrap().contains("Anna grows green tea."), "{run}");
    assert_eq!(ci(&world, &double, "github")["runs"][0]["check_run"], "unchanged");
    assert_eq!(double.inner().check_runs.len(), 1);
    // A queue that would bring what our gate refuses, and one that it takes.
    let wake = world.tip("a", "wake");
    let path = world.path_of("a", &wake, ".json");
    let bad = world.recommit("a", &wake, &[(&path, Some("{}"))]);
    let good = world.commit("a", &wake, &[&wake], &[], "queue", &[]);
    for (commit, verified) in [(bad, false), (good, true)] {
        let (code, report) = queue(&world, &double, &commit);
        assert_eq!(report["queue"]["verified"], verified, "{report}");
        assert_eq!(code, Some(i32::from(!verified)), "{report}");
        let statuses = double.inner().statuses.clone();
        let of_queue = statuses.iter().filter(|status| !status["description"].as_str().unwrap().starts_with("lands"));
        let states: Vec<&Value> = of_queue.map(|status| &status["state"]).collect();
        assert_eq!(states[0], if verified { "success" } else { "failure" }, "{statuses:?}");
    }
}

/// Gives `ci` to brain `a` as a workflow does for a merge queue.
fn queue(world: &World, double: &Double, commit: &str) -> (Option<i32>, Value) {
    let (kind, url) = ("forge.kind=github".to_owned(), format!("forge.url={}", double.url()));
    let dir = world.dir("a").display().to_string();
    let args = ["-C", &dir, "--json", "-c", &kind, "-c", &url, "-c", "forge.repository=ann/brain", "ci"];
    let mut command = world.sandbox.command(env!("CARGO_BIN_EXE_git-brain"), &args);
    let ended = command.env("GITHUB_EVENT_NAME", "merge_group").env("GITHUB_SHA", commit).output().unwrap();
    (ended.status.code(), serde_json::from_slice(&ended.stdout).unwrap())
}

/// The word of a reviewer counts where the forge takes no status, and a decision at home closes the request.
#[test]
fn a_status_that_is_refused_keeps_nobody_from_deciding() {
    let world = world("FORGEJO_TOKEN");
    let double = Double::at(&world, "forgejo");
    world.write("a", "brain.toml", "[review]\nreviewers = [\"forgejo:ann\"]\nbots = [\"ann@example.invalid\"]\n");
    world.git("a", &["add", "brain.toml"]);
    world.git("a", &["commit", "-qm", "reviewers"]);
    double.inner().takes_no_status = true;
    let branch = held(&world, "Anna grows green tea.");
    let opened = ci(&world, &double, "forgejo");
    assert!(opened["notes"].to_string().contains("no status"), "{opened}");
    says(&double, "forgejo", "ann", true, &world.tip("a", &branch), "Yes.");
    assert_eq!(ci(&world, &double, "forgejo")["runs"][0]["decided"], "approve");
    quiet(&double);
    let branch = held(&world, "Ben grows black tea.");
    assert_eq!(ci(&world, &double, "forgejo")["closed"], json!([]));
    world.write("a", "brain.toml", "");
    world.git("a", &["commit", "-qam", "everybody decides"]);
    world.json("a", &["reject", &branch, "--why", "no"]);
    let closed = ci(&world, &double, "forgejo");
    assert_eq!(closed["closed"].as_array().unwrap().len(), 1, "{closed}");
    let states: Vec<&str> = double.inner().pulls.iter().map(|pull| pull.state).collect();
    // Beside it waits what an agent made of the first.
    assert_eq!(states.iter().filter(|state| **state == "closed").count(), 1, "{closed}");
}

/// A forge that answers garbage or never stops neither the sync nor what was decided without it.
#[test]
fn a_broken_forge_stops_nothing_else() {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    let branch = held(&world, "Anna grows green tea.");
    let garbage = crate::forge_double::status("200 OK", "", "{\"a\": [");
    double.inner().manners.extend(std::iter::repeat_n(garbage, 40));
    let report = ci(&world, &double, "github");
    assert!(report["notes"].to_string().contains("GitHub"), "{report}");
    assert_eq!((&report["runs"][0]["branch"], &report["runs"][0]["verified"]), (&json!(branch), &json!(true)));
    assert_eq!(world.tip("remote.git", "wake"), world.tip("a", "wake"));
}
