//! A neuron's file: what is read is written back as a canonical file, which reads as the same neuron.

#![no_main]

use git_brain::model::Neuron;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(neuron) = Neuron::decode(bytes, "network/neurons/00/0/n.json") else { return };
    let canonical = neuron.encode();
    let again = Neuron::decode(&canonical, "canonical").expect("what was written is read");
    assert_eq!(again, neuron);
    assert_eq!(again.encode(), canonical);
});
