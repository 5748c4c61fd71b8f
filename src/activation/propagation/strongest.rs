//! Which edge may bring a target the most: one pass over all edges that excite, in small numbers that stay in the cache.
//!
//! A source's activation is kept as one byte, its *shadow*: a million of them fit the second cache, where a million `f64` do
//! not. Shadow · weight is an upper bound, at most [`SLACK`] above what is really sent (in the same unit), so that an edge whose product
//! stands out by more is the strongest. Where none stands out, [`super::sweep`] looks at the row in `f64`. So what is found does not depend
//! on how this pass is computed: eight edges at once where the processor has AVX2, one by one elsewhere.

use crate::activation::graph::Columns;

/// Targets that are looked at together: their products fit the first cache.
pub(super) const BLOCK: usize = 128;
/// Nothing active excites the target.
pub(super) const NONE: u32 = u32::MAX;
/// Several edges are too close to tell them apart.
pub(super) const SEVERAL: u32 = u32::MAX - 1;
/// A shadow is too large by at most 1, and a weight is at most 65535; the rest is far more than all rounding of `f64`.
const SLACK: u32 = 65536;
/// Shadows of active sources are 1 to 255.
const STEPS: f64 = 254.0;
/// Bytes after the last shadow, all 0: for sources that are not there, and because four are read at once.
const PADDING: usize = 4;
/// Longer rows are looked at edge by edge.
const SHORT: usize = 16;

/// What the sources of a level are worth, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadows {
    bytes: Vec<u8>,
    /// Upper bounds in units of `greatest / 254 / 65535`, edge by edge, of one block.
    products: Vec<u32>,
    /// To measure the pass without vector instructions.
    pub is_portable: bool,
}

impl Shadows {
    /// Makes all of `nodes` inactive.
    pub fn clear(&mut self, nodes: usize) {
        self.bytes.clear();
        self.bytes.resize(nodes + PADDING, 0);
    }

    /// Sets the shadow of an active source, whose activation is from 0 to `greatest`.
    #[inline]
    pub fn set(&mut self, node: u32, value: f64, greatest: f64) {
        let nodes = self.bytes.len() - PADDING;
        if let Some(byte) = self.bytes[..nodes].get_mut(node as usize) {
            *byte = ((value * (STEPS / greatest.max(f64::MIN_POSITIVE))) as u8).saturating_add(1);
        }
    }

    /// An upper bound of what a source sends along an edge of that weight; 0 if it is not active.
    pub fn bound(&self, source: u32, weight: u16) -> u32 {
        product(&self.bytes, source, weight)
    }

    /// For each target from `first` on its strongest edge, as its place in `in_sources`; or [`NONE`], or [`SEVERAL`].
    pub fn strongest(&mut self, columns: &Columns<'_>, first: usize, best: &mut [u32]) {
        best.fill(NONE);
        let rows = columns.in_rows.get(first..).unwrap_or_default();
        let rows = &rows[..rows.len().min(best.len() + 1)];
        let [from, .., to] = *rows else { return };
        let (from, to) = (from as usize, to as usize);
        let (Some(sources), Some(weights)) = (columns.in_sources.get(from..to), columns.in_weights.get(from..to))
        else {
            return;
        };
        #[cfg(target_arch = "x86_64")]
        if !self.is_portable && self.bytes.len() <= i32::MAX as usize && is_x86_feature_detected!("avx2") {
            #[allow(unsafe_code, reason = "a function that needs AVX2; measured: half the time of the portable one")]
            // SAFETY: the processor has AVX2.
            unsafe {
                avx2::strongest(&self.bytes, &mut self.products, Block { rows, sources, weights }, best);
            }
            return;
        }
        portable(&self.bytes, Block { rows, sources, weights }, best);
    }
}

/// The rows of some targets.
#[derive(Clone, Copy)]
struct Block<'a> {
    /// Places of their first edges, and the end; `rows[0]` is that of `sources[0]`.
    rows: &'a [u32],
    sources: &'a [u32],
    weights: &'a [u16],
}

impl Block<'_> {
    /// The edges of a row, as places in `sources`.
    fn range(&self, row: &[u32]) -> std::ops::Range<usize> {
        let place = |at: u32| (at.saturating_sub(self.rows[0]) as usize).min(self.sources.len());
        place(row[0])..place(row[1]).max(place(row[0]))
    }
}

/// Whether what has the one bound may be as strong as what has the other, greater one.
pub(super) fn may_reach(bound: u32, top: u32) -> bool {
    bound > 0 && bound + SLACK >= top
}

fn product(shadows: &[u8], source: u32, weight: u16) -> u32 {
    u32::from(shadows.get(source as usize).copied().unwrap_or(0)) * u32::from(weight)
}

fn portable(shadows: &[u8], block: Block<'_>, best: &mut [u32]) {
    for (row, best) in block.rows.windows(2).zip(best) {
        let edges = block.range(row);
        let products = block.sources[edges.clone()].iter().zip(&block.weights[edges]);
        *best = strongest_of(row[0], products.map(|(source, weight)| product(shadows, *source, *weight)));
    }
}

/// The strongest edge of a row that begins at `from`.
fn strongest_of(from: u32, products: impl Iterator<Item = u32>) -> u32 {
    // Product and place in one number, so that there is no branch to be mispredicted.
    let (mut first, mut second) = (0_u64, 0_u64);
    for (product, place) in products.zip(from..) {
        let edge = u64::from(product) << 32 | u64::from(place);
        second = second.max(first.min(edge));
        first = first.max(edge);
    }
    let (top, next) = ((first >> 32) as u32, (second >> 32) as u32);
    match top {
        0 => NONE,
        _ if may_reach(next, top) => SEVERAL,
        _ => first as u32,
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! Products of eight edges at once, then a short row in two vectors.

    use std::arch::x86_64::*;

    use super::{Block, NONE, PADDING, SEVERAL, SHORT, SLACK, product, strongest_of};

    #[target_feature(enable = "avx2,bmi1")]
    pub fn strongest(shadows: &[u8], products: &mut Vec<u32>, block: Block<'_>, best: &mut [u32]) {
        products.resize(block.sources.len() + SHORT, 0);
        multiply(shadows, block.sources, block.weights, products);
        for (row, best) in block.rows.windows(2).zip(best) {
            let edges = block.range(row);
            *best = match products[edges.start..].first_chunk() {
                Some(some) if edges.len() <= SHORT => of_short(row[0], some, edges.len()),
                _ => strongest_of(row[0], products[edges].iter().copied()),
            };
        }
    }

    #[target_feature(enable = "avx2")]
    fn multiply(shadows: &[u8], sources: &[u32], weights: &[u16], products: &mut [u32]) {
        let last = _mm256_set1_epi32((shadows.len() - PADDING) as i32);
        let (eights, rest) = sources.as_chunks::<8>();
        let (weights, rest_weights) = weights.as_chunks::<8>();
        let (products, rest_products) = products.as_chunks_mut::<8>();
        for ((sources, weights), products) in eights.iter().zip(weights).zip(products.iter_mut()) {
            // A source that is not there reads the padding.
            let sources = _mm256_min_epu32(bytemuck::cast(*sources), last);
            #[allow(unsafe_code, reason = "the instruction has no safe form")]
            // SAFETY: each place is at most `shadows.len() - PADDING`, and from there on are PADDING bytes, four.
            let bytes = unsafe { _mm256_i32gather_epi32::<1>(shadows.as_ptr().cast(), sources) };
            let bytes = _mm256_and_si256(bytes, _mm256_set1_epi32(0xff));
            let weights = _mm256_cvtepu16_epi32(bytemuck::cast(*weights));
            *products = bytemuck::cast(_mm256_mullo_epi32(bytes, weights));
        }
        let edges = rest.iter().zip(rest_weights);
        let places = products[eights.len()..].as_flattened_mut().iter_mut().chain(rest_products);
        places.zip(edges).for_each(|(place, (source, weight))| *place = product(shadows, *source, *weight));
    }

    /// [`strongest_of`] the first `length` of some products.
    #[target_feature(enable = "avx2,bmi1")]
    fn of_short(from: u32, products: &[u32; SHORT], length: usize) -> u32 {
        let halves: [__m256i; 2] = bytemuck::cast(*products);
        let length = _mm256_set1_epi32(length as i32);
        let low = _mm256_and_si256(_mm256_cmpgt_epi32(length, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), halves[0]);
        let high =
            _mm256_and_si256(_mm256_cmpgt_epi32(length, _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15)), halves[1]);
        let eight = _mm256_max_epi32(low, high);
        let four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
        let two = _mm_max_epi32(four, _mm_shuffle_epi32::<0x4e>(four));
        let top = _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32::<0xb1>(two)));
        let bound = _mm256_set1_epi32((top - SLACK as i32 - 1).max(0));
        let close = |half| _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(half, bound))) as u32;
        let close = close(low) | close(high) << 8;
        match (top, close & close.wrapping_sub(1)) {
            (0, _) => NONE,
            (_, 0) => from + close.trailing_zeros(),
            _ => SEVERAL,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the documentation says, said again.
    fn expected(shadows: &[u8], sources: &[u32], weights: &[u16], row: std::ops::Range<usize>) -> u32 {
        let product = |at: &usize| match shadows.get(sources[*at] as usize) {
            Some(shadow) => u32::from(*shadow) * u32::from(weights[*at]),
            None => 0,
        };
        let top = row.clone().map(|at| product(&at)).max().unwrap_or(0);
        let close: Vec<usize> = row.filter(|at| product(at) > 0 && product(at) + SLACK >= top).collect();
        match close[..] {
            [] => NONE,
            [one] => one as u32,
            _ => SEVERAL,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_passes_find_the_edge_that_stands_out(
            values in prop::collection::vec(prop_oneof![Just(None), (0.0..1.0_f64).prop_map(Some), Just(Some(1.0))], 1..30),
            rows in prop::collection::vec(prop::collection::vec((0..34_u32, 1..=65535_u16), 0..24), 1..60),
        ) {
            let edges: Vec<(u32, u16)> = rows.concat();
            let (sources, weights): (Vec<u32>, Vec<u16>) = edges.into_iter().unzip();
            let ends = rows.iter().scan(0, |end, row| { *end += row.len() as u32; Some(*end) });
            let in_rows: Vec<u32> = std::iter::once(0).chain(ends).collect();
            let columns = Columns { in_rows: &in_rows, in_sources: &sources, in_weights: &weights, ..Columns::default() };
            let greatest = values.iter().flatten().copied().fold(0.0, f64::max);
            let mut shadows = Shadows::default();
            shadows.clear(values.len());
            for (value, node) in values.iter().zip(0..) {
                value.iter().for_each(|value| shadows.set(node, *value, greatest));
                prop_assert_eq!(shadows.bound(node, 1) > 0, value.is_some());
                let unit = greatest / STEPS;
                let bound = f64::from(shadows.bytes[node as usize]) * unit;
                let above = bound - value.unwrap_or(0.0);
                prop_assert!(above >= -1e-9 && above <= unit * (1.0 + 1e-9), "{bound} for {value:?}");
            }
            let known = shadows.bytes[..values.len()].to_vec();
            for is_portable in [true, false] {
                shadows.is_portable = is_portable;
                // From the second row on too: not all blocks begin with the first edge.
                for first in 0..2.min(rows.len()) {
                    let mut best = vec![7; rows.len() - first];
                    shadows.strongest(&columns, first, &mut best);
                    for (row, best) in in_rows[first..].windows(2).zip(&best) {
                        let expected = expected(&known, &sources, &weights, row[0] as usize..row[1] as usize);
                        prop_assert_eq!(*best, expected, "portable: {}", is_portable);
                    }
                }
            }
        }
    }
}
