//! The world of a life: people with habits, drifting likings, causes whose effects come days later, rumours that are false, and choices whose
//! worth nobody is told. All of it follows from a seed, names included, so that no list of words can be tuned on.

use crate::statistics::Dice;

/// People; each has a habit, a home, a liking and things.
const PEOPLE: usize = 12;
/// Days between two drifts of a liking, and between two moves: at least, and at most.
const DRIFT: (usize, usize) = (25, 60);
/// Days after which a rumour is put right.
const RUMOUR: (usize, usize) = (3, 9);
/// Days from a cause to its effect.
const DELAY: usize = 2;
/// The worth of the options of a choice, before and after they change places.
const WORTH: [f64; 3] = [0.9, 0.5, 0.1];
/// The greatest distance of an outcome from the worth of its option.
const NOISE: f64 = 0.08;
/// The ages of what is asked, in days.
pub const AGES: [usize; 4] = [1, 7, 30, 100];

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const HABITS: [(&str, &str); 14] = [
    ("mends nets", "mended nets"),
    ("bakes rye bread", "baked rye bread"),
    ("tunes the organ", "tuned the organ"),
    ("sharpens knives", "sharpened knives"),
    ("counts herons", "counted herons"),
    ("paints signs", "painted signs"),
    ("repairs clocks", "repaired clocks"),
    ("brews beer", "brewed beer"),
    ("grafts pear trees", "grafted pear trees"),
    ("teaches chess", "taught chess"),
    ("rakes the gravel", "raked the gravel"),
    ("sorts the letters", "sorted the letters"),
    ("oils the lock gates", "oiled the lock gates"),
    ("writes the chronicle", "wrote the chronicle"),
];
const LIKINGS: [&str; 16] = [
    "plum cake",
    "smoked eel",
    "barley soup",
    "goat cheese",
    "walnut bread",
    "pickled beets",
    "honey tea",
    "roast chestnuts",
    "lentil stew",
    "apple cider",
    "mushroom pie",
    "rose jam",
    "oat biscuits",
    "trout",
    "quince jelly",
    "buckwheat pancakes",
];
const QUALITIES: [&str; 12] =
    ["copper", "blue", "broken", "tall", "folding", "striped", "heavy", "tiny", "carved", "rusty", "painted", "velvet"];
const THINGS: [&str; 18] = [
    "lantern",
    "ladder",
    "kettle",
    "compass",
    "trunk",
    "bicycle",
    "mirror",
    "drum",
    "saddle",
    "telescope",
    "anvil",
    "cradle",
    "barrel",
    "sledge",
    "globe",
    "loom",
    "violin",
    "scale",
];
const CAUSES: [(&str, &str, &str); 4] = [
    ("It rained all day on", "The cellar of the mill was under water.", "cellar"),
    ("A strong wind blew over", "Slates lay in the lane behind the chapel.", "slates"),
    ("Fog lay thick on", "The ferry ran aground on the sandbank.", "ferry"),
    ("There was hard frost on", "The pump in the square had burst.", "pump"),
];
const QUESTIONS: [&str; 3] = ["the way to the market", "who carries the letters", "when to open the sluice"];

/// A text that is told on a day.
#[derive(Clone)]
pub struct Told {
    pub text: String,
    /// The text, told earlier, that this one corrects.
    pub corrects: Option<String>,
}

/// The kind of thing that a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// Told once.
    Once,
    /// It was so, and is so no more: a home, a liking.
    Changed,
    /// A rumour that was put right.
    Rumour,
    /// Done every week.
    Habit,
    /// What came of something, days later.
    Effect,
}

pub struct Question {
    pub text: String,
    /// A good answer has this.
    pub answer: String,
    pub about: About,
    /// Days since it was told, as in [`AGES`]; 0 where that says nothing.
    pub age: usize,
}

/// A choice that comes up again and again.
pub struct Choice {
    pub question: String,
    pub options: Vec<String>,
    /// What they are worth, day by day.
    worth: Vec<Vec<f64>>,
}

impl Choice {
    pub fn worth(&self, day: usize) -> &[f64] {
        &self.worth[day]
    }
}

pub struct Day {
    pub told: Vec<Told>,
    pub questions: Vec<Question>,
    /// False words about what was told before, which nobody puts right: told in lives with a liar alone.
    pub lies: Vec<String>,
    /// Numbers of the choices that come up, each with what its outcome deviates by.
    pub choices: Vec<(usize, f64)>,
}

pub struct World {
    pub days: Vec<Day>,
    pub choices: Vec<Choice>,
    /// On which day the options of all choices change places.
    pub turn: usize,
}

struct Fact {
    day: usize,
    question: String,
    answer: String,
}

/// Something that is one way, and later another.
struct State {
    question: String,
    now: String,
    /// When it changes next.
    next: usize,
}

impl World {
    pub fn new(seed: u64, days: usize) -> Self {
        let mut dice = Dice::new(seed);
        let people = names(&mut dice, PEOPLE, 2);
        let towns = names(&mut dice, 14, 3);
        let hills = names(&mut dice, CAUSES.len(), 2);
        let mut habits: Vec<usize> = (0..HABITS.len()).collect();
        dice.shuffle(&mut habits);
        let turn = days / 2 - days / 20 + dice.below(days / 10 + 1);
        let choices: Vec<Choice> = QUESTIONS.iter().map(|question| choice(&mut dice, question, days, turn)).collect();
        let mut states: Vec<State> = Vec::new();
        let mut facts: Vec<Fact> = Vec::new();
        let mut rumours: Vec<(usize, String, String, Fact)> = Vec::new();
        let mut right: Vec<Fact> = Vec::new();
        let mut effects: Vec<(usize, usize)> = Vec::new();
        let mut known_effects: Vec<usize> = Vec::new();
        let mut sold: Vec<String> = Vec::new();
        let mut lived = Vec::new();
        let mut liar = Dice::new(seed ^ 0x11a7);
        for day in 0..days {
            let mut told: Vec<Told> = Vec::new();
            let mut tell = |text: String, corrects: Option<String>| told.push(Told { text, corrects });
            // Habits: two people a day, each on a weekday of their own.
            for (number, person) in people.iter().enumerate().filter(|(number, _)| number % 7 == day % 7) {
                tell(format!("{person} {} on {}.", HABITS[habits[number]].1, WEEKDAYS[day % 7]), None);
            }
            // A thing that changes hands, once.
            let (buyer, seller) = two(&mut dice, &people);
            let thing = format!("{} {}", QUALITIES[dice.below(QUALITIES.len())], THINGS[dice.below(THINGS.len())]);
            let key = format!("{buyer} {seller}");
            if !sold.contains(&key) || sold.len() > PEOPLE * (PEOPLE - 1) / 2 {
                sold.push(key);
                tell(format!("{buyer} bought a {thing} from {seller} for {} crowns.", 2 + dice.below(90)), None);
                facts.push(Fact { day, question: format!("What did {buyer} buy from {seller}?"), answer: thing });
            }
            // Homes and likings that change.
            if states.len() < 2 * PEOPLE {
                let person = &people[states.len() / 2];
                let is_home = states.len().is_multiple_of(2);
                let question = if is_home {
                    format!("Where does {person} live?")
                } else {
                    format!("What does {person} like best?")
                };
                states.push(State { question, now: String::new(), next: day });
            }
            for (number, state) in states.iter_mut().enumerate().filter(|(_, state)| state.next == day) {
                let person = &people[number / 2];
                let list: Vec<&str> = match number % 2 {
                    0 => towns.iter().map(String::as_str).collect(),
                    _ => LIKINGS.to_vec(),
                };
                let new = loop {
                    let new = list[dice.below(list.len())];
                    if new != state.now {
                        break new.to_owned();
                    }
                };
                let first = state.now.is_empty();
                tell(
                    match (number % 2, first) {
                        (0, true) => format!("{person} lives in {new}."),
                        (0, false) => format!("{person} moved to {new}."),
                        (_, true) => format!("{person} likes {new} best."),
                        (_, false) => format!("These days {person} likes {new} best."),
                    },
                    None,
                );
                state.now = new;
                state.next = day + DRIFT.0 + dice.below(DRIFT.1 - DRIFT.0);
            }
            // A rumour, and the truth some days later.
            if day % 5 == 2 {
                let (one, other) = two(&mut dice, &people);
                let thing = THINGS[dice.below(THINGS.len())];
                let text = format!("They say that {one} stole the {thing} of {other}.");
                tell(text.clone(), None);
                let question = format!("Did {one} steal the {thing} of {other}?");
                let truth = format!("{one} never stole the {thing} of {other}: it was found in the attic.");
                let fact = Fact { day, question, answer: "never stole".to_owned() };
                rumours.push((day + RUMOUR.0 + dice.below(RUMOUR.1 - RUMOUR.0), text, truth, fact));
            }
            while let Some(at) = rumours.iter().position(|(when, ..)| *when == day) {
                let (_, text, truth, fact) = rumours.remove(at);
                tell(truth, Some(text));
                right.push(Fact { day, ..fact });
            }
            // Causes, and what comes of them.
            if day % 4 == 1 {
                let cause = dice.below(CAUSES.len());
                tell(format!("{} {} hill.", CAUSES[cause].0, hills[cause]), None);
                effects.push((day + DELAY, cause));
            }
            for (_, cause) in effects.iter().filter(|(when, _)| *when == day) {
                let days = if DELAY == 2 { "two days" } else { "days" };
                let weather = CAUSES[*cause].0.to_lowercase();
                tell(format!("{} That was {days} after {weather} {} hill.", CAUSES[*cause].1, hills[*cause]), None);
                known_effects.push(*cause);
            }
            let mut questions: Vec<Question> = Vec::new();
            for age in AGES {
                let old: Vec<&Fact> =
                    facts.iter().filter(|fact| day >= fact.day + age && day < fact.day + age + 3).collect();
                if !old.is_empty() {
                    let fact = old[dice.below(old.len())];
                    questions.push(Question {
                        text: fact.question.clone(),
                        answer: fact.answer.clone(),
                        about: About::Once,
                        age,
                    });
                }
            }
            let state = &states[dice.below(states.len())];
            let mut ask = |text: &str, answer: &str, about| {
                questions.push(Question { text: text.to_owned(), answer: answer.to_owned(), about, age: 0 });
            };
            ask(&state.question, &state.now, About::Changed);
            if !right.is_empty() {
                let fact = &right[dice.below(right.len())];
                ask(&fact.question, &fact.answer, About::Rumour);
            }
            if day > 14 {
                let number = dice.below(people.len());
                let weekday = WEEKDAYS[number % 7];
                ask(&format!("What does {} do on {weekday}?", people[number]), HABITS[habits[number]].1, About::Habit);
            }
            if !known_effects.is_empty() {
                let cause = known_effects[dice.below(known_effects.len())];
                let weather = CAUSES[cause].0.to_lowercase();
                ask(
                    &format!("What happened two days after {weather} {} hill?", hills[cause]),
                    CAUSES[cause].2,
                    About::Effect,
                );
            }
            let noise = |dice: &mut Dice| dice.between(-NOISE, NOISE);
            let choices = (0..QUESTIONS.len()).filter(|n| (day + n) % 3 != 0).map(|n| (n, noise(&mut dice))).collect();
            let lies = lies(&mut liar, day, &facts, &states, &people, &towns, told.len());
            lived.push(Day { told, questions, lies, choices });
        }
        Self { days: lived, choices, turn }
    }
}

/// One lie for each nine true texts: of the newest sales another thing, or of a home another town.
fn lies(
    dice: &mut Dice,
    day: usize,
    facts: &[Fact],
    states: &[State],
    people: &[String],
    towns: &[String],
    told: usize,
) -> Vec<String> {
    let mut lies = Vec::new();
    for _ in 0..told {
        let recent: Vec<&Fact> = facts.iter().filter(|fact| fact.day < day && fact.day + 5 > day).collect();
        if recent.is_empty() || dice.below(9) != 0 {
            continue;
        }
        if dice.below(2) == 0 {
            let fact = recent[dice.below(recent.len())];
            let thing = format!("{} {}", QUALITIES[dice.below(QUALITIES.len())], THINGS[dice.below(THINGS.len())]);
            let words: Vec<&str> = fact.question.trim_end_matches('?').split(' ').collect();
            let (buyer, seller) = (words[2], words[words.len() - 1]);
            lies.push(format!("{buyer} bought a {thing} from {seller} for {} crowns.", 2 + dice.below(90)));
        } else {
            let homes = states.len().div_ceil(2);
            lies.push(format!("{} moved to {}.", people[dice.below(homes)], towns[dice.below(towns.len())]));
        }
    }
    lies
}

fn choice(dice: &mut Dice, question: &str, days: usize, turn: usize) -> Choice {
    let options = names(dice, WORTH.len(), 2);
    let mut before = WORTH.to_vec();
    dice.shuffle(&mut before);
    let mut after = before.clone();
    while after.iter().zip(&before).any(|(a, b)| a == b) {
        dice.shuffle(&mut after);
    }
    let worth = (0..days).map(|day| if day < turn { before.clone() } else { after.clone() }).collect();
    Choice { question: question.to_owned(), options, worth }
}

fn two(dice: &mut Dice, people: &[String]) -> (String, String) {
    let one = dice.below(people.len());
    let other = (one + 1 + dice.below(people.len() - 1)) % people.len();
    (people[one].clone(), people[other].clone())
}

/// Names that no list has, each another.
fn names(dice: &mut Dice, number: usize, syllables: usize) -> Vec<String> {
    const ONSETS: [&str; 16] = ["b", "br", "d", "f", "g", "h", "k", "l", "m", "n", "r", "s", "st", "t", "v", "z"];
    const VOWELS: [&str; 7] = ["a", "e", "i", "o", "u", "ei", "au"];
    const ENDS: [&str; 8] = ["n", "r", "l", "s", "k", "nd", "m", "t"];
    let mut list: Vec<String> = Vec::new();
    while list.len() < number {
        let mut name = String::new();
        for _ in 0..syllables {
            name += ONSETS[dice.below(ONSETS.len())];
            name += VOWELS[dice.below(VOWELS.len())];
        }
        name += ENDS[dice.below(ENDS.len())];
        let first = name[..1].to_uppercase();
        name.replace_range(..1, &first);
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}
