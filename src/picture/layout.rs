//! Where neurons stand: communities as discs beside those that they are tied to, and inside each the well connected in the middle;
//! then a few steps of attraction along connections and repulsion between all.
//!
//! Each node's strongest connections pull more than the others, so that a dense network is no ball. Forces are those of Fruchterman and
//! Reingold (*Graph drawing by force-directed placement*, 1991), with repulsion within a reach, found by a grid. Only sums, products,
//! quotients and square roots are used, which are the same to the bit on every machine.

use crate::vitals::community::{self, Edge};

/// Communities that get a disc of their own; smaller ones follow around all.
const DISCS: usize = 256;
/// Distance at which two neighbours rest.
const REST: f64 = 1.0;
/// Reach of repulsion, in distances of rest.
const REACH: f64 = 4.0;
/// Neurons up to which repulsion reaches everywhere.
const ALL_PAIRS: usize = 400;
/// Neurons beyond which discs stay as they are.
const MOVED: usize = 6_000;
/// Steps times neurons, so that a layout takes a moment whatever its size.
const STEPS: usize = 120_000;
/// Connections of a node that pull at it, the strongest ones, and how much the others do.
const PULLED: usize = 3;
const WEAK: f64 = 0.04;
/// Places that are tried for a disc around where it wants to be.
const TRIED: usize = 4_000;
/// Cosine and sine of the golden angle: turning by it fills a disc evenly.
const TURN: [f64; 2] = [-0.737_368_878_078_319_8, 0.675_490_294_261_523_8];

/// Places and communities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placed {
    /// Each node's place; the middle of all is at 0, and neighbours are about 1 apart.
    pub places: Vec<[f64; 2]>,
    /// Each node's community, the largest first.
    pub groups: Vec<u32>,
}

/// Steps by which nodes find their places among those that stand, and how far one goes at first.
const STAYING: (usize, f64) = (30, 0.4);
/// Share of its way that a node goes which stood before.
const STANDS: f64 = 0.1;

/// Lays out a network, of which some nodes stood somewhere before. If four of five did, those stay about there.
pub fn place(stood: &[Option<[f64; 2]>], edges: &[Edge]) -> Placed {
    let nodes = stood.len();
    let (groups, sizes) = by_size(&community::partition(nodes, edges).group);
    let mut degrees = vec![0.0; nodes];
    for (a, b, weight) in edges {
        degrees[*a as usize] += weight;
        degrees[*b as usize] += weight;
    }
    let mut members: Vec<Vec<u32>> = sizes.iter().map(|size| Vec::with_capacity(*size)).collect();
    groups.iter().enumerate().for_each(|(node, group)| members[*group as usize].push(node as u32));
    for list in &mut members {
        list.sort_by(|a, b| degrees[*b as usize].total_cmp(&degrees[*a as usize]).then(a.cmp(b)));
    }
    if nodes > 0 && 5 * stood.iter().flatten().count() >= 4 * nodes {
        return Placed { places: beside(stood, edges), groups };
    }
    let centres = discs(&groups, &sizes, edges);
    let mut places = vec![[0.0; 2]; nodes];
    for (list, [x, y]) in members.iter().zip(&centres) {
        for (node, [dx, dy]) in list.iter().zip(spiral(REST * 0.8)) {
            places[*node as usize] = [x + dx, y + dy];
        }
    }
    // Those without a disc of their own go on around the others, community by community.
    let radius = |[x, y]: &[f64; 2]| (x * x + y * y).sqrt();
    let within: usize = sizes.iter().take(centres.len()).sum();
    let outer = centres.iter().zip(&sizes).map(|(c, size)| radius(c) + disc(*size)).fold(0.0, f64::max) + REST;
    let halo = spiral(REST).filter(|place| radius(place) > outer);
    for (node, place) in members[centres.len()..].iter().flatten().zip(halo) {
        places[*node as usize] = place;
    }
    if within > 1 && nodes <= MOVED {
        let hot = REST * if nodes <= ALL_PAIRS { 4.0 } else { 1.5 };
        settle(&mut places, edges, (STEPS / nodes).clamp(20, 240), hot, &[]);
    }
    centred(&mut places);
    Placed { places, groups }
}

/// Places of nodes of which most stood somewhere: a new one comes beside those that it is tied to, else at the rim.
fn beside(stood: &[Option<[f64; 2]>], edges: &[Edge]) -> Vec<[f64; 2]> {
    let mut sums = vec![[0.0; 3]; stood.len()];
    let mut tie = |new: u32, old: u32, weight: f64| {
        if let (None, Some([x, y])) = (stood[new as usize], stood[old as usize]) {
            let [sx, sy, sum] = sums[new as usize];
            sums[new as usize] = [sx + weight * x, sy + weight * y, sum + weight];
        }
    };
    for (a, b, weight) in edges {
        tie(*a, *b, *weight);
        tie(*b, *a, *weight);
    }
    let rim = stood.iter().flatten().map(|[x, y]| (x * x + y * y).sqrt()).fold(0.0, f64::max) + REST;
    let mut around = spiral(REST).filter(|[x, y]| x * x + y * y > rim * rim);
    let mut steps = spiral(0.3 * REST).skip(1);
    let mut place = |(stood, [x, y, sum]): (&Option<[f64; 2]>, [f64; 3])| match stood {
        Some(place) => *place,
        None if sum > 0.0 => {
            let [dx, dy] = steps.next().unwrap_or_default();
            [x / sum + dx, y / sum + dy]
        }
        None => around.next().unwrap_or_default(),
    };
    let mut places: Vec<[f64; 2]> = stood.iter().zip(sums).map(&mut place).collect();
    if places.len() <= MOVED && stood.contains(&None) {
        let ease: Vec<f64> = stood.iter().map(|stood| if stood.is_some() { STANDS } else { 1.0 }).collect();
        settle(&mut places, edges, STAYING.0, STAYING.1 * REST, &ease);
    }
    places.iter_mut().for_each(rounded);
    places
}

/// Communities numbered by size, the largest first, and their sizes.
fn by_size(group: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let count = group.iter().max().map_or(0, |most| *most as usize + 1);
    let mut sizes = vec![0_usize; count];
    group.iter().for_each(|of| sizes[*of as usize] += 1);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(sizes[*at]), *at));
    let mut names = vec![0_u32; count];
    order.iter().enumerate().for_each(|(name, at)| names[*at] = name as u32);
    (group.iter().map(|of| names[*of as usize]).collect(), order.iter().map(|at| sizes[*at]).collect())
}

/// The radius of a disc of so many nodes.
fn disc(size: usize) -> f64 {
    REST * (0.8 * (size as f64).sqrt() + 0.6)
}

/// Places that fill a disc from its middle, without end.
fn spiral(step: f64) -> impl Iterator<Item = [f64; 2]> {
    let mut turn = [1.0, 0.0];
    (0_u32..).map(move |at| {
        let r = step * f64::from(at).sqrt();
        let place = [r * turn[0], r * turn[1]];
        turn = [turn[0] * TURN[0] - turn[1] * TURN[1], turn[0] * TURN[1] + turn[1] * TURN[0]];
        place
    })
}

/// The middles of the discs of the largest communities: each as near to those that it is tied to as there is room.
fn discs(groups: &[u32], sizes: &[usize], edges: &[Edge]) -> Vec<[f64; 2]> {
    let count = sizes.iter().take(DISCS).filter(|size| **size > 1).count();
    let mut ties = vec![0.0; count * count];
    for (a, b, weight) in edges {
        let (a, b) = (groups[*a as usize] as usize, groups[*b as usize] as usize);
        if a < count && b < count && a != b {
            ties[a * count + b] += weight;
            ties[b * count + a] += weight;
        }
    }
    let mut centres: Vec<[f64; 2]> = Vec::with_capacity(count);
    for at in 0..count {
        let radius = disc(sizes[at]);
        let (mut wanted, mut sum) = ([0.0; 2], 0.0);
        for (other, centre) in centres.iter().enumerate() {
            let tie = ties[at * count + other];
            sum += tie;
            wanted = [wanted[0] + tie * centre[0], wanted[1] + tie * centre[1]];
        }
        let wanted = if sum > 0.0 { [wanted[0] / sum, wanted[1] / sum] } else { [0.0; 2] };
        let is_free = |place: &[f64; 2]| {
            centres.iter().zip(sizes).all(|(centre, size)| {
                let (dx, dy, apart) = (place[0] - centre[0], place[1] - centre[1], radius + disc(*size));
                dx * dx + dy * dy >= apart * apart
            })
        };
        let mut tried = spiral(0.5 * radius).take(TRIED).map(|[x, y]| [wanted[0] + x, wanted[1] + y]);
        let free = tried.find(is_free);
        // Around all others there is always room.
        let outside = || {
            let far = centres.iter().zip(sizes).map(|(c, size)| c[0].abs() + disc(*size)).fold(0.0, f64::max);
            [far + radius, 0.0]
        };
        centres.push(free.unwrap_or_else(outside));
    }
    centres
}

/// Share of its pull that each connection has: all of it for the strongest few of each node, little for the others. A node that is tied to
/// everything is drawn to nothing in particular.
fn pulls(nodes: usize, edges: &[Edge]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by(|a, b| edges[*b].2.total_cmp(&edges[*a].2).then(a.cmp(b)));
    let (mut held, mut pulls) = (vec![0; nodes], vec![WEAK; edges.len()]);
    for at in order {
        let ends = [edges[at].0 as usize, edges[at].1 as usize];
        if ends.iter().any(|end| held[*end] < PULLED) {
            ends.into_iter().for_each(|end| held[end] += 1);
            pulls[at] = 1.0;
        }
    }
    pulls
}

/// Moves nodes towards those that they are tied to, and apart from all; each as far as it may, by `ease`.
fn settle(places: &mut [[f64; 2]], edges: &[Edge], steps: usize, mut hot: f64, ease: &[f64]) {
    let nodes = places.len();
    let pulls = pulls(nodes, edges);
    let reach = if nodes <= ALL_PAIRS { f64::INFINITY } else { REACH * REST };
    let pull = if nodes <= ALL_PAIRS { 0.3 } else { 0.01 };
    let cool = REST * 0.02;
    let fall = (hot - cool) / steps as f64;
    let mut degrees = vec![0.0_f64; nodes];
    for (a, b, _) in edges {
        degrees[*a as usize] += 1.0;
        degrees[*b as usize] += 1.0;
    }
    for _ in 0..steps {
        let mut moves = vec![[0.0; 2]; nodes];
        let mut apart = |a: usize, b: usize| {
            let (mut dx, mut dy) = (places[a][0] - places[b][0], places[a][1] - places[b][1]);
            let mut square = dx * dx + dy * dy;
            if square < 1e-6 {
                // Two on one place part by their numbers.
                (dx, dy) = (1e-3 * (1.0 + (a % 7) as f64), 1e-3 * (1.0 + (b % 5) as f64));
                square = dx * dx + dy * dy;
            }
            if square < reach * reach {
                let force = REST * REST / square;
                moves[a] = [moves[a][0] + dx * force, moves[a][1] + dy * force];
                moves[b] = [moves[b][0] - dx * force, moves[b][1] - dy * force];
            }
        };
        if reach.is_finite() {
            near(places, reach, &mut apart);
        } else {
            (0..nodes).for_each(|a| (a + 1..nodes).for_each(|b| apart(a, b)));
        }
        for ((a, b, weight), pulls) in edges.iter().zip(&pulls) {
            let (a, b) = (*a as usize, *b as usize);
            let (dx, dy) = (places[a][0] - places[b][0], places[a][1] - places[b][1]);
            let length = (dx * dx + dy * dy).sqrt();
            // Hubs are tied to many: each of their connections pulls less.
            let force = pulls * (0.3 + weight.min(1.0)) * length / REST / degrees[a].min(degrees[b]).sqrt().max(1.0);
            moves[a] = [moves[a][0] - dx * force, moves[a][1] - dy * force];
            moves[b] = [moves[b][0] + dx * force, moves[b][1] + dy * force];
        }
        for (at, (place, step)) in places.iter_mut().zip(moves).enumerate() {
            // A little towards the middle, so that parts without connections stay in the picture.
            let step = [step[0] - pull * place[0], step[1] - pull * place[1]];
            let length = (step[0] * step[0] + step[1] * step[1]).sqrt().max(1e-9);
            let most = length.min(hot * ease.get(at).unwrap_or(&1.0));
            *place = [place[0] + step[0] / length * most, place[1] + step[1] / length * most];
        }
        hot -= fall;
    }
}

/// Calls for each pair of nodes in one cell of a grid, or in cells beside each other.
fn near(places: &[[f64; 2]], cell: f64, apart: &mut impl FnMut(usize, usize)) {
    let key = |place: &[f64; 2]| ((place[0] / cell).floor() as i64, (place[1] / cell).floor() as i64);
    let mut cells: Vec<((i64, i64), u32)> = places.iter().enumerate().map(|(at, p)| (key(p), at as u32)).collect();
    cells.sort_unstable();
    let of = |wanted: (i64, i64)| {
        let from = cells.partition_point(|(key, _)| *key < wanted);
        let to = cells.partition_point(|(key, _)| *key <= wanted);
        &cells[from..to]
    };
    for (at, ((x, y), a)) in cells.iter().enumerate() {
        let own = cells[at + 1..].iter().take_while(|(key, _)| *key == (*x, *y));
        let beside = [(x + 1, y - 1), (x + 1, *y), (x + 1, y + 1), (*x, y + 1)];
        own.chain(beside.into_iter().flat_map(of)).for_each(|(_, b)| apart(*a as usize, *b as usize));
    }
}

fn centred(places: &mut [[f64; 2]]) {
    let bounds = |axis: usize| {
        let of = places.iter().map(|place| place[axis]);
        (of.clone().fold(f64::INFINITY, f64::min), of.fold(f64::NEG_INFINITY, f64::max))
    };
    let middles = [bounds(0), bounds(1)].map(|(least, most)| 0.5 * (least + most));
    for place in places {
        *place = [place[0] - middles[0], place[1] - middles[1]];
        rounded(place);
    }
}

/// Rounded, what differs in the last bits of an old compiler differs in no picture.
fn rounded(place: &mut [f64; 2]) {
    *place = place.map(|value| (value * 1000.0).round() / 1000.0);
}
