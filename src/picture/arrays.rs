//! A picture as bytes that a page maps into typed arrays, without reading a number as text.
//!
//! ```text
//! u32 length │ JSON: version, at, title, caption, of, nodes, edges, words, ids, labels │ blanks up to a multiple of 4
//! f32 x │ f32 y │ u32 group │ u32 from │ u32 to │ u16 salience │ u16 weight │ u8 kind │ u8 mark │ u8 origin │ u8 link │ u8 change
//! ```
//!
//! All numbers are little-endian. Bytes are places in the lists of words that the JSON names; 255 is none.

use serde::{Deserialize, Serialize};

use super::{Mark, Picture, Stood};
use crate::model::{Kind, Link};

/// The version of the bytes.
const VERSION: u32 = 1;
/// No word of the list.
const NONE: u8 = 255;

#[derive(Serialize)]
struct Head<'a> {
    version: u32,
    at: &'a str,
    title: &'a str,
    caption: &'a str,
    of: usize,
    groups: usize,
    nodes: usize,
    edges: usize,
    kinds: Vec<&'static str>,
    links: Vec<&'static str>,
    marks: Vec<&'static str>,
    origins: Vec<&'a str>,
    ids: Vec<&'a str>,
    /// Of the first neurons, those that were read.
    labels: Vec<&'a str>,
}

/// The places of the neurons in the bytes of a picture; none in what is no picture.
pub fn places(bytes: &[u8]) -> Stood {
    #[derive(Deserialize)]
    struct Ids {
        ids: Vec<String>,
    }
    let read = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (head, arrays) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let Ids { ids } = serde_json::from_slice(head).ok()?;
        let (xs, rest) = arrays.split_at_checked(4 * ids.len())?;
        let number = |bytes: &[u8; 4]| f64::from(f32::from_le_bytes(*bytes));
        let numbers = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(number).collect::<Vec<f64>>();
        let (xs, ys) = (numbers(xs), numbers(rest.get(..4 * ids.len())?));
        Some(ids.into_iter().zip(xs.into_iter().zip(ys)).map(|(id, (x, y))| (id, [x, y])).collect())
    };
    read().unwrap_or_default()
}

/// The bytes of a picture.
pub fn bytes(picture: &Picture) -> Vec<u8> {
    let nodes = &picture.nodes;
    let mut origins: Vec<&str> = nodes.iter().map(|node| node.origin.as_str()).filter(|o| !o.is_empty()).collect();
    origins.sort_unstable();
    origins.dedup();
    origins.truncate(usize::from(NONE));
    let read = nodes.iter().take_while(|node| !node.origin.is_empty() || node.kind.is_none());
    let head = Head {
        version: VERSION,
        at: &picture.at,
        title: &picture.title,
        caption: &picture.caption,
        of: picture.of,
        groups: picture.groups,
        nodes: nodes.len(),
        edges: picture.edges.len(),
        kinds: Kind::ALL.iter().map(|kind| kind.as_str()).collect(),
        links: Link::ALL.iter().map(|link| link.as_str()).collect(),
        marks: Mark::ALL.iter().map(|mark| mark.as_str()).collect(),
        ids: nodes.iter().map(|node| node.id.as_str()).collect(),
        labels: read.map(|node| node.label.as_str()).collect(),
        origins: origins.clone(),
    };
    let mut json = serde_json::to_vec(&head).expect("invariant: words and numbers are JSON");
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut out = (json.len() as u32).to_le_bytes().to_vec();
    out.append(&mut json);
    let edges = &picture.edges;
    nodes.iter().for_each(|node| out.extend(node.x.to_le_bytes()));
    nodes.iter().for_each(|node| out.extend(node.y.to_le_bytes()));
    nodes.iter().for_each(|node| out.extend(node.group.to_le_bytes()));
    edges.iter().for_each(|edge| out.extend(edge.from.to_le_bytes()));
    edges.iter().for_each(|edge| out.extend(edge.to.to_le_bytes()));
    nodes.iter().for_each(|node| out.extend(node.salience.to_le_bytes()));
    edges.iter().for_each(|edge| out.extend(edge.weight.to_le_bytes()));
    out.extend(nodes.iter().map(|node| node.kind.map_or(NONE, |kind| kind as u8)));
    out.extend(nodes.iter().map(|node| node.mark as u8));
    out.extend(nodes.iter().map(|node| origins.binary_search(&node.origin.as_str()).map_or(NONE, |at| at as u8)));
    out.extend(edges.iter().map(|edge| edge.link.map_or(NONE, |link| link as u8)));
    out.extend(edges.iter().map(|edge| edge.mark as u8));
    out
}
