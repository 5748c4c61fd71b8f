//! Three trees in memory, as the merge sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use git_brain::merge::{Side, Sides};
use git_brain::model::layout::Place;

/// The files of a tree by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Base, left and right.
pub struct Trees<'a>(pub [&'a Tree; 3]);

impl Trees<'_> {
    fn side(&self, side: Side) -> &Tree {
        match side {
            Side::Base => self.0[0],
            Side::Left => self.0[1],
            Side::Right => self.0[2],
        }
    }
}

impl Sides for Trees<'_> {
    type Error = Infallible;

    fn changed(&mut self, side: Side) -> Result<Vec<String>, Infallible> {
        let (base, tree) = (self.0[0], self.side(side));
        let paths: BTreeSet<&String> = base.keys().chain(tree.keys()).collect();
        Ok(paths.into_iter().filter(|p| base.get(*p) != tree.get(*p)).cloned().collect())
    }

    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Infallible> {
        Ok(self.side(side).get(path).cloned())
    }

    fn reverting(&mut self, side: Side) -> Result<Vec<(String, Vec<u8>)>, Infallible> {
        let runs = self.side(side).iter().filter(|(path, _)| matches!(Place::of(path), Place::Run(_)));
        Ok(runs.map(|(path, bytes)| (path.clone(), bytes.clone())).collect())
    }
}
