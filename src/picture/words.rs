//! A picture in the languages of other programs: Mermaid for Markdown, DOT for Graphviz, GraphML for Gephi, yEd and Cytoscape.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Mark, Node, Picture, line};
use crate::limits;
use crate::model::Link;
use crate::text::xml;

/// Characters of a label.
const LABEL: usize = 60;

/// Where a neuron has a place of its own, the coordinate; points between two neighbours.
const APART: f32 = 72.0;

/// A flowchart of Mermaid, for a Markdown file.
pub fn mermaid(picture: &Picture) -> String {
    let about = in_mermaid(&words(&format!("{}: {}", picture.title, picture.caption)));
    let mut out = format!("%% {about}\nflowchart LR\n");
    for (at, node) in picture.nodes.iter().enumerate() {
        let label = in_mermaid(&line(&node.label, LABEL));
        let [open, close] = match node.kind {
            Some(_) => ["(\"", "\")"],
            None => ["{{\"", "\"}}"],
        };
        let _ = writeln!(out, "  n{at}{open}{label}{close}:::{}", node.kind_word());
    }
    let mut strokes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (at, edge) in picture.edges.iter().enumerate() {
        let arrow = match edge.link {
            Some(Link::Inhibits) => "-. inhibits .->".to_owned(),
            Some(Link::FeedsInto) => "-->".to_owned(),
            None => "-.->".to_owned(),
            Some(link) => format!("-- {link} -->"),
        };
        let _ = writeln!(out, "  n{} {arrow} n{}", edge.from, edge.to);
        let stroke = match edge.mark {
            Mark::None | Mark::Focus => continue,
            Mark::Born => "#1a7f37",
            Mark::Changed => "#9a6700",
            Mark::Weakened => "#8250df",
            Mark::Gone => "#c1282d",
            Mark::Answer => "#0a58ca",
        };
        strokes.entry(stroke).or_default().push(at.to_string());
    }
    for (kind, colour) in [
        ("semantic", "#1f5f8b"),
        ("episodic", "#b3541e"),
        ("contextual", "#1b7f72"),
        ("core", "#6b4fa0"),
        ("signal", "#a83279"),
        ("question", "#3a3834"),
    ] {
        if picture.nodes.iter().any(|node| node.kind_word() == kind) {
            let _ = writeln!(out, "  classDef {kind} stroke:{colour},stroke-width:2px");
        }
    }
    for (at, node) in picture.nodes.iter().enumerate() {
        let style = match node.mark {
            Mark::None => continue,
            Mark::Born => "fill:#1a7f37,color:#fff",
            Mark::Changed | Mark::Weakened => "fill:#9a6700,color:#fff",
            Mark::Gone => "fill:#c1282d,color:#fff",
            Mark::Answer => "fill:#0a58ca,color:#fff",
            Mark::Focus => "fill:#22211f,color:#fff",
        };
        let _ = writeln!(out, "  style n{at} {style}");
    }
    for (stroke, edges) in strokes {
        let _ = writeln!(out, "  linkStyle {} stroke:{stroke},stroke-width:2px", edges.join(","));
    }
    out
}

/// Text between the quotation marks of Mermaid: entities for all that it or a browser could read as more than text.
fn in_mermaid(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || " ,.:;-_/+=?!%…".contains(c) || (!c.is_ascii() && !c.is_control());
    text.chars().map(|c| if plain(c) { c.to_string() } else { format!("#{};", u32::from(c)) }).collect()
}

/// Text of a comment: one line.
fn words(text: &str) -> String {
    line(text, limits::LABEL_BYTES)
}

/// A graph of Graphviz; `neato -n` draws it where the picture has its neurons.
pub fn dot(picture: &Picture) -> String {
    let mut out = format!(
        "digraph brain {{\n  graph [label={}, labelloc=t, overlap=false];\n  node [shape=ellipse, fontsize=10];\n",
        quoted(&format!("{}: {}", picture.title, picture.caption))
    );
    for node in &picture.nodes {
        let _ = writeln!(
            out,
            "  {} [label={}, class={}, pos=\"{:.1},{:.1}!\"{}];",
            quoted(&node.id),
            quoted(&line(&node.label, LABEL)),
            quoted(&format!("{} {}", node.kind_word(), node.mark.as_str())),
            node.x * APART,
            -node.y * APART,
            if node.kind.is_none() { ", shape=box" } else { "" }
        );
    }
    for edge in &picture.edges {
        let Some((from, to)) = ends(picture, edge.from, edge.to) else { continue };
        let style = if edge.link == Some(Link::Inhibits) { ", style=dashed, color=red" } else { "" };
        let _ = writeln!(
            out,
            "  {} -> {} [weight={}, class={}{style}];",
            quoted(&from.id),
            quoted(&to.id),
            edge.weight,
            quoted(&format!("{} {}", edge.link_word(), edge.mark.as_str()))
        );
    }
    out + "}\n"
}

fn ends(picture: &Picture, from: u32, to: u32) -> Option<(&Node, &Node)> {
    Some((picture.nodes.get(from as usize)?, picture.nodes.get(to as usize)?))
}

/// A string of DOT: no escape of it is left in the text.
fn quoted(text: &str) -> String {
    format!("\"{}\"", words(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// A document of GraphML, with everything that is known of each neuron and connection.
pub fn graphml(picture: &Picture) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n  <desc>{}</desc>\n",
        xml(&words(&format!("{}: {}", picture.title, picture.caption)))
    );
    for (name, of, kind) in [
        ("neuron", "node", "string"),
        ("label", "node", "string"),
        ("type", "node", "string"),
        ("salience", "node", "int"),
        ("origin", "node", "string"),
        ("mark", "node", "string"),
        ("community", "node", "int"),
        ("x", "node", "float"),
        ("y", "node", "float"),
        ("link", "edge", "string"),
        ("weight", "edge", "int"),
        ("change", "edge", "string"),
    ] {
        let _ = writeln!(out, "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    out += "  <graph edgedefault=\"directed\">\n";
    for (at, node) in picture.nodes.iter().enumerate() {
        let _ = write!(
            out,
            "    <node id=\"n{at}\"><data key=\"neuron\">{}</data><data key=\"label\">{}</data>",
            xml(&node.id),
            xml(&node.label)
        );
        let _ = writeln!(
            out,
            "<data key=\"type\">{}</data><data key=\"salience\">{}</data><data key=\"origin\">{}</data>\
             <data key=\"mark\">{}</data><data key=\"community\">{}</data><data key=\"x\">{}</data><data key=\"y\">{}</data>\
             </node>",
            node.kind_word(),
            node.salience,
            xml(&node.origin),
            node.mark.as_str(),
            node.group,
            node.x * APART,
            node.y * APART
        );
    }
    for edge in &picture.edges {
        let _ = writeln!(
            out,
            "    <edge source=\"n{}\" target=\"n{}\"><data key=\"link\">{}</data><data key=\"weight\">{}</data>\
             <data key=\"change\">{}</data></edge>",
            edge.from,
            edge.to,
            edge.link_word(),
            edge.weight,
            edge.mark.as_str()
        );
    }
    out + "  </graph>\n</graphml>\n"
}
