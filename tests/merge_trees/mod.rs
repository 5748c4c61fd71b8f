//! Trees in memory for the merge's tests.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use git_brain::merge::{Options, Outcome, Side, Sides, three_way_with};
use git_brain::model::layout::Place;
use git_brain::model::settings::MergePolicy;

/// Path → content.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Three trees, and what the merge asked of them.
pub struct Trees<'a> {
    pub base: &'a Tree,
    pub left: &'a Tree,
    pub right: &'a Tree,
    pub reads: BTreeSet<String>,
    pub asked_left: bool,
}

impl<'a> Trees<'a> {
    pub fn new(base: &'a Tree, left: &'a Tree, right: &'a Tree) -> Self {
        Self { base, left, right, reads: BTreeSet::new(), asked_left: false }
    }

    fn side(&self, side: Side) -> &'a Tree {
        match side {
            Side::Base => self.base,
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }
}

impl Sides for Trees<'_> {
    type Error = Infallible;

    fn changed(&mut self, side: Side) -> Result<Vec<String>, Infallible> {
        self.asked_left |= side == Side::Left;
        let (base, tree) = (self.base, self.side(side));
        let paths: BTreeSet<&String> = base.keys().chain(tree.keys()).collect();
        Ok(paths.into_iter().filter(|p| base.get(*p) != tree.get(*p)).cloned().collect())
    }

    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Infallible> {
        self.reads.insert(path.to_owned());
        Ok(self.side(side).get(path).cloned())
    }

    fn reverting(&mut self, side: Side) -> Result<Vec<(String, Vec<u8>)>, Infallible> {
        let runs = self.side(side).iter().filter(|(path, _)| matches!(Place::of(path), Place::Run(_)));
        Ok(runs.map(|(path, bytes)| (path.clone(), bytes.clone())).collect())
    }
}

/// The merged tree, by the default policy, and what the merge said.
pub fn merge(base: &Tree, left: &Tree, right: &Tree) -> (Tree, Outcome) {
    merge_with(base, left, right, &MergePolicy::default(), Options::default())
}

/// The merged tree and what the merge said.
pub fn merge_with(base: &Tree, left: &Tree, right: &Tree, policy: &MergePolicy, options: Options) -> (Tree, Outcome) {
    let outcome = three_way_with(&mut Trees::new(base, left, right), policy, options).unwrap();
    let mut tree = left.clone();
    for edit in &outcome.edits {
        assert_ne!(edit.content.as_ref(), left.get(&edit.path), "{}: an edit that changes nothing", edit.path);
        match &edit.content {
            Some(content) => tree.insert(edit.path.clone(), content.clone()),
            None => tree.remove(&edit.path),
        };
    }
    (tree, outcome)
}
