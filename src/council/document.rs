//! The document of a council's members: id, family, role and mind of each. A file of `main`, such as `council.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::ids::{Family, MemberId};
use super::reflex::Rule;
use super::roles::{ROLE_COUNT, Role, roles};
use super::verdict::Thresholds;
use super::vote::{Member, Members, MembersFault};
use crate::limits;
use crate::model::json;
use crate::model::models::KnownMind;

/// The family of the rules of this program: all of them are one.
pub const REFLEX: &str = "reflex";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouncilDocument {
    /// The members, in the order of every list.
    pub members: Vec<Seat>,
    /// Thresholds of the verdict.
    #[serde(default)]
    pub thresholds: Thresholds,
}

/// A member as the document has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// Its id.
    pub id: MemberId,
    /// Its family; absent: that of the model in the settings, `reflex`, or the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Its role; absent: the built-in one of its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SeatRole>,
    /// Its mind.
    pub mind: Mind,
    /// The ed25519 key under which the member votes, 64 hexadecimal digits: that of a program that signs by itself, or one that git-brain keeps on
    /// the machine that asks. Absent: git-brain keeps a key for the member, and its votes decide on no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A role: a built-in one by its name, or an own one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeatRole {
    /// The name of a built-in role.
    Named(String),
    /// An own role.
    Own(Role),
}

/// The mind of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Mind {
    /// A rule of this program.
    Reflex {
        /// The rule.
        rule: Rule,
    },
    /// A model of the settings.
    Model {
        /// Its name, as in `[models.NAME]`.
        model: String,
    },
    /// A program: a question as JSON on standard input, a vote on standard output. Confined as an agent's, without network.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// Files and folders that it may read, beside its own and those of the system.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reads: Vec<String>,
    },
}

/// A member that can be asked: every default is filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Seated {
    /// Id and family.
    pub member: Member,
    /// Its role.
    pub role: Role,
    /// Its mind.
    pub mind: Mind,
    /// The key that the document names.
    pub key: Option<String>,
}

/// A fault of a document.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DocumentFault {
    /// The list of members is wrong.
    #[error(transparent)]
    Members(#[from] MembersFault),
    /// A role that is not built in.
    #[error("member {member} has the role {role:?}; built-in roles are {known}, and others are written out")]
    Role {
        /// The member.
        member: MemberId,
        /// Its role.
        role: String,
        /// The built-in ones.
        known: String,
    },
    /// A role with figures out of range.
    #[error("the role of member {0} needs a name, a temperature of 0..=2 and a top_p above 0 and at most 1")]
    Figures(MemberId),
    /// A rule that claims another family.
    #[error("member {0} is a rule of git-brain, and its family is reflex")]
    Reflex(MemberId),
    /// A model that the settings do not have.
    #[error("member {member} thinks with the model {model}, and there is no [models.{model}]")]
    Model {
        /// The member.
        member: MemberId,
        /// The model.
        model: String,
    },
    /// A family that is not that of the settings.
    #[error("member {member} claims the family {claimed}, and [models.{model}] is of family {family}")]
    Claim {
        /// The member.
        member: MemberId,
        /// The family in the document.
        claimed: Family,
        /// The model.
        model: String,
        /// The family in the settings.
        family: Family,
    },
    /// A model without a family.
    #[error("member {member} has no family: `family` of [models.{model}] or of the member names it")]
    NoFamily {
        /// The member.
        member: MemberId,
        /// The model.
        model: String,
    },
    /// A family with characters that nobody sees.
    #[error("the family of member {0} has letters that are not seen, so that it looks like another one")]
    HiddenLetters(MemberId),
    /// A member that is a program without one.
    #[error("member {0} is a program, and its argv is empty")]
    NoProgram(MemberId),
    /// Files that are no full paths.
    #[error("`reads` of member {0} has more than {max} paths, or one that begins neither with / nor with ~/", max = limits::CHILD_PATHS)]
    Reads(MemberId),
    /// The same mind under two families.
    #[error("members {one} and {other} are the same mind, and claim the families {first} and {second}")]
    TwoFamilies {
        /// A member.
        one: MemberId,
        /// A copy of it.
        other: MemberId,
        /// The family of the first.
        first: Family,
        /// The family of the copy.
        second: Family,
    },
    /// One key for two members.
    #[error("members {one} and {other} have the same key, so that the votes of both are one member's word")]
    OneKey {
        /// A member.
        one: MemberId,
        /// Another one.
        other: MemberId,
    },
    /// A threshold out of range.
    #[error("the threshold {name} is {value}, and thresholds are 0 to 1")]
    Threshold {
        /// Its name.
        name: &'static str,
        /// Its value, as the document has it.
        value: String,
    },
    /// A key that is none.
    #[error(
        "the key of member {0} has 64 lower-case hexadecimal digits: `git brain council --keys` prints those that are kept here"
    )]
    Key(MemberId),
}

impl CouncilDocument {
    /// Three rules of this program, the council of a brain without a document.
    pub fn of_reflexes() -> Self {
        let seat = |(rule, id): (Rule, &str)| Seat {
            id: id.into(),
            family: None,
            role: None,
            mind: Mind::Reflex { rule },
            key: None,
        };
        let rules = [(Rule::Memories, "memories"), (Rule::Caution, "caution"), (Rule::Outcomes, "outcomes")];
        Self { members: rules.map(seat).to_vec(), thresholds: Thresholds::default() }
    }

    /// Whether a member is more than a rule of this program: such a document needs trust.
    pub fn needs_trust(&self) -> bool {
        self.members.iter().any(|seat| !matches!(seat.mind, Mind::Reflex { .. }))
    }

    /// Members that can be asked. `mind_of` tells what the settings say of a model; `None`: there is no such model. Programs are compared by the spelling
    /// of their paths, as on a machine that does not have them.
    ///
    /// # Errors
    /// The first fault.
    pub fn seated(&self, mind_of: impl Fn(&str) -> Option<KnownMind>) -> Result<(Members, Vec<Seated>), DocumentFault> {
        self.seated_here(mind_of, |argv| argv.iter().map(|word| spelling(word)).collect())
    }

    /// The same on a machine that has the programs: `command_of` gives the command of an `argv` by the files that it starts.
    ///
    /// # Errors
    /// The first fault.
    pub fn seated_here(
        &self,
        mind_of: impl Fn(&str) -> Option<KnownMind>,
        command_of: impl Fn(&[String]) -> Vec<String>,
    ) -> Result<(Members, Vec<Seated>), DocumentFault> {
        if let Some((name, value)) = self.thresholds.out_of_range() {
            return Err(DocumentFault::Threshold { name, value: value.to_string() });
        }
        let usual = roles(self.members.len());
        let mut seated = Vec::new();
        for (seat, usual) in self.members.iter().zip(usual) {
            let family = family(seat, &mind_of)?;
            let role = role(seat, usual)?;
            let is_key = |key: &str| key.len() == 64 && key.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if seat.key.as_ref().is_some_and(|key| !is_key(key)) {
                return Err(DocumentFault::Key(seat.id.clone()));
            }
            let twin = seated.iter().find(|other: &&Seated| other.key.is_some() && other.key == seat.key);
            if let Some(twin) = twin {
                return Err(DocumentFault::OneKey { one: twin.member.id.clone(), other: seat.id.clone() });
            }
            let member = Member { id: seat.id.clone(), family };
            seated.push(Seated { member, role, mind: seat.mind.clone(), key: seat.key.clone() });
        }
        let members = Members::new(seated.iter().map(|one| one.member.clone()).collect())?;
        let mut minds: BTreeMap<String, &Member> = BTreeMap::new();
        for one in &seated {
            let first = *minds.entry(substance(&one.mind, &mind_of, &command_of)).or_insert(&one.member);
            if first.family != one.member.family {
                return Err(DocumentFault::TwoFamilies {
                    one: first.id.clone(),
                    other: one.member.id.clone(),
                    first: first.family.clone(),
                    second: one.member.family.clone(),
                });
            }
        }
        Ok((members, seated))
    }
}

impl Mind {
    /// The mind as a record of a council names it: `reflex:memories`, `model:opus`, `command:vote`.
    pub fn name(&self) -> String {
        match self {
            Self::Reflex { rule } => format!("reflex:{}", json::inline(rule).trim_matches('"')),
            Self::Model { model } => format!("model:{model}"),
            Self::Command { argv, .. } => format!("command:{}", argv.join(" ")),
        }
    }
}

/// The part of a mind that two copies have in common.
fn substance(
    mind: &Mind,
    mind_of: &impl Fn(&str) -> Option<KnownMind>,
    command_of: &impl Fn(&[String]) -> Vec<String>,
) -> String {
    match mind {
        Mind::Reflex { .. } => REFLEX.to_owned(),
        Mind::Model { model } => format!("model {}", mind_of(model).map_or_else(|| model.clone(), |known| known.mind)),
        Mind::Command { argv, .. } => format!("program {}", command_of(argv).join("\0")),
    }
}

/// A path without what says nothing: empty parts, `.`, and `..` with the part before it. Another word is as it was.
fn spelling(word: &str) -> String {
    if !word.contains('/') {
        return word.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in word.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("{}{}", if word.starts_with('/') { "/" } else { "" }, parts.join("/"))
}

fn program(argv: &[String]) -> String {
    format!("program {}", argv.join(" "))
}

fn family(seat: &Seat, mind_of: &impl Fn(&str) -> Option<KnownMind>) -> Result<Family, DocumentFault> {
    let member = || seat.id.clone();
    let claimed = seat.family.clone().filter(|family| !family.as_str().is_empty());
    let open = |family: Family| match family.hides_letters() {
        true => Err(DocumentFault::HiddenLetters(member())),
        false => Ok(family),
    };
    let claimed = claimed.map(open).transpose()?;
    match &seat.mind {
        Mind::Reflex { .. } => match claimed {
            Some(family) if family.as_str() != REFLEX => Err(DocumentFault::Reflex(member())),
            _ => Ok(REFLEX.into()),
        },
        Mind::Model { model } => {
            let Some(known) = mind_of(model) else {
                return Err(DocumentFault::Model { member: member(), model: model.clone() });
            };
            match (claimed, known.family.map(Family::from).map(open).transpose()?) {
                (Some(claimed), Some(family)) if claimed != family => {
                    Err(DocumentFault::Claim { member: member(), claimed, model: model.clone(), family })
                }
                (Some(family), _) | (None, Some(family)) => Ok(family),
                (None, None) => Err(DocumentFault::NoFamily { member: member(), model: model.clone() }),
            }
        }
        Mind::Command { argv, reads } => {
            if argv.first().is_none_or(String::is_empty) {
                return Err(DocumentFault::NoProgram(member()));
            }
            let is_full = |path: &String| path.starts_with('/') || path.starts_with("~/");
            if reads.len() > limits::CHILD_PATHS || !reads.iter().all(is_full) {
                return Err(DocumentFault::Reads(member()));
            }
            Ok(claimed.unwrap_or_else(|| program(argv).into()))
        }
    }
}

fn role(seat: &Seat, usual: Role) -> Result<Role, DocumentFault> {
    let role = match &seat.role {
        None => usual,
        Some(SeatRole::Own(role)) => role.clone(),
        Some(SeatRole::Named(name)) => {
            let built_in = roles(ROLE_COUNT);
            let known = built_in.iter().map(|role| role.name.as_str()).collect::<Vec<_>>().join(", ");
            let found = built_in.into_iter().find(|role| role.name == *name);
            found.ok_or_else(|| DocumentFault::Role { member: seat.id.clone(), role: name.clone(), known })?
        }
    };
    let is_right = !role.name.trim().is_empty()
        && (0.0..=2.0).contains(&role.temperature)
        && role.top_p > 0.0
        && role.top_p <= 1.0;
    if is_right { Ok(role) } else { Err(DocumentFault::Figures(seat.id.clone())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(members: &str) -> String {
        let text = format!("{{\"members\": [{members}]}}");
        let document: CouncilDocument = serde_json::from_str(&text).unwrap();
        let known = |model: &str| match model {
            "opus" | "opus-bis" => {
                Some(KnownMind { family: Some("Anthropic".to_owned()), mind: "opus at h".to_owned() })
            }
            "twin" => Some(KnownMind { family: Some("other".to_owned()), mind: "opus at h".to_owned() }),
            "far" => Some(KnownMind { family: None, mind: "far at h".to_owned() }),
            _ => None,
        };
        match document.seated(known) {
            Ok((members, _)) => members.iter().map(|member| member.family.to_string()).collect::<Vec<_>>().join(", "),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn document_fills_in_families_and_refuses_two_of_one_mind() {
        let program = |id: &str, more: &str| {
            format!("{{\"id\": \"{id}\", {more} \"mind\": {{\"kind\": \"command\", \"argv\": [\"vote\", \"-v\"]}}}}")
        };
        let model = |more: &str, name: &str| {
            format!("{{\"id\": \"m\", {more} \"mind\": {{\"kind\": \"model\", \"model\": \"{name}\"}}}}")
        };
        let copies = [program("a", ""), program("b", "")].join(",");
        assert_eq!(fault(&copies), "program vote -v, program vote -v");
        let apart = [program("a", "\"family\": \"x\","), program("b", "\"family\": \"y\",")].join(",");
        assert_eq!(fault(&apart), "members a and b are the same mind, and claim the families x and y");
        assert_eq!(fault(&model("", "opus")), "anthropic");
        let named = |id: &str, name: &str| model("", name).replace("\"m\"", &format!("\"{id}\""));
        assert_eq!(fault(&[named("a", "opus"), named("b", "opus-bis")].join(",")), "anthropic, anthropic");
        assert_eq!(
            fault(&[named("a", "opus"), named("b", "twin")].join(",")),
            "members a and b are the same mind, and claim the families anthropic and other",
            "two names for one model at one endpoint"
        );
        let apart = apart.replacen("\"vote\"", "\"/opt/vote\"", 1).replacen("\"vote\"", "\"/opt//x/.././vote\"", 1);
        assert!(fault(&apart).contains("are the same mind"), "{apart}");
        let key = format!("\"key\": \"{}\",", "ab".repeat(32));
        let keyed = [program("a", &key), program("b", &key)].join(",");
        assert!(fault(&keyed).contains("members a and b have the same key"), "{keyed}");
        assert!(fault(&model("\"family\": \"openai\",", "opus")).contains("claims the family openai"));
        assert!(fault(&model("", "far")).contains("has no family"));
        assert_eq!(fault(&model("\"family\": \"x\",", "far")), "x");
        assert!(fault(&model("", "nowhere")).contains("there is no [models.nowhere]"));
        let reflex = "{\"id\": \"r\", \"family\": \"x\", \"mind\": {\"kind\": \"reflex\", \"rule\": \"memories\"}}";
        assert!(fault(reflex).contains("its family is reflex"));
        assert!(fault(&model("\"role\": \"king\",", "opus")).contains("has the role \"king\""));
        assert!(fault(&program("a", "\"key\": \"ab\",")).contains("the key of member a"));
        let hidden = [program("a", "\"family\": \"x\","), program("b", "\"family\": \"x\\u200b\",")].join(",");
        assert!(fault(&hidden).starts_with("the family of member b has letters that are not seen"), "{hidden}");
        assert!(fault(&model("\"family\": \"\\u00adanthropic\",", "opus")).contains("of member m has letters"));
        assert!(fault("").contains("no members"));
        for (name, value) in [("confidence", "7"), ("diversity", "-2"), ("penalty", "1.1")] {
            let text = format!("{{\"members\": [{copies}], \"thresholds\": {{\"{name}\": {value}}}}}");
            let document: CouncilDocument = serde_json::from_str(&text).unwrap();
            let said = document.seated(|_| None).unwrap_err().to_string();
            assert!(said.starts_with(&format!("the threshold {name} is {value}")), "{said}");
        }
    }

    #[test]
    fn document_of_reflexes_is_one_family_with_roles_of_their_own() {
        let (members, seated) = CouncilDocument::of_reflexes().seated(|_| None).unwrap();
        assert_eq!((members.count(), members.families().len()), (3, 1));
        let roles: Vec<&str> = seated.iter().map(|one| one.role.name.as_str()).collect();
        assert_eq!(roles, ["analyzer", "implementer", "critic"]);
        assert!(!CouncilDocument::of_reflexes().needs_trust());
    }
}
