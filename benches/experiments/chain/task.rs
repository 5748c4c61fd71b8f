//! The questions: half of the answers stand in the brain's memory, half in files of a folder that tools may see.

use std::path::{Path, PathBuf};

use anyhow::Result;
use git_brain::brain::{Brain, FeedRequest, InitRequest, Override, Source, World};
use serde_json::json;

const NAMES: [&str; 12] =
    ["Ada", "Boris", "Clara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Irene", "Jonas", "Karin", "Leon"];
const VALUES: [&str; 48] = [
    "juniper",
    "anvil",
    "lantern",
    "barrel",
    "cistern",
    "trellis",
    "sundial",
    "hammock",
    "kettle",
    "ladder",
    "mantel",
    "awning",
    "pergola",
    "kayak",
    "windmill",
    "greenhouse",
    "telescope",
    "harpsichord",
    "sauna",
    "raft",
    "kiln",
    "loom",
    "forge",
    "gazebo",
    "orchid",
    "saffron",
    "turnip",
    "basil",
    "quince",
    "fennel",
    "radish",
    "walnut",
    "apricot",
    "lentil",
    "parsnip",
    "medlar",
    "sonata",
    "mazurka",
    "tango",
    "polka",
    "gavotte",
    "bolero",
    "waltz",
    "minuet",
    "fugue",
    "ballad",
    "sarabande",
    "rondo",
];

/// A question, and where its answer stands.
pub struct Question {
    pub number: usize,
    name: &'static str,
    /// The word that an answer has to have.
    pub value: &'static str,
    kind: usize,
}

impl Question {
    /// All of them: four about each person.
    pub fn all() -> Vec<Self> {
        let of = |number| Self { number, name: NAMES[number % 12], value: VALUES[number], kind: number / 12 };
        (0..VALUES.len()).map(of).collect()
    }

    /// True if the answer was said to the brain; else it is in a file.
    pub fn is_remembered(&self) -> bool {
        self.kind.is_multiple_of(2)
    }

    pub fn text(&self) -> String {
        let name = self.name;
        match self.kind {
            0 => format!("Where does {name} keep the spare key?"),
            1 => format!("What does {name} want to build in spring?"),
            2 => format!("Which plant does {name} grow on the balcony?"),
            _ => format!("What does {name} play on the piano?"),
        }
    }

    /// The sentence that answers it.
    pub fn fact(&self) -> String {
        let (name, value) = (self.name, self.value);
        match self.kind {
            0 => format!("{name} keeps the spare key behind the {value}."),
            1 => format!("{name} wants to build a {value} in spring."),
            2 => format!("{name} grows {value} on the balcony."),
            _ => format!("{name} plays a {value} on the piano."),
        }
    }

    /// The file about the person.
    pub fn file(&self) -> String {
        format!("{}.txt", self.name.to_lowercase())
    }
}

/// A brain that was told half of it, and the folder with the other half.
pub struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let scene = Self { folder };
        let request = InitRequest { dir: scene.dir(), in_repo: false, program: "git-brain".to_owned() };
        let (brain, _) = Brain::init(&request, World::default())?;
        let mut rows = String::new();
        std::fs::create_dir(scene.root())?;
        for (at, name) in NAMES.iter().enumerate() {
            let own: Vec<Question> = Question::all().into_iter().filter(|question| question.name == *name).collect();
            let mut notes = format!("Notes about {name}.\n");
            for question in &own {
                match question.is_remembered() {
                    true => rows += &format!("{}\n", json!({"text": question.fact(), "source": format!("talk:{at}")})),
                    false => notes += &format!("{}\n", question.fact()),
                }
            }
            for day in ["Monday", "Friday"] {
                let text = format!("{name} called on {day} and had nothing new to say.");
                rows += &format!("{}\n", json!({"text": text, "source": format!("talk:{at}")}));
            }
            std::fs::write(scene.root().join(own[0].file()), notes)?;
        }
        let file = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
        std::fs::write(file.path(), rows)?;
        let request = FeedRequest { sources: vec![Source::File(file.path().to_owned())], ..FeedRequest::default() };
        brain.feed(&request, &mut |_| {})?;
        Ok(scene)
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("brain")
    }

    /// The folder that tools may see.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    /// The brain, with these steps, and so many turns for all of them.
    pub fn brain(&self, steps: &str, turns: u32) -> Result<Brain> {
        let flag = |key: &str, value: String| Override { place: "the bench".to_owned(), key: key.to_owned(), value };
        let flags = [
            flag("chain.step", steps.to_owned()),
            flag("chain.turns", turns.to_string()),
            flag("chain.roots", format!("[{:?}]", real(&self.root())?)),
        ];
        Ok(Brain::open(&self.dir(), World::default(), &flags)?)
    }
}

fn real(path: &Path) -> Result<PathBuf> {
    Ok(path.canonicalize()?)
}
