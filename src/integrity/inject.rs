//! Assertiveness injection: hedges become plain statements. Off by default, and only where nothing is at stake.
//!
//! A text of a blocked category or with an external reference stays as it is, whole. No list of words holds all that is
//! said of health or law, so in others a sentence changes only if it names a thing of software, and no person. One that has a
//! number, a quotation, code, an address, a negation or a question stays. Source: seed 2.4.2 (D), with its empty
//! patterns repaired to 薬, 病, 株 and 円; its transformations that break Japanese grammar are narrowed.

use std::sync::OnceLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::integrity::lang::Lang;
use crate::integrity::protect::{negations, references, shields};
use crate::integrity::split::{prose, sentences};

/// Settings of the injection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Injection {
    /// Whether it is on.
    pub enabled: bool,
}

/// A reason to leave a text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Health.
    Medical,
    /// Law.
    Legal,
    /// Money.
    Financial,
    /// Reports of others.
    Citation,
    /// Figures.
    Numerical,
    /// The future.
    Prediction,
    /// A link, a footnote or a source.
    Reference,
}

/// A text after the injection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injected {
    /// The text.
    pub text: String,
    /// The sentences altered.
    pub changed: usize,
    /// The reason why none could be.
    pub blocked: Option<Block>,
}

/// Blocked categories. Japanese and French forms stand beside the English ones: a text may mix languages.
const BLOCKS: [(Block, &str); 7] = [
    (
        Block::Medical,
        r"(?i)診断|症状|治療|薬|病|医師|医療|健康|熱|痛|腫|癌|がん|妊娠|血|diagnos|symptom|treatment|medic|disease|\bdoctor|\bhealth|\bdose|\bpatients?\b|\bcancer|\btumou?r|\bfever|\bpills?\b|\bwound|\brash\b|\bpain\b|\bblood\b|\bheart\b|pregnan|\bvaccin|\binfect|\ballerg|symptôme|traitement|médec|médic|maladie|malade|santé|fièvre|douleur|\bsang\b|enceinte",
    ),
    (
        Block::Legal,
        r"(?i)法的|法律|違法|訴訟|契約|裁判|有罪|無罪|罪|\blegal|\blaw(?:s|yers?|suits?)?\b|contract|\bcourt\b|\bjudges?\b|\bguilty|\bliable|\blandlord|\blease|\btenan|\bvisa\b|\blicen[cs]|\bpatent|\bcopyright|\bpolice|coupable|juridi|légal|avocat|contrat|\bprocès\b|\bloi\b|tribunal",
    ),
    (
        Block::Financial,
        r"(?i)投資|株|予測|価格|金融|為替|税|ローン|invest|\bstocks?\b|\bshares?\b|predict|\bprices?\b|financ|\bbonds?\b|\bbitcoin|\bloans?\b|\bmortgage|\btax|\brates?\b|\bcosts?\b|\bsalar|\bmoney\b|\bbudget|\bprêts?\b|\bimpôts?\b|\bbourse\b|\bactions?\b|prévision|\bprix\b|\btaux\b",
    ),
    (
        Block::Citation,
        r"(?i)によると|によれば|研究|論文|調査|according to|\bstud(?:y|ies)\b|\bpapers?\b|research|\b(?:say|claim|report|tell|state|argue)s?\b|\b(?:said|claimed|reported|told|stated|argued)\b|と言|だそう|そうです|\b(?:dit|disent|affirme|prétend)\b|\bd['’]après\b|selon|\bétudes?\b|recherche",
    ),
    (
        Block::Numerical,
        r"(?i)\d|[０-９]|[$€£¥％%]|[一二三四五六七八九十百千万億]+(?:円|ドル|人|年|個|割|倍)|\bpercent\b|pour ?cent\b|[一二三四五六七八九十百千万億両]つ|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?|half|halves|twice|third|quarter|most|many|few)\b|\b(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douzaine|centaines?|mille|millions?|moitié|tiers)\b",
    ),
    (
        Block::Prediction,
        r"(?i)なるだろう|になる見込み|見込み|でしょう|将来|来年|明日|来週|来月|will\b|['’]ll\b|\bgoing up\b|\bsoon\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\p{L}+(?:vra|dra|tra)\b|expected to|going to|\btomorrow\b|next (?:year|month|week)|\bdemain\b|prochaine?|\b\p{L}+(?:era|eront|ira|iront)\b|\b(?:sera|seront|aura|auront|va|vont)\b",
    ),
    (
        Block::Reference,
        r"(?i)https?://|www\.|」によると|according to|\[\d+\]|\[\^|出典|出所|参考文献|source|référence|et al\b",
    ),
];

/// Things of software, by words that mean little else.
const SOFTWARE: &str = r"(?i)\b(?:code|functions?|loops?|lists?|arrays?|variables?|modules?|compilers?|commits?|scripts?|quer(?:y|ies)|cache|caches|threads?|servers?|endpoints?|parsers?|configs?|configuration|settings?|databases?|schemas?|sort|bugs?|exceptions?|pointers?|regex(?:es)?|API|APIs|packages?|dependenc(?:y|ies)|daemons?|sockets?|mutex(?:es)?|booleans?|integers?|linters?|repositor(?:y|ies)|index(?:es)?|folders?|director(?:y|ies)|builds?|JSON|YAML|fonctions?|boucles?|listes?|tableaux?|compilateurs?|requêtes?|serveurs?|schémas?|tri|bogues?|pointeurs?|bibliothèques?|paquets?|démons?|dépôts?|fichiers?|dossiers?|réglages?)\b|コード|関数|ループ|配列|変数|モジュール|コンパイラ|スクリプト|クエリ|キャッシュ|スレッド|サーバ|設定|データベース|スキーマ|バグ|例外|ポインタ|ライブラリ|パッケージ|リポジトリ|ファイル|フォルダ|インデックス|リスト";

/// Persons: pronouns, forms of address, and a capital inside a sentence.
const PERSONS: &str = r"(?i:\b(?:he|she|they|you|your|yours|his|her|hers|him|their|them|who|some(?:one|body)|people|everyone|vous|votre|vos|tu|ton|ta|tes|lui|leur)\b)|さん|彼|方々|人々|\p{Ll},? \p{Lu}\p{Ll}";

/// Returns whether a sentence names a thing of software and no person.
fn is_technical(sentence: &str) -> bool {
    static CELL: OnceLock<(Regex, Regex)> = OnceLock::new();
    let new = |pattern| Regex::new(pattern).expect("invariant: the tests compile it");
    let (software, persons) = CELL.get_or_init(|| (new(SOFTWARE), new(PERSONS)));
    software.is_match(sentence) && !persons.is_match(sentence)
}

fn compiled() -> &'static [(Block, Regex)] {
    static CELL: OnceLock<Vec<(Block, Regex)>> = OnceLock::new();
    let new = |pattern| Regex::new(pattern).expect("invariant: the tests compile each block");
    CELL.get_or_init(|| BLOCKS.iter().map(|(block, pattern)| (*block, new(pattern))).collect())
}

/// Returns the first reason to leave a text alone.
pub fn blocked(text: &str) -> Option<Block> {
    compiled().iter().find(|(_, pattern)| pattern.is_match(text)).map(|(block, _)| *block)
}

/// Turns hedges of a text into plain statements where the settings and the guards allow it. Twice is once.
pub fn inject(text: &str, lang: Lang, settings: Injection) -> Injected {
    let untouched = |blocked| Injected { text: text.to_owned(), changed: 0, blocked };
    if !settings.enabled {
        return untouched(None);
    }
    if let Some(block) = blocked(text) {
        return untouched(Some(block));
    }
    // Fenced code and block quotes may hold sentences; a text with either is left alone rather than taken apart.
    let has_raw_lines = text.lines().any(|line| line.starts_with("    ") || line.trim_start().starts_with(['>', '\t']));
    if has_raw_lines || prose(text) != text {
        return untouched(None);
    }
    let (mut kept, mut last, mut changed) = (String::with_capacity(text.len()), 0, 0);
    let (quoted, _) = shields(text, None);
    for sentence in sentences(text, lang) {
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + sentence.len();
        let is_quoted = quoted.iter().any(|span| span.start < end && start < span.end);
        let is_held = is_quoted
            || !is_technical(sentence)
            || sentence.contains(['?', '？'])
            || lang == Lang::Ja && sentence.trim_end().ends_with("か。")
            || !negations(sentence).is_empty()
            || !references(sentence).is_empty();
        if is_held {
            continue;
        }
        // What a hedge hid may be another one.
        let rounds = std::iter::successors(plain(sentence, lang), |shorter| plain(shorter, lang));
        if let Some(plain) = rounds.take(sentence.len()).last() {
            kept.push_str(&text[last..start]);
            kept.push_str(&plain);
            last = end;
            changed += 1;
        }
    }
    kept.push_str(&text[last..]);
    Injected { text: kept, changed, blocked: None }
}

/// Returns a sentence without its hedges, or `None` where it has none that can go.
fn plain(sentence: &str, lang: Lang) -> Option<String> {
    static CELLS: [OnceLock<Vec<(Regex, &str)>>; 3] = [const { OnceLock::new() }; 3];
    let (index, rules): (usize, &[(&str, &str)]) = match lang {
        Lang::En | Lang::Zh => (
            0,
            &[
                (r"(?i)^(\s*)(?:I think (?:that )?|I believe that |maybe,? |perhaps,? )(\p{L})", "$1$2"),
                (r"(?i) (?:maybe|perhaps) (\p{L})", " $1"),
            ],
        ),
        Lang::Fr => (
            1,
            &[
                (r"(?i)^(\s*)(?:je (?:pense|crois) qu(?:e |['’])|à mon avis, |peut-être qu(?:e |['’]))(\p{L})", "$1$2"),
                (r"(?i) peut-être (\p{L})", " $1"),
            ],
        ),
        // An ending only where です is grammatical behind it: after だ, after an adjective, after a noun.
        Lang::Ja => (
            2,
            &[
                (r"^(\s*)(?:おそらく|恐らく|たぶん|多分)[、,]?", "$1"),
                (r"だと思います([。．！]?)$", "です$1"),
                (r"([しよなたか]い)と思います([。．！]?)$", "$1です$2"),
                (r"([\p{Han}\p{Katakana}ー])かもしれません([。．！]?)$", "$1です$2"),
            ],
        ),
    };
    let new = |pattern| Regex::new(pattern).expect("invariant: the tests compile each rule");
    let rules = CELLS[index].get_or_init(|| rules.iter().map(|(pattern, by)| (new(pattern), *by)).collect());
    let mut text = sentence.to_owned();
    for (pattern, by) in rules {
        text = pattern.replace_all(&text, *by).into_owned();
    }
    if text == sentence {
        return None;
    }
    let indent = text.len() - text.trim_start().len();
    let had_capital = sentence.trim_start().starts_with(char::is_uppercase);
    let first = text[indent..].chars().next()?;
    if had_capital && first.is_lowercase() {
        text.replace_range(indent..indent + first.len_utf8(), &first.to_uppercase().to_string());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Injection = Injection { enabled: true };

    #[test]
    fn injection_is_off_by_default() {
        let text = "I think the list is empty.";
        assert_eq!(
            inject(text, Lang::En, Injection::default()),
            Injected { text: text.into(), changed: 0, blocked: None }
        );
    }

    #[test]
    fn hedges_of_harmless_sentences_go() {
        let cases = [
            (
                Lang::En,
                "I think the loop ends here. Maybe the sort is stable. I think the valve is open.",
                "The loop ends here. The sort is stable. I think the valve is open.",
            ),
            (
                Lang::Fr,
                "Je pense que la boucle finit ici. La liste est peut-être vide.",
                "La boucle finit ici. La liste est vide.",
            ),
            (
                Lang::Ja,
                "おそらく、これは配列だと思います。原因は設定かもしれません。",
                "これは配列です。原因は設定です。",
            ),
        ];
        for (lang, text, expected) in cases {
            assert_eq!(inject(text, lang, ON).text, expected);
            assert_eq!(inject(expected, lang, ON).changed, 0);
        }
    }

    #[test]
    fn blocked_categories_stay_whole_in_each_language() {
        let cases = [
            ("I think the symptom fits.", Block::Medical),
            ("おそらく、その薬だと思います。", Block::Medical),
            ("Je pense que le traitement convient.", Block::Medical),
            ("I think the lawsuit is lost.", Block::Legal),
            ("契約だと思います。", Block::Legal),
            ("Je pense que le contrat lie.", Block::Legal),
            ("I think the stock is cheap.", Block::Financial),
            ("株だと思います。", Block::Financial),
            ("Je pense que le prix monte.", Block::Financial),
            ("I think the paper says so.", Block::Citation),
            ("新聞によると雨だと思います。", Block::Citation),
            ("I think it weighs 3 stones.", Block::Numerical),
            ("百円だと思います。", Block::Numerical),
            ("I think it will rain.", Block::Prediction),
            ("雨になる見込みだと思います。", Block::Prediction),
            ("Je pense qu'elle viendra, elle sera contente.", Block::Prediction),
            ("I think so, source: memory.", Block::Reference),
            ("出典は本だと思います。", Block::Reference),
        ];
        for (text, block) in cases {
            let lang = crate::integrity::lang::detect(text).unwrap();
            assert_eq!(
                inject(text, lang, ON),
                Injected { text: text.into(), changed: 0, blocked: Some(block) },
                "{text}"
            );
        }
    }

    /// Sentences of people who looked for one that passes.
    #[test]
    fn sentences_that_matter_stay_whatever_their_words() {
        for (lang, texts) in [
            (
                Lang::En,
                "I think the mole is benign.|I think two pills are fine.|Perhaps the lump is small.|I think he is guilty.|I think the gun is empty.|\
                 I think the mushrooms in the basket are edible.|Maybe the baby is ok to sleep face down.|I think half of them left.|\
                 I think Ben told me the list is lost.|I think your code is theft.|I think the team wins on Sunday.|I think the chest pain comes from the stairs.",
            ),
            (
                Lang::Fr,
                "Je pense que le patient est malade.|Peut-être que la fièvre est normale.|Je pense qu'il pleuvra.|Je pense que deux listes sont là.",
            ),
            (
                Lang::Ja,
                "たぶん熱は高いです。|おそらく彼は有罪です。|おそらく明日は晴れです。|たぶん二つの灯りがついています。",
            ),
        ] {
            for text in texts.split('|') {
                assert_eq!(inject(text, lang, ON).text, text.trim());
            }
        }
    }

    #[test]
    fn protected_sentences_stay_beside_changed_ones() {
        let text = "I think it is not open. I think it shows \"maybe so\". I think `maybe a` runs. Maybe so? I think the loop runs.";
        let expected = text.replace("I think the loop runs", "The loop runs");
        assert_eq!(inject(text, Lang::En, ON), Injected { text: expected, changed: 1, blocked: None });
        let fenced = "I think so.\n```\nmaybe a\n```\n";
        assert_eq!(inject(fenced, Lang::En, ON).text, fenced);
        assert_eq!(inject("行かないと思います。", Lang::Ja, ON).changed, 0);
        assert_eq!(inject("行くと思います。", Lang::Ja, ON).changed, 0, "a verb takes no です");
    }
}
