//! Reading settings: overlays, and what is no setting.

use super::*;

fn over(key: &str, value: &str) -> Override {
    Override { place: "-c".into(), key: key.into(), value: value.into() }
}

#[test]
fn an_empty_file_gives_the_defaults() {
    assert_eq!(Settings::read("", &[]).unwrap(), Settings::default());
}

#[test]
fn overrides_win_in_order_and_know_both_spellings() {
    let text = "[activation]\nmax_depth = 2\n";
    let read = |o: &[Override]| Settings::read(text, o).unwrap().activation;
    assert_eq!(read(&[]).max_depth, 2);
    assert_eq!(read(&[over("activation.max-depth", "3")]).max_depth, 3);
    assert_eq!(read(&[over("Activation.Max_Depth", "3"), over("activation.max_depth", "5")]).max_depth, 5);
    assert_eq!(read(&[over("activation.min", "1")]).min, 1.0);
    let merge = Settings::read("", &[over("merge.weight", "review")]).unwrap().merge;
    assert_eq!(merge.weight, Rule::Review);
}

#[test]
fn wrong_settings_are_refused_with_their_place() {
    let error = Settings::read("[activation]\nmax_dept = 2\n", &[]).unwrap_err().to_string();
    assert!(error.contains("brain.toml") && error.contains("max_dept"), "{error}");
    for (key, value) in [
        ("activation.decay", "2"),
        ("activation.min", "0"),
        ("depth", "1"),
        ("cycle.max_depth", "4"),
        ("activation.decay", "nan"),
        ("merge.weight", "guess"),
        ("inhibition.ratio", "-1"),
        ("inhibition.cycles", "-1"),
        ("a.b", "1"),
        ("learning.eligibility", "1.5"),
        ("learning.discount", "-1"),
        ("learning.history", "5000"),
        ("recall.embeddings_timeout_ms", "0"),
        ("recall.embeddings_timeout_ms", "600001"),
        ("serotonin.bias", "0.11"),
        ("serotonin.bias", "-0.01"),
        ("serotonin.smoothing", "0"),
        ("serotonin.alarm", "1.5"),
        ("serotonin.memory", "0"),
        ("origins.local", "refused"),
        ("origins.mcp", "maybe"),
        ("origins.weight", "1001"),
    ] {
        assert!(Settings::read("", &[over(key, value)]).is_err(), "{key}={value}");
    }
}

#[test]
fn models_and_chain_are_read() {
    let text = "[models.small]\nprovider = \"openai\"\nmodel = \"q\"\nfamily = \"qwen\"\n\
        base_url = \"http://127.0.0.1:1/v1\"\nkey_env = \"K\"\n[[chain.step]]\nname = \"OL1\"\n\
        model = \"small\"\nrole = \"research\"\nturns = 4\n";
    let settings = Settings::read(text, &[]).unwrap();
    assert_eq!((settings.models.len(), settings.chain.step.len()), (1, 1));
}

#[test]
fn a_gate_that_may_take_no_time_is_refused() {
    let gate = |ms: u32| format!("[[deliberation.gate]]\nname = \"known\"\nargv = [\"judge\"]\ntimeout_ms = {ms}\n");
    let error = Settings::read(&gate(0), &[]).unwrap_err().to_string();
    assert!(error.contains("timeout_ms") && error.contains("no program answers in no time"), "{error}");
    assert!(Settings::read(&gate(1), &[]).is_ok());
}
