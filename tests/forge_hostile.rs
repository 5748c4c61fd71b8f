//! Forges that lie, flood, hang and lead elsewhere; and settings that would send a token where nobody wants it.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::forge_double::{Double, Manner, TOKEN, held, status, world};
use crate::machines::World;
use crate::sandbox::Answer;

/// A run that waits, and a GitHub that behaves so at the first request.
fn misbehaves(manners: &[Manner]) -> (World, Double, Answer) {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    held(&world, "Anna grows green tea.");
    double.inner().manners = manners.iter().cloned().collect();
    let answer = double.pr(&world, &[]);
    (world, double, answer)
}

fn said(answer: &Answer) -> String {
    let error = answer.error()["error"].as_str().unwrap().to_owned();
    assert!(!format!("{answer}").contains(TOKEN), "the token is printed");
    error
}

#[test]
fn an_answer_that_is_garbage_is_an_error_of_data() {
    let deep = "[".repeat(100_000);
    let texts = [
        "<html>",
        "",
        "{}",
        "null",
        "[1]",
        "[{\"number\": -1}]",
        "[{\"number\": 1, \"state\": \"open\"}]",
        &deep,
        "\u{0}\u{ff}",
    ];
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    held(&world, "Anna grows green tea.");
    for text in texts {
        double.inner().manners = [status("200 OK", "", text)].into();
        let answer = double.pr(&world, &[]).exits(5);
        assert!(
            said(&answer).contains("GitHub at http") && said(&answer).contains("/repos/ann/brain/pulls"),
            "{answer}"
        );
    }
    assert!(double.inner().pulls.is_empty());
}

#[test]
fn an_answer_without_end_is_not_read() {
    for manner in [Manner::Floods(5 << 20), status("200 OK", "", &format!("[\"{}\"]", "x".repeat(5 << 20)))] {
        let (_, _, answer) = misbehaves(&[manner]);
        assert!(said(&answer.exits(5)).contains("answered more than 4194304 bytes"));
    }
}

#[test]
fn a_forge_that_is_slow_or_silent_is_left_after_a_while() {
    for manner in [Manner::Drips, Manner::Hangs] {
        let (_, _, answer) = misbehaves(&[manner]);
        let error = said(&answer.exits(2));
        assert!(error.contains("GitHub at http") && error.contains("did not answer within 4000 ms"), "{error}");
    }
}

#[test]
fn a_forge_that_is_not_there_is_named() {
    let world = world("GITHUB_TOKEN");
    held(&world, "Anna grows green tea.");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = Double { address: free, ..Double::alone("github") };
    let error = said(&gone.pr(&world, &[]).exits(2));
    assert!(error.contains("cannot be reached") && error.contains("/repos/ann/brain/pulls"), "{error}");
}

#[test]
fn a_redirect_is_not_followed_and_no_token_goes_elsewhere() {
    let elsewhere = Double::alone("github");
    let headers = format!("location: {}/repos/ann/brain/pulls\r\n", elsewhere.url());
    for line in ["301 Moved Permanently", "307 Temporary Redirect"] {
        let (_, _, answer) = misbehaves(&[status(line, &headers, "")]);
        assert!(said(&answer.exits(5)).contains("redirects are not followed"));
    }
    assert!(elsewhere.inner().asked.is_empty());
}

#[test]
fn a_forge_that_asks_to_wait_is_waited_for_within_a_bound() {
    let began = Instant::now();
    let limit = |line: &str, headers: &str| status(line, headers, "{\"message\": \"slow down\"}");
    let manners = [
        limit("429 Too Many Requests", "retry-after: 1\r\n"),
        limit("403 Forbidden", "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1\r\n"),
    ];
    let (_, double, answer) = misbehaves(&manners);
    answer.exits(0);
    assert!(began.elapsed() >= Duration::from_secs(2) && double.inner().pulls.len() == 1);
    let (_, double, answer) = misbehaves(&[limit("429 Too Many Requests", "retry-after: 3600\r\n")]);
    assert!(said(&answer.exits(6)).contains("takes no more requests for 3600 s"));
    assert_eq!(double.inner().asked.len(), 1);
}

#[test]
fn the_words_of_a_refusal_are_told_without_the_token() {
    let words = format!("{{\"message\": \"no \\u001b[31m {TOKEN}\"}}");
    let (_, _, answer) = misbehaves(&[status("403 Forbidden", "", &words)]);
    let error = said(&answer.exits(3));
    assert!(error.contains("403") && error.contains("no  [31m …") && !error.contains('\u{1b}'), "{error}");
    let (_, _, answer) = misbehaves(&[status("401 Unauthorized", "", "{\"message\": \"Bad credentials\"}")]);
    assert!(answer.exits(3).error()["hint"].as_str().unwrap().contains("token"));
}

#[test]
fn pages_have_a_bound_and_stay_at_the_forge() {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    held(&world, "Anna grows green tea.");
    let next = |page: usize| format!("link: <http://other.invalid/?page={page}>; rel=\"next\"\r\n");
    double.inner().manners = (2..100).map(|page| status("200 OK", &next(page), "[]")).collect();
    assert!(said(&double.pr(&world, &[]).exits(5)).contains("has more than 50 pages"));
    assert_eq!(double.inner().asked.len(), 50);
}

#[test]
fn no_token_goes_over_the_network_in_plain_text() {
    let world = world("GITHUB_TOKEN");
    held(&world, "Anna grows green tea.");
    let dir = world.dir("a").display().to_string();
    let settings = ["forge.kind=github", "forge.url=http://192.0.2.1/api", "forge.repository=a/b"];
    let flags: Vec<&str> = settings.iter().flat_map(|setting| ["-c", setting]).collect();
    let answer = world.sandbox.brain(&[&["-C", &dir, "--json"], &flags[..], &["pr"]].concat()).exits(2);
    assert!(said(&answer).contains("is not encrypted"), "{answer}");
}

#[test]
fn a_forge_in_a_clones_settings_gets_nothing_until_it_is_trusted() {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    held(&world, "Anna grows green tea.");
    let dir = world.dir("a").display().to_string();
    let pr = |flags: &[&str]| world.sandbox.brain(&[&["-C", &dir, "--json"], flags, &["pr"]].concat());
    let section = format!("\n[forge]\nkind = \"github\"\nurl = \"{}\"\nrepository = \"ann/brain\"\n", double.url());
    let plain = world.read("a", "brain.toml");
    world.write("a", "brain.toml", &(plain.clone() + &section));
    world.git("a", &["commit", "-qam", "forge"]);
    let answer = pr(&[]).exits(3);
    assert!(said(&answer).contains("brain.toml is not trusted"), "{answer}");
    let url = format!("forge.url={}", double.url());
    // One word of it is not all of it.
    let other = pr(&["-c", "forge.url=http://127.0.0.1:9"]).exits(3);
    assert!(said(&other).contains("not trusted"), "{other}");
    assert!(double.inner().asked.is_empty());
    let listed = world.json("a", &["trust", "--list"]).to_string();
    assert!(listed.contains("send the token for github") && listed.contains(&double.url()), "{listed}");
    world.brain("a", &["trust", "--yes"]);
    pr(&[]).exits(0);
    assert_eq!(double.inner().pulls.len(), 1);

    // The configuration of a folder that was copied is trusted no further.
    world.write("a", "brain.toml", &plain);
    world.git("a", &["commit", "-qam", "plain"]);
    for (key, value) in [("kind", "github"), ("url", &double.url()), ("repository", "ann/brain")] {
        world.git("a", &["config", &format!("brain.forge.{key}"), value]);
    }
    double.inner().asked.clear();
    let answer = pr(&[]).exits(3);
    assert!(said(&answer).contains("nor is the repository's git configuration"), "{answer}");
    assert!(double.inner().asked.is_empty());
    // A person who gives all of it in the command has said so.
    pr(&["-c", "forge.kind=github", "-c", &url, "-c", "forge.repository=ann/brain"]).exits(0);
    world.brain("a", &["trust", "--yes"]);
    pr(&[]).exits(0);
}

#[test]
fn what_is_not_to_be_reviewed_there_is_refused_before_anything_is_sent() {
    let world = world("GITHUB_TOKEN");
    let double = Double::at(&world, "github");
    assert_eq!(double.pr(&world, &[]).exits(0).document()["requests"], Value::Array(Vec::new()));
    assert!(double.pr(&world, &["wake"]).exits(3).error()["error"].as_str().unwrap().contains("no branch of a run"));
    let branch = held(&world, "Boris drinks coffee.");
    // A secret that somebody added to the branch by plain git.
    let secret = format!("AKIA{}", "ABCDEFGHIJKLMNOP");
    let tree = world.git("a", &["rev-parse", &branch]);
    let commit = world.commit("a", &tree, &[&tree], &[("network/note.json", Some(&secret))], "note", &[]);
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &commit]);
    let answer = double.pr(&world, &[&branch]).exits(3);
    assert!(answer.error()["error"].as_str().unwrap().contains("stays here"), "{answer}");
    assert!(double.inner().asked.is_empty() && !world.refs("remote.git").contains("agents/"));
    world.git("a", &["update-ref", &format!("refs/heads/{branch}"), &tree]);
    // The texts that were fed are in wake here, and not there.
    let report = double.pr(&world, &[]).exits(0).document();
    assert_eq!(report["requests"][0]["shows_more"], true, "{report}");
    world.sync("a");
    let report = double.pr(&world, &[]).exits(0).document();
    assert_eq!(
        (&report["requests"][0]["shows_more"], &report["requests"][0]["request"]),
        (&Value::Bool(false), &Value::from("unchanged"))
    );
}
