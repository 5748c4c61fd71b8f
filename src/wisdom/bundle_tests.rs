//! What a bundle holds, and which bundles are refused.

use super::*;
use crate::model::ids::RunId;

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn at(text: &str) -> Stamp {
    text.parse().unwrap()
}

fn standing(number: usize, action: &str) -> SeedStanding {
    let seed = Seed {
        condition: "which lever opens the gate".into(),
        action: action.into(),
        effect: "it opened".into(),
        polarity: Polarity::Do,
        sources: vec![RunId::parse("20260126t143200123z-abcd2345-anna").unwrap()],
        inherited: None,
    };
    SeedStanding {
        id: seed.id(),
        run: RunId::parse("20260126t143200123z-abcd2345-human").unwrap(),
        seed,
        support: number + 3,
        contradict: 0,
        confidence: 0.8,
        causal: 0.5,
        state: State::Active,
    }
}

/// Signed by something that looks at the bytes: a double of ed25519, which is tested where the keys are.
fn seal(bundle: &Bundle) -> String {
    crate::council::digest::sha256_hex(&bundle.signed_bytes())
}

fn is_signed(_: &str, bytes: &[u8], signature: &str) -> bool {
    crate::council::digest::sha256_hex(bytes) == signature
}

fn bundle(standings: &[SeedStanding]) -> (Bundle, Vec<(String, &'static str)>) {
    let (mut bundle, left_out) = Bundle::of(standings, KEY, at("2026-01-01T00:00:00Z"), at("2026-03-01T00:00:00Z"));
    bundle.signature = seal(&bundle);
    (bundle, left_out)
}

fn read(bundle: &Bundle, key: &str, now: &str) -> Result<Bundle, BundleFault> {
    Bundle::read(&json::pretty(bundle), key, at(now), &is_signed)
}

#[test]
fn a_bundle_has_at_most_two_dozen_seeds_and_no_person() {
    let mut standings: Vec<SeedStanding> = (0..40).map(|n| standing(n, &format!("lever {n}"))).collect();
    standings[0].seed.action = "ask anna".into();
    standings[1].state = State::Retired;
    let (bundle, left_out) = bundle(&standings);
    assert_eq!((bundle.seeds.len(), left_out.len()), (limits::BUNDLE_SEEDS, 1));
    assert!(!json::inline(&bundle).contains("anna"), "neither in seeds nor in the names of runs");
    assert!(read(&bundle, KEY, "2026-02-01T00:00:00Z").is_ok());
}

#[test]
fn what_was_changed_expired_or_is_anothers_is_refused() {
    let (good, _) = bundle(&[standing(0, "left lever")]);
    let now = "2026-02-01T00:00:00Z";
    assert!(matches!(read(&good, &"f".repeat(64), now), Err(BundleFault::Key(_))));
    assert!(matches!(read(&good, KEY, "2026-03-02T00:00:00Z"), Err(BundleFault::Expired(_))));
    assert!(matches!(read(&good, KEY, "2025-12-31T00:00:00Z"), Err(BundleFault::Ahead(_))));
    let changes: [fn(&mut Bundle); 6] = [
        |b| b.seeds[0].action = "right lever".into(),
        |b| b.seeds[0].confidence = 0.9,
        |b| b.seeds[0].polarity = Polarity::Avoid,
        |b| b.expires = at("2027-01-01T00:00:00Z"),
        |b| b.seeds[0].sources.clear(),
        |b| b.signature = "00".into(),
    ];
    for change in changes {
        let mut changed = good.clone();
        change(&mut changed);
        assert_eq!(read(&changed, KEY, now), Err(BundleFault::Signature));
    }
    let sealed = |change: &dyn Fn(&mut Bundle)| {
        let mut other = good.clone();
        change(&mut other);
        other.signature = seal(&other);
        read(&other, KEY, now)
    };
    assert!(matches!(sealed(&|b| b.format = "git-brain wisdom 2".into()), Err(BundleFault::Format(_))));
    assert!(matches!(sealed(&|b| b.seeds.clear()), Err(BundleFault::Format(_))));
    assert!(matches!(sealed(&|b| b.seeds = vec![b.seeds[0].clone(); 25]), Err(BundleFault::Format(_))));
    let twice = |b: &mut Bundle| {
        b.seeds = vec![b.seeds[0].clone(); 2];
        // Capitals and punctuation, support and effect make no other seed.
        (b.seeds[1].action, b.seeds[1].support, b.seeds[1].effect) = ("Left lever!".into(), 9, "it moved".into());
    };
    assert_eq!(sealed(&twice).unwrap_err().to_string(), "seed 2: says the same as seed 1");
    assert!(matches!(sealed(&|b| b.seeds[0].confidence = 7.0), Err(BundleFault::Seed { number: 1, .. })));
    assert!(matches!(sealed(&|b| b.seeds[0].effect = "anna smiled".into()), Err(BundleFault::Seed { .. })));
    for source in [
        "Anna Moreau, anna@example.org",
        "20260126t143200123z-abcd2345-anna",
        "20260126t345678000z-quixanna",
        "20260231t143200123z-quixanna",
        "../../x",
        "a\u{1b}]0;x\u{7}b",
    ] {
        let told = sealed(&|b| b.seeds[0].sources = vec![source.into()]).unwrap_err().to_string();
        assert!(told.contains("without the name") && !told.contains("anna"), "{told}");
    }
    assert!(matches!(Bundle::read(b"{}", KEY, at(now), &is_signed), Err(BundleFault::Format(_))));
}
