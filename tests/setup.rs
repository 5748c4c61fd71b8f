//! `git brain setup CLIENT`, by the real binary: what it writes is right, said, and taken out again to the byte.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

const CLIENTS: [&str; 6] = ["claude-code", "codex", "cursor", "vscode", "opencode", "gemini"];

/// A repository of code with a brain in it.
fn code() -> Sandbox {
    let code = Sandbox::empty();
    code.git(&["init", "-q", "."]);
    code.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    code.brain(&["init", "--in-repo", "."]).exits(0);
    code
}

/// Every file below a folder but git's own.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true if entry.file_name() == ".git" => {}
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().display().to_string();
                    found.insert(name, std::fs::read(&path).unwrap_or_default());
                }
            }
        }
    }
    found
}

fn write(code: &Sandbox, path: &str, text: &str) {
    let path = code.dir().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(code: &Sandbox, path: &str) -> String {
    std::fs::read_to_string(code.dir().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn setup_of_every_client_is_idempotent_and_taken_out_to_the_byte() {
    let code = code();
    for (path, text) in [
        (".claude/settings.json", "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}"),
        ("CLAUDE.md", "# Rules\r\n\r\nBe kind."),
        ("AGENTS.md", "# Agents\n"),
        (".codex/config.toml", "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"o\"\n"),
        (".vscode/mcp.json", "{\n\t// servers\n\t\"servers\": {},\n}\n"),
        ("opencode.jsonc", "{\n    \"theme\": \"dark\" /* at night */\n}\n"),
        (".gemini/settings.json", "{}\n"),
    ] {
        write(&code, path, text);
    }
    let before = files(code.dir());
    for client in CLIENTS {
        assert!(code.brain(&["setup", client, "--check"]).exits(1).out.contains("fault:"));
        code.brain(&["setup", client, "--dry-run"]).exits(0);
        assert_eq!(files(code.dir()), before, "{client}: a dry run writes nothing");
        let answer = code.brain(&["setup", client]).exits(0);
        assert!(answer.out.contains("written") && answer.out.contains("next: "), "{answer}");
        let after = files(code.dir());
        assert_ne!(after, before);
        code.brain(&["setup", client, "--check"]).exits(0);
        code.brain(&["setup", client]).exits(0);
        assert_eq!(files(code.dir()), after, "{client}: again changes nothing");
        code.brain(&["setup", client, "--remove"]).exits(0);
        assert_eq!(files(code.dir()), before, "{client}");
        assert!(code.brain(&["setup", client, "--remove"]).exits(0).out.contains("nothing of ours"));
        assert_eq!(files(code.dir()), before, "{client}");
    }
    // All at once, taken out in another order: what they share stays as long as one needs it.
    CLIENTS.iter().for_each(|client| drop(code.brain(&["setup", client]).exits(0)));
    assert!(read(&code, ".vscode/mcp.json").contains("// servers"));
    for client in ["codex", "gemini", "opencode", "vscode", "claude-code"] {
        code.brain(&["setup", client, "--remove"]).exits(0);
        code.brain(&["setup", "cursor", "--check"]).exits(0);
    }
    code.brain(&["setup", "cursor", "--remove"]).exits(0);
    assert_eq!(files(code.dir()), before);
}

#[test]
fn setup_keeps_what_a_person_wrote_since() {
    let code = code();
    code.brain(&["setup", "claude-code"]).exits(0);
    let settings: Value = serde_json::from_str(&read(&code, ".claude/settings.json")).unwrap();
    let command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with("git-brain hook claude-code SessionStart"), "{command}");
    let servers: Value = serde_json::from_str(&read(&code, ".mcp.json")).unwrap();
    assert_eq!(servers["mcpServers"]["git-brain"]["args"], serde_json::json!(["mcp"]));
    let more = read(&code, ".mcp.json").replacen("\"mcpServers\": {", "\"mcpServers\": {\n    \"mine\": {},", 1);
    write(&code, ".mcp.json", &more);
    write(&code, "CLAUDE.md", &format!("# First\n\n{}# Last\n", read(&code, "CLAUDE.md")));
    code.brain(&["setup", "claude-code", "--remove"]).exits(0);
    let servers: Value = serde_json::from_str(&read(&code, ".mcp.json")).unwrap();
    assert_eq!(servers, serde_json::json!({"mcpServers": {"mine": {}}}));
    let memory = read(&code, "CLAUDE.md");
    assert!(memory.contains("# First") && memory.contains("# Last") && !memory.contains("git-brain"), "{memory}");
    assert!(!code.dir().join(".claude").exists());
}

#[test]
fn setup_touches_nothing_of_a_person_that_is_called_as_ours_are() {
    for (client, path) in
        [("claude-code", ".claude/skills/git-brain/SKILL.md"), ("opencode", ".opencode/plugins/git-brain.js")]
    {
        let code = code();
        write(&code, path, "// my own\nmine\n");
        let before = files(code.dir());
        let refused = code.brain(&["setup", client]).exits(3);
        assert!(refused.err.contains("another file is there") && refused.err.contains(path), "{}", refused.err);
        code.brain(&["setup", client, "--remove"]).exits(0);
        assert_eq!(files(code.dir()), before, "{client}");
    }
    // Prose that speaks of the marks is no block of ours.
    let code = code();
    let own = "# Rules\n\nThe block between `<!-- git-brain -->` and its end is made by setup.\n\n```md\n<!-- git-brain -->\nx\n<!-- /git-brain -->\n```\n\nReleases are cut on Thursdays.\n";
    write(&code, "AGENTS.md", own);
    write(&code, "opencode.json", "// my settings, none yet");
    for client in ["codex", "opencode"] {
        code.brain(&["setup", client]).exits(0);
        code.brain(&["setup", client, "--check"]).exits(0);
    }
    assert!(read(&code, "AGENTS.md").starts_with(own));
    for client in ["codex", "opencode"] {
        code.brain(&["setup", client, "--remove"]).exits(0);
    }
    assert_eq!(
        (read(&code, "AGENTS.md").as_str(), read(&code, "opencode.json").as_str()),
        (own, "// my settings, none yet")
    );
}

#[test]
fn setup_leaves_what_a_person_wrote_into_ours() {
    let paths = [
        ("claude-code", ".claude/skills/git-brain/SKILL.md"),
        ("opencode", ".opencode/plugins/git-brain.js"),
        ("codex", "AGENTS.md"),
    ];
    for (client, path) in paths {
        let code = code();
        code.brain(&["setup", client]).exits(0);
        let written = read(&code, path);
        let own = match path {
            "AGENTS.md" => written.replacen("This repository", "Ours: this repository", 1),
            _ => format!("{written}## My own notes\n"),
        };
        assert_ne!(own, written);
        write(&code, path, &own);
        let before = files(code.dir());
        let check = code.brain(&["setup", client, "--check"]).exits(1);
        assert!(format!("{check}").contains("differs"), "{check}");
        let refused = code.brain(&["setup", client]).exits(3);
        assert!(refused.err.contains("was changed there") && refused.err.contains(path), "{}", refused.err);
        assert_eq!(files(code.dir()), before, "{client}");
        code.brain(&["setup", client, "--remove"]).exits(0);
        assert_eq!(read(&code, path), own, "{client}");
    }
    // A teammate whose machine knows nothing of the set-up, and has another program.
    let code = code();
    code.brain(&["setup", "opencode"]).exits(0);
    for (path, text) in files(code.dir()) {
        let text = String::from_utf8(text).unwrap();
        write(&code, &path, &text.replace("\r\n", "\n").replace('\n', "\r\n"));
    }
    let records = code.git(&["rev-parse", "--path-format=absolute", "--git-path", "git-brain/setup.json"]);
    std::fs::remove_file(records.trim()).unwrap();
    code.brain(&["setup", "opencode"]).exits(0);
    code.brain(&["setup", "opencode", "--remove"]).exits(0);
    assert!(files(code.dir()).is_empty(), "{:?}", files(code.dir()).keys());
}

#[test]
fn setup_refuses_broken_files_and_links_and_changes_nothing() {
    let code = code();
    write(&code, ".claude/settings.json", "{\n  \"hooks\": {\n");
    let before = files(code.dir());
    let answer = code.brain(&["setup", "claude-code"]).exits(3);
    assert!(answer.err.contains("settings.json") && answer.err.contains("line 3"), "{answer}");
    assert_eq!(files(code.dir()), before);
    std::fs::remove_dir_all(code.dir().join(".claude")).unwrap();
    std::fs::create_dir(code.beside("elsewhere")).unwrap();
    std::os::unix::fs::symlink(code.beside("elsewhere"), code.dir().join(".claude")).unwrap();
    let answer = code.brain(&["setup", "claude-code"]);
    assert!(answer.code != 0 && answer.err.contains("leads out of its folder"), "{answer}");
    std::fs::remove_file(code.dir().join(".claude")).unwrap();
    std::os::unix::fs::symlink("/no/such/file", code.dir().join("CLAUDE.md")).unwrap();
    let answer = code.brain(&["setup", "claude-code"]);
    assert!(answer.code != 0 && answer.err.contains("CLAUDE.md"), "{answer}");
    std::fs::remove_file(code.dir().join("CLAUDE.md")).unwrap();
    assert!(files(code.dir()).is_empty() && files(&code.beside("elsewhere")).is_empty());
    // A link inside the project is followed, and stays a link.
    write(&code, "AGENTS.md", "# Rules\n");
    std::os::unix::fs::symlink("AGENTS.md", code.dir().join("CLAUDE.md")).unwrap();
    code.brain(&["setup", "claude-code"]).exits(0);
    assert!(read(&code, "AGENTS.md").contains("<!-- /git-brain -->"));
    assert!(std::fs::symlink_metadata(code.dir().join("CLAUDE.md")).unwrap().is_symlink());
    // Who is no client, and where no brain is.
    assert!(code.brain(&["setup", "emacs"]).exits(2).err.contains("claude-code"));
    let empty = Sandbox::empty();
    assert!(empty.brain(&["setup", "claude-code"]).exits(2).err.contains("init --in-repo"));
}

#[test]
fn setup_of_a_user_is_in_the_home_alone() {
    let code = code();
    let home = code.beside("home");
    for client in CLIENTS {
        code.brain(&["setup", client, "--user"]).exits(0);
        assert!(!files(&home).is_empty() && files(code.dir()).is_empty(), "{client}");
        code.brain(&["setup", client, "--user", "--check"]).exits(0);
        code.brain(&["setup", client, "--user", "--remove"]).exits(0);
        assert!(files(&home).is_empty(), "{client}: {:?}", files(&home).keys());
    }
}

#[test]
fn doctor_knows_a_set_up_that_is_broken() {
    let code = code();
    assert!(!code.brain(&["doctor"]).exits(0).out.contains("coding agents"));
    code.brain(&["setup", "codex"]).exits(0);
    assert!(code.brain(&["doctor"]).exits(0).out.contains("Codex set up"));
    std::fs::remove_file(code.dir().join(".codex/hooks.json")).unwrap();
    let answer = code.brain(&["doctor"]).exits(1);
    assert!(
        answer.out.contains(".codex/hooks.json has nothing") && answer.out.contains("git brain setup codex"),
        "{answer}"
    );
    code.brain(&["setup", "codex"]).exits(0);
    code.brain(&["doctor"]).exits(0);
}

#[test]
fn plugin_folder_has_what_a_project_has_and_is_taken_out_again() {
    let code = code();
    let folder = code.beside("plugin");
    let place = code.path("plugin");
    let at = |args: &[&str]| code.brain(&[&["setup", "claude-code", "--plugin", place.as_str()], args].concat());
    assert!(at(&["--dry-run"]).exits(0).out.contains("would write") && !folder.exists());
    at(&["--check"]).exits(1);
    let said = at(&[]).exits(0);
    assert!(said.out.contains("--plugin-dir"), "{said}");
    assert!(files(code.dir()).is_empty(), "nothing is written into the project");
    at(&["--check"]).exits(0);
    let plugin = files(&folder);
    at(&[]).exits(0);
    assert_eq!(files(&folder), plugin, "a second time changes nothing");
    // The same pieces as in a project, at their places of a plugin.
    code.brain(&["setup", "claude-code"]).exits(0);
    let json = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap();
    let project = files(code.dir());
    assert_eq!(json(&plugin[".mcp.json"]), json(&project[".mcp.json"]));
    assert_eq!(json(&plugin["hooks/hooks.json"])["hooks"], json(&project[".claude/settings.json"])["hooks"]);
    assert_eq!(plugin["skills/git-brain/SKILL.md"], project[".claude/skills/git-brain/SKILL.md"]);
    assert_eq!(json(&plugin[".claude-plugin/plugin.json"])["name"], "git-brain");
    assert_eq!(plugin.len(), 4);
    // What somebody adds stays; the rest goes, and with it the folder's files.
    std::fs::write(folder.join("README.md"), "ours\n").unwrap();
    at(&["--remove"]).exits(0);
    assert_eq!(files(&folder).into_keys().collect::<Vec<_>>(), ["README.md"]);
    let other = code.brain(&["setup", "codex", "--plugin", &place]).exits(2);
    assert!(other.err.contains("Codex has no plugins"), "{other}");
    code.brain(&["setup", "claude-code", "--plugin", &place, "--user"]).exits(2);
}
