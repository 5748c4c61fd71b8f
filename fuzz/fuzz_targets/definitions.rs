//! What people define: agents, and settings with an override. The first byte says which.

#![no_main]

use git_brain::model::settings::Override;
use git_brain::model::{Agent, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 3 {
        0 => drop(Agent::decode(rest, "agents/a.json")),
        1 => {
            let Ok(text) = std::str::from_utf8(rest) else { return };
            if let Ok(settings) = Settings::read(text, &[]) {
                assert_eq!(Settings::read(text, &[]).expect("read before"), settings);
            }
        }
        _ => {
            let Ok(text) = std::str::from_utf8(rest) else { return };
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            let given = Override { place: "-c".into(), key: key.into(), value: value.into() };
            drop(Settings::read("", &[given]));
        }
    }
});
