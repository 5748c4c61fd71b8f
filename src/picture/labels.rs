//! Labels of a picture: which neurons get one, and where. No label stands over a neuron that is not its own, nor over another label; what has no
//! room is left out.

use std::cmp::Reverse;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::shapes::{ARROWS, HEAD, LETTER, RING, Spot, WIDTH};
use super::{Edge, Mark, Node, Picture, line};
use crate::limits;
use crate::text::xml;

/// Height of a label's line, points.
const LINE: f64 = 14.0;
/// Free space beside the rim of a neuron.
const GAP: f64 = 6.0;
/// Most salient neurons that have a label wherever there is room for it: a picture of a dense network says what it is about.
const HUBS: usize = 10;
/// Distances from its neuron at which a label that must be there is tried, beyond the first; it then has a line to its neuron.
const FAR: [f64; 8] = [14.0, 26.0, 40.0, 56.0, 76.0, 100.0, 130.0, 170.0];

/// Left, top, right and bottom.
pub(super) type Area = [f64; 4];

fn meet(a: &Area, b: &Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// How much of connections lies below an area, in pieces of them; 0 in a picture with very many.
fn crossed(area: &Area, edges: &[Edge], spots: &[Spot]) -> usize {
    const PIECES: usize = 16;
    let inside = |edge: &Edge| {
        let (Some(from), Some(to)) = (spots.get(edge.from as usize), spots.get(edge.to as usize)) else { return 0 };
        let at = |piece: usize| {
            let share = piece as f64 / PIECES as f64;
            (from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share)
        };
        let hits = |(x, y): (f64, f64)| area[0] < x && x < area[2] && area[1] < y && y < area[3];
        (0..=PIECES).filter(|piece| hits(at(*piece))).count()
    };
    if edges.len() > ARROWS { 0 } else { edges.iter().map(inside).sum() }
}

/// Places for a label of that width at a distance from its neuron: right, below, above, left, then between these.
fn places(spot: &Spot, width: f64, far: f64) -> [Area; 8] {
    let (x, y, gap, half) = (spot.x, spot.y, spot.r + far, width / 2.0);
    let (beside, up) = ([x + gap, x - gap - width], [y + gap - 2.0, y - gap + 2.0 - LINE]);
    let at = |left: f64, top: f64| [left, top, left + width, top + LINE];
    [
        at(beside[0], y - LINE / 2.0),
        at(x - half, up[0]),
        at(x - half, up[1]),
        at(beside[1], y - LINE / 2.0),
        at(x + 0.7 * gap, y + 0.7 * gap - 2.0),
        at(x + 0.7 * gap, y - 0.7 * gap + 2.0 - LINE),
        at(x - 0.7 * gap - width, y + 0.7 * gap - 2.0),
        at(x - 0.7 * gap - width, y - 0.7 * gap + 2.0 - LINE),
    ]
}

/// The order in which neurons get their labels: the question and its words, then those that the picture is about, each by salience.
fn order(nodes: &[Node]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|at| {
        let node = &nodes[*at];
        (node.kind.is_some(), node.mark == Mark::None, Reverse(node.salience))
    });
    order
}

/// A label that has found its place.
#[derive(Debug)]
pub(super) struct Placed {
    /// The place of its neuron in the picture.
    pub at: usize,
    pub text: String,
    pub area: Area,
    /// Whether it stands so far away that a line leads to its neuron.
    pub is_far: bool,
}

/// Labels for which there is room on a sheet of that height.
pub(super) fn placed(picture: &Picture, spots: &[Spot], height: f64) -> Vec<Placed> {
    let around = |(node, spot): (&Node, &Spot)| {
        let r = spot.r + if node.mark == Mark::None { 0.0 } else { RING + 1.5 };
        [spot.x - r, spot.y - r, spot.x + r, spot.y + r]
    };
    let neurons: Vec<Area> = picture.nodes.iter().zip(spots).map(around).collect();
    let mut labels: Vec<Placed> = Vec::new();
    for (rank, at) in order(&picture.nodes).into_iter().take(limits::DRAWN_LABELS).enumerate() {
        let (node, spot) = (&picture.nodes[at], &spots[at]);
        let (is_word, is_marked) = (node.kind.is_none(), node.mark != Mark::None);
        let free = |area: &Area| {
            let inside =
                area[0] > 8.0 && area[2] < WIDTH - 8.0 && area[1] > HEAD - 8.0 && area[3] < HEAD + height + 8.0;
            inside
                && !labels.iter().any(|other| meet(area, &other.area))
                && neurons.iter().enumerate().all(|(other, neuron)| other == at || !meet(area, neuron))
        };
        let gap = if is_marked { GAP + RING } else { GAP };
        let lengths: &[usize] = if is_marked || is_word { &[42, 26, 16] } else { &[26, 16] };
        let tries = lengths.iter().map(|most| (*most, gap, false));
        // Words of the question always say which they are, and hubs as far as there is room.
        let further = FAR.iter().flat_map(|far| [(26, gap + far, true), (16, gap + far, true)]);
        let further = further.filter(|_| is_word || rank < HUBS);
        let found = tries.chain(further).find_map(|(most, far, is_far)| {
            let text = line(&node.label, most);
            let width = text.width() as f64 * LETTER;
            // Of the places that are free, the one that fewest connections cross.
            let best = places(spot, width, far).into_iter().filter(|area| free(area));
            let area = best.min_by_key(|area| crossed(area, &picture.edges, spots))?;
            Some(Placed { at, text, area, is_far })
        });
        labels.extend(found);
    }
    labels
}

/// Draws the labels.
pub(super) fn labels(out: &mut String, picture: &Picture, spots: &[Spot], height: f64) {
    for Placed { at, text, area, is_far } in placed(picture, spots, height) {
        if is_far {
            let (x, y) = (spots[at].x.clamp(area[0], area[2]), spots[at].y.clamp(area[1], area[3]));
            let (from_x, from_y) = (spots[at].x, spots[at].y);
            let _ = writeln!(out, "<path class=\"edge leader\" d=\"M{from_x:.1} {from_y:.1}L{x:.1} {y:.1}\"/>");
        }
        // Held at the side of its neuron, whatever the width that a font gives it.
        let x = spots[at].x;
        let (x, anchor) = match (area[2] <= x, area[0] >= x) {
            (true, _) => (area[2], " text-anchor=\"end\""),
            (_, true) => (area[0], ""),
            _ => ((area[0] + area[2]) / 2.0, " text-anchor=\"middle\""),
        };
        let y = area[3] - 3.0;
        let _ = writeln!(out, "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>", xml(&text));
    }
}
