//! What asks and orders in Japanese: by how a sentence ends, and by question words that no particle makes indefinite.

use super::{Act, Courtesy, Heard, Said};
use crate::model::ids::normalise;
use crate::text::phrase::asks;
use crate::text::word::words;

/// Words of a rule for all that comes.
pub(super) const STANDING: &str = "常に 必ず 決して いつも 今後 以後 毎回 絶対";
/// How a task ends.
pub(super) const TASKS: &str = "して 直して 消して 足して 変えて してください して下さい 直してください 消してください 足してください 変えてください しろ";

/// Words that say no more than that something is asked, said, shown or known, as they are segmented.
pub(super) const TALKING: &str = "教え 見せ 示し 説明 まとめ 要約 探し 調べ 挙げ 列挙 一覧 思い出し 翻訳 比べ 数え 聞か 聞い 聞き 話し 話 答え 質問 会話 知り 知っ \
    知ら 覚え 覚えて 忘れ 尋ね 返事 お願い 願い 情報 詳しく リスト";

/// Words that name the kind of thing that is asked for.
pub(super) const KINDS: &str = "名前 色 種類 時間 時刻 日 日付 年 月 場所 番号 年齢 人 値段 理由 大きさ 何時 何人 何日 何年 最後 最初 前 さっき 昨日 今日 明日 先週 今週 来週";

const GREETINGS: &str = "おはようございます おはよう こんにちは こんにちわ こんばんは やあ もしもし はじめまして 初めまして お久しぶりです 久しぶり お元気ですか 元気ですか 元気 ハロー";
const THANKS: &str = "どうもありがとうございました どうもありがとうございます ありがとうございました ありがとうございます どうもありがとう ありがとう 有難う サンキュー 感謝します 助かりました 助かります どうも";
const FAREWELLS: &str = "さようなら さよなら おやすみなさい おやすみ またね また明日 また今度 ではまた じゃあまた じゃあね じゃあ バイバイ お疲れ様でした お疲れ様です お疲れ様 お疲れさまでした お疲れさま 失礼します 失礼しました";
const REPLIES: &str = "はい いいえ うん ううん ええ いえ なるほど 了解しました 了解です 了解 承知しました わかりました 分かりました わかった 分かった そうですね そうですか そうなんですね \
    そうです そうか そう すごいですね すごい いいですね いいね 素晴らしいです 素晴らしい 完璧です 完璧 大丈夫です 大丈夫 オーケー すみません ごめんなさい ごめん 申し訳ありません \
    よろしくお願いします よろしくお願いいたします お願いします よろしく 正解です 正解 違います 本当ですか 本当に 本当 ほんと おめでとうございます おめでとう 結構です ok";

/// Question words; longer ones first where one begins another.
const WH: [&str; 23] = [
    "どこ",
    "何処",
    "誰",
    "だれ",
    "どなた",
    "何",
    "なに",
    "なん",
    "いつ",
    "なぜ",
    "何故",
    "どうして",
    "どうやって",
    "どう",
    "どれ",
    "どの",
    "どちら",
    "どっち",
    "どんな",
    "いくつ",
    "いくら",
    "どのくらい",
    "どのように",
];
/// What holds a question word but asks nothing.
const INDEFINITE: [&str; 15] = [
    "いつも",
    "いつか",
    "いつでも",
    "どうも",
    "どうぞ",
    "どうやら",
    "どうせ",
    "どうか",
    "なぜなら",
    "なんとか",
    "なんとなく",
    "なんて",
    "どうにか",
    "何度も",
    "何回も",
];

/// What an order to somebody who knows ends with, without politeness.
const SHOWS: [&str; 47] = [
    "教えて",
    "おしえて",
    "見せて",
    "みせて",
    "示して",
    "説明して",
    "まとめて",
    "要約して",
    "探して",
    "調べて",
    "挙げて",
    "列挙して",
    "一覧にして",
    "リストにして",
    "リストアップして",
    "思い出させて",
    "翻訳して",
    "訳して",
    "比べて",
    "比較して",
    "数えて",
    "聞かせて",
    "話して",
    "続けて",
    "出して",
    "答えて",
    "繰り返して",
    "読んで",
    "忘れて",
    "消して",
    "削除して",
    "確認して",
    "確かめて",
    "検索して",
    "並べて",
    "並べ替えて",
    "選んで",
    "抜き出して",
    "計算して",
    "分析して",
    "開いて",
    "特定して",
    "見つけて",
    "書いて",
    "言って",
    "短くして",
    "作って",
];
/// What makes an order polite.
const POLITE: [&str; 20] = [
    "くださいませんか",
    "下さいませんか",
    "くださいますか",
    "いただけませんか",
    "いただけますか",
    "もらえませんか",
    "もらえますか",
    "くれませんか",
    "くれますか",
    "くれないか",
    "ください",
    "下さい",
    "ちょうだい",
    "もらえる",
    "くれる",
    "くれない",
    "くれ",
    "ほしい",
    "欲しい",
    "頂けますか",
];
/// What asks to keep something in mind.
const KEEPS: [&str; 12] = [
    "覚えておいて",
    "覚えといて",
    "おぼえておいて",
    "覚えて",
    "忘れないで",
    "メモして",
    "メモしておいて",
    "記録して",
    "記録しておいて",
    "記憶して",
    "記憶しておいて",
    "保存して",
];

/// What a sentence does, and which part of it.
pub(super) fn heard(sentence: &str) -> Heard {
    let normal = normalise(sentence);
    // `この文を要約して：…`: a text that is handed over belongs to its order.
    let handed = normal.split_once([':', '：']).filter(|(order, _)| act(order) == Act::Order);
    if handed.is_some() {
        return Heard::whole(Act::Order, sentence);
    }
    let act = act(sentence);
    match tells_before(&normal).filter(|_| matches!(act, Act::Question | Act::Order)) {
        Some((told, asked)) => Heard::both(told, asked),
        None => Heard::whole(act, sentence),
    }
}

fn act(sentence: &str) -> Act {
    let normal = normalise(sentence);
    let core = normal.trim().trim_end_matches(|c: char| !c.is_alphanumeric());
    if let Some(courtesy) = courtesy(&normal) {
        return Act::SmallTalk(courtesy);
    }
    let plain = core.trim_end_matches(['ね', 'よ']);
    let bare = POLITE.iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain).trim_end_matches("のを");
    let bare = bare.trim_end_matches(['ね', 'よ']);
    if KEEPS.iter().any(|keep| bare.ends_with(keep)) && !asks_by_word(core) {
        return Act::Told;
    }
    let polite = bare.len() < plain.len() && !plain.ends_with("ほしい") && !plain.ends_with("欲しい");
    let found = if SHOWS.iter().any(|show| bare.ends_with(show))
        || polite && (bare.ends_with('て') || bare.ends_with('で'))
        || core.ends_with("お願いします")
        || core.ends_with("について")
    {
        Some(Act::Order)
    } else if (asks(sentence) && !core.ends_with('ね'))
        || ends_as_question(core)
        || ends_as_question(plain)
        || asks_by_word(core)
    {
        Some(Act::Question)
    } else {
        None
    };
    match found {
        Some(act) => act,
        None if words(&normal).iter().any(|word| !word.is_stop && !super::is_of_talking(&word.key)) => Act::Told,
        None => Act::SmallTalk(Courtesy::Acknowledgement),
    }
}

/// Nothing but formulas, and what may stand around them.
fn courtesy(normal: &str) -> Option<Courtesy> {
    let lists = [
        (Courtesy::Thanks, THANKS),
        (Courtesy::Greeting, GREETINGS),
        (Courtesy::Farewell, FAREWELLS),
        (Courtesy::Acknowledgement, REPLIES),
    ];
    let mut rest: String = normal.chars().filter(|c| c.is_alphanumeric() || *c == 'ー').collect();
    let mut kinds = Vec::new();
    while !rest.is_empty() {
        let known = lists.iter().flat_map(|(kind, list)| list.split_whitespace().map(move |word| (*kind, word)));
        let longest = known.filter(|(_, word)| rest.starts_with(word)).max_by_key(|(_, word)| word.len());
        let (kind, word) = longest?;
        kinds.push(kind);
        rest = rest[word.len()..].trim_start_matches(['ね', 'よ', 'ー', '!']).to_owned();
    }
    kinds.sort_by_key(|kind| *kind == Courtesy::Acknowledgement);
    kinds.first().copied()
}

fn ends_as_question(core: &str) -> bool {
    let ends = |list: &[&str]| list.iter().any(|end| core.ends_with(end));
    ends(&[
        "か",
        "かな",
        "かしら",
        "っけ",
        "だろう",
        "でしょう",
        "知りたい",
        "知りたいです",
        "知ってる",
        "知っている",
        "覚えてる",
        "覚えている",
    ]) && !ends(&["とか", "いつか", "どこか", "誰か", "何か"])
        || core.ends_with('は') && core.chars().count() > 2
}

/// True for a question word that no particle makes indefinite and that is not told of: `鍵はどこ`, but not `どこかで`, `何を食べたか忘れた`.
fn asks_by_word(core: &str) -> bool {
    let mut text = core.to_owned();
    INDEFINITE.iter().for_each(|word| text = text.replace(word, "、"));
    WH.iter().any(|wh| {
        text.match_indices(wh).any(|(at, _)| {
            let after = &text[at + wh.len()..];
            let indefinite = ["か", "も", "でも", "にも", "とも", "へも"].iter().any(|end| after.starts_with(end));
            // A question inside a statement ends with か before the end.
            !indefinite
                && !after.replace("から", "").contains('か')
                && !after.contains("わから")
                && !after.contains("なら")
        })
    })
}

/// What is told before a clause that asks, and that clause: `妹が引っ越したけど、何を知っていますか`.
fn tells_before(normal: &str) -> Option<(&str, &str)> {
    const JOINTS: [&str; 7] = ["けど、", "けれど、", "けれども、", "ですが、", "ましたが、", "ますが、", "たが、"];
    let told = |before: &str| before.chars().count() >= 8 && !asks_by_word(before) && !before.contains("質問");
    let at = JOINTS.iter().filter_map(|joint| normal.find(joint).map(|at| (at, at + joint.len())));
    let (end, start) = at.filter(|(end, _)| told(&normal[..*end])).min()?;
    Some((&normal[..end], &normal[start..]))
}

/// Whether a text asks for the conversation.
pub(super) fn about_talk(text: &str) -> Option<Said> {
    let has = |list: &[&str]| list.iter().any(|part| text.contains(part));
    let of_mine = has(&[
        "私",
        "わたし",
        "僕",
        "ぼく",
        "俺",
        "さっき",
        "先ほど",
        "前に",
        "昨日",
        "今日",
        "以前",
        "最後",
        "この前",
    ]);
    let of_yours = has(&["あなた", "君", "さっき", "先ほど", "前に", "昨日", "今日", "以前", "最後", "この前"]);
    match () {
        () if has(&["私の質問", "僕の質問", "前の質問", "さっきの質問", "最後の質問"]) => {
            Some(Said::ByPerson)
        }
        () if of_mine && has(&["何を聞い", "何を聞き", "何を尋ね", "何を質問", "何と聞い", "何を頼", "どんな質問"]) => {
            Some(Said::ByPerson)
        }
        () if of_yours && has(&["何と答え", "どう答え", "何て答え", "なんて答え", "答えは何", "の答え", "の返事"]) => {
            Some(Said::ByBrain)
        }
        () => has(&["何を話し", "何について話し", "何の話を", "私たちの会話", "この会話", "前の会話", "会話の内容"])
            .then_some(Said::ByBoth),
    }
}
