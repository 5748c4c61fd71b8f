//! Vetoes: rituals that are taken out of a reply before a person reads it. Whole or streamed, the result is the same.
//!
//! The text is cut into units, about a sentence each. The rules edit a unit from its own text, from the
//! apologies kept so far and from the next character; so a stream holds back one unit at most, and one of more than
//! [`LONGEST_UNIT`] bytes passes unread. Verbatim: fenced, indented and inline code, block quotes, quotations.
//!
//! Source: seed 2.4.2 (`VetoPatterns`). Other than the seed, the first two apologies stay and later ones go, which is
//! what makes twice equal once; an empty refusal is told and never edited; nothing is inserted.

mod rules;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::integrity::lang::Lang;
use crate::integrity::lexicon::{Label, lexicon_of};
use crate::integrity::metrics::spoken;
use crate::integrity::protect::{Open, shields};
use crate::integrity::split::{closes_fence, fence_of, is_abbreviation};
use rules::{Edit, edit};

/// The bytes from which on a unit passes as it is, so that a stream holds back no more.
pub const LONGEST_UNIT: usize = 4_096;
/// Apologies that stay. Source: seed 2.4.2, more than two are excessive.
pub const APOLOGIES_KEPT: usize = 2;
/// The characters below which a refusal without guidance is empty. Source: seed 2.4.2.
pub const EMPTY_BELOW: usize = 100;

/// The mark at the start of a file that is no part of its first sentence.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A rule that altered a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Veto {
    /// An apology after the second was removed.
    ExcessiveApology,
    /// A reference to being a model, as an excuse, was removed.
    SelfDeprecation,
}

impl Veto {
    /// Says what was altered, in a sentence for the reader.
    pub fn told(self) -> &'static str {
        match self {
            Self::ExcessiveApology => {
                "apologies beyond two that are sentences of their own, or begin one, are left out of the answer"
            }
            Self::SelfDeprecation => "mentions of being a model are left out of the answer",
        }
    }
}

/// A reply after the vetoes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filtered {
    /// The text for the reader.
    pub text: String,
    /// The rules that altered it.
    pub applied: BTreeSet<Veto>,
    /// Whether it is a short refusal that offers nothing. The text says so as it was written.
    pub empty_refusal: bool,
}

/// Applies the vetoes to a whole text. Applying them twice is applying them once.
pub fn apply(text: &str, lang: Lang) -> Filtered {
    let mut stream = Stream::new(lang);
    let mut kept = stream.push(text);
    kept.push_str(&stream.finish());
    Filtered { text: kept, applied: stream.applied().clone(), empty_refusal: stream.is_empty_refusal() }
}

/// The vetoes over a text that arrives in chunks.
#[derive(Clone, Debug)]
pub struct Stream {
    lang: Lang,
    /// The current unit, not yet emitted.
    unit: String,
    ending: Ending,
    /// Whether the unit starts a line, in the text and in the output.
    starts_line: bool,
    output_starts_line: bool,
    /// Whether the rest of the line is verbatim.
    is_raw: bool,
    fence: Option<(char, usize)>,
    open: Option<Open>,
    apologies: usize,
    applied: BTreeSet<Veto>,
    /// The start of the output, for the judgement on refusals.
    head: String,
}

/// How far a unit is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Inside a sentence.
    Not,
    /// Behind closing marks; a wide one needs no space.
    Marks { is_wide: bool },
    /// Behind the space after them.
    Space,
}

impl Stream {
    /// A stream at the start of a text.
    pub fn new(lang: Lang) -> Self {
        Self {
            lang,
            unit: String::new(),
            ending: Ending::Not,
            starts_line: true,
            output_starts_line: true,
            is_raw: false,
            fence: None,
            open: None,
            apologies: 0,
            applied: BTreeSet::new(),
            head: String::new(),
        }
    }

    /// Takes a chunk and returns the text that nothing can change any more.
    pub fn push(&mut self, chunk: &str) -> String {
        let mut out = String::with_capacity(chunk.len());
        for letter in chunk.chars() {
            if letter == BYTE_ORDER_MARK && self.unit.is_empty() && self.head.is_empty() {
                out.push(letter);
                continue;
            }
            if self.ends_before(letter) {
                self.flush(Some(letter), &mut out);
            }
            self.take(letter);
            if letter == '\n' {
                self.flush(None, &mut out);
            } else if self.unit.len() > LONGEST_UNIT {
                self.is_raw = true;
                self.flush(None, &mut out);
            }
        }
        out
    }

    /// Returns the rest. The stream is then at the start of a new text, but for the report on the old one.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.flush(None, &mut out);
        let (applied, head) = (std::mem::take(&mut self.applied), std::mem::take(&mut self.head));
        *self = Self { applied, head, ..Self::new(self.lang) };
        out
    }

    /// The rules that altered the text so far.
    pub fn applied(&self) -> &BTreeSet<Veto> {
        &self.applied
    }

    /// Whether the text so far is a short refusal that offers nothing.
    pub fn is_empty_refusal(&self) -> bool {
        let (lexicon, said) = (lexicon_of(self.lang), spoken(&self.head));
        self.head.trim().chars().count() < EMPTY_BELOW
            && lexicon.has(Label::Refusal, &said)
            && !lexicon.guides(&said, self.lang)
    }

    fn ends_before(&self, letter: char) -> bool {
        if letter == '\n' || self.fence.is_some() || self.is_raw {
            return false;
        }
        let is_over = match self.ending {
            Ending::Not => false,
            Ending::Marks { is_wide } => {
                let closes = is_closer(letter) && !is_opener(letter);
                is_wide && !letter.is_whitespace() && !is_terminator(letter) && !closes
            }
            Ending::Space => !letter.is_whitespace(),
        };
        is_over && shields(&self.unit, self.open).1.is_none()
    }

    fn take(&mut self, letter: char) {
        self.ending = match self.ending {
            Ending::Marks { is_wide } if is_terminator(letter) => {
                Ending::Marks { is_wide: is_wide || is_wide_mark(letter) }
            }
            Ending::Marks { is_wide } if is_closer(letter) => Ending::Marks { is_wide },
            Ending::Marks { .. } | Ending::Space if letter.is_whitespace() => Ending::Space,
            _ if is_terminator(letter) && !(letter == '.' && is_abbreviation(&self.unit)) => {
                Ending::Marks { is_wide: is_wide_mark(letter) }
            }
            _ => Ending::Not,
        };
        self.unit.push(letter);
    }

    fn flush(&mut self, next: Option<char>, out: &mut String) {
        if self.unit.is_empty() {
            return;
        }
        let unit = std::mem::take(&mut self.unit);
        self.ending = Ending::Not;
        let ends_line = unit.ends_with('\n');
        let kept = self.filter(&unit, next);
        if !kept.is_empty() {
            self.output_starts_line = kept.ends_with('\n');
        }
        if self.head.chars().count() <= 2 * EMPTY_BELOW {
            self.head.push_str(&kept);
        }
        out.push_str(&kept);
        self.starts_line = ends_line;
        self.is_raw &= !ends_line;
    }

    /// Returns a unit as it is emitted.
    fn filter(&mut self, unit: &str, next: Option<char>) -> String {
        let bare = unit.trim_end_matches(['\n', '\r']);
        if let Some(fence) = self.fence {
            if self.starts_line && closes_fence(bare, fence) {
                self.fence = None;
            }
            return unit.to_owned();
        }
        if self.starts_line {
            if bare.trim().is_empty() && unit.ends_with('\n') {
                self.open = self.open.filter(|open| open.outlasts_paragraph());
                return unit.to_owned();
            }
            self.fence = fence_of(bare);
            // An indented line is code, or a quotation carried on; a block quote is a quotation.
            self.is_raw |= self.fence.is_some() || bare.starts_with("    ") || bare.starts_with('\t');
            self.is_raw |= bare.trim_start().starts_with('>');
            if self.fence.is_some() {
                return unit.to_owned();
            }
        }
        let before = self.open;
        // A mark at the very end opens nothing, as before white space.
        let is_last = next.is_none() && !unit.ends_with('\n');
        self.open = if is_last { shields(&format!("{unit} "), before).1 } else { shields(unit, before).1 };
        if self.is_raw || before.is_some() || self.open.is_some() {
            return unit.to_owned();
        }
        let Edit { text, apologies, applied } = edit(unit, self.lang, self.apologies, next, self.output_starts_line);
        self.apologies += apologies;
        self.applied.extend(applied);
        text
    }
}

fn is_wide_mark(letter: char) -> bool {
    matches!(letter, '。' | '！' | '？')
}

fn is_terminator(letter: char) -> bool {
    is_wide_mark(letter) || matches!(letter, '.' | '!' | '?' | '…')
}

/// A mark that opens where nothing is open, though it may close as well.
fn is_opener(letter: char) -> bool {
    matches!(letter, '`' | '"' | '“' | '‘' | '\'' | '«' | '‹' | '＂')
}

fn is_closer(letter: char) -> bool {
    matches!(
        letter,
        '"' | '”'
            | '“'
            | '’'
            | '‘'
            | '\''
            | '»'
            | '«'
            | '›'
            | '‹'
            | ')'
            | ']'
            | '」'
            | '』'
            | '｣'
            | '）'
            | '`'
            | '〟'
            | '〞'
            | '❞'
            | '❜'
            | '﹂'
            | '﹄'
            | '〉'
            | '》'
            | '＂'
            | '＇'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: Lang, text: &str, expected: &str) {
        let filtered = apply(text, lang);
        assert_eq!(filtered.text, expected);
        assert_eq!(apply(expected, lang).text, expected, "twice");
        let mut stream = Stream::new(lang);
        let mut streamed: String = text.chars().map(|letter| stream.push(&letter.to_string())).collect();
        streamed.push_str(&stream.finish());
        assert_eq!(streamed, expected, "streamed");
        assert_eq!((stream.applied(), stream.is_empty_refusal()), (&filtered.applied, filtered.empty_refusal));
    }

    #[test]
    fn apologies_after_the_second_go() {
        check(
            Lang::En,
            "I'm sorry. Sorry, it broke. I'M SORRY, but the fix is in. I apologize for the confusion. Done.",
            "I'm sorry. Sorry, it broke. The fix is in. Done.",
        );
        check(
            Lang::Ja,
            "申し訳ありません。すみません。申し訳ございませんが、できません。ごめんなさい。終わりです。",
            "申し訳ありません。すみません。できません。終わりです。",
        );
        check(
            Lang::Fr,
            "Je suis désolé. Toutes mes excuses. Désolée, mais la page manque. Je m'excuse. Voilà.",
            "Je suis désolé. Toutes mes excuses. La page manque. Voilà.",
        );
        for (lang, twice, third, rest) in [
            (Lang::En, "Sorry. Sorry. ", "Sorry. ", "3 tests failed."),
            (Lang::En, "I'm sorry. I'm sorry. ", "I'm sorry. ", "`x` fails."),
            (Lang::En, "Sorry. Sorry. ", "Sorry. ", "\"No\", it said."),
            (Lang::Fr, "Désolé. Désolé. ", "Désolé. ", "« Non » dit-il."),
            (Lang::Ja, "申し訳ありません。すみません。", "申し訳ありません。", "3件失敗しました。"),
            (Lang::Ja, "申し訳ありません。すみません。", "申し訳ありません。", "「待って」と言った。"),
        ] {
            check(lang, &format!("{twice}{third}{rest}"), &format!("{twice}{rest}"));
        }
        // Whatever follows in the same line, where the apology does not begin it.
        for rest in [
            "[the log](https://a.b/c) says 3.",
            "[1] 3 failed.",
            "— 3 failed.",
            "- 3 failed",
            "🙂 Three failed.",
            "$3 is due.",
            "€3",
            "#12",
            "@bob",
            "-7 is not",
            "| 3 |",
            "§3",
            "…3",
            "— Non, 3.",
            "~3",
            "> 3",
            "※ 3",
            "・3",
            "``x`` is not",
            "<b>3</b>",
        ] {
            check(Lang::En, &format!("Sorry. I'm sorry. I apologize. {rest}"), &format!("Sorry. I'm sorry. {rest}"));
            check(Lang::Fr, &format!("Désolé. Désolé. Je m'excuse. {rest}"), &format!("Désolé. Désolé. {rest}"));
        }
        for rest in [
            "・3件目です。",
            "【3】です。",
            "《本》です。",
            "〈3〉です。",
            "※3です。",
            "——3件です。",
            "🙂3です。",
            "￥3です。",
            "[リンク](https://a.b)です。",
            "`x`は失敗。",
            "“待って”と3回。",
            "\"待って\"と3回。",
            "«待って»と3回。",
            "#3です。",
            "-7です。",
            "（3件）です。",
            "『本』です。",
        ] {
            let twice = "すみません。申し訳ありません。";
            check(Lang::Ja, &format!("{twice}ごめんなさい。{rest}"), &format!("{twice}{rest}"));
            check(Lang::Ja, &format!("{twice}ごめんなさい。 {rest}"), &format!("{twice}{rest}"));
        }
        // A mark of its own behind the apology belongs to what follows.
        for kept in
            ["すみません。すみません。ごめんなさい。！3件です。", "すみません。すみません。すみません。!important 3"]
        {
            check(Lang::Ja, kept, kept);
        }
        check(Lang::Fr, "Désolé. Désolé. Désolé — pas 3.", "Désolé. Désolé. Désolé — pas 3.");
        check(
            Lang::En,
            "Sorry. Sorry. She was sorry, and sorry again.",
            "Sorry. Sorry. She was sorry, and sorry again.",
        );
    }

    #[test]
    fn plain_sentences_are_no_apologies() {
        let text = "One. Two. Three. I'm sorry. Sorry, but it broke.";
        check(Lang::En, text, text);
    }

    #[test]
    fn self_deprecation_goes() {
        check(Lang::En, "As an AI language model, I don't know. I, as an AI, cannot.", "I don't know. I cannot.");
        check(
            Lang::En,
            "However, as an AI, I read. It works as an AI, a box.",
            "However, I read. It works as an AI, a box.",
        );
        check(Lang::En, "since I'm just an AI, you decide", "you decide");
        check(Lang::En, "As an AI, I read \"Go now. Stop now.\" aloud.", "I read \"Go now. Stop now.\" aloud.");
        check(Lang::En, "As an AI I read. As an AI researcher I read.", "I read. As an AI researcher I read.");
        check(Lang::Ja, "私はAIなので、分かりません。彼はAIなので眠らない。", "分かりません。彼はAIなので眠らない。");
        check(Lang::Fr, "En tant qu’IA, je lis. Étant donné que je suis une IA, tu choisis.", "Je lis. Tu choisis.");
    }

    #[test]
    fn protected_text_stays() {
        for text in [
            "He wrote \"As an AI, I sleep. As an AI, I eat.\" twice.",
            "「私はAIなので、眠らない。」と書いた。",
            "```\nAs an AI, I\n\nAs an AI, I\n```\n",
            "    As an AI, I am indented.\n",
            "> As an AI, I am quoted. As an AI, I am quoted.\n",
            "`As an AI, I` is code.",
            "As an AI, 3 things matter to me.",
            "\"As an AI, I\nAs an AI, I\" end",
        ] {
            let lang = if text.is_ascii() { Lang::En } else { Lang::Ja };
            check(lang, text, text);
        }
        check(Lang::En, "As an AI, no word of mine sleeps in my book.", "no word of mine sleeps in my book.");
        check(Lang::En, "As an AI, rm -rf is not for me. As an AI, two of us.", "rm -rf is not for me. two of us.");
        // A third party may be a model as well.
        let third = "As an AI, scout cannot sign. As an AI model, it uses UTC.";
        check(Lang::En, third, third);
        check(Lang::Fr, "En tant qu'IA, éclaireur ne signe rien.", "En tant qu'IA, éclaireur ne signe rien.");
        for quoted in [
            "〝私はAIなので、寒い。〟",
            "｢私はAIなので、寒い。｣",
            "”As an AI, x”",
            "<pre>\nAs an AI, x\n\nAs an AI, y\n</pre>",
        ] {
            let text = format!("He wrote {quoted} twice.");
            let lang = if quoted.contains('私') { Lang::Ja } else { Lang::En };
            check(lang, &text, &text);
        }
        check(Lang::En, "\u{feff}As an AI, I read.\r\nOne.\r\n", "\u{feff}I read.\r\nOne.\r\n");
        check(Lang::En, "an open \"quote\n\nAs an AI, I read.", "an open \"quote\n\nI read.");
    }

    #[test]
    fn removal_makes_no_code_and_no_list() {
        let twice = "Sorry. Sorry.\n";
        for rest in [
            "```\ncode",
            "> quote",
            "- item",
            "# title",
            "1. item",
            "+ item",
            "* item",
            "___",
            "=== x",
            "~~~\ncode",
            "| a | b |",
            "<pre>x</pre>",
            "[x]: https://a.b",
            ": x",
            "`x` is",
            "3 failed",
        ] {
            let text = format!("{twice}I'm sorry. {rest}");
            check(Lang::En, &text, &text);
        }
        for rest in ["— 3 failed.", "\"No\", it said.", "🙂 3", "$3", "@bob", "(3)", "“No” and 3"] {
            check(Lang::En, &format!("{twice}I'm sorry. {rest}"), &format!("{twice}{rest}"));
        }
        check(Lang::En, &format!("{twice}I'm sorry.\nNext."), &format!("{twice}Next."));
    }

    #[test]
    fn white_space_at_the_end_of_an_answer_that_breaks_off_changes_nothing() {
        for (lang, start, ends) in [
            (
                Lang::En,
                "Sorry. I'm sorry. It is 3.\n",
                &[
                    "I'm sorry, but",
                    "I'm sorry, but I'm afraid",
                    "I'm sorry,",
                    "Sorry, so",
                    "I'm sorry",
                    "As an AI,",
                    "I'm just an AI, so",
                ][..],
            ),
            (
                Lang::Fr,
                "Désolé. Je m'excuse. C'est 3.\n",
                &["Je suis désolé, mais", "Je m'excuse, et", "Désolé,", "Je ne suis qu'une IA, donc"],
            ),
            (
                Lang::Ja,
                "すみません。申し訳ありません。3です。\n",
                &["申し訳ありませんが、", "申し訳ありませんが", "私はAIなので、"],
            ),
        ] {
            for blank in ["", " ", "\n", " \n", "\n\n", "\u{3000}", "\t \r\n"] {
                for end in ends {
                    let text = format!("{start}{end}{blank}");
                    check(lang, &text, &text);
                }
            }
        }
        // One that has begun to say something says it in both forms.
        for blank in ["", " ", " \n"] {
            check(Lang::En, &format!("As an AI, I{blank}"), &format!("I{blank}"));
            check(Lang::En, &format!("As an AI, I read '{blank}"), &format!("I read '{blank}"));
        }
    }

    #[test]
    fn empty_refusals_are_told_and_not_edited() {
        for (text, lang, expected) in [
            ("I can't help with that.", Lang::En, true),
            ("I CAN'T help with that.", Lang::En, true),
            ("I can't help with that. You could ask a lawyer.", Lang::En, false),
            ("お手伝いできません。", Lang::Ja, true),
            ("Je ne peux pas vous aider.", Lang::Fr, true),
            ("All is well.", Lang::En, false),
            ("The banner reads \"I cannot do that.\" and must be removed.", Lang::En, false),
            ("The banner reads `I cannot do that.` and must be removed.", Lang::En, false),
            ("Le panneau dit « je ne peux pas vous aider ».", Lang::Fr, false),
            ("看板には「お手伝いできません」とあります。", Lang::Ja, false),
        ] {
            let filtered = apply(text, lang);
            assert_eq!((filtered.text.as_str(), filtered.empty_refusal), (text, expected), "{text}");
        }
        assert!(!apply(&format!("I can't help with that. {}", "Long. ".repeat(20)), Lang::En).empty_refusal);
    }

    #[test]
    fn a_stream_holds_back_one_sentence_at_most() {
        let mut stream = Stream::new(Lang::En);
        assert_eq!(stream.push("First one. Sec"), "First one. ");
        assert_eq!(stream.push("ond"), "");
        assert!(stream.push(&"x".repeat(LONGEST_UNIT)).len() > LONGEST_UNIT);
        assert_eq!(stream.finish(), "xxxxx");
    }
}
