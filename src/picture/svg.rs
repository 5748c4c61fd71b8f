//! A picture as one SVG file: light or dark as its reader's system is, with a title for each neuron, and nothing loaded.

use std::collections::BTreeSet;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::{Edge, Mark, Node, Picture, line};
use crate::limits;
use crate::model::Link;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 56.0;
/// Height of what stands above and below the network.
const HEAD: f64 = 68.0;
const FOOT: f64 = 36.0;
/// Tallest and flattest network, points.
const TALLEST: f64 = 900.0;
const FLATTEST: f64 = 160.0;
/// Points between two neighbours, at most.
const APART: f64 = 92.0;
/// Width of a letter and height of a line of a label, points.
const LETTER: f64 = 6.9;
const LINE: f64 = 14.0;
/// Connections up to which each has an arrow.
const ARROWS: usize = 400;

/// Class, and colour in light and in dark.
const COLOURS: [(&str, &str, &str); 6] = [
    ("semantic", "#1f5f8b", "#79b8e6"),
    ("episodic", "#b3541e", "#f0a36b"),
    ("contextual", "#1b7f72", "#62c9b8"),
    ("core", "#6b4fa0", "#b79cf0"),
    ("signal", "#a83279", "#ea8cc4"),
    ("question", "#3a3834", "#d8d4cc"),
];
const MARKS: [(Mark, &str, &str, &str); 6] = [
    (Mark::Focus, "subject", "#22211f", "#eceae6"),
    (Mark::Born, "new", "#1a7f37", "#5bd07a"),
    (Mark::Changed, "changed or stronger", "#9a6700", "#e3b341"),
    (Mark::Weakened, "weaker", "#8250df", "#c297ff"),
    (Mark::Gone, "archived or gone", "#c1282d", "#ff8078"),
    (Mark::Answer, "answer", "#0a58ca", "#8ec5ff"),
];

/// A place on the sheet.
struct Spot {
    x: f64,
    y: f64,
    r: f64,
}

/// A picture as a file.
pub fn svg(picture: &Picture) -> String {
    let (spots, height) = spots(picture);
    let foot = HEAD + height + FOOT;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {foot:.0}\" width=\"{WIDTH}\" height=\"{foot:.0}\" role=\"img\" aria-labelledby=\"title about\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"about\">{}</desc>\n<style>{}</style>\n",
        escaped(&line(&picture.title, limits::LABEL_BYTES)),
        escaped(&line(&picture.caption, limits::LABEL_BYTES)),
        style()
    );
    arrows(&mut out, picture);
    let _ = write!(
        out,
        "<rect class=\"ground\" width=\"{WIDTH}\" height=\"{foot:.0}\" rx=\"10\"/>\n\
         <text class=\"title\" x=\"24\" y=\"34\">{}</text>\n<text class=\"faint\" x=\"24\" y=\"54\">{}</text>\n",
        escaped(&line(&picture.title, 96)),
        escaped(&line(&picture.caption, 120))
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
    legend(&mut out, picture, foot - 16.0);
    out + "</svg>\n"
}

/// The style sheet: every colour for light, and again for dark.
fn style() -> String {
    let mut light = "text{font:12px system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",\"DejaVu Sans\",sans-serif}\
                     .title{font-size:17px;font-weight:600}.edge{fill:none;stroke-opacity:.55}.edge.marked{stroke-opacity:.95}\
                     .inhibits,.mark.gone,.edge.gone{stroke-dasharray:5 3}.way{stroke-dasharray:1 4;stroke-linecap:round}\
                     .mark{fill:none;stroke-width:2.5}.label{paint-order:stroke;stroke-width:3.5px;stroke-linejoin:round}"
        .to_owned();
    let sheet = |dark: bool| {
        let [ground, text, faint, edge, inhibits] = match dark {
            false => ["#fbfaf8", "#22211f", "#5f5b54", "#857f75", "#c1282d"],
            true => ["#171716", "#eceae6", "#aaa59c", "#8d877d", "#ff8078"],
        };
        let mut css = format!(
            ".ground{{fill:{ground}}}text{{fill:{text}}}.faint{{fill:{faint}}}.label{{stroke:{ground}}}\
             .edge{{stroke:{edge}}}.tip{{fill:{edge}}}.inhibits{{stroke:{inhibits}}}"
        );
        for (name, on_light, on_dark) in COLOURS {
            let _ = write!(css, ".{name}{{fill:{}}}", if dark { on_dark } else { on_light });
        }
        for (mark, _, on_light, on_dark) in MARKS {
            let colour = if dark { on_dark } else { on_light };
            let name = mark.as_str();
            let _ = write!(css, ".mark.{name},.edge.{name}{{stroke:{colour}}}.tip.{name}{{fill:{colour}}}");
        }
        css
    };
    light += &sheet(false);
    format!("{light}@media (prefers-color-scheme:dark){{{}}}", sheet(true))
}

/// Where each neuron stands on the sheet, and the height of all.
fn spots(picture: &Picture) -> (Vec<Spot>, f64) {
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
    let _ = write!(out, "<g><title>{}</title>", escaped(&about));
    let _ = match node.kind {
        Some(kind) => write!(out, "<circle class=\"{kind}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\"/>"),
        None => write!(
            out,
            "<rect class=\"question\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>",
            x - r,
            y - r,
            2.0 * r,
            2.0 * r
        ),
    };
    if node.mark != Mark::None {
        let mark = node.mark.as_str();
        let _ = write!(out, "<circle class=\"mark {mark}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"/>", r + 3.0);
    }
    *out += "</g>\n";
}

/// Left, top, right and bottom.
type Area = [f64; 4];

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

/// Names of the most important neurons, where there is room; of marked ones always.
fn labels(out: &mut String, picture: &Picture, spots: &[Spot], height: f64) {
    let around = |spot: &Spot| [spot.x - spot.r, spot.y - spot.r, spot.x + spot.r, spot.y + spot.r];
    let neurons: Vec<Area> = spots.iter().map(around).collect();
    let mut taken: Vec<Area> = Vec::new();
    let mut order: Vec<usize> = (0..picture.nodes.len()).collect();
    order.sort_by_key(|at| picture.nodes[*at].mark == Mark::None);
    for at in order.into_iter().take(limits::DRAWN_LABELS) {
        let (node, spot) = (&picture.nodes[at], &spots[at]);
        let is_marked = node.mark != Mark::None;
        let text = line(&node.label, if is_marked { 42 } else { 26 });
        let width = text.width() as f64 * LETTER;
        let (x, y, gap) = (spot.x, spot.y, spot.r + 6.0);
        let right = [x + gap, y - LINE / 2.0, x + gap + width, y + LINE / 2.0];
        let left = [x - gap - width, y - LINE / 2.0, x - gap, y + LINE / 2.0];
        let below = [x - width / 2.0, y + gap - 2.0, x + width / 2.0, y + gap - 2.0 + LINE];
        let above = [x - width / 2.0, y - gap + 2.0 - LINE, x + width / 2.0, y - gap + 2.0];
        let fits = |area: &Area, strictly: bool| {
            let inside =
                area[0] > 8.0 && area[2] < WIDTH - 8.0 && area[1] > HEAD - 8.0 && area[3] < HEAD + height + 8.0;
            let free = !taken.iter().any(|other| meet(area, other));
            let clear = |(other, neuron): (usize, &Area)| other == at || !meet(area, neuron);
            inside && free && (!strictly || neurons.iter().enumerate().all(clear))
        };
        // Where there is room, the place that fewest connections cross.
        let places = [right, below, above, left];
        let best = |strictly: bool| {
            let free = places.iter().filter(|area| fits(area, strictly));
            free.min_by_key(|area| crossed(area, &picture.edges, spots))
        };
        let found = best(true).or_else(|| is_marked.then(|| best(false)).flatten());
        let Some(area) = found else { continue };
        let _ = writeln!(
            out,
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            area[0],
            area[3] - 3.0,
            escaped(&text)
        );
        taken.push(*area);
    }
}

/// Colours and strokes that the picture has, with their words.
fn legend(out: &mut String, picture: &Picture, y: f64) {
    let mut x = 24.0;
    let mut entry = |out: &mut String, sign: String, word: &str| {
        let _ = writeln!(out, "{sign}<text class=\"faint\" x=\"{:.1}\" y=\"{y:.1}\">{word}</text>", x + 12.0);
        x += 30.0 + word.width() as f64 * LETTER;
        x
    };
    let kinds: BTreeSet<&str> = picture.nodes.iter().map(Node::kind_word).collect();
    let mut at = 24.0;
    for (name, ..) in COLOURS.iter().filter(|(name, ..)| kinds.contains(name)) {
        at = entry(out, format!("<circle class=\"{name}\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"5\"/>", y - 4.0), name);
    }
    let nodes = picture.nodes.iter().map(|node| node.mark);
    let marks: BTreeSet<Mark> = nodes.chain(picture.edges.iter().map(|edge| edge.mark)).collect();
    for (mark, word, ..) in MARKS.iter().filter(|(mark, ..)| marks.contains(mark)) {
        let sign = format!("<circle class=\"mark {}\" cx=\"{at:.1}\" cy=\"{:.1}\" r=\"5\"/>", mark.as_str(), y - 4.0);
        at = entry(out, sign, word);
    }
    if picture.edges.iter().any(|edge| edge.link == Some(Link::Inhibits)) {
        let sign =
            format!("<path class=\"edge inhibits\" d=\"M{:.1} {:.1}h14\" stroke-width=\"2\"/>", at - 6.0, y - 4.0);
        entry(out, sign, "inhibits");
    }
}

/// Text that no reader of XML takes for markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // XML knows no other characters below the blank, and these two nowhere.
            c if (c < ' ' && !matches!(c, '\n' | '\t')) || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
