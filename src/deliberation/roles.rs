//! Roles and who fills them. Adding a participant is an entry here and a name in the settings.

use serde::{Deserialize, Serialize};

use crate::model::deliberation::Deliberation;
use crate::text::looks;

/// A part in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Orchestrates the cycle; the only writer.
    Coordinator,
    /// Divides attention by the weather.
    Meteorologist,
    /// Mines hypotheses for one tree.
    Gardener,
    /// Judges logic, novelty and leakage before the nursery.
    Inspector,
    /// Proposes alternatives.
    Diverger,
    /// Runs the gates.
    Examiner,
    /// Says how far mechanism and evidence agree.
    Aligner,
    /// Attacks hypotheses and candidates.
    Skeptic,
}

/// Every role: its word, and whether a mind fills it. The others are rules of this program.
pub const ROLES: [(Role, &str, bool); 8] = [
    (Role::Coordinator, "coordinator", false),
    (Role::Meteorologist, "meteorologist", false),
    (Role::Gardener, "gardener", true),
    (Role::Inspector, "inspector", true),
    (Role::Diverger, "diverger", true),
    (Role::Examiner, "examiner", false),
    (Role::Aligner, "aligner", true),
    (Role::Skeptic, "skeptic", true),
];

impl Role {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        ROLES.iter().find(|(role, ..)| *role == self).map_or("", |(_, word, _)| word)
    }
}

/// The minds of a cycle by role, with the family of each: fixed before the first of them is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    /// Mines.
    pub gardener: Member,
    /// Attacks; absent: nobody does.
    pub skeptic: Option<Member>,
    /// Judges.
    pub inspector: Member,
    /// Proposes alternatives.
    pub diverger: Option<Member>,
    /// Aligns.
    pub aligner: Member,
}

/// A mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its name in the settings.
    pub mind: String,
    /// Its family; null: nobody knows.
    pub family: Option<String>,
}

/// Why a cast does not play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CastError {
    /// A role that must be filled.
    #[error("deliberation.{0} names no mind")]
    Missing(&'static str),
    /// A mind that is nothing of the settings.
    #[error("deliberation.{role}: there is no mind {mind}")]
    Unknown {
        /// The role.
        role: &'static str,
        /// What the settings say.
        mind: String,
    },
    /// Gardener or skeptic of a family that nobody knows.
    #[error("the family of {mind} ({role}) is unknown: `family` of [models.{mind}] names it")]
    NoFamily {
        /// The role.
        role: &'static str,
        /// The mind.
        mind: String,
    },
    /// Both of one family.
    #[error(
        "gardener {gardener} and skeptic {skeptic} are both of family {family}: a skeptic of the same family shares its blind spots"
    )]
    SameFamily {
        /// The gardener.
        gardener: String,
        /// The skeptic.
        skeptic: String,
        /// Their family.
        family: String,
    },
    /// Rounds without anybody who attacks.
    #[error("deliberation.max_debate_rounds is {0}, and deliberation.skeptic names no mind")]
    NoSkeptic(u32),
}

impl Cast {
    /// The cast of the settings. `family` tells that of a mind: `Err` where there is no such mind, `Ok(None)` where its family is unknown.
    ///
    /// # Errors
    /// A skeptic that is missing, of an unknown family or of the gardener's.
    pub fn of(settings: &Deliberation, family: impl Fn(&str) -> Result<Option<String>, ()>) -> Result<Self, CastError> {
        let member = |role: &'static str, mind: &str| {
            let unknown = |()| CastError::Unknown { role, mind: mind.to_owned() };
            match mind {
                "" => Ok(None),
                mind => Ok(Some(Member { mind: mind.to_owned(), family: family(mind).map_err(unknown)? })),
            }
        };
        let needed = |role, mind: &str| member(role, mind)?.ok_or(CastError::Missing(role));
        let cast = Self {
            gardener: needed("gardener", &settings.gardener)?,
            skeptic: member("skeptic", &settings.skeptic)?,
            inspector: needed("inspector", &settings.inspector)?,
            diverger: member("diverger", &settings.diverger)?,
            aligner: needed("aligner", &settings.aligner)?,
        };
        if cast.skeptic.is_none() && settings.max_debate_rounds > 0 {
            return Err(CastError::NoSkeptic(settings.max_debate_rounds));
        }
        cast.plays()?;
        Ok(cast)
    }

    /// Whether gardener and skeptic are of two known families. Case, white space and punctuation make no other family.
    ///
    /// # Errors
    /// A skeptic of an unknown family or of the gardener's.
    pub fn plays(&self) -> Result<(), CastError> {
        let Some(skeptic) = &self.skeptic else { return Ok(()) };
        let bare = |family: &str| looks(family).replace(' ', "");
        let known = |role, member: &Member| {
            let family = member.family.as_deref().map(|family| family.trim().to_lowercase());
            let family = family.filter(|family| !["", "unknown"].contains(&bare(family).as_str()));
            family.ok_or_else(|| CastError::NoFamily { role, mind: member.mind.clone() })
        };
        let (mines, attacks) = (known("gardener", &self.gardener)?, known("skeptic", skeptic)?);
        if bare(&mines) == bare(&attacks) {
            return Err(CastError::SameFamily {
                gardener: self.gardener.mind.clone(),
                skeptic: skeptic.mind.clone(),
                family: mines,
            });
        }
        Ok(())
    }
}
