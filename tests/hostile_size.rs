//! Size as a weapon: refused early, by what was read and in bounded memory, never by the time it takes.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::sandbox::{self, PROGRAM, Sandbox};

/// Address space that a command gets here: what it needs itself, and little more.
const BOUND_KIB: u32 = 200 << 10;

/// The program inside an address space of [`BOUND_KIB`]; beyond it, it would abort.
fn bounded(sandbox: &Sandbox, args: &[&str]) -> Command {
    let script = format!("ulimit -v {BOUND_KIB} && exec \"$0\" \"$@\"");
    let all: Vec<&str> = ["-c", &script, PROGRAM].into_iter().chain(args.iter().copied()).collect();
    sandbox.command("sh", &all)
}

fn code(what: &str, command: &mut Command) -> (i32, String) {
    let began = Instant::now();
    let ended = command.stdin(Stdio::null()).output().unwrap();
    println!("{what}: {} ms", began.elapsed().as_millis());
    let err = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.code().unwrap_or_else(|| panic!("{what}: {} {err}", ended.status)), err)
}

#[test]
fn a_gigabyte_is_refused_unread() {
    let sandbox = Sandbox::new();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let path = sandbox.file("huge.json", "{\"ops\": [\n");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
    let (ended, err) = code("a delta of 1 GiB", &mut bounded(&sandbox, &["apply", &path]));
    assert_eq!(ended, 3, "{err}");
    for args in [&["import", &path][..], &["import", "--triples", &path]] {
        let (ended, err) = code(&format!("{args:?} of 1 GiB"), &mut bounded(&sandbox, args));
        assert!(matches!(ended, 3 | 5), "{err}");
    }
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

#[test]
fn an_endless_stream_is_read_up_to_the_limit() {
    let sandbox = Sandbox::new();
    for head in [&b"{\"ops\": ["[..], b"", b"\x00\xff"] {
        let mut child = bounded(&sandbox, &["apply", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let mut written = pipe.write(head).unwrap();
        // Ends when nobody reads any more.
        while let Ok(more) = pipe.write(&[b' '; 4096]) {
            written += more;
        }
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
        // What the pipe itself holds comes on top: 64 KiB, or up to a megabyte where it was set so.
        assert!(written <= git_brain::limits::DELTA_BYTES + (1 << 20) + 8192, "{written} bytes were taken");
        println!("{written} bytes were taken of an endless delta");
    }
}

#[test]
fn devices_pipes_and_folders_are_no_files() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.beside("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let folder = sandbox.beside("").display().to_string();
    for path in ["/dev/zero", &pipe, &folder] {
        for args in [&["import", path][..], &["import", "--triples", path], &["apply", path], &["feed", "--file", path]]
        {
            let answer = sandbox.brain(args);
            assert_ne!(answer.code, 0, "{answer}");
            let folder = path == folder;
            assert!(answer.err.contains("is no regular file") || folder && answer.err.contains("irectory"), "{answer}");
        }
    }
    // A pipe that a shell hands over is one.
    let network = sandbox.file("network.json", r#"{"neurons": [{"id": "tea", "concept": "tea", "type": "semantic"}]}"#);
    let script = format!("exec {} import --dry-run <(cat '{network}')", sandbox::PROGRAM);
    assert!(sandbox.command("bash", &["-c", &script]).status().unwrap().success());
}

#[test]
fn a_million_operations_and_a_hundred_thousand_levels_are_refused() {
    let sandbox = Sandbox::new();
    let (refs, objects) = (sandbox.refs(), sandbox.object_count());
    let op = r#"{"op":"activate","id":"a","strength":1}"#;
    let ops = |count: usize| format!("{{\"ops\": [{}]}}", vec![op; count].join(","));
    let deep = 100_000;
    let cases = [
        ("a million operations", ops(1_000_000), 3),
        ("a thousand and one", ops(1_001), 3),
        ("nested lists", format!("{{\"ops\": {}{}}}", "[".repeat(deep), "]".repeat(deep)), 5),
        ("nested objects", format!("{}1{}", "{\"a\":".repeat(deep), "}".repeat(deep)), 5),
        (
            "a nested payload",
            format!(
                "{{\"ops\": [{{\"op\": \"signal\", \"to\": \"memory\", \"payload\": {{\"a\": {}{}}}}}]}}",
                "[".repeat(deep),
                "]".repeat(deep)
            ),
            5,
        ),
        ("a deep end that never comes", "[".repeat(deep), 5),
        ("one long number", format!("{{\"ops\": [{}]}}", "9".repeat(900_000)), 5),
        ("one long key", format!("{{\"{}\": 1}}", "k".repeat(900_000)), 5),
    ];
    for (what, text, expected) in cases {
        let path = sandbox.file("large.json", text);
        let (ended, err) = code(what, &mut bounded(&sandbox, &["apply", &path]));
        assert_eq!(ended, expected, "{what}: {}", &err[..err.len().min(400)]);
        assert!(err.len() < 4096, "{what}: an error is for people to read, not {} bytes", err.len());
    }
    assert_eq!((sandbox.refs(), sandbox.object_count()), (refs, objects));
}

/// A kilobyte of history can unpack to hundreds of megabytes. What is no document by its size alone is never unpacked.
#[test]
fn a_blob_that_unpacks_beyond_all_bounds_is_not_read() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("zeros", "");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(256 << 20).unwrap();
    let blob = sandbox.git(&[
        "-c",
        "core.bigFileThreshold=1m",
        "-c",
        "core.compression=1",
        "hash-object",
        "-w",
        "--no-filters",
        &path,
    ]);
    let bomb = "network/neurons/f6/1/tea-1f3c.json";
    sandbox.git(&["read-tree", "wake"]);
    sandbox.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{bomb}")]);
    let tree = sandbox.git(&["write-tree"]);
    sandbox.git(&["read-tree", "main"]);
    let commit = sandbox.git(&["commit-tree", "-p", "wake", "-m", "bomb", &tree]);
    let wake = sandbox.tip("wake");
    sandbox.git(&["update-ref", "refs/heads/wake", &commit]);
    for args in [&["check"][..], &["recall", "tea"], &["show", "tea-1f3c"], &["status"], &["log"]] {
        let (ended, err) = code(&format!("{args:?} over a bomb"), &mut bounded(&sandbox, args));
        assert!(matches!(ended, 0 | 1 | 5), "{args:?}: {ended} {err}");
    }
    sandbox.git(&["update-ref", "refs/heads/wake", &wake]);
}

/// A neuron that a plain commit makes larger than a run could is refused at the gate: whoever merged it would have no room left.
#[test]
fn a_person_makes_no_neuron_larger_than_a_run_could() {
    let world = crate::machines::World::gated();
    let made = world.apply("a", serde_json::json!([crate::sandbox::create("hub"), crate::sandbox::create("n-0")]));
    world.sync("a");
    let path = world.path_of("a", made["commit"].as_str().unwrap(), "/hub.json");
    let text = world.git("a", &["show", &format!("wake:{path}")]) + "\n";
    let ties = |count: usize| {
        let names: Vec<String> =
            (0..count).map(|n| format!("    \"n-{n:060}\": {{\n      \"feeds_into\": 7\n    }}")).collect();
        let block = format!("  \"connections\": {{\n{}\n  }}", names.join(",\n"));
        format!("{},\n{block}\n}}\n", text.trim_end().trim_end_matches('}').trim_end())
    };
    let tip = world.tip("a", "wake");
    let large = world.commit("a", &tip, &[&tip], &[(&path, Some(&ties(20_000)))], "by hand\n", &[]);
    crate::machines::refused(&world, "a large neuron", &large, "wake", "grows beyond 2097152 bytes");
}
