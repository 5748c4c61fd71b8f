//! Laws of the filters over generated texts. The generator knows which pieces it put in; the checks share no code with
//! the filters. A failure prints its seed.

use git_brain::cognition::guard::Voiced;
use git_brain::integrity::inject::{Injection, inject};
use git_brain::integrity::lang::Lang;
use git_brain::integrity::metrics::{Counts, Metrics};
use git_brain::integrity::seeded::SplitMix64;
use git_brain::integrity::veto::apply;

const LANGS: [Lang; 3] = [Lang::En, Lang::Ja, Lang::Fr];

const RITUALS: [&[&str]; 3] = [
    &[
        "I'm sorry, but ",
        "I apologize for the confusion. ",
        "Sorry. ",
        "I AM SORRY. ",
        "As an AI, ",
        "as an AI language model, ",
        "I’m sorry; ",
        "My apologies. ",
        "However, as an AI, ",
        "I, as an AI, ",
        "Since I'm just an AI, ",
        "As an AI I ",
        "I think ",
        "maybe ",
        "I'm just an AI, so ",
        "Sorry, ",
    ],
    &[
        "申し訳ありませんが、",
        "申し訳ございません。",
        "すみません。",
        "ごめんなさい。",
        "私はAIなので、",
        "AIとして、",
        "お詫び申し上げます。",
        "ご迷惑をおかけして申し訳ありません。",
        "しかし、AIですので、",
        "おそらく、",
        "失礼いたしました。",
        "すみません、",
    ],
    &[
        "Je suis désolé, mais ",
        "Toutes mes excuses. ",
        "Désolée. ",
        "En tant qu'IA, ",
        "en tant que modèle de langage, ",
        "Je m'excuse pour la confusion. ",
        "Je ne suis qu’une IA, donc ",
        "Excusez-moi. ",
        "Étant une IA, ",
        "Je pense que ",
        "Veuillez m’excuser ; ",
        "je, en tant qu'IA, ",
    ],
];

/// Returns a piece that must survive verbatim, marked by a number of its own.
fn piece(lang: usize, random: &mut SplitMix64, id: usize) -> String {
    let ritual = RITUALS[lang][random.below(RITUALS[lang].len())].trim_end();
    let number = random.below(90_000) + 10_000;
    match (random.below(9), lang) {
        (0, _) => format!("{number}.{id}"),
        (1, 1) => format!("「{ritual}品{id}」"),
        (1, 2) => format!("« {ritual} mot{id} »"),
        (1, _) => format!("\"{ritual} word{id}\""),
        (2, _) => format!("`{ritual} c{id}`"),
        (3, _) => format!("\n```\n{ritual} code{id}\n\n{ritual}\n```\n"),
        (4, _) => format!("https://example.org/as-an-ai,/{id}?q=sorry."),
        (5, 1) => format!("品{id}は開かない"),
        (5, 2) => format!("ne s'ouvre pas p{id}"),
        (5, _) => format!("not w{id} open"),
        (6, 1) => format!("できません{id}"),
        (6, 2) => format!("jamais j{id}"),
        (6, _) => format!("don't touch w{id}"),
        (7, 0) => format!("nothing n{id}"),
        (7, _) => format!("[{id}]"),
        (_, 1) => format!("\n> {ritual}引用{id}\n"),
        _ => format!("\n> {ritual} cited{id}\n"),
    }
}

const FILLERS: [&[&str]; 3] = [
    &[
        "the valve ",
        "Water is wet. ",
        "she was sorry ",
        "the list ends. ",
        "the cache is warm. ",
        "perhaps the loop runs. ",
        "e.g. here ",
        "It runs! ",
        "so ",
        "(aside) ",
    ],
    &[
        "弁は開きます。",
        "水は冷たい。",
        "それは",
        "一覧です！",
        "これは配列だと思います。",
        "おそらく、設定です。",
        "本当ですか？",
        "次に、",
    ],
    &[
        "la vanne ",
        "L'eau est froide. ",
        "elle était désolée ",
        "la liste finit. ",
        "le serveur est peut-être vide. ",
        "p. ex. ici ",
        "Ça marche ! ",
        "donc ",
    ],
];
const BREAKS: [&str; 12] = [" ", ". ", "。", "\n", "\n\n", ", ", "— ", "🙂 ", "・", "※", "【", "§"];
/// Beginnings at which an answer may break off, and the white space behind.
const CUT: [&[&str]; 3] = [
    &[
        "I'm sorry, but",
        "I'm sorry, but I'm afraid",
        "I'm sorry,",
        "I'm sorry",
        "Sorry",
        "Sorry.",
        "I apologize, so",
        "As an AI,",
        "As an AI, I",
        "'",
    ],
    &[
        "申し訳ありませんが、",
        "申し訳ありませんが",
        "申し訳ありません",
        "すみません。",
        "AIとして、",
        "私はAIなので",
        "「",
        "`",
    ],
    &[
        "Je suis désolé, mais",
        "Désolé,",
        "Désolé",
        "Désolé.",
        "Je m'excuse, et",
        "En tant qu'IA,",
        "Je ne suis qu'une IA, donc",
        "«",
    ],
];
const BLANKS: [&str; 8] = [" ", "\n", " \n", "\n\n", "\u{3000}", "\t", "\r\n", "  \n \n"];

/// Returns a text and its pieces in order.
fn generate(lang: usize, random: &mut SplitMix64) -> (String, Vec<String>) {
    let (mut text, mut pieces) = (String::new(), Vec::new());
    for id in 0..3 + random.below(14) {
        match random.below(7) {
            0..=2 => text.push_str(RITUALS[lang][random.below(RITUALS[lang].len())]),
            3 | 4 => {
                let piece = piece(lang, random, id);
                text.push_str(&piece);
                pieces.push(piece);
                text.push_str(BREAKS[random.below(BREAKS.len())]);
            }
            5 => text.push_str(FILLERS[lang][random.below(FILLERS[lang].len())]),
            _ => text.push_str(BREAKS[random.below(BREAKS.len())]),
        }
    }
    (text, pieces)
}

/// Returns a text of rituals and loose marks, without any care for form.
fn scramble(lang: usize, random: &mut SplitMix64) -> String {
    const MARKS: [&str; 44] = [
        "— ", "[l](u) ", "🙂 ", "$", "# ", "@", "・", "※", "【", "《", "| ", "-", "！", "+ ", "\"", "'", "`", "``",
        "```", "\n```\n", "~~~\n", "\n", "\n\n", "\r\n", " ", "    ", "\t", "> ", "- ", "1. ", "「", "」", "“", "”",
        "«", "»", "...", "…", "。", "? ", "! ", "(", ") ", "’",
    ];
    let mut text = String::new();
    for _ in 0..2 + random.below(22) {
        match random.below(5) {
            0 | 1 => text.push_str(RITUALS[lang][random.below(RITUALS[lang].len())]),
            2 | 3 => text.push_str(MARKS[random.below(MARKS.len())]),
            _ => match random.below(3) {
                0 => text.push_str([" not ", " never ", "ない", " jamais "][random.below(4)]),
                1 => text.push_str(&random.below(1_000).to_string()),
                _ => text.push_str(FILLERS[lang][random.below(FILLERS[lang].len())]),
            },
        }
    }
    text
}

fn streamed(text: &str, lang: Lang, random: &mut SplitMix64) -> String {
    let mut voice = Voiced::new(lang);
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        let most = if random.below(4) == 0 { 60 } else { 5 };
        let letters = random.below(most);
        let cut = rest.char_indices().nth(letters).map_or(rest.len(), |(index, _)| index);
        out.push_str(&voice.pass(&rest[..cut]));
        rest = &rest[cut..];
    }
    out + &voice.end()
}

/// The same text, broken off at a beginning.
fn cut_off(text: &str, lang: usize, random: &mut SplitMix64) -> String {
    format!("{text}{}", CUT[lang][random.below(CUT[lang].len())])
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut letters = whole.chars().flat_map(char::to_lowercase);
    part.chars().flat_map(char::to_lowercase).all(|letter| letters.any(|other| other == letter))
}

fn find_in_order(pieces: &[String], text: &str) -> Result<(), String> {
    let mut rest = text;
    for piece in pieces {
        // Block pieces stand on lines of their own; a ritual line beside one may go with its newline.
        let (body, is_block) = (piece.trim_matches('\n'), piece.starts_with('\n'));
        let at = rest.find(body).ok_or_else(|| piece.clone())?;
        let before = &text[..text.len() - rest.len() + at];
        if is_block && !before.is_empty() && !before.ends_with('\n') {
            return Err(piece.clone());
        }
        rest = &rest[at + body.len()..];
    }
    Ok(())
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn words(text: &str) -> [usize; 4] {
    ["not", "never", "ない", "jamais"].map(|word| text.matches(word).count())
}

#[test]
fn filters_keep_every_protected_piece() {
    let (mut altered, mut injected) = (0, 0);
    for seed in 0..12_000 {
        let mut random = SplitMix64::new(seed);
        let lang = (seed % 3) as usize;
        let (text, pieces) = generate(lang, &mut random);
        let filtered = apply(&text, LANGS[lang]);
        altered += usize::from(filtered.text != text);
        assert_eq!(filtered.applied.is_empty(), filtered.text == text, "seed {seed}: {text:?}");
        if let Err(piece) = find_in_order(&pieces, &filtered.text) {
            panic!("seed {seed}: lost {piece:?}\n{text:?}\n{:?}", filtered.text);
        }
        assert!(is_subsequence(&filtered.text, &text), "seed {seed}: {text:?}\n{:?}", filtered.text);
        // What people hear while it comes, and what is made of it where assertiveness is on.
        let heard = streamed(&text, LANGS[lang], &mut random);
        assert_eq!(heard, filtered.text, "seed {seed}: {text:?}");
        let last = inject(&heard, LANGS[lang], Injection { enabled: true });
        if let Err(piece) = find_in_order(&pieces, &last.text) {
            panic!("seed {seed}: filter and injection lost {piece:?}\n{text:?}\n{:?}", last.text);
        }
        let again = inject(&last.text, LANGS[lang], Injection { enabled: true });
        assert_eq!(again.text, last.text, "seed {seed}: twice");
        let plain = inject(&text, LANGS[lang], Injection { enabled: true });
        injected += plain.changed;
        if let Err(piece) = find_in_order(&pieces, &plain.text) {
            panic!("seed {seed}: injection lost {piece:?}\n{text:?}\n{:?}", plain.text);
        }
    }
    // The law says little where nothing happens.
    assert!(altered > 4_000 && injected > 50, "{altered} altered, {injected} injected");
}

#[test]
fn filters_twice_equal_once() {
    for seed in 0..24_000 {
        let mut random = SplitMix64::new(seed);
        let lang = (seed % 3) as usize;
        let text = if seed % 2 == 0 { scramble(lang, &mut random) } else { generate(lang, &mut random).0 };
        let once = apply(&text, LANGS[lang]);
        let twice = apply(&once.text, LANGS[lang]);
        assert_eq!(once.text, twice.text, "seed {seed}: {text:?}");
        assert_eq!(once.empty_refusal, twice.empty_refusal, "seed {seed}: {text:?}");
        assert!(twice.applied.is_empty());
        assert_eq!((digits(&text), words(&text)), (digits(&once.text), words(&once.text)), "seed {seed}: {text:?}");
    }
}

#[test]
fn stream_equals_whole_text_whatever_the_cuts() {
    for seed in 0..24_000 {
        let mut random = SplitMix64::new(seed);
        let lang = (seed % 3) as usize;
        let text = if seed % 2 == 0 { scramble(lang, &mut random) } else { generate(lang, &mut random).0 };
        let whole = apply(&text, LANGS[lang]).text;
        for _ in 0..2 {
            assert_eq!(streamed(&text, LANGS[lang], &mut random), whole, "seed {seed}: {text:?}");
        }
        // An answer is trimmed before it is filtered, and what is heard of it behind.
        let cut = cut_off(&text, lang, &mut random);
        let cut = cut.trim_end();
        let answer = apply(cut, LANGS[lang]).text;
        assert_eq!(apply(&answer, LANGS[lang]).text, answer, "seed {seed}: twice {cut:?}");
        for blank in BLANKS {
            let heard = streamed(&format!("{cut}{blank}"), LANGS[lang], &mut random);
            assert_eq!(heard.trim_end(), answer.trim_end(), "seed {seed}: {cut:?} before {blank:?}");
        }
    }
    // Units beyond the bound, and ordinary ones behind them.
    for lang in LANGS {
        let text =
            format!("{} as an AI, I. As an AI, I wait.\nAs an AI, I go. {}", "x ".repeat(3_000), "「y ".repeat(3_000));
        let whole = apply(&text, lang).text;
        assert_eq!(apply(&whole, lang).text, whole);
        assert_eq!(streamed(&text, lang, &mut SplitMix64::new(1)), whole);
    }
}

#[test]
fn metrics_stay_in_range_on_any_text() {
    let mut sum = Counts::default();
    for seed in 0..6_000 {
        let mut random = SplitMix64::new(seed);
        let lang = (seed % 3) as usize;
        let counts = Counts::of(&scramble(lang, &mut random), LANGS[lang], 40);
        assert!(counts.observations <= counts.utterances && counts.guided <= counts.refusals, "seed {seed}");
        sum += counts;
    }
    let metrics = Metrics::from(&sum);
    for ratio in [metrics.silence_ratio, metrics.assertion_ratio, metrics.guidance_rate].into_iter().flatten() {
        assert!((0.0..=1.0).contains(&ratio));
    }
    assert!(metrics.apology_density.is_some_and(|density| density > 1.0));
}
