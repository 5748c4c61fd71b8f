//! Pictures of the network: which part is drawn, where its neurons stand, and the file that shows it.
//!
//! Pure: a graph or a list of neurons in, a [`Picture`] out, and a picture becomes SVG, Mermaid, GraphML, DOT or typed arrays; figures become a [`chart`]. Place
//! in the flow: the network → **a part of it, laid out** → a file, or the page. There is no chance in it: the same part has the same
//! picture on every machine. Text of the network is data: no printer lets it become markup.

pub mod arrays;
pub mod chart;
pub mod choice;
mod labels;
pub mod layout;
mod legend;
mod shapes;
mod sheet;
mod svg;
mod words;

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{Kind, Link};

pub use svg::svg;
pub use words::{dot, graphml, mermaid};

/// Where neurons stand, by their ids.
pub type Stood = HashMap<String, [f64; 2]>;

/// A part of the network, laid out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    /// The subject.
    pub title: String,
    /// How much is shown of how much, and of which commit.
    pub caption: String,
    /// The commit that it was read from.
    pub at: String,
    /// The neurons, the most important first.
    pub nodes: Vec<Node>,
    /// The connections, in the order of their first ends.
    pub edges: Vec<Edge>,
    /// Neurons of the whole.
    pub of: usize,
    /// Communities among those that are shown.
    pub groups: usize,
}

/// A neuron in a picture, or the question of a recall.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Node {
    /// The neuron's id; a word of the question starts with `?`.
    pub id: String,
    /// Its concept.
    pub label: String,
    /// Its type; null for a question and its words.
    #[serde(rename = "type")]
    pub kind: Option<Kind>,
    /// Its salience, 0..=65535.
    pub salience: u16,
    /// Its origin; empty where it was not read.
    pub origin: String,
    /// Its part in the story that the picture tells.
    pub mark: Mark,
    /// Its community.
    pub group: u32,
    /// Place from left to right.
    pub x: f32,
    /// Place from top to bottom.
    pub y: f32,
}

/// A connection in a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// The place of the neuron that it starts from.
    pub from: u32,
    /// The place of the neuron that it leads to.
    pub to: u32,
    /// Its type; null for a step of a recall that is no connection.
    #[serde(rename = "type")]
    pub link: Option<Link>,
    /// Its weight, 0..=65535.
    pub weight: u16,
    /// Its part in the story.
    pub mark: Mark,
}

/// The part of a neuron or connection in the story that a picture tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// It stands there.
    #[default]
    None,
    /// The subject, or the question.
    Focus,
    /// Made.
    Born,
    /// Changed, or stronger.
    Changed,
    /// Weaker.
    Weakened,
    /// Archived or removed.
    Gone,
    /// An answer of a recall, or a step on the way to one.
    Answer,
}

impl Mark {
    /// All of them, in order.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Focus, Self::Born, Self::Changed, Self::Weakened, Self::Gone, Self::Answer];

    /// Its word in classes, files and legends.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Focus => "focus",
            Self::Born => "born",
            Self::Changed => "changed",
            Self::Weakened => "weakened",
            Self::Gone => "gone",
            Self::Answer => "answer",
        }
    }
}

impl Node {
    /// The word of its type.
    pub fn kind_word(&self) -> &'static str {
        self.kind.map_or("question", Kind::as_str)
    }
}

impl Edge {
    /// The word of its type.
    pub fn link_word(&self) -> &'static str {
        self.link.map_or("way", Link::as_str)
    }
}

impl Picture {
    /// Lays the neurons out, and finds their communities. Those that `stood` somewhere stay about there.
    #[must_use]
    pub fn laid_out(mut self, stood: &Stood) -> Self {
        let edges: Vec<_> =
            self.edges.iter().map(|edge| (edge.from, edge.to, f64::from(edge.weight.max(1)) / 65535.0)).collect();
        let before: Vec<_> = self.nodes.iter().map(|node| stood.get(&node.id).copied()).collect();
        let placed = layout::place(&before, &edges);
        for (node, (place, group)) in self.nodes.iter_mut().zip(placed.places.iter().zip(&placed.groups)) {
            (node.x, node.y, node.group) = (place[0] as f32, place[1] as f32, *group);
        }
        self.groups = placed.groups.iter().max().map_or(0, |most| *most as usize + 1);
        self
    }
}

/// The beginning of a text on one line: characters that are not seen, or that steer, are left out.
pub fn line(text: &str, most: usize) -> String {
    let visible = |c: char| !c.is_control() && !crate::model::ids::is_invisible(c);
    let flat: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| visible(*c)).collect();
    let flat = flat.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", flat[..end].trim_end()),
        None => flat,
    }
}

/// A number with its thousands apart.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `showing 300 of 12,480 neurons`, or `all 40 neurons`.
pub fn share(shown: usize, of: usize) -> String {
    let neurons = if of == 1 { "neuron" } else { "neurons" };
    match shown < of {
        true => format!("showing {} of {} {neurons}", thousands(shown), thousands(of)),
        false => format!("all {} {neurons}", thousands(of)),
    }
}

#[cfg(test)]
mod tests;
