//! The edges that excite, by target: what a sweep over all of them reads.

use super::columns::{Columns, ColumnsBuf};
use crate::model::Link;

fn excites(link: u8) -> bool {
    const EXCITING: [Link; 3] = [Link::FeedsInto, Link::Recalls, Link::Triggers];
    EXCITING.iter().any(|exciting| *exciting as u8 == link)
}

/// All edges that excite as (source, target, weight, link), ascending by source.
fn exciting<'a>(columns: Columns<'a>) -> impl Iterator<Item = (u32, u32, u16, u8)> + 'a {
    let row =
        move |source| columns.row(source).edges().map(move |(target, weight, link)| (source, target, weight, link));
    (0..columns.len() as u32).flat_map(row).filter(|(.., link)| excites(*link))
}

impl ColumnsBuf {
    /// Lays the edges that excite by target, by counting.
    pub(super) fn lay_in_rows(&mut self) {
        let mut rows = vec![0_u32; self.kinds.len() + 1];
        for (_, target, ..) in exciting(self.view()) {
            rows[target as usize + 1] += 1;
        }
        for at in 1..rows.len() {
            rows[at] += rows[at - 1];
        }
        let mut next = rows.clone();
        let mut placed = vec![(0, 0, 0); rows[rows.len() - 1] as usize];
        for (source, target, weight, link) in exciting(self.view()) {
            let place = &mut next[target as usize];
            placed[*place as usize] = (source, weight, link);
            *place += 1;
        }
        self.in_rows = rows;
        self.in_sources = placed.iter().map(|edge| edge.0).collect();
        self.in_weights = placed.iter().map(|edge| edge.1).collect();
        self.in_links = placed.iter().map(|edge| edge.2).collect();
    }
}
