//! The legend of a picture: the shapes and the kinds of lines that it has, drawn as they are in it, each with its words.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use super::shapes::{COLOURS, LETTER, MARKS, RING, WIDTH, ring, shape};
use super::{Edge, Mark, Node, Picture};
use crate::model::Link;

/// Height of a row of the legend.
pub(super) const LEGEND: f64 = 22.0;
const MARGIN: f64 = 24.0;
/// Space of a shape or a piece of a line before its words.
const SIGN: f64 = 30.0;
const APART: f64 = 18.0;

/// The marks of nodes and the marks of connections have the same colours, and other words.
fn word_of_line(mark: Mark) -> &'static str {
    match mark {
        Mark::Born => "new connection",
        Mark::Changed => "stronger or changed",
        Mark::Weakened => "weaker",
        Mark::Gone => "removed",
        Mark::Answer => "connection on the way",
        Mark::None | Mark::Focus => "connection",
    }
}

/// A shape or a piece of a line, drawn around a place, and its words.
type Sign = (Box<dyn Fn(f64, f64) -> String>, &'static str);

fn signs(picture: &Picture) -> Vec<Sign> {
    let mut signs: Vec<Sign> = Vec::new();
    let kinds: BTreeSet<&str> = picture.nodes.iter().map(Node::kind_word).collect();
    for (name, ..) in COLOURS.iter().filter(|(name, ..)| kinds.contains(name)) {
        let word = if *name == "question" { "question and its words" } else { name };
        signs.push((Box::new(|x, y| shape(name, x, y, 5.0)), word));
    }
    let marks: BTreeSet<Mark> = picture.nodes.iter().map(|node| node.mark).collect();
    for (mark, word, ..) in MARKS.iter().filter(|(mark, ..)| marks.contains(mark)) {
        signs.push((Box::new(|x, y| ring(*mark, x, y, 4.0 + RING)), word));
    }
    let line = |link: &'static str, mark: Mark| {
        let marked = if mark == Mark::None { String::new() } else { format!(" marked {}", mark.as_str()) };
        move |x: f64, y: f64| {
            format!("<path class=\"edge {link}{marked}\" d=\"M{:.1} {y:.1}h24\" stroke-width=\"2\"/>", x - 12.0)
        }
    };
    let has = |test: &dyn Fn(&Edge) -> bool| picture.edges.iter().any(test);
    if has(&|edge| edge.mark == Mark::None && edge.link.is_some_and(|link| link != Link::Inhibits)) {
        signs.push((Box::new(line("feeds_into", Mark::None)), "connection, wider the stronger"));
    }
    if has(&|edge| edge.link == Some(Link::Inhibits)) {
        signs.push((Box::new(line("inhibits", Mark::None)), "inhibits"));
    }
    for (mark, ..) in MARKS {
        // One that inhibits is dashed in this colour.
        if has(&|edge| edge.mark == mark && edge.link.is_some()) {
            signs.push((Box::new(line("feeds_into", mark)), word_of_line(mark)));
        }
        if has(&|edge| edge.mark == mark && edge.link.is_none()) {
            signs.push((Box::new(line("way", mark)), "step without a connection"));
        }
    }
    signs
}

/// The legend, its first row at that height; how many rows it has.
pub(super) fn legend(picture: &Picture, y: f64) -> (String, usize) {
    let (mut out, mut x, mut row) = (String::new(), MARGIN, 0);
    for (sign, word) in signs(picture) {
        let wide = SIGN + word.width() as f64 * LETTER;
        if x > MARGIN && x + wide > WIDTH - MARGIN {
            (x, row) = (MARGIN, row + 1);
        }
        let at = y + LEGEND * row as f64;
        out += &sign(x + 10.0, at - 4.0);
        out += &format!("<text class=\"faint\" x=\"{:.1}\" y=\"{at:.1}\">{word}</text>\n", x + SIGN);
        x += wide + APART;
    }
    (out, row + 1)
}
