use super::*;
use crate::store::sandbox::{Sandbox, advance, git, write};

use super::packs as packs_in;

fn count_packs(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|e| e.path().extension().is_some_and(|x| x == "pack")).count()
}

fn packs(sandbox: &Sandbox) -> usize {
    count_packs(&sandbox.path().join(".git/objects/pack"))
}

#[test]
fn packs_are_put_together_and_those_that_hold_an_older_list_still_find_everything() {
    let sandbox = Sandbox::brain();
    let writer = sandbox.store();
    let mut commits = Vec::new();
    for n in 0..12 {
        commits.push(advance(&writer, writer.wake(), vec![write("count", &format!("{n}\n"))]).0);
    }
    // Knows the indexes of all packs, has opened none of the packs.
    let (reader, fresh) = (sandbox.store(), sandbox.store());
    for commit in &commits {
        assert!(reader.with(|r| Ok(r.odb()?.exists(commit.0))).unwrap());
    }
    let half = fresh.commit(commits[0]).unwrap();
    assert!(!writer.maintain_beyond(100, BULK).unwrap());
    let busy = writer.lock(LockName::Maintenance).unwrap();
    assert!(!fresh.maintain_beyond(8, BULK).unwrap(), "another process is at it");
    drop(busy);
    assert!(writer.maintain_beyond(8, BULK).unwrap());
    assert_eq!(packs(&sandbox), 1);
    for (n, commit) in commits.iter().enumerate() {
        for store in [&reader, &fresh, &writer] {
            let tree = store.tree_of(*commit).unwrap();
            assert_eq!(store.read(tree, "count").unwrap().unwrap(), format!("{n}\n").as_bytes());
        }
    }
    assert_eq!(fresh.commit(half.id).unwrap(), half);
    assert_eq!(reader.merge_bases(commits[3], commits[9]).unwrap(), [commits[3]]);
    // Again, with a multi-pack index that is out of date. Loose objects go into the pack.
    git(&sandbox.path(), &["multi-pack-index", "write"]);
    std::fs::write(sandbox.path().join("loose"), "loose").unwrap();
    git(&sandbox.path(), &["hash-object", "-w", "loose"]);
    for n in 12..24 {
        commits.push(advance(&reader, reader.wake(), vec![write("count", &format!("{n}\n"))]).0);
    }
    assert!(writer.maintain_beyond(8, BULK).unwrap());
    assert!(!sandbox.path().join(".git/objects/pack/multi-pack-index").exists());
    assert!(sandbox.git(&["count-objects", "-v"]).contains("count: 0\n"));
    git(&sandbox.path(), &["multi-pack-index", "write"]);
    // Knows the multi-pack index, and by it packs that it never opened.
    let late = sandbox.store();
    assert!(!late.with(|r| Ok(r.odb()?.exists(git2::Oid::ZERO_SHA1))).unwrap());
    git(&sandbox.path(), &["repack", "-adq"]);
    for store in [&late, &reader, &fresh, &writer] {
        assert_eq!(store.commits_beyond(commits[23], &[]).unwrap().len(), 25);
        commits.iter().for_each(|c| assert_eq!(store.commit(*c).unwrap().id, *c));
    }
    sandbox.fsck();
}

#[test]
fn writers_and_repacks_side_by_side_lose_nothing() {
    let sandbox = Sandbox::brain();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let repack = scope.spawn(|| {
            let store = sandbox.store();
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                store.maintain_beyond(4, BULK).unwrap();
            }
        });
        let store = sandbox.store();
        for n in 0..40 {
            let path = format!("network/neurons/ab/c/n{n}.json");
            let (tip, _) = advance(&store, store.wake(), vec![write(&path, "x\n")]);
            assert_eq!(store.files(store.tree_of(tip).unwrap(), "network/neurons").unwrap().len(), n + 2);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        repack.join().unwrap();
    });
    sandbox.fsck();
}

#[test]
fn what_stands_in_the_way_of_packing_is_told_and_stops_nothing_else() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let folder = sandbox.path().join(".git/objects/pack");
    // Copied from somebody: an index of a pack that is empty, and a pipe that nobody writes to.
    let index = std::fs::read(packs_in(&folder)[0].file("idx")).unwrap();
    std::fs::write(folder.join("pack-0000000000000000000000000000000000000001.idx"), &index).unwrap();
    std::fs::write(folder.join("pack-0000000000000000000000000000000000000001.pack"), "").unwrap();
    #[cfg(unix)]
    for name in [folder.join("pack-0000000000000000000000000000000000000002.idx"), store.private_dir().join(COMPACTED)]
    {
        assert!(Command::new("mkfifo").arg(name).status().unwrap().success());
    }
    let mut last = None;
    for n in 0..2 * limits::JOINED {
        last = Some(advance(&store, store.wake(), vec![write("count", &format!("{n}\n"))]).0);
        store.maintain();
    }
    assert!(packs(&sandbox) < limits::JOINED, "the others are put together");
    for n in 0..100 {
        last = Some(advance(&store, store.wake(), vec![write(&format!("f{n}"), &format!("{n}\n"))]).0);
    }
    assert!(store.compact());
    let tree = store.tree_of(last.unwrap()).unwrap();
    assert_eq!(store.read(tree, "f99").unwrap().unwrap(), b"99\n");
    assert!(store.private_dir().join(COMPACTED).is_file());
}

/// A long feed puts its packs together again and again: each that it keeps mapped is as much memory as the brain has bytes.
#[cfg(target_os = "linux")]
#[test]
fn packs_that_are_gone_are_not_kept_in_memory() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    for n in 0..4 * limits::JOINED {
        let (commit, _) = advance(&store, store.wake(), vec![write("count", &format!("{n}\n"))]);
        assert_eq!(store.read(store.tree_of(commit).unwrap(), "count").unwrap().unwrap(), format!("{n}\n").as_bytes());
        if store.maintain() {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let folder = sandbox.path().join(".git/objects/pack").display().to_string();
            let gone = |line: &&str| line.contains(&folder) && line.ends_with("(deleted)");
            assert_eq!(maps.lines().filter(gone).collect::<Vec<_>>(), [""; 0]);
        }
    }
}

#[test]
fn what_killed_processes_left_is_cleared_away() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let folder = sandbox.path().join(".git/objects/pack");
    let old = SystemTime::now() - RUBBISH - RUBBISH;
    let files = [
        ("pack-a.keep", KEEP_TEXT),
        ("pack-b.keep", "mine"),
        ("pack-d.keep", KEEP_TEXT),
        ("tmp_pack_old", "PACK"),
        (".tmp-12-pack-old.idx", "x"),
        ("pack-old.rev", "not half written"),
    ];
    std::fs::write(folder.join("tmp_pack_new"), "PACK").unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
        std::fs::File::options().append(true).open(folder.join(name)).unwrap().set_modified(old).unwrap();
    }
    for name in ["../git-brain-old", "../git-brain-new"] {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    std::fs::File::open(folder.join("../git-brain-old")).unwrap().set_modified(old).unwrap();
    let living = std::fs::File::open(folder.join("pack-d.keep")).unwrap();
    fs2::FileExt::lock_exclusive(&living).unwrap();
    for n in 0..3 {
        advance(&store, store.wake(), vec![write("count", &format!("{n}\n"))]);
    }
    assert!(store.maintain_beyond(2, BULK).unwrap());
    let left = ["pack-b.keep", "pack-d.keep", "../git-brain-new", "tmp_pack_new", "pack-old.rev"];
    let gone = ["pack-a.keep", "../git-brain-old", "tmp_pack_old", ".tmp-12-pack-old.idx"];
    assert_eq!(left.map(|name| folder.join(name).exists()), [true; 5], "{left:?}");
    assert_eq!(gone.map(|name| folder.join(name).exists()), [false; 4], "{gone:?}");
}

#[test]
fn the_smallest_packs_are_put_together_until_sizes_double() {
    let cases: [(&[u64], usize); 8] = [
        (&[], 0),
        (&[5], 0),
        (&[1, 2, 4, 8], 0),
        (&[1, 1, 4, 8], 2),
        (&[3, 3, 8, 100], 3),
        (&[40; 65], 65),
        (&[40, 40, 40, 600_000], 3),
        (&[1, 2, 4, 100, 150, 1000], 5),
    ];
    for (sizes, expected) in cases {
        let small = roll_up(sizes);
        assert_eq!(small, expected, "{sizes:?}");
        let mut after = vec![sizes[..small].iter().sum()];
        after.extend(&sizes[small..]);
        assert!(small == 0 || roll_up(&after) == 0, "{sizes:?} gives {after:?}");
    }
}

#[test]
fn large_and_kept_packs_stay_as_they_are() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let many = (0..200).map(|n| write(&format!("network/neurons/ab/c/n{n}.json"), &format!("{n}\n"))).collect();
    advance(&store, store.wake(), many);
    let folder = sandbox.path().join(".git/objects/pack");
    let large = packs_in(&folder).into_iter().max_by_key(|pack| pack.objects).unwrap();
    for n in 0..3 {
        advance(&store, store.wake(), vec![write("count", &format!("{n}\n"))]);
    }
    let kept = packs_in(&folder).into_iter().find(|pack| pack.stem != large.stem).unwrap();
    std::fs::write(kept.file("keep"), "mine").unwrap();
    let before = packs(&sandbox);
    assert!(store.maintain_beyond(2, BULK).unwrap());
    assert_eq!((before, packs(&sandbox)), (5, 3), "large, kept, and three in one");
    assert!(large.file("pack").exists() && kept.file("pack").exists());
    sandbox.fsck();
}

#[test]
fn a_night_packs_what_is_new_and_older_nights_that_are_not_much_larger() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    // Each file is much like what it was before, and like no other.
    let text = |n: usize| (n..n + 40).map(|m| format!("{:x} ", m.wrapping_mul(2_654_435_761) % 1_000_003)).collect();
    let text = |n: usize| -> String { text(n * 40) };
    let day = |round: usize, files: usize| {
        let path = |n: usize| format!("network/neurons/{:02x}/n{n}.json", n % 256);
        let edits = (0..files).map(|n| write(&path(n), &format!("{}{round}\n", text(n)))).collect();
        advance(&store, store.wake(), edits);
    };
    day(0, 20);
    assert!(!store.compact(), "few");
    day(1, 400);
    day(2, 400);
    let folder = sandbox.path().join(".git/objects/pack");
    let size = || packs_in(&folder).iter().map(|pack| pack.file("pack").metadata().unwrap().len()).sum::<u64>();
    let before = size();
    assert!(store.compact());
    assert!(size() < before * 9 / 10, "{} of {before} bytes", size());
    assert_eq!(packs(&sandbox), 1, "all together");
    assert!(!store.compact(), "nothing is new");
    let large = packs_in(&folder).remove(0);
    day(3, 60);
    assert!(store.compact());
    assert!(packs(&sandbox) == 2 && large.file("pack").exists(), "the large one is not packed again");
    day(4, 60);
    assert!(store.compact());
    assert!(packs(&sandbox) == 2 && large.file("pack").exists(), "two small nights are one");
    sandbox.fsck();
}

#[test]
fn long_nights_keep_differences_that_are_there() {
    let anew = |objects| search(true, objects).contains(&"--no-reuse-delta");
    assert!(anew(SEARCHED_ANEW) && !anew(SEARCHED_ANEW + 1));
    assert_eq!(search(false, 10), ["--window=0"], "without names nothing is searched");
}

#[test]
#[cfg(target_os = "linux")]
fn a_store_that_stays_lets_go_of_packs_that_were_put_together() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let held = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let names = files.filter_map(|file| Some(std::fs::read_link(file.path()).ok()?.to_string_lossy().into_owned()));
        let own = sandbox.path().to_string_lossy().into_owned();
        names.filter(|name| name.contains(&own) && name.ends_with(" (deleted)")).count()
    };
    let mut first = None;
    for n in 0..3 * limits::PACKS {
        let commit = advance(&store, store.wake(), vec![write("count", &format!("{n}\n"))]).0;
        // Opens the pack.
        store.with(|r| r.find_commit(commit.0).map(drop)).unwrap();
        first.get_or_insert(commit);
        store.maintain();
    }
    // Each one that came since the list was made anew, and those into which eight of them were joined.
    let most = limits::PACKS + limits::PACKS / limits::JOINED * 2;
    assert!(held() <= most, "{} of {}", held(), 3 * limits::PACKS);
    store.with(|r| r.find_commit(first.unwrap().0).map(drop)).unwrap();
    sandbox.fsck();
}
