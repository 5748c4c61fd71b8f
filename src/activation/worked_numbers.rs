//! The worked numbers of the specification of propagation, as fixtures. Unless a case says otherwise: decay .9, min .01,
//! one cue of strength 1, every salience 65535, every connection `feeds_into`.

use super::*;
use crate::model::ids::NeuronId;
use crate::model::settings::{Activation, Recall};
use crate::model::{Kind, Link, Neuron, Stamp};

const NOW: i64 = 1_769_437_920;

/// A network in lines such as `A>B 52428`, `K>M 26214 influences`; and saliences that are not 65535.
struct Net {
    neurons: Vec<Neuron>,
}

impl Net {
    fn new(edges: &str, saliences: &[(&str, u16)]) -> Self {
        let mut net = Self { neurons: Vec::new() };
        for line in edges.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let mut parts = line.split_whitespace();
            let (from, to) = parts.next().unwrap().split_once('>').unwrap();
            let weight: u16 = parts.next().unwrap().parse().unwrap();
            let link = parts.next().map_or(Link::FeedsInto, |l| l.parse().unwrap());
            net.at(to);
            let target = id(to);
            net.at(from).set_weight(&target, link, weight);
        }
        for (name, salience) in saliences {
            net.at(name).salience = *salience;
        }
        net
    }

    fn at(&mut self, name: &str) -> &mut Neuron {
        let id = id(name);
        let found = self.neurons.iter().position(|n| n.id == id);
        let at = found.unwrap_or_else(|| {
            let mut neuron = Neuron::new(id, name, Kind::Semantic, Stamp::from_unix(NOW));
            neuron.salience = 65535;
            self.neurons.push(neuron);
            self.neurons.len() - 1
        });
        &mut self.neurons[at]
    }

    /// Runs it with the files in several orders; all must agree to the bit.
    fn run(&self, cues: &[(&str, f64)], settings: &Activation) -> Outcome {
        self.run_with(cues, &Profile::seed(settings))
    }

    fn run_with(&self, cues: &[(&str, f64)], profile: &Profile) -> Outcome {
        let mut order = self.neurons.clone();
        let mut outcomes = Vec::new();
        for turn in 0..order.len().max(2) {
            order.rotate_left(1);
            if turn % 2 == 1 {
                order.reverse();
            }
            let columns = ColumnsBuf::build(&order);
            let graph = columns.graph();
            let cue = |(name, strength): &(&str, f64)| Cue::new(graph.find(&id(name)).unwrap(), *strength);
            let mut cues: Vec<Cue> = cues.iter().map(cue).collect();
            if turn % 2 == 1 {
                cues.reverse();
            }
            let result = propagate(&graph, &cues, Stamp::from_unix(NOW), profile);
            outcomes.push(Outcome { columns, result });
        }
        let bits = |o: &Outcome| format!("{:?} {:?} {:?}", o.result.activation, o.result.context, o.result.passes);
        assert!(outcomes.iter().all(|o| bits(o) == bits(&outcomes[0])), "depends on the order of files");
        outcomes.remove(0)
    }
}

struct Outcome {
    columns: ColumnsBuf,
    result: Propagation,
}

impl Outcome {
    fn find(&self, name: &str) -> NodeIx {
        self.columns.graph().find(&id(name)).unwrap()
    }

    fn named(&self, list: &[(NodeIx, f64)]) -> Vec<(String, f64)> {
        list.iter().map(|(n, x)| (self.columns.graph().id(*n).to_uppercase(), *x)).collect()
    }

    #[track_caller]
    fn same(&self, list: &[(NodeIx, f64)], expected: &[(&str, f64)]) {
        let list = self.named(list);
        let mut expected: Vec<_> = expected.iter().map(|(n, x)| (n.to_uppercase(), *x)).collect();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        let names = |l: &[(String, f64)]| l.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
        assert_eq!(names(&list), names(&expected), "{list:?}");
        for ((name, x), (_, y)) in list.iter().zip(&expected) {
            // The specification prints ten digits.
            assert!((x - y).abs() <= 5e-11, "{name}: {x} is not {y}");
        }
    }

    #[track_caller]
    fn active(&self, expected: &[(&str, f64)]) {
        self.same(&self.result.activation, expected);
    }

    #[track_caller]
    fn context(&self, expected: &[(&str, f64)]) {
        self.same(&self.result.context, expected);
    }

    fn path(&self, name: &str) -> String {
        let steps = self.result.path(self.find(name));
        let Some(steps) = steps else { return "none".into() };
        let step =
            |s: &Step| format!("{}-{}-{}", self.columns.graph().id(s.from), s.link, self.columns.graph().id(s.to));
        steps.iter().map(step).collect::<Vec<_>>().join(" ")
    }
}

fn id(name: &str) -> NeuronId {
    NeuronId::parse(&name.to_lowercase()).unwrap()
}

fn plain() -> Activation {
    Activation::default()
}

#[test]
fn o1_a_chain_loses_strength_at_each_hop() {
    let net = Net::new("A>B 52428\nB>C 39321\nC>D 65535", &[("C", 52428), ("D", 39321)]);
    let full = [("A", 1.0), ("B", 0.72), ("C", 0.31104), ("D", 0.1679616)];
    let outcome = net.run(&[("A", 1.0)], &plain());
    outcome.active(&full);
    assert_eq!(outcome.path("D"), "a-feeds_into-b b-feeds_into-c c-feeds_into-d");
    assert_eq!(outcome.path("A"), "");
    net.run(&[("A", 1.0)], &Activation { max_depth: 2, ..plain() }).active(&full[..3]);
    net.run(&[("A", 1.0)], &Activation { min: 0.2, ..plain() }).active(&full[..3]);
    net.run(&[("A", 1.0)], &Activation { max_depth: 0, ..plain() }).active(&full[..1]);
    net.run(&[("A", 0.009)], &plain()).active(&[]);
}

#[test]
fn o2_the_strongest_way_wins_whatever_the_order_of_files() {
    let net = Net::new("A>B 52428\nA>C 26214\nB>D 26214\nC>D 65535\nD>E 65535", &[]);
    let outcome = net.run(&[("A", 1.0)], &plain());
    outcome.active(&[("A", 1.0), ("B", 0.72), ("C", 0.36), ("D", 0.324), ("E", 0.2916)]);
    assert_eq!(outcome.path("E"), "a-feeds_into-c c-feeds_into-d d-feeds_into-e");
}

#[test]
fn o2b_the_smaller_depth_comes_first() {
    let net = Net::new("A>B 65535\nA>C 65535\nC>B 65535\nB>D 65535", &[]);
    let outcome = net.run(&[("A", 1.0)], &Activation { max_depth: 2, ..plain() });
    outcome.active(&[("A", 1.0), ("B", 0.9), ("C", 0.9), ("D", 0.81)]);
}

#[test]
fn o3_an_arrival_below_the_minimum_visits_nothing() {
    let net = Net::new("A>T 655\nA>B 65535\nB>T 65535", &[]);
    net.run(&[("A", 1.0)], &plain()).active(&[("A", 1.0), ("B", 0.9), ("T", 0.81)]);
}

#[test]
fn o4_the_five_types() {
    let edges = "P>M 52428\nK>M 26214 influences\nX>M 26214 inhibits\nEp>P 39321 recalls\nM>Al 65535 triggers";
    let net = Net::new(edges, &[]);
    let outcome = net.run(&[("P", 1.0)], &plain());
    outcome.active(&[("P", 1.0), ("M", 0.72), ("Ep", 0.54)]);
    outcome.context(&[]);
    assert_eq!(outcome.path("Ep"), "p-recalls-ep");
    let outcome = net.run(&[("P", 0.5), ("K", 1.0)], &plain());
    outcome.active(&[("P", 0.5), ("K", 1.0), ("M", 0.4896), ("Ep", 0.27)]);
    outcome.context(&[("M", 0.36)]);
    net.run(&[("P", 1.0), ("X", 1.0)], &plain()).active(&[("P", 1.0), ("X", 1.0), ("M", 0.36), ("Ep", 0.54)]);
    let all = net.run(&[("P", 0.5), ("K", 1.0), ("X", 1.0)], &plain());
    all.active(&[("P", 0.5), ("K", 1.0), ("X", 1.0), ("M", 0.1296), ("Ep", 0.27)]);
    let alone = net.run(&[("K", 1.0)], &plain());
    alone.active(&[("K", 1.0)]);
    alone.context(&[("M", 0.36)]);
    net.run(&[("Ep", 1.0)], &plain()).active(&[("Ep", 1.0)]);
    let changed = Net::new(edges, &[("M", 13107)]).run(&[("M", 1.0)], &plain());
    changed.active(&[("M", 1.0), ("Al", 0.72)]);
    assert_eq!(changed.path("Al"), "m-triggers-al");
    Net::new(edges, &[("M", 39321)]).run(&[("M", 1.0)], &plain()).active(&[("M", 1.0)]);
}

#[test]
fn o5_a_ring_re_enters_and_dies_out() {
    let net = Net::new("P>M 52428\nM>Q 52428\nQ>P 52428", &[]);
    let until_quiet = |refractory| Activation { passes: 0, refractory, ..plain() };
    for refractory in [0, 2] {
        let outcome = net.run(&[("P", 1.0)], &until_quiet(refractory));
        let passes = &outcome.result.passes;
        assert_eq!((passes.len(), outcome.result.cut), (4, Cut::default()));
        outcome.same(&passes[0], &[("P", 1.0), ("M", 0.72), ("Q", 0.5184)]);
        outcome.same(&passes[1], &[("P", 0.373248), ("M", 0.26873856), ("Q", 0.1934917632)]);
        let half = 0.069657034752;
        outcome.same(&passes[2], &[("P", half), ("M", half * 0.72), ("Q", half * 0.72 * 0.72)]);
        outcome.same(&passes[3], &[("P", 0.012999674453557248)]);
        let sum: f64 = 1.0 + 0.373248 + half + 0.012999674453557248;
        assert!((outcome.result.strength(outcome.find("P")) - sum).abs() < 1e-12);
    }
    let outcome = net.run(&[("P", 1.0)], &until_quiet(3));
    assert_eq!(outcome.result.passes.len(), 1);
    let two = net.run(&[("P", 1.0)], &Activation { passes: 2, ..plain() });
    assert_eq!((two.result.passes.len(), two.result.cut.passes), (2, false));
}

#[test]
fn o6_the_beam_keeps_the_best_and_counts_the_rest() {
    let edges = "A>B 65535\nA>C 52428\nA>D 52428\nA>E 13107\nB>F 26214\nC>F 26214\nD>G 65535\nE>H 65535";
    let net = Net::new(edges, &[]);
    let narrow = net.run(&[("A", 1.0)], &Activation { beam: 2, ..plain() });
    narrow.active(&[("A", 1.0), ("B", 0.9), ("C", 0.72), ("F", 0.324)]);
    assert_eq!(narrow.result.cut, Cut { beam: 2, passes: false });
    assert_eq!((narrow.path("F"), narrow.path("D")), ("a-feeds_into-b b-feeds_into-f".into(), "none".into()));
    let all = [("A", 1.0), ("B", 0.9), ("C", 0.72), ("D", 0.72), ("E", 0.18), ("F", 0.324), ("G", 0.648), ("H", 0.162)];
    for beam in [0, 1024] {
        let wide = net.run(&[("A", 1.0)], &Activation { beam, ..plain() });
        wide.active(&all);
        assert_eq!(wide.result.cut, Cut::default());
    }
}

#[test]
fn o7_the_seeds_own_example() {
    let edges = "n_perception_001>n_memory_001 50000\nn_perception_001>n_decision_001 35000 influences";
    let names = ["n_perception_001", "n_memory_001", "n_decision_001"];
    let outcome = Net::new(edges, &names.map(|n| (n, 45000))).run(&[(names[0], 1.0)], &plain());
    outcome.active(&[(names[0], 1.0), (names[1], 0.4714964422)]);
    outcome.context(&[(names[2], 0.3300475096)]);
}

#[test]
fn a_ring_that_never_weakens_is_cut_and_said_so() {
    let net = Net::new("A>B 65535\nB>A 65535", &[]);
    let settings = Activation { decay: 1.0, passes: 0, pass_count: 1000, ..plain() };
    let outcome = net.run(&[("A", 1.0)], &settings);
    assert_eq!((outcome.result.passes.len(), outcome.result.cut.passes), (64, true));
}

#[test]
fn inhibition_that_comes_later_lowers_the_report_and_nothing_else() {
    // X inhibits P's target at level 2, one level after it was activated and one before it is done.
    let net = Net::new("A>M 65535\nA>X 65535\nX>M 32768 inhibits\nM>D 65535", &[]);
    let inhibition = 0.9 * 0.9 * (32768.0 / 65535.0);
    net.run(&[("A", 1.0)], &plain()).active(&[("A", 1.0), ("M", 0.9 - inhibition), ("X", 0.9), ("D", 0.81)]);
}

#[test]
fn the_floor_lets_a_silent_network_light_up() {
    let net = Net::new("A>B 65535", &[("B", 0)]);
    net.run(&[("A", 1.0)], &plain()).active(&[("A", 1.0), ("B", 0.9 * 3277.0 / 65535.0)]);
    net.run(&[("A", 1.0)], &Activation { salience_floor: 0, ..plain() }).active(&[("A", 1.0)]);
}

#[test]
fn recalls_profile_weakens_salience_and_holds_concepts_back_but_not_memories() {
    let mut net = Net::new("A>B 65535\nA>C 65535\nA>D 65535\nA>E 65535", &[("B", 6554)]);
    let recall = Profile::recall(&plain(), &Recall { fan: 0.5, ..Recall::default() });
    let b = 0.9 * (6554.0_f64 / 65535.0).powf(0.1) / 2.0;
    net.run_with(&[("A", 1.0)], &recall).active(&[("A", 1.0), ("B", b), ("C", 0.45), ("D", 0.45), ("E", 0.45)]);
    net.at("A").kind = Kind::Episodic;
    net.run_with(&[("A", 1.0)], &recall).active(&[("A", 1.0), ("B", 2.0 * b), ("C", 0.9), ("D", 0.9), ("E", 0.9)]);
    let fan = Activation { fan: 1.0, ..plain() };
    net.at("B").salience = 65535;
    net.run(&[("A", 1.0)], &fan).active(&[("A", 1.0), ("B", 0.225), ("C", 0.225), ("D", 0.225), ("E", 0.225)]);
}

#[test]
fn a_cues_weight_scales_its_reports_and_not_its_way() {
    let columns = ColumnsBuf::build(Net::new("A>B 65535\nB>C 65535", &[]).neurons);
    let graph = columns.graph();
    let profile = Profile::seed(&plain());
    let cue = |weight| [Cue { weight, ..Cue::new(NodeIx(0), 1.0) }];
    let plain = propagate(&graph, &cue(1.0), Stamp::from_unix(NOW), &profile);
    let heavy = propagate(&graph, &cue(8.0), Stamp::from_unix(NOW), &profile);
    let scaled: Vec<_> = plain.activation.iter().map(|(n, x)| (*n, x * 8.0)).collect();
    assert_eq!((heavy.activation, heavy.passes.len()), (scaled, 1));
}
