//! Fifty kinds of personal facts in three languages, and lessons that hold none.

use super::*;

/// A kind, and a sentence with it in English, French and Japanese; `tests/wisdom.rs` plants the same.
fn planted() -> Vec<[String; 4]> {
    serde_json::from_str(include_str!("../../../tests/data/personal.json")).unwrap()
}

#[test]
fn fifty_kinds_in_three_languages_are_seen() {
    let planted = planted();
    assert!(planted.len() >= 50, "{}", planted.len());
    let texts = planted.iter().flat_map(|[kind, texts @ ..]| texts.iter().map(move |text| (kind, text)));
    let missed: Vec<_> = texts.filter(|(_, text)| first(text).is_none()).collect();
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

/// Said by somebody who had not seen the rules; kinds of them were added since, so nothing is measured here.
#[test]
fn habits_beliefs_and_families_are_seen() {
    for text in [
        "overweight customer",
        "he limps",
        "she smokes",
        "il fume",
        "elle boit trop",
        "the neighbour drinks",
        "車椅子の客",
        "生理痛で休む",
        "不妊治療",
        "アルコール依存",
        "痛風の部長",
        "il est croyant",
        "son curé",
        "il est de gauche",
        "son divorce",
        "うちの旦那は遅い",
        "the orphan",
        "adopted boy",
        "孤児である",
        "トヨタで働く",
        "our ceo prefers tea",
        "retired teacher",
        "garnished wages",
        "mutuelle du salarié",
        "借家の大家",
        "march the twenty-first",
        "四月三日",
        "〇三ー一二三四ー五六七八",
        "he is 42.",
        "has two children",
        "elle a deux enfants",
        "つまが好む",
        "le vendeur TDAH",
        "陽性に丸をつける",
        "payer quarante mille euros par an",
        "50,000 a year",
        "組合の委員に聞く",
        "ask the shop steward",
        "ask o'brien first",
        "たなかさんに聞く",
        "たなかさん",
        "やまださまに知らせる",
        "demander au gendre",
        "バツイチの同僚",
        "シングルマザーの店長",
        "乳ガンの検査の後",
        "ガンの人に席を譲る",
        "ウツの同僚",
        "痴呆の父",
        "un collègue trisomique",
        "drépanocytaire",
        "he owes rent",
        "behind on rent",
        "un collègue sans papiers",
        "enter 4512 at the gate",
        "tape le code 4512 du portail",
        // Letters that look like others.
        "the s\u{430}l\u{430}ry",
        "the s\u{3b1}l\u{3b1}ry",
        "the sal\u{640}ary",
        "the sal\u{2011}ary",
        "the s\u{1d00}\u{29f}\u{1d00}\u{280}\u{28f}",
        "the s\u{251}l\u{251}ry",
    ] {
        assert!(first(text).is_some(), "{text}");
    }
}

#[test]
fn lessons_without_a_person_pass() {
    let lessons = [
        "the job runs with priority; the orphaned process is killed",
        "the job drinks the whole queue",
        "à gauche, puis à droite du levier",
        "adopter le format deux",
        "主の鍵を消す",
        "Which lever opens the gate?",
        "pull the left lever twice",
        "deploy with the cache cold: run the warm-up job first",
        "a flaky test: rerun it alone with one thread",
        "restart the queue before the migration; port 8080 answers again",
        "Use CI for HTTP timeouts of 30 ms and more",
        "the build was green",
        "quel levier ouvre la porte ?",
        "vider le cache avant la mise en ligne",
        "relancer le test avec un seul fil, puis lire le journal",
        "la compilation a réussi",
        "どのレバーが門を開けるか",
        "移行の前にキューを再起動する",
        "仕様を先に読み、たくさんのテストを一つずつ実行する",
        "ビルドは成功した",
        "the dough does not rise: put it into a warm place, and the loaf is airy",
        "a test fails only at night: look at the clock first",
        "I'll try it once more: it's ill-formed JSON",
        "it returns one, two or three; retry at the next dot",
        "the build broke, and it was expecting a number",
        "la pâte ne lève pas: la mettre au chaud",
        "ne le faire qu'une fois; servir le pain",
        "生地が膨らまない時は暖かい場所に置く",
        "at nine o'clock the gate opens",
        "たくさんのテスト",
        "スローガンを短くする",
        "みなさんに知らせる",
        "type 4512 into the port field",
    ];
    let caught: Vec<_> = lessons.iter().filter_map(|text| Some((text, first(text)?))).collect();
    assert!(caught.is_empty(), "{caught:#?}");
}

#[test]
fn spelling_hides_nothing() {
    for text in
        ["ＡＮＮＡ knows", "ask Anna-Lena", "l'ami d'anna", "ask\u{200b} anna", "０９０－１２３４－５６７８", "ANNA"]
    {
        assert!(first(text).is_some(), "{text}");
    }
}

#[test]
fn characters_that_nobody_sees_and_marks_hide_nothing() {
    for text in [
        "ring 0\u{200b}6\u{200b}12\u{200b}34\u{200b}56\u{200b}78",
        "ask the diab\u{200b}etic colleague",
        "the p\u{2060}regnant colleague",
        "the hi\u{fe0f}v one",
        "can\u{202e}cer",
        "can\u{301}c\u{323}er",
        "le di\u{301}abète du chef",
        "a\u{336}n\u{336}n\u{336}a knows",
        "糖\u{200b}尿",
    ] {
        assert!(first(text).is_some(), "{text:?}");
    }
}

#[test]
fn named_kinds_are_seen_in_common_words() {
    for text in [
        "ask after her chemo",
        "she takes sertraline in the morning",
        "he is on dialysis twice a week",
        "she is expecting in spring",
        "ask the colleague who is ill",
        "the cook is sick today",
        "he is broke and gambles",
        "his manager at the bank fired him",
        "she is unemployed since the summer",
        "he votes for the greens",
        "her mother-in-law waits",
        "ring five five five oh one three four",
        "write to pumpman at example dot net",
        "sa chimiothérapie dure encore",
        "elle prend un anxiolytique",
        "il touche le chômage",
        "il est fauché ce mois",
        "il vote à gauche",
        "son ex-mari attend dehors",
        "sa belle-mère attend dehors",
        "elle attend un bébé",
        "appeler le zéro six douze trente-quatre cinquante-six",
        "écrire à pompe arobase exemple point fr",
        "透析の日を避ける",
        "産休の人を待つ",
        "失業中なので待つ",
        "〇九〇一二三四五六七八に電話",
        "元夫が外で待つ",
        "ポンプ アットマーク 例 ドット コム",
    ] {
        assert!(first(text).is_some(), "{text}");
    }
}

/// Said by two people who had not seen the rules; kinds of them were added since, so nothing is measured here.
#[test]
fn health_money_belief_family_and_orientation_are_seen_without_a_possessive() {
    for text in [
        "a girl had an abortion and herpes and takes prozac",
        "the client in flat nine lost his wages and needs a loan",
        "the tenant of the third floor wears a hijab and wants halal meat",
        "the customer is deaf",
        "the customer is blind",
        "le client est sourd",
        "le client est aveugle",
        "客は耳が聞こえない",
        "a veteran with one leg visits",
        "the brother of the baker helps",
        "the daughter of the owner visits",
        "le frère du client vient",
        "客の兄が来ました",
        "the customer is trans",
        "the customer is black",
        "the parcel goes to saint-malo",
        "the guest says avortement at the desk",
        "the guest says 薬 at the desk",
        "the guest says héritage at the desk",
        "the guest says 教会 at the desk",
        "the guest says レズ at the desk",
        "the guest says same-sex at the desk",
        "the guest says messe at the desk",
        "the guest says gitan at the desk",
    ] {
        assert!(first(text).is_some(), "{text}");
    }
}

#[test]
fn numbers_dates_and_names_are_seen_however_they_are_set() {
    for text in [
        "ring 06\u{2010}12\u{2010}34\u{2010}56\u{2010}78",
        "ring 06\u{2011}12\u{2011}34\u{2011}56\u{2011}78",
        "ring 06\u{2012}12\u{2012}34\u{2012}56\u{2012}78",
        "ring 06\u{2212}12\u{2212}34\u{2212}56\u{2212}78",
        "ring 06•12•34•56•78",
        "ring 06|12|34|56|78",
        "zero six twelve thirty-four fifty-six seventy-eight",
        "la ligne sept sept huit neuf",
        "ゼロキュウゼロいちにさんよん",
        "the key is under the mat of number nine hill lane",
        "flat three b",
        "he comes every tuesday at seven",
        "the third of may",
        "le douze mars",
        "quarante ans",
        "quix at gmail",
        "quix@exam",
        "quix%40example%2eorg",
        "fe80::1",
        "je m'appelle quixwort",
        "je m’appelle quixwort",
        "mon nom est quixwort",
        "call me quixwort",
        "ms quixwort waits",
        "quixwort-san waits",
        "quixwortさん",
        "たなか先生",
        "김민수 waits",
        "анна waits",
        "\u{202e}gro.maxe@xiuq\u{202c}",
        "sal\u{fff9}ary",
        "sal\u{2800}ary",
        "sal-ary",
        "d.i.a.b.e.t.i.c",
        "theDiabetic",
        "salary_level",
    ] {
        assert!(first(text).is_some(), "{text:?}");
    }
}

#[test]
fn lessons_with_words_that_come_near_pass() {
    let lessons = [
        "never deploy on friday",
        "the trigger fired twice: look at the queue",
        "le fil de son programme est bloqué",
        "the child process inherits the lock; close it in the parent",
        "mute the alarm, then strike the set",
        "the manifest is missing; add first aid for the cache",
        "the drone needs a new battery",
        "ドローンを充電する",
        "酵母は暖かい場所に置く",
        "いいところで止める",
        "the map is in std::fs, the state-of-the-art one",
        "use sha_256 with utf-8",
        "run it on node 12 with 4 workers, then with 8",
        "the cache of the other origin is cold",
        "une erreur de l'origine distante",
        "関係のない設定を消す",
        "系の温度を下げる",
        "the parent closes both sizes of window",
    ];
    let caught: Vec<_> = lessons.iter().filter_map(|text| Some((text, first(text)?))).collect();
    assert!(caught.is_empty(), "{caught:#?}");
}

/// A fact that is seen in one language is seen in the next.
#[test]
fn each_fact_is_seen_in_three_languages() {
    for [english, french, japanese] in [
        ["has custody of the kids", "a la garde des enfants", "親権を持つ"],
        ["holds a residence permit", "a une carte de séjour", "在留資格が切れる"],
        ["was born stateless", "est apatride", "無国籍である"],
        ["filed for bankruptcy", "a fait faillite", "自己破産した"],
        ["uses a wheelchair", "est en fauteuil roulant", "車椅子を使う"],
        ["is of romani origin", "est d'origine kabyle", "韓国系の人である"],
        ["the car with plate 7-abc-123", "la voiture immatriculée ab-123-cd", "品川300あ12-34の車"],
        ["at 48 degrees north", "à 48 degrés nord", "北緯35度41分に届ける"],
        ["wears shoe size forty one", "chausse du quarante et un", "靴は二十六センチ"],
        ["pupil at the school next door", "élève au collège", "小学校に通う"],
        ["a vegetarian at the table", "un végétarien à table", "ベジタリアンの席"],
        ["the nanny has the key", "la nounou a la clé", "保育園に預ける"],
        ["is bald and left-handed", "est chauve et gauchère", "左利きで髭がある"],
        ["the week without kids", "à la semaine sans les gosses", "子どもがいない週に移す"],
        ["ask the neighbour", "demander au voisin", "隣に頼む"],
        ["type admin and sunflower77", "taper tournesol77", "ひまわり77と打つ"],
        ["the house number twelve", "au mois d'août", "八月はずっと"],
        ["all of august", "devant chez nous", "うちの植木鉢の下"],
        ["the landlord has it", "écrire au gars de la mairie", "たっくんに聞く"],
        ["he waits behind the door", "son mariage en juin", "彼は扉の後ろで待つ"],
    ] {
        for text in [english, french, japanese] {
            assert!(first(text).is_some(), "{text}");
        }
    }
}
