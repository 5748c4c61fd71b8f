//! The story: what the brain told itself, what it would tell now, and how far that is from its ledger. Nothing is written.

use serde::{Deserialize, Serialize};

use super::{Brain, BrainError};
use crate::chemistry::serotonin::Chapter;
use crate::model::ids::{AgentName, RunId};
use crate::model::plural;
use crate::picture::chart::{Column, Line, Panel};
use crate::store::TreeId;

/// The story of a brain.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// False if `serotonin.enabled` is off: nothing new is told, and what was told stays.
    pub enabled: bool,
    /// The gap above which an alarm is raised.
    pub alarm: f64,
    /// Chapters, oldest first.
    pub chapters: Vec<ToldChapter>,
    /// What would be told now of what the ledger has since; its `run` is not a run that was or will be.
    pub today: Option<ToldChapter>,
}

/// A chapter, and whether it is too far from the ledger.
#[derive(Clone, Debug, Serialize)]
pub struct ToldChapter {
    /// The chapter.
    #[serde(flatten)]
    pub chapter: Chapter,
    /// Whether its gap is above the bound.
    pub alarm: bool,
}

/// How far the story is from the ledger, for `status`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NarrativeGap {
    /// The gap, 0..=1.
    pub gap: f64,
    /// Whether it is above `serotonin.alarm`.
    pub alarm: bool,
    /// The mood that is told, -1..=1.
    pub mood: f64,
    /// The confidence that is told, 0..=1.
    pub confidence: f64,
    /// The confidence that the ledger supports, 0..=1.
    pub calibrated: f64,
}

/// The newest of the story, for a page.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StoryView {
    /// Whether a sleep told it; else it is what would be told now.
    pub told: bool,
    /// The clock of the telling.
    pub at: String,
    /// `template`, or the agent that told it.
    pub narrator: String,
    /// The judgements that it is of.
    pub entries: u32,
    /// The text.
    pub text: String,
    /// The mood that is told, and the one that the ledger gives, -1..=1.
    pub mood: (f64, f64),
    /// The confidence that is told, and the one that the ledger supports, 0..=1.
    pub confidence: (f64, f64),
    /// How far it is from the ledger, 0..=1.
    pub gap: f64,
    /// Whether that is above `serotonin.alarm`.
    pub alarm: bool,
}

/// A day of the story: its number since 1970, then mood and confidence as they were told.
pub(super) type ToldDay = (i64, f64, f64);

impl Brain {
    /// The newest chapter of a tree, or before the first what would be told now.
    pub(super) fn story_view(&self, tree: TreeId) -> Result<Option<StoryView>, BrainError> {
        let settings = &self.cycle.shared.policy.settings.serotonin;
        let (told, chapter) = match self.cycle.chapters(tree, 1)?.pop() {
            Some(chapter) => (true, Some(chapter)),
            None => (false, self.today(tree, false)?),
        };
        Ok(chapter.map(|chapter| StoryView {
            told,
            at: chapter.at.to_string(),
            narrator: chapter.narrator.to_string(),
            entries: chapter.entries,
            mood: (chapter.mood, chapter.measured_mood),
            confidence: (chapter.confidence, chapter.calibrated),
            gap: chapter.gap.total,
            alarm: chapter.gap.is_alarming(settings.alarm),
            text: chapter.text,
        }))
    }

    /// Mood, confidence and gap over the newest chapters of a tree, at most `most`; `None`: nothing was told yet.
    pub(super) fn story_panel(&self, tree: TreeId, most: usize) -> Result<Option<Panel>, BrainError> {
        let chapters = self.cycle.chapters(tree, most)?;
        if chapters.is_empty() {
            return Ok(None);
        }
        let of = |figure: fn(&Chapter) -> f64| chapters.iter().map(|chapter| Some(figure(chapter))).collect();
        let column = |chapter: &Chapter| {
            let at = chapter.at.to_string();
            Column { label: at[..10].to_owned(), about: format!("{at}, told by {}", chapter.narrator) }
        };
        Ok(Some(Panel {
            title: format!("story: {}", plural(chapters.len(), "chapter", "chapters")),
            scale: (-1.0, 1.0),
            columns: chapters.iter().map(column).collect(),
            lines: vec![
                Line::new("mood", 3, of(|chapter| chapter.mood)),
                Line::new("mood of the ledger", 3, of(|chapter| chapter.measured_mood)).dashed(),
                Line::new("confidence", 2, of(|chapter| chapter.confidence)),
                Line::new("confidence of the ledger", 2, of(|chapter| chapter.calibrated)).dashed(),
                Line::new("gap", 7, of(|chapter| chapter.gap.total)),
            ],
        }))
    }

    /// Mood and confidence of the newest chapters of a tree, at most `most`, oldest first.
    pub(super) fn told_days(&self, tree: TreeId, most: usize) -> Result<Vec<ToldDay>, BrainError> {
        let of = |chapter: Chapter| (chapter.at.day(), chapter.mood, chapter.confidence);
        Ok(self.cycle.chapters(tree, most)?.into_iter().map(of).collect())
    }

    /// The newest chapters, at most `number`, and today so far. `narrator`: a narrator is asked for today as in a sleep;
    /// otherwise the template tells it, and no program runs.
    pub fn story(&self, number: usize, at: Option<&str>, narrator: bool) -> Result<Story, BrainError> {
        let tree = self.cycle.store.tree_of(self.at(at)?)?;
        let settings = &self.cycle.shared.policy.settings.serotonin;
        let told = |chapter: Chapter| ToldChapter { alarm: chapter.gap.is_alarming(settings.alarm), chapter };
        Ok(Story {
            enabled: settings.enabled,
            alarm: settings.alarm,
            chapters: self.cycle.chapters(tree, number)?.into_iter().map(told).collect(),
            today: self.today(tree, narrator)?.map(told),
        })
    }

    /// How far the newest chapter is from the ledger, or, before the first one, what would be told now. `None`: serotonin is
    /// off, or there is nothing to tell of.
    pub fn narrative_gap(&self, at: Option<&str>) -> Result<Option<NarrativeGap>, BrainError> {
        let settings = &self.cycle.shared.policy.settings.serotonin;
        if !settings.enabled {
            return Ok(None);
        }
        let tree = self.cycle.store.tree_of(self.at(at)?)?;
        let chapter = match self.cycle.chapters(tree, 1)?.pop() {
            Some(chapter) => Some(chapter),
            None => self.today(tree, false)?,
        };
        Ok(chapter.map(|chapter| NarrativeGap {
            gap: chapter.gap.total,
            alarm: chapter.gap.is_alarming(settings.alarm),
            mood: chapter.mood,
            confidence: chapter.confidence,
            calibrated: chapter.calibrated,
        }))
    }

    fn today(&self, tree: TreeId, narrator: bool) -> Result<Option<Chapter>, BrainError> {
        let world = &self.cycle.shared.world;
        let nobody = AgentName::parse("today").expect("invariant: a literal name");
        self.cycle.tell_by(tree, &RunId::new(world.now_ms(), 0, &nobody), world.now(), narrator)
    }
}
