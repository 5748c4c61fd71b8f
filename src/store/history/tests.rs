use super::*;
use crate::store::sandbox::{Sandbox, commit_on, spec, write};
use crate::store::{ObjectWriter, TreeId};

fn run(n: u32) -> String {
    format!("20260126t14320000{n}z-aaaaaaaa-memory")
}

/// A commit with a tree of its own.
fn node(writer: &ObjectWriter<'_>, name: &str, parents: &[CommitId], trailers: &[(&str, &str)]) -> CommitId {
    let tree: TreeId = writer.edit(None, vec![write("a", name)]).unwrap();
    writer.commit(&spec(tree, parents, name, trailers)).unwrap()
}

#[test]
fn all_merge_bases_are_found_published_or_not() {
    // A criss-cross: two bases. `published` of its six commits are on disk, the rest in the batch.
    for published in 0..=6 {
        let sandbox = Sandbox::brain();
        let store = sandbox.store();
        let mut ids: Vec<CommitId> = Vec::new();
        let shape: [&[usize]; 6] = [&[], &[0], &[0], &[1, 2], &[2, 1], &[3]];
        let build = |writer: &ObjectWriter<'_>, ids: &mut Vec<CommitId>, until: usize| {
            for (n, parents) in shape.iter().enumerate().take(until).skip(ids.len()) {
                let parents: Vec<CommitId> = parents.iter().map(|p| ids[*p]).collect();
                ids.push(node(writer, &n.to_string(), &parents, &[]));
            }
        };
        let writer = store.writer().unwrap();
        build(&writer, &mut ids, published);
        writer.publish().unwrap();
        let writer = store.writer().unwrap();
        build(&writer, &mut ids, 6);
        let bases = |a: usize, b: usize| store.merge_bases(ids[a], ids[b]).unwrap();
        let mut crossed = vec![ids[1], ids[2]];
        crossed.sort();
        assert_eq!(bases(5, 4), crossed, "{published}");
        assert_eq!(bases(1, 2), [ids[0]], "{published}");
        assert_eq!(bases(5, 1), [ids[1]], "{published}");
        assert_eq!(bases(3, 3), [ids[3]], "{published}");
        for (old, new, expected) in [(0, 5, true), (4, 5, false), (5, 5, true), (5, 0, false), (2, 3, true)] {
            assert_eq!(store.is_ancestor(ids[old], ids[new]).unwrap(), expected, "{published}: {old} {new}");
        }
        let beyond = |tip: usize, hidden: &[usize]| {
            let hidden: Vec<CommitId> = hidden.iter().map(|n| ids[*n]).collect();
            store.commits_beyond(ids[tip], &hidden).unwrap()
        };
        assert_eq!(beyond(5, &[4]), [ids[3], ids[5]], "{published}");
        assert_eq!(beyond(4, &[4]), [], "{published}");
        let all = beyond(5, &[]);
        assert_eq!((all.len(), all[0], &all[3..]), (5, ids[0], &[ids[3], ids[5]][..]), "{published}");
        let alone = node(&writer, "alone", &[], &[]);
        assert_eq!(store.merge_bases(alone, ids[5]).unwrap(), []);
    }
}

#[test]
fn the_newest_run_is_settled_by_the_nearest_merges() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let writer = store.writer().unwrap();
    let root = node(&writer, "0", &[], &[("Run", &run(9))]);
    let merge = node(&writer, "1", &[root], &[("Newest-Run", &run(4))]);
    let one = node(&writer, "2", &[merge], &[("Run", &run(2)), ("Run", &run(5)), ("Run", "no run")]);
    let other = node(&writer, "3", &[merge], &[("Run", &run(3))]);
    let both = node(&writer, "4", &[other, one], &[]);
    let newest = |id| store.newest_run(id, i64::MAX).unwrap().map(|r| r.to_string());
    assert_eq!(newest(root), Some(run(9)));
    assert_eq!(newest(merge), Some(run(4)), "the trailer settles what is behind it");
    assert_eq!(newest(other), Some(run(4)));
    assert_eq!(newest(both), Some(run(5)));
    // A run ahead of the clock is passed over, also where a trailer says that it is the newest.
    let ahead = node(&writer, "5", &[both], &[("Newest-Run", &run(8))]);
    let until = |most: &str| {
        let latest = RunId::parse(most).unwrap().unix_ms();
        store.newest_run(ahead, latest).unwrap().map(|r| r.to_string())
    };
    assert_eq!((until(&run(9)), until(&run(7)), until(&run(4))), (Some(run(8)), Some(run(5)), Some(run(4))));
    writer.publish().unwrap();
    assert_eq!(store.newest_run(store.need_tip(store.wake()).unwrap(), i64::MAX).unwrap(), None);
}

#[test]
fn walks_stop_where_told() {
    let sandbox = Sandbox::brain();
    let store = sandbox.store();
    let root = store.need_tip(store.wake()).unwrap();
    let one = commit_on(&store, root, vec![write("a", "1")]);
    let two = commit_on(&store, one, vec![write("a", "2")]);
    let walked = |stop| store.first_parents(two, stop).map(|c| c.unwrap().id).collect::<Vec<_>>();
    assert_eq!(walked(None), [two, one, root]);
    assert_eq!(walked(Some(root)), [two, one]);
    assert_eq!(store.commits_beyond(two, &[root]).unwrap(), [one, two]);
}
