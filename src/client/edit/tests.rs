use serde_json::json;

use super::*;

fn pieces() -> Vec<Piece> {
    let hook =
        |event: &str| json!({"hooks": [{"type": "command", "command": format!("git-brain hook claude-code {event}")}]});
    vec![
        Piece::Member(&["mcpServers", "git-brain"], json!({"command": "git-brain", "args": ["mcp"]})),
        Piece::Element(&["hooks", "Stop"], hook("Stop")),
        Piece::Element(&["hooks", "SessionEnd"], hook("SessionEnd")),
    ]
}

const TEXTS: [&str; 14] = [
    "",
    "\n",
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    "{\"a\": 1}",
    "{\n    // why\n    \"z\": [1, 2],\n    \"a\": \"b\" // last\n}\n",
    "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": []},\n\t\t],\n\t},\n}\n",
    "{\"hooks\":{\"Stop\":[{\"x\":1}]}}",
    "{\"hooks\":{},\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
    "{\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n",
    "\u{feff}{\n  \"mcpServers\": {\n    \"o\": {} /* c */\n  }\n}",
    "// a file\n{\n  /* nothing */\n}\n// end\n",
];

#[test]
fn edit_keeps_every_byte_and_is_cut_out_again() {
    for text in TEXTS {
        let edited = with(text, &pieces()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(found(&edited.text, &pieces()), Ok(Found::All), "{text:?}: {}", edited.text);
        assert_eq!(cut(&edited.text, &edited.inserted).as_deref(), Some(text), "{}", edited.text);
        for comment in ["// why", "// last", "/* c */", "/* nothing */", "// end"] {
            assert_eq!(text.contains(comment), edited.text.contains(comment));
        }
        // Without knowing the insertions, nothing of ours stays, and nothing else goes.
        let rest = without(&edited.text, &pieces()).unwrap();
        let left = rest.as_deref().unwrap_or_default();
        assert!(!left.contains("git-brain"), "{text:?}: {left}");
        assert_eq!(found(left, &pieces()), Ok(Found::None));
        if text.contains("other") || text.contains("\"x\":1") {
            assert!(left.contains("other") || left.contains("\"x\":1"), "{left}");
        }
        if text.contains("why") {
            assert_eq!(left, text);
        }
    }
}

#[test]
fn edit_finds_what_was_changed() {
    let edited = with("{}", &pieces()).unwrap();
    let changed = edited.text.replace("\"git-brain\",", "\"/old/git-brain\",");
    assert_ne!(changed, edited.text);
    assert_eq!(found(&changed, &pieces()), Ok(Found::Some));
    assert_eq!(without(&changed, &pieces()), Ok(None));
    let of_another = edited.text.replace("hook claude-code", "hook codex").replace("mcpServers", "servers");
    assert_eq!(found(&of_another, &pieces()), Ok(Found::None), "another client's hooks are another's");
}

#[test]
fn edit_refuses_what_it_cannot_read() {
    for (text, why) in [
        ("{\"a\": 1", "line 1: a comma"),
        ("{\n\"a\" 1}", "line 2: a colon"),
        ("[]", "no object"),
        ("{\"hooks\": []}", "hooks is no object"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks.Stop is no list"),
        ("{\"a\": 1} x", "something follows"),
        ("{\"a\": tru}", "a value"),
        ("{\"a\": 1, \"a\": 2}", "twice"),
        ("{ /* ", "no end"),
    ] {
        let error = with(text, &pieces()).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(1_000), "}".repeat(1_000));
    assert!(with(&deep, &pieces()).unwrap_err().contains("deeply"));
}

#[test]
fn edit_of_toml_keeps_comments_and_order() {
    let piece = [Piece::Table(&["mcp_servers", "git-brain"], "command = \"git-brain\"\nargs = [\"mcp\"]\n".to_owned())];
    for text in ["", "# mine\nmodel = \"x\" # why\n", "model = \"x\"", "[mcp_servers.other]\r\ncommand = \"o\"\r\n"] {
        let edited = with(text, &piece).unwrap();
        assert_eq!(found(&edited.text, &piece), Ok(Found::All), "{}", edited.text);
        assert_eq!(cut(&edited.text, &edited.inserted).as_deref(), Some(text));
        let more = format!("{}\n[mcp_servers.git-brain.env]\nA = \"b\"\n\n[last]\nx = 1\n", edited.text);
        assert_eq!(found(&more, &piece), Ok(Found::All), "settings of a person's own");
        let left = without(&more, &piece).unwrap().unwrap();
        assert!(left.contains("[last]") && !left.contains("git-brain") && left.starts_with(text.trim_end()), "{left}");
        for own in ["# keep this\n[tools]\nweb = true\n", "\n# the end\n"] {
            let left = without(&format!("{}{own}", edited.text), &piece).unwrap().unwrap();
            assert!(left.ends_with(own) && !left.contains("git-brain"), "{left}");
        }
    }
    assert!(with("mcp_servers = {}\n", &piece).unwrap_err().contains("no table"));
    assert!(with("a = \n", &piece).unwrap_err().starts_with("line 1"));
    let inline = "[mcp_servers]\ngit-brain = { command = \"git-brain\", args = [\"mcp\"] }\n";
    assert!(without(inline, &piece).unwrap_err().contains("by hand"));
}

#[test]
fn edit_of_markdown_is_a_fence() {
    let piece = [Piece::Fence("Ask the brain.".to_owned())];
    for text in ["", "# Rules\n", "# Rules", "# Rules\r\n\r\nBe kind.\r\n", "a\n\n"] {
        let edited = with(text, &piece).unwrap();
        assert_eq!(found(&edited.text, &piece), Ok(Found::All), "{:?}", edited.text);
        assert_eq!(cut(&edited.text, &edited.inserted).as_deref(), Some(text));
        let more = format!("{}\nMore.\n", edited.text);
        let left = without(&more, &piece).unwrap().unwrap();
        assert!(!left.contains("git-brain") && left.contains("More.") && left.starts_with(text.trim_end()));
    }
    // A block of another version says by its hash that nobody changed it.
    let old = with("# Rules\n", &[Piece::Fence("Ask the old brain.\nTwice.".to_owned())]).unwrap().text;
    assert_eq!(found(&old, &piece), Ok(Found::Some));
    for text in [
        old.clone(),
        old.replace('\n', "\r\n"),
        "# Rules\n\n<!-- git-brain -->\nAsk the brain.\n<!-- /git-brain -->\n".to_owned(),
    ] {
        assert_eq!(without(&text, &piece).unwrap().unwrap().trim_end(), "# Rules", "{text:?}");
    }
    let changed = old.replace("Twice.", "Twice, says Ben.");
    assert_eq!(found(&changed, &piece), Ok(Found::Some));
    assert_eq!(without(&changed, &piece).unwrap().as_deref(), Some(&*changed));
    assert!(with(&changed, &piece).unwrap_err().starts_with("line 3: the text that `setup` wrote was changed"));
}

#[test]
fn edit_of_markdown_leaves_what_only_looks_like_a_block() {
    let piece = [Piece::Fence("Ask the brain.".to_owned())];
    let example = with("", &piece).unwrap().text;
    for own in [
        "# a\n\n<!-- git-brain -->\nMy own line.\n<!-- /git-brain -->\nEnd.\n".to_owned(),
        "a\n<!-- git-brain -->\nno end\n".to_owned(),
        "a\n<!-- /git-brain -->\nreversed\n<!-- git-brain -->\n".to_owned(),
        "a\n<!-- git-brain 0123456789abcdef -->\nno end\n".to_owned(),
        format!("~~~md\n```\n{example}~~~\nmine\n"),
        format!("````\n```\n{example}```\n````\nmine\n"),
        "```\nan example without an end\n".to_owned(),
        "~~~\n```\n".to_owned(),
    ] {
        assert_eq!(found(&own, &piece), Ok(Found::None), "{own:?}");
        let edited = with(&own, &piece).unwrap();
        assert_eq!(found(&edited.text, &piece), Ok(Found::All), "{own:?}");
        assert_eq!(cut(&edited.text, &edited.inserted).as_deref(), Some(&*own));
        assert_eq!(without(&edited.text, &piece).unwrap().unwrap().trim_end(), own.trim_end());
    }
}

#[test]
fn edit_of_a_whole_file_leaves_what_a_person_wrote_in_it() {
    for (old, new) in [
        (signed("---\nname: a\n---\nold\n", ("<!--", "-->")), signed("---\nname: a\n---\nnew\n", ("<!--", "-->"))),
        (signed("// a\nold()\n", ("//", "")), signed("// a\nnew()\n", ("//", ""))),
        (
            "{\n  \"name\": \"a\", \"version\": \"1\"\n}\n".to_owned(),
            "{\n  \"name\": \"a\", \"version\": \"2\"\n}\n".to_owned(),
        ),
        ("---\nname: a\n---\nnew\n".to_owned(), signed("---\nname: a\n---\nnew\n", ("<!--", "-->"))),
    ] {
        let piece = [Piece::Whole(new.clone())];
        for text in [old.clone(), old.replace('\n', "\r\n"), new.clone()] {
            assert_ne!(found(&text, &piece), Ok(Found::None), "{text:?}");
            assert_eq!(without(&text, &piece), Ok(None), "{text:?}");
        }
        for changed in [format!("{old}## My notes\n"), format!("mine\n{old}"), old.replacen('a', "b", 1)] {
            assert_eq!(without(&changed, &piece).unwrap().as_deref(), Some(&*changed));
            assert!(with(&changed, &piece).is_err(), "{changed:?}");
        }
    }
}

#[test]
fn edit_writes_over_no_entry_of_another() {
    let (member, table) = (
        [Piece::Member(&["mcpServers", "git-brain"], json!({"command": "git-brain", "args": ["mcp"]}))],
        [Piece::Table(&["mcp_servers", "git-brain"], "command = \"git-brain\"\nargs = [\"mcp\"]\n".to_owned())],
    );
    let json = "{\"mcpServers\": {\"git-brain\": {\"command\": \"mine\", \"args\": [\"serve\", \"--all\"]}}}";
    let toml = "[mcp_servers.git-brain]\ncommand = \"mine\"\n";
    for (text, piece) in [(json, &member), (toml, &table)] {
        assert_eq!(found(text, piece), Ok(Found::None));
        assert!(with(text, piece).unwrap_err().contains("runs something else"));
        assert_eq!(without(text, piece).unwrap().as_deref(), Some(text));
    }
    let old = json.replace("mine", "/old/git-brain").replace("\"serve\", \"--all\"", "\"mcp\"");
    assert_eq!((found(&old, &member), without(&old, &member)), (Ok(Found::Some), Ok(None)));
}

#[test]
fn edit_leaves_a_persons_hooks_comments_and_settings() {
    let piece = pieces();
    let whole = with("{}", &piece).unwrap().text;
    // A hook of one's own in a group of ours, and a time for ours.
    let ours = "\"command\": \"git-brain hook claude-code Stop\"";
    assert!(whole.contains(ours));
    let own = whole
        .replace(ours, &format!("{ours}, \"timeout\": 9"))
        .replace("\"hooks\": [\n", "\"hooks\": [\n          {\"type\": \"command\", \"command\": \"./mine.sh\"},\n");
    assert_ne!(own, whole);
    assert_eq!(found(&own, &piece), Ok(Found::All), "{own}");
    let left = without(&own, &piece).unwrap().unwrap();
    assert!(left.contains("./mine.sh") && !left.contains("git-brain"), "{left}");
    // Settings of an entry; of another program they are not written over.
    let env = whole.replace("\"args\"", "\"env\": {\"A\": \"b\"},\n      \"args\"");
    assert_eq!((found(&env, &piece), keeps_settings(&env, &piece)), (Ok(Found::All), Ok(())));
    let moved = env.replace("\"git-brain\",", "\"/old/git-brain\",");
    assert_eq!(found(&moved, &piece), Ok(Found::Some), "{moved}");
    assert!(keeps_settings(&moved, &piece).unwrap_err().contains("settings of yours (env)"));
    // Files of one's own that say nothing yet, and what is commented.
    for text in [
        "// my servers, ask Ann\n{ }\n",
        "{\n  // only what was looked at\n  \"mcpServers\": {},\n  \"x\": { }, // Ann\n}\n",
        "{\n  \"hooks\": {\n    // none that write\n    \"Stop\": []\n  }\n}\n",
    ] {
        let edited = with(text, &piece).unwrap().text;
        let left = without(&format!("{edited}\n"), &piece).unwrap().expect(text);
        let comment = text.split("//").nth(1).unwrap().lines().next().unwrap();
        assert!(left.contains(comment) && !left.contains("git-brain"), "{left}");
        assert_eq!(left.contains("}, // Ann"), text.contains("}, // Ann"), "{left}");
        for key in ["mcpServers", "Stop"] {
            assert!(!text.contains(key) || left.contains(key), "{key}: {left}");
        }
        assert_eq!(found(&left, &piece), Ok(Found::None), "{left}");
    }
}

#[test]
fn edit_leaves_ways_of_a_persons_own_and_comments_beside_ours() {
    let piece = pieces();
    let entry = |words: &str| format!("{{\"mcpServers\": {{\"git-brain\": {{{words}}}}}}}");
    let server = [piece[0].clone()];
    for (own, is_ready) in [
        ("\"command\": \"npx\", \"args\": [\"mcp\"]", false),
        ("\"command\": \"git-brain\", \"args\": [\"-C\", \"/srv/team\", \"mcp\"]", true),
        ("\"command\": \"docker\", \"args\": [\"run\", \"x\", \"git-brain\", \"mcp\"]", true),
        ("\"command\": \"git\", \"args\": [\"brain\", \"mcp\"]", true),
    ] {
        let text = entry(own);
        assert_eq!(found(&text, &server) == Ok(Found::All), is_ready, "{own}");
        assert_eq!(without(&text, &server).unwrap().as_deref(), Some(&*text), "{own}");
        assert!(is_ready || with(&text, &server).is_err(), "{own}");
    }
    assert_eq!(without(&entry("\"command\": \"/old/git-brain\", \"args\": [\"mcp\"]"), &server), Ok(None));
    let whole = with("{}", &piece).unwrap().text;
    for own in [
        "FOO=1 git-brain hook claude-code Stop || true",
        "./log.sh; git-brain hook claude-code Stop",
        "git-brain -C /srv/team hook claude-code Stop",
    ] {
        let text = whole.replace("git-brain hook claude-code Stop", own);
        assert_ne!(text, whole);
        assert_eq!(found(&text, &piece), Ok(Found::All), "{own}");
        assert!(without(&text, &piece).unwrap().unwrap().contains(own), "{own}");
    }
    // Comments above what follows ours, and beside it.
    let other = whole
        .replace("\n    }\n  },\n  \"hooks\"", "\n    },\n    // mine other\n    \"other\": {}\n  },\n  \"hooks\"");
    assert_ne!(other, whole);
    for key in ["\"SessionEnd\"", "\"Stop\"", "\"hooks\"", "\"mcpServers\""] {
        let text = other.replacen(key, &format!("// about {}\n    {key}", key.trim_matches('"')), 1);
        let left = without(&text, &piece).unwrap().unwrap();
        for comment in ["// mine other", &format!("// about {}", key.trim_matches('"'))] {
            assert!(left.contains(comment), "{comment}: {left}");
        }
        assert!(found(&left, &piece) == Ok(Found::None) && !left.contains("git-brain"), "{left}");
    }
    for text in ["{\n  \"mcpServers\": {}, // one\n}\n", "{\n  \"hooks\": {\"Stop\": [],}, // one\n  \"x\": 1,\n}\n"] {
        let edited = with(text, &piece).unwrap().text + "\n";
        let left = without(&edited, &piece).unwrap().unwrap();
        assert!(left.contains("// one") && found(&left, &piece) == Ok(Found::None), "{left}");
    }
}

#[test]
fn edit_leaves_what_is_there_beside_what_is_missing() {
    let piece = pieces();
    let whole = with("{}", &piece).unwrap().text;
    let own = whole
        .replace("\"args\"", "\"env\": {\"A\": \"b\"},\n      \"args\"")
        .replace("git-brain hook claude-code Stop\"", "git-brain hook claude-code Stop || true\", \"timeout\": 9");
    let text = without(&own, &piece[2..]).unwrap().unwrap();
    let left = missing(&text, &piece).unwrap();
    assert_eq!(
        (found(&text, &piece), left.len(), keeps_settings(&text, &piece)),
        (Ok(Found::Some), 1, Ok(())),
        "{text}"
    );
    let again = with(&without(&text, &left).unwrap().unwrap(), &left).unwrap().text;
    assert_eq!(found(&again, &piece), Ok(Found::All));
    for kept in ["\"env\"", "\"timeout\"", "|| true"] {
        assert!(again.contains(kept), "{again}");
    }
    assert_eq!(again.matches("claude-code Stop").count(), 1, "{again}");
    // A time that a person gave a hook of another program.
    let moved =
        whole.replace("git-brain hook claude-code Stop\"", "/old/git-brain hook claude-code Stop\", \"timeout\": 9");
    assert_ne!(moved, whole);
    let refused = keeps_settings(&moved, &piece).unwrap_err();
    assert!(
        refused.contains("hooks.Stop")
            && refused.contains("(timeout)")
            && refused.contains("git-brain hook claude-code Stop"),
        "{refused}"
    );
    assert_eq!(keeps_settings(&whole.replace("git-brain hook", "/old/git-brain hook"), &piece), Ok(()));
}
