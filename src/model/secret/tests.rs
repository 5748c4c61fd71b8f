//! The table's samples and misses, and what redaction does to texts around them.

use super::encoding::{STANDARD, URL_SAFE, base64_within};
use super::*;

/// A sample of the table, made up: only here does it look like a secret, so that nobody's scanner stops at the table.
fn made_up(sample: &str) -> String {
    let fill = |alphabet: &str, count: usize| alphabet.chars().cycle().take(count).collect::<String>();
    let mut text = String::new();
    for part in sample.split_inclusive('}') {
        let Some((plain, hole)) = part.strip_suffix('}').and_then(|part| part.rsplit_once('{')) else {
            text += part;
            continue;
        };
        let (kind, count) = hole.split_at(1);
        text += plain;
        text += &match (kind, count.parse()) {
            ("a", Ok(count)) => fill("aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA", count),
            ("x", Ok(count)) => fill("0a1b2c3d4e5f6789", count),
            ("u", Ok(count)) => fill("7QK2ZV5W3HJ4NB6", count),
            ("n", Ok(count)) => fill("7201839456", count),
            _ => format!("{{{hole}}}"),
        };
    }
    text
}

/// One of each rule: kind and secret.
fn samples() -> impl Iterator<Item = (&'static str, String)> {
    RULES.iter().map(|rule| (rule.kind, made_up(rule.samples[0])))
}

#[test]
fn every_anchor_of_every_rule_has_a_sample_that_is_taken_and_every_rule_a_miss_that_is_not() {
    let secrets = Secrets::default();
    let kinds: BTreeSet<&str> = RULES.iter().map(|rule| rule.kind).collect();
    assert!(kinds.len() > 70, "{}", kinds.len());
    for rule in RULES {
        assert_eq!(rule.anchors.len(), rule.samples.len(), "{}: a sample for each anchor", rule.kind);
        assert!(!rule.misses.is_empty(), "{}: a near miss", rule.kind);
        for (anchor, sample) in rule.anchors.iter().zip(rule.samples) {
            let secret = made_up(sample);
            assert!(secret.to_lowercase().contains(&anchor.to_lowercase()), "{anchor}: {secret}");
            let found = secrets.find(format!("Take {secret}, and thé tea.").as_bytes());
            assert!(found.iter().any(|f| f.kind == rule.kind), "{anchor}: {secret}: {found:?}");
            assert_eq!(found.len(), 1, "{secret}: {found:?}");
        }
        for miss in rule.misses {
            let text = format!("Take {}, and thé tea.", made_up(miss));
            assert_eq!(secrets.redact(&text), text, "{}", rule.kind);
        }
    }
}

#[test]
fn the_page_of_the_format_lists_every_kind() {
    let page = include_str!("../../../docs/format.md");
    let listed = page.split("## Secrets").nth(1).unwrap();
    for kind in RULES.iter().map(|rule| rule.kind).chain([KNOWN]) {
        assert!(listed.contains(&format!("`{kind}`")), "{kind}");
    }
}

#[test]
fn a_rule_alone_takes_its_samples() {
    // What another rule takes as well would hide that this one takes nothing.
    for (number, rule) in RULES.iter().enumerate() {
        for sample in rule.samples {
            let text = made_up(sample);
            let hits = FINDER.anchors.find_overlapping_iter(&text);
            let mut own = hits.filter(|hit| FINDER.of_anchor[hit.pattern().as_usize()].0 == number);
            let taken = own.any(|hit| FINDER.at(number, text.as_bytes(), hit.start(), hit.end()).is_some());
            assert!(taken, "{}: {text}", rule.kind);
        }
    }
}

#[test]
fn a_secret_is_seen_whatever_touches_it() {
    let secrets = Secrets::default();
    let strong =
        ["ghp_{a36}", "glpat-{a20}", "xoxb-{a30}", "AKIA{u16}", "AIza{a35}", "npm_{a36}", "sk-{a48}", "hf_{a34}"];
    for secret in strong.map(made_up) {
        let core = &secret[8..secret.len() - 4];
        for before in
            ["\\n", "\\t", "%3D", "%22", "\\u003d", "\\x3d", "\u{1b}[32m", "[1;31m", "KEY_", "key=", "\"", "é", "会"]
        {
            for after in ["", "\\n", "%0A", "\u{1b}[0m", "\"", "é", "."] {
                let text = format!("{before}{secret}{after}");
                assert!(!secrets.redact(&text).contains(core), "{text}");
            }
        }
    }
    // Letters that touch it make no other word of a beginning that is none.
    let glued = format!("MYTOKEN{}", made_up("ghp_{a36}"));
    assert!(secrets.redact(&glued).ends_with("[redacted:github-token]"));
}

#[test]
fn data_in_base64_holds_no_secret_by_chance() {
    let secrets = Secrets::default();
    let blob = made_up("{a90}");
    for hidden in ["npm_{a36}", "AKIA{u16}", "hf_{a34}", "ghp_{a36}"].map(made_up) {
        let text = format!("{blob}{hidden}{blob}");
        assert_eq!(secrets.redact(&text), text);
    }
}

#[test]
fn a_secret_in_other_letters_is_a_secret() {
    let secrets = Secrets::default();
    let secret = made_up("ghp_{a36}");
    let wide: String = secret.chars().map(|c| char::from_u32(c as u32 + 0xfee0).unwrap()).collect();
    let bold = secret.replace('g', "\u{1d420}").replace('h', "ℎ");
    let hidden = format!("gh\u{200b}p_{}\u{ad}{}", &secret[4..20], &secret[20..]);
    let capitals = secret.to_uppercase();
    for text in [wide, bold, hidden, capitals] {
        let around = format!("お茶、{text}。thé");
        assert_eq!(secrets.redact(&around), "お茶、[redacted:github-token]。thé", "{around}");
        let normal = crate::model::ids::normalise(&secrets.redact(&around));
        assert_eq!(secrets.redact(&normal), normal);
    }
    for text in ["お茶、会社。ＡＢＣ１２３", "½ ﬁn… № 5", "ｐａｓｓｗｏｒｄ", "\u{200b}", "é\u{301}"]
    {
        assert_eq!(secrets.redact(text), text);
    }
    assert_eq!(secrets.find(b"\xff\xfe ghp_"), []);
}

#[test]
fn looking_takes_time_by_length_alone() {
    let secrets = Secrets::default();
    for part in [
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "ghp_aB3dE5",
        "sk-",
        "://a:",
        "token=",
        "AKIA",
        "１",
        "pat",
        ":AA",
        "the key for ",
        "user ",
        "secret: ",
    ] {
        let long = part.repeat(400_000 / part.len());
        let _ = secrets.find(long.as_bytes());
    }
}

#[test]
fn every_kind_is_redacted_and_the_text_around_it_stays() {
    let secrets = Secrets::default();
    for (kind, secret) in samples() {
        let text = format!("Take {secret}, and thé tea.");
        let clean = secrets.redact(&text).into_owned();
        assert!(clean.contains(&format!("[redacted:{kind}]")), "{clean}");
        assert!(clean.starts_with("Take ") && clean.ends_with(", and thé tea."), "{clean}");
        assert_eq!(secrets.redact(&clean), clean, "once is enough");
    }
    let pem = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----";
    assert_eq!(secrets.redact(&format!("a\n{pem}\nb")), "a\n[redacted:private-key]\nb");
    for (text, clean) in [
        ("postgres://ann:s3cret9@db/x", "postgres://ann:[redacted:url-password]@db/x"),
        ("Authorization: Bearer aB3dE5gH7jK9mN", "Authorization: Bearer [redacted:authorization]"),
        ("DB_PASSWORD=Tr0ub4dor&3x", "DB_PASSWORD=[redacted:assigned]"),
        ("\"api_key\": \"9f8e7d6c5b4a39281706\"", "\"api_key\": \"[redacted:assigned]\""),
    ] {
        assert_eq!(secrets.redact(text), clean);
    }
}

#[test]
fn what_only_looks_like_one_stays() {
    let secrets = Secrets::default();
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "550e8400-e29b-41d4-a716-446655440000",
        "20260126t143500000z-wc26zddr-notary",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
        "my password: correct horse battery staple",
        "the secret: never give up",
        "https://example.com/path:8080?x=1",
        "tokens_per_day = 10000",
        "pkcs11:token=Root%20CA%202048",
        "a task-oriented sk-learn risk-averse person",
        "password=$PASSWORD and token: <your-token-1>",
        "ghp_short, AKIA, eyJ",
    ] {
        assert_eq!(secrets.redact(text), text);
    }
}

#[test]
fn secrets_in_everyday_words_go_and_sentences_about_them_stay() {
    // The lists were written before the forms; the forms were chosen on the first alone.
    let lists = [(include_str!("sentences/chosen.txt"), 29), (include_str!("sentences/held-out.txt"), 30)];
    let secrets = Secrets::default();
    for (list, floor) in lists {
        let rows = list.lines().filter_map(|line| line.split_once('\t'));
        let (told, others): (Vec<_>, Vec<_>) = rows.partition(|(label, _)| *label == "+");
        let missed: Vec<_> = told.iter().filter(|(_, text)| secrets.redact(text) == *text).collect();
        assert!(told.len() - missed.len() >= floor, "{missed:#?}");
        let alarms: Vec<_> = others.iter().filter(|(_, text)| secrets.redact(text) != *text).collect();
        assert!(alarms.is_empty(), "{alarms:#?}");
    }
    assert_eq!(
        secrets.redact("パスワードは sakura99! です、login: admin / Sommer2027!, la contraseña es Gato*2027"),
        "パスワードは [redacted:said] です、login: admin / [redacted:said], la contraseña es [redacted:said]"
    );
}

#[test]
fn known_values_are_found_in_every_encoding() {
    let value = "s\"cr ét/+1xyz";
    let secrets = Secrets::new(&[], &[value.to_owned(), "short".to_owned()]).unwrap();
    let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<String>();
    let encode = |text: &str, alphabet: &[u8; 64]| {
        let padded = [text.as_bytes(), &vec![0; (3 - text.len() % 3) % 3]].concat();
        base64_within(&padded, 0, alphabet)
    };
    let mut all = vec![value.to_owned(), serde_json::to_string(value).unwrap(), hex(value), hex(value).to_uppercase()];
    all.push("s%22cr%20%C3%A9t%2F%2B1xyz".to_owned());
    all.push("s%22cr+%c3%a9t%2f%2b1xyz".replace('+', "%20"));
    // Python's `quote`, `encodeURIComponent`, PHP's, Go's and Python's JSON, and HTML.
    all.push("s%22cr%20%C3%A9t/%2B1xyz".to_owned());
    all.push("s%22cr+%C3%A9t%2F%2B1xyz".to_owned());
    all.push("s\\\"cr ét\\/+1xyz".to_owned());
    all.push("s\\\"cr \\u00e9t/+1xyz".to_owned());
    all.push("s\\\"cr \\u00E9t\\/+1xyz".to_owned());
    all.push("s&quot;cr ét/+1xyz".to_owned());
    for before in ["", "a", "ab", "abc"] {
        for alphabet in [STANDARD, URL_SAFE] {
            all.push(encode(&format!("{before}{value}and more"), alphabet));
        }
    }
    for text in all {
        let clean = secrets.redact(&text).into_owned();
        assert!(clean.contains("[redacted:known-value]"), "{text} → {clean}");
    }
    assert_eq!(secrets.redact("short is no secret"), "short is no secret");
    let secrets = Secrets::new(&[], &["wJalrXUtn/K7MDENG&bPxRfi+CYEX=Q9".to_owned()]).unwrap();
    for text in ["wJalrXUtn/K7MDENG%26bPxRfi%2BCYEX%3DQ9", "wJalrXUtn/K7MDENG\\u0026bPxRfi+CYEX=Q9"] {
        assert_eq!(secrets.redact(text), "[redacted:known-value]");
    }
}

#[test]
fn json_is_redacted_inside_its_texts() {
    let secrets = Secrets::default();
    let token = &made_up("ghp_{a36}");
    let hidden = format!("\\u0067{}", &token[1..]);
    let text = format!(r#"{{"a": ["x {hidden}"], "{token}": 1, "password": "Tr0ub4dor&3x", "n": 1.5}}"#);
    let clean = String::from_utf8(secrets.redact_json(text.as_bytes()).unwrap()).unwrap();
    assert!(!clean.contains(&token[4..]) && !clean.contains("Tr0ub"), "{clean}");
    assert!(clean.contains("x [redacted:github-token]") && clean.contains("1.5"), "{clean}");
    assert_eq!(secrets.redact_json(br#"{"a": "t\u0065a\n"}"#), None);
    // What stands around it stays as it is: lines, numbers, a key that stands twice, an escape.
    let text =
        format!("{{ \"n\":1.50,\n\n\"n\" : [\"t\\u0065a \\\"\", \"{token}\"],\n\"secret\":\n\"Tr0ub4dor&3x\"}}\n");
    let clean = String::from_utf8(secrets.redact_json(text.as_bytes()).unwrap()).unwrap();
    let expected =
        text.replace(token.as_str(), "[redacted:github-token]").replace("Tr0ub4dor&3x", "[redacted:assigned]");
    assert_eq!(clean, expected);
    assert_eq!(secrets.redact_json(format!("{{\"a\": \"{token}\"").as_bytes()), None, "no JSON");
}

#[test]
fn what_is_allowed_is_let_through() {
    let (kind, token) = &("aws-access-key", "AKIAIOSFODNN7EXAMPLE".to_owned());
    for allow in [(*kind).to_owned(), "AKIA.*EXAMPLE".to_owned()] {
        assert_eq!(Secrets::new(&[allow], &[]).unwrap().redact(token), token.as_str());
    }
    assert_ne!(Secrets::new(&["AKIA".to_owned()], &[]).unwrap().redact(token), token.as_str(), "whole, or not");
    assert!(Secrets::new(&["(".to_owned()], &[]).is_err());
}

#[test]
fn placeholders_stay_and_values_go() {
    let secrets = Secrets::default();
    let names = ["password", "DB_PASSWORD", "api_key", "client_secret", "token"];
    let signs = [" = ", "=", ": ", " => ", ": \""];
    let assigned = |value: &str| {
        let both = names.iter().flat_map(|name| signs.map(|sign| format!("{name}{sign}{value}")));
        both.collect::<Vec<_>>()
    };
    let variables = ["DB_PASS2", "Api1Key", "s3_secret", "token-9"];
    let forms = ["%{}%", "@{}@", "__{}__", "var.{}", "${{}}", "${}", "{{{}}}", "<{}>", "process.env.{}", "secrets.{}"];
    let mut stay: Vec<String> =
        variables.iter().flat_map(|name| forms.map(|form| form.replacen("{}", name, 1))).collect();
    let others = [
        "<your-key-1>",
        "get_secret2(\"x\")",
        "vault.readKey1('a')",
        "YOUR_API_KEY_1",
        "your-mailgun2-api-key",
        "changeme123",
        "change_me_1234",
        "CHANGE-ME-12",
        "example-token-1",
        "dummy_secret_42",
        "REPLACE_WITH_KEY1",
        "xxxx1234",
        "XXXXXX12",
        "ab12...yz89",
        "proc_macro2::TokenStream",
        "node.colon2_token",
        "a1b2c3...",
        "ab12345…",
    ];
    stay.extend(others.map(str::to_owned));
    for text in stay.iter().flat_map(|value| assigned(value)) {
        assert_eq!(secrets.redact(&text), text);
    }
    // Letters and figures of chance, in the alphabets that generators use, by a seed.
    let alphabets = [
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "0123456789abcdef",
        "ABCDEFGHJKLMNPQRSTUVWXYZ23456789",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "abcdefghijkmnopqrstuvwxyzABCDEFG0123456789-_.%@!#&+/=",
    ];
    let mut state = 7_u64;
    let mut chance = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut gone: Vec<String> = Vec::new();
    while gone.len() < 20_000 {
        let alphabet = alphabets[chance(alphabets.len())].as_bytes();
        let length = 8 + chance(40);
        let value: String = (0..length).map(|_| char::from(alphabet[chance(alphabet.len())])).collect();
        if looks_made(value.as_bytes()) && !is_plain(value.as_bytes()) {
            gone.push(value);
        }
    }
    let lost = gone.iter().filter(|value| placeholder::is_placeholder(value.as_bytes(), None)).collect::<Vec<_>>();
    assert_eq!(lost, Vec::<&String>::new());
    let people = [
        "Tr0ub4dor&3x",
        "hunter2hunter",
        "Summer2024!",
        "P@ssw0rd1",
        "correct-horse-9-battery",
        "summer.rain24",
        "Winter.Is.C0ming",
        "%9fK2mQ7x",
        "xK9xmP2xvL",
        "my1lovelycat",
        "Liverpool1892",
        "your1stpet-Rex",
        "var9Kd2mQ.x7",
        "Hunter22(x)",
        "Tr0ub4dor&3x...",
        "1qaz2wsx3edc",
        "letmein99",
        "secret99cats",
        "token7Qm2Zr",
        "a1b2c3d4",
        "changed4Rover",
        "MyDogBenny12",
    ];
    for text in people.iter().flat_map(|value| assigned(value)) {
        assert!(secrets.redact(&text).contains("[redacted:assigned]"), "{text}");
    }
}
