//! What happens in the life: who does what where, in three languages; what is mentioned once; what is asked; what is tried.
//!
//! A pure function of the day's number. Habits make that the same people, places and things come up again, so that
//! connections grow; what stands in [`ONCE`] comes up on one day, and nobody returns to it.

use crate::model::ids::hash64;

/// A name in Latin and in Japanese letters, and what its bearer does most of the time.
const PEOPLE: [(&str, &str, usize); 4] =
    [("Anna", "アンナ", 0), ("Ben", "ベン", 2), ("Claire", "クレール", 3), ("Yuki", "ゆき", 1)];

/// What one can do, in English, French and Japanese.
const DOINGS: [[&str; 3]; 6] = [
    ["drank green tea in the tea house", "boit du thé vert à la maison de thé", "茶屋で緑茶を飲みました"],
    ["bought fish at the market", "achète du poisson au marché", "市場で魚を買いました"],
    ["walked along the river", "se promène le long de la rivière", "川沿いを散歩しました"],
    [
        "watered the roses in the temple garden",
        "arrose les roses dans le jardin du temple",
        "お寺の庭で薔薇に水をやりました",
    ],
    ["read old letters in the library", "lit de vieilles lettres à la bibliothèque", "図書館で古い手紙を読みました"],
    ["baked bread in the kitchen", "fait du pain dans la cuisine", "台所でパンを焼きました"],
];

/// What comes up on one day, with the word that stands for it. Every third is English. After 24 days they come up again.
const ONCE: [(&str, &str); 24] = [
    ("A heron stood on one leg under the bridge.", "heron"),
    ("Un accordéon jouait devant la gare.", "accordéon"),
    ("屋根の上で猫が喧嘩していました。", "屋根"),
    ("Somebody left a violin in the tram.", "violin"),
    ("Le facteur a perdu son chapeau dans le vent.", "facteur"),
    ("朝、虹が山の上に見えました。", "虹"),
    ("The lighthouse was painted yellow.", "lighthouse"),
    ("On a trouvé une montre en or dans la fontaine.", "fontaine"),
    ("隣の家で太鼓の音がしました。", "太鼓"),
    ("A balloon got caught in the oak.", "balloon"),
    ("Les voisins ont repeint leur clôture.", "clôture"),
    ("駅前で凧を売っていました。", "凧"),
    ("The radio spoke of an eclipse.", "eclipse"),
    ("Un renard a traversé la cour.", "renard"),
    ("夜中に地震がありました。", "地震"),
    ("A parcel without a sender lay at the door.", "parcel"),
    ("Le clocher a sonné treize coups.", "clocher"),
    ("図鑑に蛍の絵がありました。", "蛍"),
    ("Snow fell on the harbour for ten minutes.", "harbour"),
    ("La boulangère a raconté son voyage au Portugal.", "boulangère"),
    ("金魚が池から消えました。", "金魚"),
    ("A carpenter asked for the way to the mill.", "carpenter"),
    ("Un cerf-volant pendait au balcon.", "balcon"),
    ("祭りの提灯が壊れました。", "提灯"),
];

/// What is asked, and the word that a good first answer has.
const QUESTIONS: [(&str, &str); 6] = [
    ("Who drank green tea in the tea house?", "tea"),
    ("Qui achète du poisson au marché ?", "poisson"),
    ("誰が薔薇に水をやりましたか？", "薔薇"),
    ("Who walked along the river?", "river"),
    ("Qui lit de vieilles lettres ?", "lettres"),
    ("誰がパンを焼きましたか？", "パン"),
];

/// Something that is decided every day, between a way that mostly works and one that mostly does not.
pub(super) struct Choice {
    /// What is asked of decision.
    pub query: &'static str,
    /// The goal that it serves.
    pub goal: &'static str,
    /// The hours of the decision and of the outcome.
    pub hours: (i64, i64),
    /// The way that mostly fails, and the one that mostly works.
    pub options: [&'static str; 2],
    /// What people say of a failure, and of a success.
    pub said: [&'static str; 2],
}

/// The two of each day.
pub(super) const CHOICES: [Choice; 2] = [
    Choice {
        query: "lunch",
        goal: "Eat well at noon",
        hours: (11, 14),
        options: ["station canteen", "noodle stall"],
        said: ["an hour in the queue, and the rice was cold", "hot, good, and nobody had to wait"],
    },
    Choice {
        query: "journey home",
        goal: "Be home before dark",
        hours: (16, 19),
        options: ["crowded bus", "cycle lane"],
        said: ["stuck behind the station until it was dark", "home with an hour of daylight left"],
    },
];

/// A number below `n` that depends on the day and on what it is for.
fn pick(day: u64, what: &str, n: u64) -> usize {
    (hash64(format!("{what}/{day}").as_bytes()) % n) as usize
}

/// A text: at which hour, its label, and what it says.
pub(super) type Told = (i64, &'static str, String);

/// What is told on a day.
pub(super) fn told(day: u64) -> Vec<Told> {
    const LABELS: [(i64, &str); 3] = [(8, "morning"), (12, "midi"), (18, "夕方")];
    let people = PEOPLE.len() as u64;
    let mut texts = Vec::new();
    for (language, (hour, label)) in LABELS.into_iter().enumerate() {
        let who = pick(day, label, people);
        let with = (who + 1 + pick(day, &format!("{label} with"), people - 1)) % PEOPLE.len();
        let usual = pick(day, &format!("{label} usual"), 3) > 0;
        let doing = if usual { PEOPLE[who].2 } else { pick(day, &format!("{label} doing"), DOINGS.len() as u64) };
        let what = DOINGS[doing][language];
        let text = match language {
            0 => format!("{} {what} with {}.", PEOPLE[who].0, PEOPLE[with].0),
            1 => format!("{} {what} avec {}.", PEOPLE[who].0, PEOPLE[with].0),
            _ => format!("{}は{}と{what}。", PEOPLE[who].1, PEOPLE[with].1),
        };
        texts.push((hour, label, text));
    }
    texts.push((15, "once", once(day).0.to_owned()));
    texts
}

fn once(day: u64) -> &'static (&'static str, &'static str) {
    &ONCE[(day - 1) as usize % ONCE.len()]
}

/// What nobody needs any more on that day, once a week: the newest English word that came up once.
pub(super) fn useless(day: u64) -> Option<&'static str> {
    (day % 7 == 6).then(|| once(day - (day - 1) % 3).1)
}

/// What is asked on a day, and the word that a good first answer has: something that was told by then.
pub(super) fn question(day: u64) -> (&'static str, &'static str) {
    let was_told = |word: &str| (1..=day).any(|past| told(past).iter().any(|(.., text)| text.contains(word)));
    let known: Vec<_> = QUESTIONS.into_iter().filter(|(_, word)| was_told(word)).collect();
    known.get(pick(day, "question", known.len().max(1) as u64)).copied().unwrap_or(QUESTIONS[0])
}

impl Choice {
    /// What comes of an option on a day, 0..=1: five times in six the better one works and the other does not.
    pub(super) fn outcome(&self, day: u64, option: &str) -> (f64, &'static str) {
        let better = option == self.options[1];
        let as_usual = pick(day, &format!("{option} works"), 6) > 0;
        let works = better == as_usual;
        let shade = pick(day, &format!("{option} shade"), 3) as f64 * 0.05;
        (if works { 0.85 + shade } else { 0.05 + shade }, self.said[usize::from(works)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_always_the_same_and_days_differ() {
        assert_eq!(told(3), told(3));
        let texts: std::collections::BTreeSet<String> =
            (1..=20).flat_map(|day| told(day).into_iter().map(|t| t.2)).collect();
        assert!(texts.len() > 60, "{}", texts.len());
        assert!((1..=366).all(|day| told(day).len() == 4 && !question(day).0.is_empty()));
    }

    #[test]
    fn one_way_mostly_works_and_the_other_mostly_does_not() {
        for choice in CHOICES {
            let works = |option: &str| (1..=60).filter(|day| choice.outcome(*day, option).0 > 0.5).count();
            let [worse, better] = choice.options.map(works);
            assert!(worse < 20 && better > 40, "{}: {worse}, {better}", choice.query);
        }
    }
}
