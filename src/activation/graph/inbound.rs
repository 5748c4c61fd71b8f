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
        let edges = rows[rows.len() - 1] as usize;
        let (mut sources, mut weights, mut links) = (vec![0; edges], vec![0; edges], vec![0; edges]);
        let mut next = rows.clone();
        for (source, target, weight, link) in exciting(self.view()) {
            let place = next[target as usize] as usize;
            (sources[place], weights[place], links[place]) = (source, weight, link);
            next[target as usize] += 1;
        }
        (self.in_rows, self.in_sources, self.in_weights, self.in_links) = (rows, sources, weights, links);
    }
}
