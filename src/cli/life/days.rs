//! The living of it: each day's commands, by the library as any front door gives them, each on the clock of its hour.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::Session;
use super::super::output::program;
use super::texts::{self, CHOICES, Choice};
use crate::brain::{
    Brain, BrainError, FeedRequest, InitReport, InitRequest, OutcomeRequest, RecallRequest, RunBounds, SleepReport,
    SleepRequest, Source, World,
};
use crate::model::Stamp;
use crate::model::ids::concept_id;

/// What ids follow from, beside what the brain holds.
const SEED: &str = "git-brain demo";
/// 2026-01-05T07:00:00Z, a Monday: the birth. Every life begins there.
const BIRTH: i64 = 1_767_596_400;
const HOUR: i64 = 3600;
/// After how many days the person lets a neuron go that came up once and nothing touched since.
pub(super) const FORGET_DAYS: u32 = 5;
/// The person's message.
pub(super) const FORGET_SUBJECT: &str = "brain.toml: forget within days what came up once";

/// A life that goes on.
pub(super) struct Life<'a> {
    session: &'a Session,
    /// Where.
    pub dir: PathBuf,
    days: u64,
    /// The run that waits on its branch.
    under_way: Option<String>,
}

/// What a day brought.
#[derive(Debug, Default, Serialize)]
pub(super) struct Day {
    /// From 1.
    pub day: u64,
    /// Its date.
    pub date: String,
    /// Texts that were fed.
    pub texts: Vec<String>,
    /// Runs that followed from them and from requests.
    pub runs: usize,
    /// What was asked.
    pub asked: Option<Asked>,
    /// What was decided, and what came of it.
    pub tried: Vec<Tried>,
    /// The concept that memory was asked to archive.
    pub archived: Option<String>,
    /// The commit by which a person changed `brain.toml` on main.
    pub person: Option<String>,
    /// The branch of a run that is under way when night comes.
    pub under_way: Option<String>,
    /// The same, merged on the day after.
    pub merged: Option<String>,
    /// The night.
    pub sleep: Option<SleepReport>,
}

/// A question that the brain learns from.
#[derive(Debug, Serialize)]
pub(super) struct Asked {
    /// The question.
    pub question: String,
    /// The best answer.
    pub answer: Option<String>,
    /// Whether it has the word that a good one has.
    pub right: bool,
    /// The run that learnt from it.
    pub learnt: Option<String>,
}

/// A decision and its outcome.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    /// What was asked of decision.
    pub query: &'static str,
    /// What it chose.
    pub choice: String,
    /// Its stance to that.
    pub stance: String,
    /// Its run.
    pub run: String,
    /// What it expected, 0..=1.
    pub expected: f64,
    /// What came.
    pub came: f64,
}

/// The days on which something particular happens, as far as the life has them.
struct Calendar {
    quiet: Option<u64>,
    person: u64,
    under_way: Option<u64>,
}

impl Calendar {
    fn of(days: u64) -> Self {
        let person = days.div_ceil(2);
        let under_way = Some(person + 2).filter(|day| *day < days);
        Self { quiet: person.checked_sub(1).filter(|day| *day > 1), person, under_way }
    }
}

impl<'a> Life<'a> {
    /// Makes the brain, and tells it what it is for.
    pub(super) fn begin(session: &'a Session, dir: &Path, days: u64) -> Result<(Self, InitReport), BrainError> {
        let life = Self { session, dir: dir.to_owned(), days, under_way: None };
        let request = InitRequest { dir: dir.to_owned(), in_repo: false, program: program() };
        let (_, made) = Brain::init(&request, World::fixed(life.at(1, 7), SEED))?;
        for choice in &CHOICES {
            let brain = life.brain(life.at(1, 7))?;
            let op = json!({"op": "create", "concept": choice.query, "type": "semantic"});
            brain.apply(&delta(vec![op]), None, false, false)?;
            brain.add_goal(choice.goal, Some(concept_id(choice.query).as_str()), false)?;
        }
        Ok((life, made))
    }

    /// A moment of a day.
    pub(super) fn at(&self, day: u64, hour: i64) -> Stamp {
        Stamp::from_unix(BIRTH + (day as i64 - 1) * 24 * HOUR + (hour - 7) * HOUR)
    }

    /// The brain as a command at that moment opens it.
    pub(super) fn brain(&self, at: Stamp) -> Result<Brain, BrainError> {
        Brain::open(&self.dir, World::fixed(at, SEED), &self.session.flags)
    }

    /// Lives a day and the night after it.
    pub(super) fn day(&mut self, number: u64) -> Result<Day, BrainError> {
        let calendar = Calendar::of(self.days);
        let mut day = Day { day: number, date: self.at(number, 0).to_string()[..10].to_owned(), ..Day::default() };
        if calendar.quiet != Some(number) {
            if let Some(branch) = self.under_way.take() {
                self.brain(self.at(number, 7))?.merge(std::slice::from_ref(&branch), false)?;
                day.merged = Some(branch);
            }
            if calendar.person == number {
                day.person = Some(self.person(self.at(number, 10))?);
            }
            self.hours(&mut day)?;
            if calendar.under_way == Some(number) {
                day.under_way = Some(self.leave_under_way(number)?);
                self.under_way.clone_from(&day.under_way);
            }
        }
        day.sleep = Some(self.brain(self.at(number, 23))?.sleep(SleepRequest::default())?);
        Ok(day)
    }

    /// What is told, decided, asked and archived, hour by hour.
    fn hours(&self, day: &mut Day) -> Result<(), BrainError> {
        let mut told = texts::told(day.day);
        told.sort_by_key(|(hour, ..)| *hour);
        let mut told = told.into_iter().peekable();
        let mut open: Vec<(&Choice, Tried)> = Vec::new();
        for hour in 8..=22 {
            while let Some((_, label, text)) = told.next_if(|(at, ..)| *at == hour) {
                day.runs += self.feed(self.at(day.day, hour), day, label, &text)?;
                day.texts.push(text);
            }
            for choice in &CHOICES {
                if choice.hours.0 == hour {
                    open.extend(self.decide(day, choice, hour)?.map(|tried| (choice, tried)));
                }
                if choice.hours.1 == hour
                    && let Some(at) = open.iter().position(|(c, _)| c.query == choice.query)
                {
                    let (_, tried) = open.remove(at);
                    day.tried.push(self.find_out(day.day, choice, tried, hour)?);
                }
            }
            match hour {
                20 => day.asked = Some(self.ask(day.day)?),
                21 => day.archived = self.archive(day)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn feed(&self, at: Stamp, day: &Day, label: &str, text: &str) -> Result<usize, BrainError> {
        let request = FeedRequest {
            sources: vec![Source::Text(text.to_owned())],
            source: Some(format!("{}:{label}", day.date)),
            session: Some(day.date.clone()),
            ..FeedRequest::default()
        };
        Ok(self.brain(at)?.feed(&request, &mut |_| {})?.ran.runs.len())
    }

    /// Sends signals as a person does with `apply`, then runs agents until quiet. Returns the runs.
    fn request(&self, at: Stamp, to: &str, payload: Value) -> Result<Vec<(String, String)>, BrainError> {
        let brain = self.brain(at)?;
        brain.apply(&delta(vec![json!({"op": "signal", "to": to, "payload": payload})]), None, false, false)?;
        let ran = self.brain(at)?.run(&RunBounds::default(), &mut |_| {})?;
        Ok(ran.runs.into_iter().map(|run| (run.agent, run.run)).collect())
    }

    /// Lets decision choose between the two ways; its run has the prediction, committed before anything came of it.
    fn decide(&self, day: &mut Day, choice: &Choice, hour: i64) -> Result<Option<Tried>, BrainError> {
        let at = self.at(day.day, hour);
        let payload = json!({"kind": "action_required", "query": choice.query, "options": choice.options});
        let runs = self.request(at, "decision", payload)?;
        day.runs += runs.len();
        let brain = self.brain(at)?;
        for (_, run) in runs.iter().filter(|(agent, _)| agent == "decision") {
            let record = brain.show(run, None)?.document;
            let told = |op: &&Value| op["payload"]["kind"] == "decision" && op["payload"]["query"] == choice.query;
            if let Some(op) = record["ops"].as_array().into_iter().flatten().find(told) {
                let word = |name: &str| op["payload"][name].as_str().unwrap_or_default().to_owned();
                return Ok(Some(Tried {
                    query: choice.query,
                    choice: word("choice"),
                    stance: word("stance"),
                    run: run.clone(),
                    expected: record["prediction"]["value"].as_f64().unwrap_or(0.5),
                    came: 0.0,
                }));
            }
        }
        Ok(None)
    }

    fn find_out(&self, day: u64, choice: &Choice, tried: Tried, hour: i64) -> Result<Tried, BrainError> {
        let (came, said) = choice.outcome(day, &tried.choice);
        let request = OutcomeRequest {
            run: tried.run.clone(),
            value: Some(came),
            text: Some(said.to_owned()),
            ..OutcomeRequest::default()
        };
        self.brain(self.at(day, hour))?.outcome(&request)?;
        Ok(Tried { came, ..tried })
    }

    /// Asks with `--learn`: what was answered becomes a little more salient.
    fn ask(&self, day: u64) -> Result<Asked, BrainError> {
        let (question, word) = texts::question(day);
        let query = question.to_owned();
        let request = RecallRequest { query, learn: true, top: Some(5), ..RecallRequest::default() };
        let found = self.brain(self.at(day, 20))?.recall(&request)?;
        let answer = found.results.into_iter().next().map(|best| best.text);
        let right = answer.as_ref().is_some_and(|answer| answer.contains(word));
        Ok(Asked { question: question.to_owned(), answer, right, learnt: found.learnt })
    }

    /// Once a week memory is asked to archive what nobody needs.
    fn archive(&self, day: &mut Day) -> Result<Option<String>, BrainError> {
        let Some(word) = texts::useless(day.day) else { return Ok(None) };
        let payload = json!({"kind": "archive", "id": concept_id(word), "reason": "not asked for again"});
        day.runs += self.request(self.at(day.day, 21), "memory", payload)?.len();
        Ok(Some(word.to_owned()))
    }

    /// A person's run that stays on its branch over the night.
    fn leave_under_way(&self, day: u64) -> Result<String, BrainError> {
        let birthday = "Anna's birthday";
        let ops = vec![
            json!({"op": "create", "concept": birthday, "type": "semantic"}),
            json!({"op": "connect", "from": concept_id(birthday), "to": concept_id("anna"), "type": "feeds_into", "weight": 30_000}),
            // Mentioned twice that evening, so that it outlives the forgetting.
            json!({"op": "activate", "id": concept_id(birthday), "strength": 0.5, "at": self.at(day, 21)}),
            json!({"op": "activate", "id": concept_id(birthday), "strength": 0.9}),
        ];
        Ok(self.brain(self.at(day, 22))?.apply(&delta(ops), None, true, false)?.branch)
    }

    /// A person changes `brain.toml` on main, with git and nothing else.
    fn person(&self, at: Stamp) -> Result<String, BrainError> {
        let file = self.dir.join("brain.toml");
        let date = at.to_string();
        let git = |args: &[&str]| git(&self.dir, args, &date);
        git(&["checkout", "--quiet", "main"])?;
        let text = std::fs::read_to_string(&file).map_err(|e| unreadable(&file, &e))?;
        let forget = format!("\n[sleep]\nprune_age_days = {FORGET_DAYS}\n");
        std::fs::write(&file, text + &forget).map_err(|e| unreadable(&file, &e))?;
        git(&["add", "brain.toml"])?;
        git(&["commit", "--quiet", "--no-gpg-sign", "--message", FORGET_SUBJECT])?;
        Ok(git(&["rev-parse", "main"])?.trim().to_owned())
    }
}

fn delta(ops: Vec<Value>) -> Source {
    Source::Text(json!({"ops": ops}).to_string())
}

/// Runs git in a brain as a person does; who has no name there is called `demo`.
pub(super) fn git(dir: &Path, args: &[&str], date: &str) -> Result<String, BrainError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(["-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"]);
    let named = |key: &str| {
        let asked = Command::new("git").arg("-C").arg(dir).args(["config", key]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    if args.first() == Some(&"commit") {
        for (key, value) in [("user.name", "demo"), ("user.email", "demo@localhost")] {
            if !named(key) {
                command.args(["-c", &format!("{key}={value}")]);
            }
        }
        command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
    }
    let output = command.args(args).output().map_err(|e| BrainError::usage(format!("git cannot be started: {e}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(BrainError::refused(format!("git {}: {}", args.join(" "), said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn unreadable(file: &Path, error: &std::io::Error) -> BrainError {
    BrainError::refused(format!("{}: {error}", file.display()))
}
