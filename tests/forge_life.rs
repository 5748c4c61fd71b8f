//! Requests for review from their opening to their end, on a double of each forge with a real bare repository behind it.

use std::time::Duration;

use git_brain::forge::{self, COMMENT_MARKER, Check, Forge, Place, Token, Verdict, Written};
use git_brain::model::settings;
use serde_json::{Value, json};

use crate::forge_double::{ACCOUNT, Comment, Double, Pull, TOKEN, held, world};
use crate::machines::World;

/// The forge of a double, asked without the program.
fn asked(double: &Double, kind: &str) -> Box<dyn Forge> {
    let settings = settings::Forge {
        kind: kind.to_owned(),
        url: double.url(),
        repository: "ann/brain".to_owned(),
        ..settings::Forge::default()
    };
    forge::open(Place::of("/x", &settings).unwrap(), Token::of(TOKEN), Duration::from_secs(10)).unwrap()
}

/// What one `pr` reported of the only request.
fn only(report: &Value) -> (String, String) {
    let [one] = &report["requests"].as_array().unwrap()[..] else { panic!("{report}") };
    (one["request"].as_str().unwrap().to_owned(), one["comment"].as_str().unwrap_or("none").to_owned())
}

fn said(request: &str, comment: &str) -> (String, String) {
    (request.to_owned(), comment.to_owned())
}

/// Moves the branch of a run on by a commit, as a conflict does.
fn moves_on(world: &World, branch: &str) {
    let body = world.git("a", &["log", "-1", "--format=%B", branch]);
    let tree = world.git("a", &["rev-parse", &format!("{branch}^{{tree}}")]);
    let commit = world.git("a", &["commit-tree", &tree, "-p", branch, "-m", &body]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &commit]);
}

/// Opens, repeats, changes what is there, and repeats again. `writes` are the requests that a first `pr` makes, and one for another text.
fn lives(world: &World, double: &Double, first: &[&str], reworded: &[&str]) -> String {
    let branch = held(world, "Anna grows green tea.");
    let dry = double.pr(world, &["--dry-run"]).exits(0).document();
    assert_eq!((only(&dry), double.written().len()), (said("made", "none"), 0), "{dry}");
    assert!(double.inner().pulls.is_empty());

    let report = double.pr(world, &[]).exits(0).document();
    assert_eq!(only(&report), said("made", "made"), "{report}");
    assert_eq!(double.written(), first);
    let pull = double.inner().pulls[0].clone();
    assert_eq!((pull.head.as_str(), pull.base.as_str()), (branch.as_str(), "wake"));
    assert!(pull.title.contains("perception") && pull.body.contains("Anna grows green tea."), "{pull:?}");
    assert_eq!(report["requests"][0]["commit"], world.tip("a", &branch));
    assert!(report["requests"][0]["url"].as_str().unwrap().ends_with("/1"), "{report}");
    assert!(double.inner().comments[0].body.starts_with(COMMENT_MARKER));

    let again = double.pr(world, &[&branch]).exits(0).document();
    assert_eq!((only(&again), double.written().len()), (said("unchanged", "unchanged"), 0));

    // A person, or another version, has changed the text there.
    double.inner().pulls[0].body = "gone".to_owned();
    double.inner().comments[0].body = format!("{COMMENT_MARKER}\r\nold");
    let changed = double.pr(world, &[]).exits(0).document();
    assert_eq!(only(&changed), said("updated", "updated"));
    assert_eq!(double.written(), reworded);
    assert!(double.inner().pulls[0].body.contains("Anna grows green tea."));
    assert_eq!(double.sizes(), (1, 1));

    moves_on(world, &branch);
    let moved = double.pr(world, &[]).exits(0).document();
    assert_eq!(only(&moved), said("updated", "updated"), "{moved}");
    assert_eq!(double.pr(world, &[]).exits(0).document()["requests"][0]["request"], "unchanged");
    double.written();
    branch
}

/// What is closed or merged there for this commit stays so.
fn ends(world: &World, double: &Double) {
    for state in ["closed", "merged"] {
        double.inner().pulls[0].state = state;
        let report = double.pr(world, &[]).exits(0).document();
        assert_eq!((only(&report), &report["requests"][0]["state"]), (said("unchanged", "none"), &json!(state)));
        assert_eq!(double.written().len(), 0);
    }
}

/// A status is made, stands, and is another one.
fn states(double: &Double, kind: &str) {
    let forge = asked(double, kind);
    let commit = "0123456789012345678901234567890123456789";
    let set = |check, text: &str| forge.set_status(commit, check, text).unwrap();
    assert_eq!(set(Check::Pending, "1 of 2 decided"), Written::Made);
    assert_eq!(set(Check::Pending, "1 of 2 decided"), Written::Unchanged);
    assert_eq!(set(Check::Success, &"x".repeat(500)), Written::Updated);
    assert_eq!(set(Check::Failure, "refused"), Written::Updated);
    assert_eq!(double.inner().statuses.len(), 3);
    assert!(double.inner().statuses[1]["description"].as_str().unwrap().len() <= 140);
    double.written();
}

#[test]
fn github_opens_comments_updates_and_ends() {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    let branch = lives(
        &world,
        &double,
        &["POST /repos/ann/brain/pulls", "POST /repos/ann/brain/issues/1/comments"],
        &["PATCH /repos/ann/brain/pulls/1", "PATCH /repos/ann/brain/issues/comments/100"],
    );
    assert_eq!(world.tip("remote.git", &branch), world.tip("a", &branch));
    states(&double, "github");
    double.inner().reviews = vec![
        json!({"id": 1, "user": {"login": "ann"}, "state": "APPROVED", "commit_id": "c1", "body": "Yes.", "submitted_at": "2026-01-26T14:32:00Z"}),
        json!({"id": 2, "user": {"login": "bob"}, "state": "CHANGES_REQUESTED", "commit_id": "c2", "body": null, "submitted_at": "2026-01-26T14:33:00Z"}),
        json!({"id": 3, "user": null, "state": "DISMISSED", "commit_id": "c1", "body": "", "submitted_at": null}),
        json!({"id": 4, "user": {"login": "eve"}, "state": "PENDING", "body": ""}),
    ];
    let forge = asked(&double, "github");
    let request = forge.find(&branch, "wake", "").unwrap().unwrap();
    let reviews = forge.reviews(&request).unwrap();
    let short: Vec<_> =
        reviews.iter().map(|r| (r.reviewer.as_str(), r.verdict, r.commit.as_deref().unwrap())).collect();
    let expected =
        [("ann", Verdict::Approved, "c1"), ("bob", Verdict::ChangesAsked, "c2"), ("", Verdict::Comment, "c1")];
    assert_eq!(short, expected);
    assert_eq!(
        (reviews[0].id.as_str(), reviews[0].body.as_str(), reviews[0].at.as_str()),
        ("1", "Yes.", "2026-01-26T14:32:00Z")
    );
    ends(&world, &double);
}

#[test]
fn gitlab_opens_by_options_of_the_push() {
    let world = world("GITLAB_TOKEN");
    let double = Double::at(&world, "gitlab");
    let branch = lives(
        &world,
        &double,
        &["POST /projects/ann%2Fbrain/merge_requests/1/notes"],
        &["PUT /projects/ann%2Fbrain/merge_requests/1", "PUT /projects/ann%2Fbrain/merge_requests/1/notes/100"],
    );
    states(&double, "gitlab");
    {
        let mut inner = double.inner();
        let note = |id, author: &str, body: &str| Comment { id, author: author.to_owned(), body: body.to_owned() };
        inner.comments.push(note(110, "ann", "approved this merge request"));
        inner.comments.push(note(112, "bob", "requested changes"));
        inner.comments.push(note(113, "eve", "Why?"));
        inner.others = vec![
            ("/approvals", json!({"approved_by": [{"user": {"username": "ann"}}]})),
            (
                "/reviewers",
                json!([{"user": {"username": "bob"}, "state": "requested_changes"}, {"user": {"username": "ann"}, "state": "approved"}]),
            ),
            (
                "/versions",
                json!([
                    {"id": 2, "head_commit_sha": "new", "created_at": "2026-01-26T14:51:00.000Z"},
                    {"id": 1, "head_commit_sha": "old", "created_at": "2026-01-26T14:00:00.000Z"},
                ]),
            ),
        ];
    }
    let forge = asked(&double, "gitlab");
    let request = forge.find(&branch, "wake", "").unwrap().unwrap();
    let reviews = forge.reviews(&request).unwrap();
    let short: Vec<_> = reviews.iter().map(|r| (r.reviewer.as_str(), r.verdict, r.commit.as_deref())).collect();
    let expected = [
        ("ann", Verdict::Approved, Some("old")),
        ("bob", Verdict::ChangesAsked, Some("new")),
        ("eve", Verdict::Comment, None),
    ];
    assert_eq!(short, expected);
    double.inner().others.clear();
    ends(&world, &double);
}

#[test]
fn a_branch_that_gitlab_has_already_is_opened_by_its_interface() {
    let world = world("GITLAB_TOKEN");
    let double = Double::at(&world, "gitlab");
    held(&world, "Anna grows green tea.");
    world.sync("a");
    double.pr(&world, &[]).exits(0);
    assert_eq!(double.written()[0], "POST /projects/ann%2Fbrain/merge_requests");
    assert_eq!(double.inner().pulls.len(), 1);
}

#[test]
fn forgejo_and_gitea_open_by_a_push_to_refs_for() {
    for kind in ["forgejo", "gitea"] {
        let world = world(if kind == "gitea" { "GITEA_TOKEN" } else { "FORGEJO_TOKEN" });
        let double = Double::at(&world, kind);
        let branch = lives(
            &world,
            &double,
            &["PATCH /repos/ann/brain/pulls/1", "POST /repos/ann/brain/issues/1/comments"],
            // Without its mark the text is nobody's.
            &["PATCH /repos/ann/brain/pulls/1", "PATCH /repos/ann/brain/issues/comments/100"],
        );
        let refs = world.refs("remote.git");
        assert!(!refs.contains("agents/"), "a request there needs no branch: {refs}");
        states(&double, kind);
        double.inner().reviews = vec![
            json!({"id": 1, "user": {"login": "ann"}, "state": "APPROVED", "commit_id": "c1", "body": "", "dismissed": true, "submitted_at": "t"}),
            json!({"id": 2, "user": {"login": "bob"}, "state": "REQUEST_CHANGES", "commit_id": "c2", "body": "No.", "submitted_at": "t"}),
            json!({"id": 3, "user": {"login": "eve"}, "state": "REQUEST_REVIEW", "commit_id": "c2", "body": "", "submitted_at": "t"}),
        ];
        let forge = asked(&double, kind);
        let request = forge.find(&branch, "wake", "").unwrap().unwrap();
        let verdicts: Vec<_> = forge.reviews(&request).unwrap().iter().map(|r| r.verdict).collect();
        assert_eq!(verdicts, [Verdict::Comment, Verdict::ChangesAsked]);
        ends(&world, &double);
    }
}

#[test]
fn forgejo_takes_no_request_of_another_account_for_its_own() {
    let world = world("FORGEJO_TOKEN");
    let double = Double::at(&world, "forgejo");
    let branch = held(&world, "Anna grows green tea.");
    double.inner().pulls.push(Pull {
        number: 1,
        title: "x".to_owned(),
        body: format!("<!-- git-brain: request {branch} -->\nmine"),
        head: "other".to_owned(),
        commit: Some("0".repeat(40)),
        base: "wake".to_owned(),
        state: "open",
        author: "eve".to_owned(),
    });
    let report = double.pr(&world, &[]).exits(0).document();
    assert_eq!(report["requests"][0]["id"], "2", "{report}");
    assert!(double.inner().pulls[0].body.ends_with("mine"));
}

#[test]
fn a_comment_counts_by_its_first_line_and_its_author() {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    held(&world, &format!("{COMMENT_MARKER} is a mark."));
    let note = |id, author: &str, body: String| Comment { id, author: author.to_owned(), body };
    double.inner().comments = vec![
        note(1, "eve", format!("{COMMENT_MARKER}\nmine")),
        note(2, ACCOUNT, format!("I quote:\n{COMMENT_MARKER}")),
        note(3, ACCOUNT, format!(" {COMMENT_MARKER}")),
        note(4, ACCOUNT, format!("{COMMENT_MARKER} and more")),
    ];
    let report = double.pr(&world, &[]).exits(0).document();
    assert_eq!(only(&report), said("made", "made"), "{report}");
    let bodies: Vec<String> = double.inner().comments.iter().map(|c| c.body.clone()).collect();
    assert_eq!(bodies.len(), 5);
    assert!(bodies[0].ends_with("mine") && bodies[4].starts_with(&format!("{COMMENT_MARKER}\n")), "{bodies:?}");
    assert_eq!(only(&double.pr(&world, &[]).exits(0).document()), said("unchanged", "unchanged"));
}

#[test]
fn without_a_token_a_request_is_pushed_once() {
    let world = World::new();
    let double = Double::at(&world, "forgejo");
    held(&world, "Anna grows green tea.");
    for expected in ["made", "unchanged"] {
        let report = double.pr(&world, &[]).exits(0).document();
        assert_eq!(only(&report), said(expected, "none"), "{report}");
        assert!(report["lacks"].as_str().unwrap().contains("FORGEJO_TOKEN"), "{report}");
    }
    let pushed = std::fs::read_to_string(world.dir("remote.git/pushed")).unwrap();
    assert_eq!(pushed.lines().count(), 1);
    assert!(double.inner().asked.is_empty());
}

#[test]
fn radicle_gets_a_patch_and_says_what_it_lacks() {
    let world = World::new();
    let double = Double::at(&world, "forgejo");
    world.git("remote.git", &["config", "--add", "receive.procReceiveRefs", "refs/patches"]);
    let branch = held(&world, "Anna grows green tea.");
    let pr = || {
        let dir = world.dir("a").display().to_string();
        world.sandbox.brain(&["-C", &dir, "--json", "-c", "forge.kind=radicle", "pr"])
    };
    let report = pr().exits(0).document();
    assert!(report["lacks"].as_str().unwrap().contains("reviews"), "{report}");
    assert_eq!(only(&pr().exits(0).document()), said("unchanged", "none"));
    let pushed = std::fs::read_to_string(world.dir("remote.git/pushed")).unwrap();
    assert!(pushed.starts_with("refs/patches\t") && pushed.contains("patch.message=perception"), "{pushed}");
    moves_on(&world, &branch);
    assert!(pr().exits(3).error()["hint"].as_str().unwrap().contains("rad patch list"));
    drop(double);
}
