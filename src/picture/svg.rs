//! A picture as one SVG file: light or dark as its reader's system is, with a title for each neuron, and nothing loaded.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::labels::labels;
use super::legend::{LEGEND, legend};
use super::shapes::{ARROWS, COLOURS, HEAD, MARKS, RING, Spot, WIDTH, ring, shape};
use super::sheet::themed;
use super::{Edge, Mark, Node, Picture, line};
use crate::limits;
use crate::text::xml;

const MARGIN: f64 = 56.0;
/// Height of what stands below the network.
const FOOT: f64 = 36.0;
/// Tallest and flattest network, points.
const TALLEST: f64 = 900.0;
const FLATTEST: f64 = 160.0;
/// Points between two neighbours, at most.
const APART: f64 = 92.0;
/// A picture as a file.
pub fn svg(picture: &Picture) -> String {
    let (spots, height) = spots(picture);
    let (legend, rows) = legend(picture, HEAD + height + FOOT - 16.0);
    let foot = HEAD + height + FOOT + LEGEND * (rows - 1) as f64;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {foot:.0}\" width=\"{WIDTH}\" height=\"{foot:.0}\" role=\"img\" aria-labelledby=\"title about\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"about\">{}</desc>\n<style>{}</style>\n",
        xml(&line(&picture.title, limits::LABEL_BYTES)),
        xml(&line(&picture.caption, limits::LABEL_BYTES)),
        style(picture.edges.len())
    );
    arrows(&mut out, picture);
    let _ = write!(
        out,
        "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{foot:.0}\" rx=\"10\"/>\n\
         <text class=\"title\" x=\"24\" y=\"34\">{}</text>\n<text class=\"faint\" x=\"24\" y=\"54\">{}</text>\n",
        xml(&line(&picture.title, 96)),
        xml(&line(&picture.caption, 120))
    );
    // Marked connections lie above the others.
    let mut edges: Vec<&Edge> = picture.edges.iter().collect();
    edges.sort_by_key(|edge| edge.mark != Mark::None);
    for edge in edges {
        connection(&mut out, edge, &spots, picture.edges.len() <= ARROWS);
    }
    for (node, spot) in picture.nodes.iter().zip(&spots).rev() {
        neuron(&mut out, node, spot);
    }
    labels(&mut out, picture, &spots, height);
    out + &legend + "</svg>\n"
}

/// Connections up to which each is drawn as strongly as may be.
const FAINT: usize = 300;

/// The style sheet: every colour for light, and again for dark.
fn style(edges: usize) -> String {
    // Many lines are faint, so that dots are seen above them.
    let opacity = (0.55 * (FAINT as f64 / edges.max(FAINT) as f64).sqrt()).max(0.2);
    let rules = ".edge{fill:none}.edge.marked{stroke-opacity:.95}\
                  .inhibits,.mark.gone,.edge.gone{stroke-dasharray:5 3}.way{stroke-dasharray:1 4;stroke-linecap:round}\
                  .mark{fill:none;stroke-width:2.5}.label{paint-order:stroke;stroke-width:3.5px;stroke-linejoin:round}\
                  .edge.leader{stroke-width:1.3;stroke-opacity:.95}";
    themed(&format!(".edge{{stroke-opacity:{opacity:.2}}}{rules}"), |dark| {
        let inhibits = if dark { "#ff8078" } else { "#c1282d" };
        let leader = if dark { "#eceae6" } else { "#22211f" };
        let mut css =
            format!(".edge.leader{{stroke:{leader}}}.inhibits{{stroke:{inhibits}}}.tip.inhibits{{fill:{inhibits}}}");
        for (name, on_light, on_dark) in COLOURS {
            let _ = write!(css, ".{name}{{fill:{}}}", if dark { on_dark } else { on_light });
        }
        for (mark, _, on_light, on_dark) in MARKS {
            let colour = if dark { on_dark } else { on_light };
            let name = mark.as_str();
            let _ = write!(css, ".mark.{name},.edge.{name}{{stroke:{colour}}}.tip.{name}{{fill:{colour}}}");
        }
        css
    })
}

/// Where each neuron stands on the sheet, and the height of all.
pub(super) fn spots(picture: &Picture) -> (Vec<Spot>, f64) {
    let bounds = |of: &dyn Fn(&Node) -> f32| {
        let values = || picture.nodes.iter().map(of);
        let (least, most) = (values().fold(f32::INFINITY, f32::min), values().fold(f32::NEG_INFINITY, f32::max));
        if least <= most { (f64::from(least), f64::from(most)) } else { (0.0, 0.0) }
    };
    let ((left, right), (top, bottom)) = (bounds(&|node| node.x), bounds(&|node| node.y));
    let (wide, tall) = ((right - left).max(0.01), (bottom - top).max(0.01));
    let scale = APART.min((WIDTH - 2.0 * MARGIN) / wide).min((TALLEST - 2.0 * MARGIN) / tall);
    let height = (tall * scale + 2.0 * MARGIN).max(FLATTEST);
    let size = (scale / 30.0).clamp(0.25, 1.0);
    let spot = |node: &Node| Spot {
        x: WIDTH / 2.0 + (f64::from(node.x) - 0.5 * (left + right)) * scale,
        y: HEAD + height / 2.0 + (f64::from(node.y) - 0.5 * (top + bottom)) * scale,
        r: size * (4.0 + 8.0 * (f64::from(node.salience) / 65535.0).sqrt()),
    };
    (picture.nodes.iter().map(spot).collect(), height)
}

/// The heads of arrows that the picture needs.
fn arrows(out: &mut String, picture: &Picture) {
    if picture.edges.len() > ARROWS {
        return;
    }
    let marks: BTreeSet<Mark> = picture.edges.iter().map(|edge| edge.mark).collect();
    *out += "<defs>";
    for mark in marks {
        let name = mark.as_str();
        let _ = write!(
            out,
            "<marker id=\"tip-{name}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip {name}\" d=\"M0 1L8 4L0 7z\"/></marker>"
        );
    }
    *out += "</defs>\n";
}

fn connection(out: &mut String, edge: &Edge, spots: &[Spot], arrow: bool) {
    let (Some(from), Some(to)) = (spots.get(edge.from as usize), spots.get(edge.to as usize)) else { return };
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = (dx * dx + dy * dy).sqrt();
    if length < 1.0 {
        return;
    }
    // From rim to rim.
    let (ux, uy) = (dx / length, dy / length);
    let (start, end) = (from.r.min(length / 2.0), (to.r + 2.5).min(length / 2.0));
    let width = 0.7 + 2.3 * f64::from(edge.weight) / 65535.0;
    let marked = if edge.mark == Mark::None { String::new() } else { format!(" marked {}", edge.mark.as_str()) };
    let tip = if arrow { format!(" marker-end=\"url(#tip-{})\"", edge.mark.as_str()) } else { String::new() };
    let _ = writeln!(
        out,
        "<path class=\"edge {}{marked}\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke-width=\"{width:.1}\"{tip}/>",
        edge.link_word(),
        from.x + ux * start,
        from.y + uy * start,
        to.x - ux * end,
        to.y - uy * end
    );
}

fn neuron(out: &mut String, node: &Node, spot: &Spot) {
    let Spot { x, y, r } = spot;
    let about = match node.kind {
        Some(kind) => format!(
            "{} ({kind}, salience {:.0} %, {})",
            line(&node.label, limits::LABEL_BYTES),
            f64::from(node.salience) / 655.35,
            node.id
        ),
        None => line(&node.label, limits::LABEL_BYTES),
    };
    let _ = write!(out, "<g><title>{}</title>{}", xml(&about), shape(node.kind_word(), *x, *y, *r));
    if node.mark != Mark::None {
        *out += &ring(node.mark, *x, *y, r + RING);
    }
    *out += "</g>\n";
}
