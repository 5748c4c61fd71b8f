use super::*;
use crate::store::sandbox::{Sandbox, commit_on, remove, write};
use crate::store::{Change, TreeEdit};

fn listing(sandbox: &Sandbox, commit: impl std::fmt::Display) -> Vec<String> {
    sandbox.git(&["ls-tree", "-r", "--name-only", &commit.to_string()]).lines().map(str::to_owned).collect()
}

#[test]
fn edits_make_the_tree_that_git_makes() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let base = store.need_tip(store.wake()).unwrap();
    // "a-b" sorts between "a" and "a/b"; "a.c" before the folder "a/" in git's order.
    let edits = vec![
        write("x/a/b", "1"),
        write("x/a-b", "2"),
        write("x/a.c", "3"),
        write("x/a0", "4"),
        write("network/neurons/ab/d/x.json", "5"),
        remove("network/neurons/ab/c/tea.json"),
        remove("not/there"),
    ];
    let commit = commit_on(&store, base, edits);
    let tree = store.tree_of(commit).unwrap();
    assert_eq!(
        listing(&sandbox, commit),
        [
            "brain.toml",
            "hooks/post-commit",
            "network/metadata.json",
            "network/neurons/ab/d/x.json",
            "x/a-b",
            "x/a.c",
            "x/a/b",
            "x/a0"
        ]
    );
    sandbox.git(&["read-tree", &commit.to_string()]);
    assert_eq!(sandbox.git(&["write-tree"]).trim(), tree.to_string(), "git's own tree of the same files");
    sandbox.fsck();
    assert!(sandbox.git(&["ls-tree", &commit.to_string(), "hooks/post-commit"]).starts_with("100755"));
    assert_eq!(store.read(tree, "x/a/b").unwrap().unwrap(), b"1");
    assert_eq!(store.read(tree, "x/a").unwrap(), None);
    assert_eq!(store.read(tree, "brain.toml/x").unwrap(), None);
}

#[test]
fn empty_folders_vanish_and_so_may_the_root() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let base = store.tree_of(store.need_tip(store.wake()).unwrap()).unwrap();
    let writer = store.writer().unwrap();
    let tree = writer.edit(Some(base), vec![remove("network/neurons/ab/c/tea.json")]).unwrap();
    assert_eq!(store.folder(tree, "network/neurons").unwrap(), None);
    let same = writer.edit(Some(base), vec![write("brain.toml", "# settings\n"), remove("nothing")]).unwrap();
    assert_eq!(same, base);
    let gone = ["network", "hooks", "brain.toml"].map(remove).to_vec();
    let empty = writer.edit(Some(base), gone).unwrap();
    assert_eq!(empty.to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
}

#[test]
fn a_path_through_a_file_or_over_a_folder_is_refused() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let base = store.tree_of(store.need_tip(store.wake()).unwrap()).unwrap();
    let writer = store.writer().unwrap();
    for edits in [
        vec![write("brain.toml/x", "1")],
        vec![write("network", "1")],
        vec![write("a", "1"), write("a/b", "2")],
        vec![write("a", "1"), write("a", "2")],
    ] {
        assert!(matches!(writer.edit(Some(base), edits), Err(StoreError::BadPath { .. })));
    }
    // A file makes room for a folder of its name, and the other way round.
    let there = writer.edit(Some(base), vec![remove("brain.toml"), write("brain.toml/x", "1")]).unwrap();
    assert_eq!(store.read(there, "brain.toml/x").unwrap().unwrap(), b"1");
    let grafted = TreeEdit { path: "network".into(), change: Change::PutFolder(TreeId(there.0)) };
    let tree = writer.edit(Some(base), vec![grafted]).unwrap();
    assert_eq!(store.read(tree, "network/brain.toml/x").unwrap().unwrap(), b"1");
}

#[test]
fn names_that_hurt_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let (long, deep) = ("a".repeat(2000), "a/".repeat(40) + "a");
    for path in [
        "",
        "/a",
        "a/",
        "a//b",
        "../a",
        "a/./b",
        ".git/config",
        "a/.GIT/x",
        "git~1/x",
        "a\0b",
        "a\u{fffd}b",
        "a/.git./x",
        ".Git::$INDEX_ALLOCATION/x",
        "a\\.git\\config",
        "network/a\nb",
        "network/c:x",
        "network/x.",
        "network/a\u{202e}b",
        ".g\u{200c}it/x",
        "network/Tea.json",
        "network/.gitattributes",
        "network/neurons/-x",
        &long,
        &deep,
    ] {
        let refused = writer.edit(None, vec![write("good", "x"), write(path, "x")]);
        assert!(matches!(refused, Err(StoreError::BadPath { .. })), "{path:?}");
        assert!(writer.is_empty(), "{path:?}");
    }
}

#[test]
fn peoples_files_are_called_what_git_lets_them_be_called() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let names = [
        "why?.md",
        "a:b",
        "a|b",
        "a\nb",
        "a\\b",
        "x.",
        " x ",
        "c\u{202e}d",
        "git~",
        "digit~1",
        ".github/x",
        "-x",
        "network.md",
        "Network/X",
    ];
    let tree = writer.edit(None, names.map(|name| write(name, "x")).to_vec()).unwrap();
    writer.publish().unwrap();
    let listed = sandbox.git(&["ls-tree", "-r", "-z", "--name-only", &tree.to_string()]);
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(listed.split_terminator('\0').collect::<Vec<_>>(), expected);
}

#[test]
fn outside_the_network_each_entry_is_merged_whole() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let tree = |files: &[(&str, &str)]| {
        writer.edit(None, files.iter().map(|(path, text)| write(path, text)).collect()).unwrap()
    };
    let base = tree(&[("brain.toml", "o"), ("a/same", "o"), ("a/ours", "o"), ("gone", "o"), ("network/n", "o")]);
    let left = tree(&[("brain.toml", "l"), ("a/same", "l"), ("a/ours", "l"), ("gone", "o"), ("network/n", "l")]);
    let right = tree(&[("brain.toml", "r"), ("a/same", "l"), ("a/ours", "o"), ("new/a", "r"), ("network/n", "r")]);
    let all = [("brain.toml", "l"), ("a/same", "l"), ("a/ours", "l"), ("new/a", "r"), ("network/n", "l")];
    let (merged, clashes) = writer.outside_merged(base, left, right).unwrap();
    assert_eq!(merged, tree(&all));
    assert_eq!(clashes.iter().map(|clash| clash.path.as_str()).collect::<Vec<_>>(), ["brain.toml"]);
    // A folder here and a file there; a folder that went here and was changed there.
    let (folder, file) = (tree(&[("a/b", "l")]), tree(&[("a", "r")]));
    let (merged, clashes) = writer.outside_merged(tree(&[("x", "")]), folder, file).unwrap();
    assert_eq!((merged, clashes[0].path.as_str()), (folder, "a"));
    let (merged, clashes) = writer
        .outside_merged(tree(&[("a/b", "o"), ("a/c", "o")]), tree(&[]), tree(&[("a/b", "r"), ("a/c", "o")]))
        .unwrap();
    assert_eq!((merged, clashes[0].path.as_str()), (tree(&[]), "a/b"));
    // A change of mode alone.
    let run = |text: &str| TreeEdit { path: "run".to_owned(), change: Change::WriteExecutable(text.into()) };
    let (plain, executable) = (tree(&[("run", "x")]), writer.edit(None, vec![run("x")]).unwrap());
    assert_eq!(writer.outside_merged(plain, plain, executable).unwrap().0, executable);
    assert_eq!(
        writer.network_beside(left, right).unwrap(),
        tree(&[("brain.toml", "r"), ("a/same", "l"), ("a/ours", "o"), ("new/a", "r"), ("network/n", "l")])
    );
}

#[test]
fn the_difference_is_the_one_git_sees() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let old = store.need_tip(store.wake()).unwrap();
    let edits = vec![
        write("network/neurons/ab/c/tea.json", "more tea\n"),
        write("network/neurons/ab/c/mate.json", "mate\n"),
        remove("network/metadata.json"),
        remove("brain.toml"),
        write("brain.toml/x", "1"),
    ];
    let new = commit_on(&store, old, edits);
    let (a, b) = (store.tree_of(old).unwrap(), store.tree_of(new).unwrap());
    let changes = store.diff(Some(a), Some(b), "").unwrap();
    let git = sandbox.git(&["diff-tree", "-r", "--no-renames", "--name-status", &old.to_string(), &new.to_string()]);
    let ours: Vec<String> = changes
        .iter()
        .map(|c| {
            let status = match (c.old, c.new) {
                (None, _) => 'A',
                (_, None) => 'D',
                _ => 'M',
            };
            format!("{status}\t{}", c.path)
        })
        .collect();
    let mut git: Vec<&str> = git.lines().collect();
    git.sort_by_key(|line| &line[2..]);
    assert_eq!(ours, git);
    let below = store.diff(Some(a), Some(b), "network/neurons").unwrap();
    assert_eq!(below.len(), 2);
    assert_eq!(store.diff(None, Some(b), "network").unwrap().len(), 2);
    assert_eq!(store.diff(Some(b), Some(b), "").unwrap(), []);
    let files: Vec<String> = store.files(b, "network").unwrap().into_iter().map(|(path, _)| path).collect();
    assert_eq!(files, ["network/neurons/ab/c/mate.json", "network/neurons/ab/c/tea.json"]);
}

#[test]
fn a_symlink_in_the_network_is_refused() {
    let sandbox = Sandbox::brain();
    let folder = sandbox.path().join("network/neurons/ab/c");
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.join("evil.json")).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "evil"]);
    let store = sandbox.store();
    let (old, new) = (store.need_tip(store.wake()).unwrap(), store.need_tip(store.main()).unwrap());
    let (old, new) = (store.tree_of(old).unwrap(), store.tree_of(new).unwrap());
    assert!(matches!(store.diff(Some(old), Some(new), ""), Err(StoreError::BadPath { .. })));
    assert!(matches!(store.files(new, "network"), Err(StoreError::BadPath { .. })));
    assert!(matches!(store.read(new, "network/neurons/ab/c/evil.json"), Err(StoreError::BadPath { .. })));
}

#[test]
fn a_damaged_or_hostile_tree_is_an_error() {
    assert!(entries(b"100644 a\0short").any(|e| e.is_none()));
    assert!(entries(b"garbage").any(|e| e.is_none()));
    let row = [b"100644 a\0".as_slice(), &[7; 20]].concat();
    for broken in [&b"100644 a\0short"[..], b"100644 b", b"garbage", b"1"] {
        assert!(find(broken, b"a").is_err());
        let behind = [row.as_slice(), broken].concat();
        assert!(find(&behind, b"a").is_ok_and(|found| found.is_some()), "what comes after is not looked at");
        assert!(find(&behind, b"c").is_err());
    }
    assert_eq!(find(&row, b"aa"), Ok(None));
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let mut id = writer.blob(b"x").unwrap().0;
    let mut mode = FILE;
    for _ in 0..100 {
        id = writer.tree(encode(vec![(b"a".as_slice().into(), Entry { mode, id })])).unwrap().0;
        mode = FOLDER;
    }
    assert!(matches!(store.files(TreeId(id), ""), Err(StoreError::BadPath { .. })));
    assert!(matches!(store.diff(None, Some(TreeId(id)), ""), Err(StoreError::BadPath { .. })));
}

#[test]
fn folders_are_compared_by_what_differs_and_give_what_all_entries_give() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % below
    };
    let blobs: Vec<File> = (0..4).map(|n| File::plain(writer.blob_of(vec![n]).unwrap())).collect();
    for _ in 0..400 {
        // Names that sort before and behind a folder of the same beginning, and files in place of folders.
        let mut sides: [Folder; 2] = Default::default();
        for _ in 0..next(60) {
            let name = format!("a{}{}", next(40), ["", ".x", "0", "/"][next(4)]);
            let folder = name.ends_with('/');
            let entry = Entry { mode: FILE, id: blobs[next(4)].blob.0 };
            let entry = match folder {
                true => Entry { mode: FOLDER, id: writer.tree(encode(vec![(Cow::Borrowed(b"f"), entry)])).unwrap().0 },
                false => entry,
            };
            let name = name.trim_end_matches('/').as_bytes().to_vec();
            for side in &mut sides[usize::from(next(9) == 0)..2 - usize::from(next(9) == 0)] {
                side.insert(name.clone(), entry);
            }
        }
        let trees = sides.clone().map(|side| {
            let rows = side.into_iter().map(|(name, entry)| (Cow::Owned(name), entry)).collect();
            writer.tree(encode(rows)).unwrap()
        });
        let paths = |side: &Folder| -> BTreeMap<String, File> {
            let path = |name: &[u8]| String::from_utf8(name.to_vec()).unwrap();
            side.iter()
                .flat_map(|(name, entry)| match entry.file() {
                    Some(file) => vec![(path(name), file)],
                    None => writer
                        .store
                        .files(TreeId(entry.id), "")
                        .unwrap()
                        .into_iter()
                        .map(|(below, file)| (format!("{}/{below}", path(name)), file))
                        .collect(),
                })
                .collect()
        };
        let (old, new) = (paths(&sides[0]), paths(&sides[1]));
        let all: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let expected: Vec<FileChange> = all
            .into_iter()
            .map(|path| FileChange { path: path.clone(), old: old.get(path).copied(), new: new.get(path).copied() })
            .filter(|change| change.old != change.new)
            .collect();
        assert_eq!(writer.store.diff(Some(trees[0]), Some(trees[1]), "").unwrap(), expected);
    }
}

#[test]
fn tree_that_no_git_writes_is_refused_and_what_mends_it_is_not() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let blob = writer.blob_of(vec![1]).unwrap().0;
    let empty = writer.tree(Vec::new()).unwrap();
    let raw = |rows: &[(&str, Oid)]| {
        let rows = rows.iter().flat_map(|(row, id)| [row.as_bytes(), b"\0", id.as_bytes()].concat()).collect();
        writer.tree(rows).unwrap()
    };
    let good = raw(&[("100644 a", blob), ("100644 a.b", blob), ("40000 b", empty.0)]);
    for (bad, why) in [
        (&[("100644 a", blob), ("100644 a", blob)][..], "not in git's order"),
        (&[("100644 a", blob), ("100644 a.b", blob), ("40000 a", empty.0)], "a name is there twice"),
        (&[("100644 b", blob), ("100644 a", blob)], "not in git's order"),
        (&[("40000 a", empty.0), ("100644 a.b", blob)], "not in git's order"),
        (&[("0100644 a", blob)], "do not parse"),
        (&[("040000 a", empty.0)], "do not parse"),
    ] {
        let bad = raw(bad);
        let put = vec![TreeEdit { path: "z".into(), change: Change::Write(vec![2]) }];
        let said = [
            writer.store.diff(Some(good), Some(bad), "").map(drop),
            writer.store.diff(None, Some(bad), "").map(drop),
            writer.store.files(bad, "").map(drop),
            writer.edit(Some(bad), put).map(drop),
        ];
        for (at, said) in said.into_iter().enumerate() {
            assert!(said.as_ref().is_err_and(|error| error.to_string().contains(why)), "{at}, {why}: {said:?}");
        }
        if why != "do not parse" {
            writer.store.diff(Some(bad), Some(good), "").unwrap();
        }
    }
    let links = writer.store.diff(None, Some(raw(&[("120000 a", blob)])), "").unwrap();
    assert_eq!(links.len(), 1, "beside the network people have what they like");
    for mode in ["100664", "100600", "120000"] {
        let inside = raw(&[("40000 network", raw(&[(&format!("{mode} a"), blob)]).0)]);
        assert!(writer.store.files(inside, "").is_err(), "{mode}");
    }
}

/// What lies beside the network is held against another tree without opening the network, however large that is.
#[test]
fn the_difference_beside_a_folder_does_not_open_it() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let file = Entry { mode: FILE, id: writer.blob_of(b"1".to_vec()).unwrap().0 };
    let root = |network: &str, others: &[&'static str]| {
        // A folder that nobody could open.
        let network = Entry { mode: FOLDER, id: Oid::from_str(&network.repeat(40)).unwrap() };
        let mut rows: Rows<'_> = vec![(Cow::Borrowed(b"network"), network)];
        rows.extend(others.iter().map(|name| (Cow::Borrowed(name.as_bytes()), file)));
        writer.tree(encode(rows)).unwrap()
    };
    let (old, new) = (root("1", &["a", "b"]), root("2", &["b", "c"]));
    assert!(writer.store.diff(Some(old), Some(new), "").is_err());
    let paths: Vec<String> =
        writer.store.diff_beside(old, new, "network").unwrap().into_iter().map(|change| change.path).collect();
    assert_eq!(paths, ["a", "c"]);
}
