use super::layout::place;
use super::*;
use crate::activation::ColumnsBuf;
use crate::model::ids::NeuronId;
use crate::model::{Neuron, Stamp};

/// Text that would do something anywhere where text is taken for markup.
const EVIL: &str = "<script>alert(1)</script> \"&' ]]> --> %% \u{202e}x\u{0}\n; end";

fn network(edges: &[(usize, usize, u16)], saliences: &[u16]) -> ColumnsBuf {
    let id = |n: usize| NeuronId::parse(&format!("n{n:03}")).unwrap();
    let mut neurons: Vec<Neuron> = saliences
        .iter()
        .enumerate()
        .map(|(n, salience)| {
            let mut neuron = Neuron::new(id(n), "n", Kind::Semantic, Stamp::from_unix(0));
            neuron.salience = *salience;
            neuron
        })
        .collect();
    edges.iter().for_each(|(from, to, weight)| neurons[*from].set_weight(&id(*to), Link::FeedsInto, *weight));
    ColumnsBuf::build(neurons)
}

fn chosen(network: &ColumnsBuf, starts: &[&str], most: usize) -> Vec<String> {
    let graph = network.graph();
    let starts: Vec<_> = starts.iter().map(|id| graph.find(&NeuronId::parse(id).unwrap()).unwrap()).collect();
    let found = choice::ranked(&graph, &starts, Stamp::from_unix(0), most);
    found.into_iter().map(|node| graph.id(node).to_owned()).collect()
}

fn sketch() -> Picture {
    let node = |id: &str, label: &str, kind: Option<Kind>, mark: Mark| Node {
        id: id.to_owned(),
        label: label.to_owned(),
        kind,
        salience: 30_000,
        origin: if kind.is_some() { "local".to_owned() } else { String::new() },
        mark,
        ..Node::default()
    };
    let edge = |from: u32, to: u32, link: Option<Link>, mark: Mark| Edge { from, to, link, weight: 40_000, mark };
    Picture {
        title: format!("title {EVIL}"),
        caption: EVIL.to_owned(),
        at: "abc".to_owned(),
        nodes: vec![
            node("?", EVIL, None, Mark::Focus),
            node("tea", EVIL, Some(Kind::Semantic), Mark::Born),
            node("cup", "a cup", Some(Kind::Episodic), Mark::Gone),
            node("pot", "お茶 thé", Some(Kind::Core), Mark::None),
        ],
        edges: vec![
            edge(0, 1, None, Mark::Answer),
            edge(1, 2, Some(Link::Inhibits), Mark::Gone),
            edge(2, 3, Some(Link::FeedsInto), Mark::None),
        ],
        of: 12_480,
        groups: 0,
    }
    .laid_out(&Stood::new())
}

#[test]
fn ranking_starts_at_what_is_named_and_follows_strong_connections() {
    let edges = [(0, 1, 60_000), (0, 2, 10_000), (1, 3, 60_000), (4, 0, 50_000), (5, 6, 65_535)];
    let found = chosen(&network(&edges, &[1000; 7]), &["n000"], 10);
    assert_eq!(found, ["n000", "n001", "n004", "n003", "n002"], "the island is out of reach");
    assert_eq!(chosen(&network(&edges, &[1000; 7]), &["n000"], 2), ["n000", "n001"]);
}

#[test]
fn ranking_without_a_start_begins_with_the_salient_and_leaves_no_gap() {
    let edges = [(0, 1, 60_000), (1, 2, 60_000), (3, 4, 60_000)];
    let network = network(&edges, &[100, 100, 100, 60_000, 100, 50_000]);
    let found = chosen(&network, &[], 6);
    assert_eq!(found[0], "n003");
    assert_eq!(found.len(), 6);
    assert_eq!(found, chosen(&network, &[], 6));
    let graph = network.graph();
    let nodes = choice::ranked(&graph, &[], Stamp::from_unix(0), 6);
    assert_eq!(choice::between(&graph, &nodes).len(), 3);
    assert!(choice::ranked(&ColumnsBuf::build(Vec::<Neuron>::new()).graph(), &[], Stamp::from_unix(0), 5).is_empty());
}

fn distance(places: &[[f64; 2]], a: usize, b: usize) -> f64 {
    let (dx, dy) = (places[a][0] - places[b][0], places[a][1] - places[b][1]);
    (dx * dx + dy * dy).sqrt()
}

fn cliques(count: u32, size: u32) -> Vec<(u32, u32, f64)> {
    let inside = |c: u32| (0..size).flat_map(move |a| (a + 1..size).map(move |b| (c * size + a, c * size + b, 1.0)));
    let bridges = (1..count).map(|c| ((c - 1) * size, c * size, 0.2));
    (0..count).flat_map(inside).chain(bridges).collect()
}

#[test]
fn layout_keeps_communities_together_and_everything_apart() {
    let edges = cliques(4, 8);
    let placed = place(&[None; 32], &edges);
    let mean = |pairs: &dyn Fn(usize, usize) -> bool| {
        let all: Vec<f64> = (0..32)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|(a, b)| pairs(*a, *b))
            .map(|(a, b)| distance(&placed.places, a, b))
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let (inside, across) = (mean(&|a, b| a / 8 == b / 8), mean(&|a, b| a / 8 != b / 8));
    assert!(inside * 1.8 < across, "{inside} inside, {across} across");
    for a in 0..32 {
        assert!((0..a).all(|b| distance(&placed.places, a, b) > 0.1), "{a} stands on another");
        assert_eq!(placed.groups[a], placed.groups[a / 8 * 8]);
    }
    assert_eq!(placed, place(&[None; 32], &edges), "the same network has the same picture");
}

#[test]
fn most_neurons_stay_where_they_stood() {
    let before = place(&[None; 32], &cliques(4, 8)).places;
    let stood: Vec<_> = before.iter().copied().map(Some).collect();
    assert_eq!(place(&stood, &cliques(4, 8)).places, before, "nothing new, nothing moves");
    // One more is tied to the second community, and one to nothing.
    let (mut more, mut edges) = (stood.clone(), cliques(4, 8));
    more.extend([None, None]);
    edges.extend([(32, 8, 1.0), (32, 9, 1.0)]);
    let after = place(&more, &edges).places;
    let mut moved: Vec<f64> = (0..32)
        .map(|at| {
            let (dx, dy) = (after[at][0] - before[at][0], after[at][1] - before[at][1]);
            (dx * dx + dy * dy).sqrt()
        })
        .collect();
    moved.sort_by(f64::total_cmp);
    assert!(moved[16] < 1.0 && moved[31] < 3.0, "{moved:?}");
    assert!(distance(&after, 32, 8) < distance(&after, 32, 0), "beside those that it is tied to");
    assert!((0..33).all(|other| distance(&after, 33, other) > 0.1));
    // Where most are new, all is laid out anew.
    let few: Vec<_> = stood.iter().enumerate().map(|(at, place)| place.filter(|_| at < 16)).collect();
    assert_eq!(place(&few, &cliques(4, 8)).places, before);
}

#[test]
fn layout_of_any_size_is_finite_and_bounded() {
    for nodes in [0, 1, 2, 3, 401, 7_000] {
        let edges: Vec<_> = (1..nodes as u32 / 2).map(|n| (n, n / 3, 0.5)).collect();
        let placed = place(&vec![None; nodes], &edges);
        assert_eq!((placed.places.len(), placed.groups.len()), (nodes, nodes));
        let most = 4.0 * (nodes as f64).sqrt() + 10.0;
        assert!(placed.places.iter().flatten().all(|value| value.abs() <= most), "{nodes}");
    }
}

#[test]
fn no_printer_lets_text_become_markup() {
    let picture = sketch();
    let drawn = svg(&picture);
    for text in [&drawn, &graphml(&picture)] {
        assert!(!text.contains("<script") && !text.contains("]]>") && text.contains("&lt;script&gt;"), "{text}");
        assert!(!text.contains('\u{0}') && !text.contains("<!--"));
    }
    assert!(!drawn.contains('\u{202e}'));
    let chart = mermaid(&picture);
    assert!(!chart.contains('<') && !chart.contains("&") && chart.contains("#60;script#62;"), "{chart}");
    assert!(chart.lines().all(|line| line.starts_with("  ") || line.starts_with("%%") || line == "flowchart LR"));
    let graph = dot(&picture);
    assert_eq!(graph.matches('"').count() % 2, 0);
    assert!(graph.contains("\\\"") && graph.lines().count() == 3 + 4 + 3 + 1, "{graph}");
}

#[test]
fn svg_says_everything_in_both_colours_and_loads_nothing() {
    let drawn = svg(&sketch());
    for part in [
        "role=\"img\"",
        "<title id=\"title\">",
        "prefers-color-scheme:dark",
        "mark born",
        "mark gone",
        "お茶 thé",
        "inhibits",
    ] {
        assert!(drawn.contains(part), "{part}");
    }
    let names = drawn.replace("http://www.w3.org/2000/svg", "");
    for other in ["http", "@import", "<image", "url(//", "<foreignObject", "onload="] {
        assert!(!names.contains(other), "{other}");
    }
    assert!(!svg(&Picture::default()).contains("NaN") && !svg(&Picture::default()).contains("inf"));
}

#[test]
fn arrays_lie_where_the_head_says() {
    let picture = sketch();
    let bytes = arrays::bytes(&picture);
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    assert_eq!(length % 4, 0);
    let places = arrays::places(&bytes);
    assert_eq!(places.len(), picture.nodes.len());
    assert!(picture.nodes.iter().all(|node| places[&node.id] == [f64::from(node.x), f64::from(node.y)]));
    assert!(arrays::places(&bytes[..length]).is_empty() && arrays::places(b"").is_empty());
    let head: serde_json::Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    assert_eq!((head["nodes"].as_u64(), head["edges"].as_u64()), (Some(4), Some(3)));
    assert_eq!(head["labels"].as_array().unwrap().len(), 4);
    let body = &bytes[4 + length..];
    assert_eq!(body.len(), 4 * (3 * 4 + 2 * 3) + 2 * (4 + 3) + 3 * 4 + 2 * 3);
    let x = f32::from_le_bytes(body[4..8].try_into().unwrap());
    assert!((x - picture.nodes[1].x).abs() < f32::EPSILON);
    assert_eq!(&body[body.len() - 6..], [255, Link::Inhibits as u8, Link::FeedsInto as u8, 6, 5, 0]);
}

#[test]
fn shares_and_numbers_are_said_with_their_thousands() {
    assert_eq!(share(300, 12_480), "showing 300 of 12,480 neurons");
    assert_eq!((share(40, 40), share(1, 1)), ("all 40 neurons".to_owned(), "all 1 neuron".to_owned()));
    assert_eq!((thousands(1_234_567), thousands(999)), ("1,234,567".to_owned(), "999".to_owned()));
    assert_eq!(line("a\u{202e}b  \n c", 3), "ab…");
}

/// A picture of neurons in rows, each a unit from the next, with long names; the first so many are the question and its words.
fn crowd(count: usize, words: usize) -> Picture {
    let node = |n: usize| Node {
        id: format!("n{n}"),
        label: format!("a rather long name of number {n}"),
        kind: (n >= words).then_some(Kind::Semantic),
        salience: (n * 7919 % 65_521) as u16,
        mark: if n == 0 && words > 0 { Mark::Focus } else { Mark::None },
        x: (n % 12) as f32,
        y: (n / 12) as f32,
        ..Node::default()
    };
    Picture { nodes: (0..count).map(node).collect(), ..Picture::default() }
}

/// What overlaps something that is not its own.
fn overlaps(picture: &Picture) -> Vec<String> {
    let (spots, height) = svg::spots(picture);
    let labels = labels::placed(picture, &spots, height);
    let mut found = Vec::new();
    for (number, label) in labels.iter().enumerate() {
        let [left, top, right, bottom] = label.area;
        for (at, spot) in spots.iter().enumerate().filter(|(at, _)| *at != label.at) {
            let (x, y) = (spot.x.clamp(left, right), spot.y.clamp(top, bottom));
            if (x - spot.x).hypot(y - spot.y) < spot.r {
                found.push(format!("{} over neuron {at}", label.text));
            }
        }
        for other in &labels[..number] {
            if left < other.area[2] && other.area[0] < right && top < other.area[3] && other.area[1] < bottom {
                found.push(format!("{} over {}", label.text, other.text));
            }
        }
    }
    found
}

#[test]
fn labels_stand_over_nothing_and_the_salient_come_first() {
    for count in [2, 30, 150, 700] {
        let picture = crowd(count, 0);
        assert_eq!(overlaps(&picture), Vec::<String>::new(), "{count}");
        let (spots, height) = svg::spots(&picture);
        let labels = labels::placed(&picture, &spots, height);
        assert!(!labels.is_empty() || count == 700, "{count}");
        let salience = |at: usize| picture.nodes[at].salience;
        assert!(labels.is_sorted_by_key(|label| std::cmp::Reverse(salience(label.at))), "{count}");
        if let Some(first) = labels.first().filter(|_| count <= 150) {
            assert_eq!(salience(first.at), picture.nodes.iter().map(|node| node.salience).max().unwrap());
        }
    }
}

#[test]
fn labels_of_the_question_and_its_words_are_always_there() {
    let picture = crowd(150, 9);
    let (spots, height) = svg::spots(&picture);
    let labels = labels::placed(&picture, &spots, height);
    for word in 0..9 {
        assert!(labels.iter().any(|label| label.at == word), "word {word} has no label: {labels:?}");
    }
    assert_eq!(overlaps(&picture), Vec::<String>::new());
    assert!(svg(&picture).contains("leader"), "a label that stands far away has a line to its word");
}

#[test]
fn legend_has_the_shapes_and_every_kind_of_line_of_the_picture() {
    let (all, rows) = legend::legend(&sketch(), 0.0);
    for part in [
        "<rect class=\"question\"",
        "<circle class=\"semantic\"",
        "<circle class=\"mark born\"",
        "class=\"edge feeds_into\"",
        "class=\"edge inhibits\"",
        "class=\"edge feeds_into marked gone\"",
        "class=\"edge way marked answer\"",
        ">inhibits<",
        ">question and its words<",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(rows > 1, "it goes on below where a row has no room: {all}");
    let mut plain = sketch();
    plain.edges.retain(|edge| edge.link == Some(Link::FeedsInto));
    let (less, _) = legend::legend(&plain, 0.0);
    assert!(!less.contains("inhibits") && !less.contains("way"), "{less}");
    // Nothing of it lies beyond the sheet.
    let drawn = svg(&sketch());
    let height: f64 = drawn.split("viewBox=\"0 0 960 ").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let lowest = drawn.split("class=\"faint\"").skip(1).map(|text| text.split("y=\"").nth(1).unwrap());
    assert!(lowest.map(|y| y.split('"').next().unwrap().parse::<f64>().unwrap()).all(|y| y < height));
}
