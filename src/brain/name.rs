//! Neurons by the beginning of their ids, as answers show them.

use super::{Brain, BrainError};
use crate::cycle::network::TreeNetwork;
use crate::limits;
use crate::model::ids::NeuronId;

/// How many neurons of one beginning an error names.
const NAMED: usize = 4;

impl Brain {
    /// The neuron that an id names, or the beginning of an id. An id that no neuron begins with is given back as it is: there may have
    /// been one.
    ///
    /// # Errors
    /// No id, or several neurons begin so (exit code 2).
    pub fn neuron_named(&self, text: &str, at: Option<&str>) -> Result<NeuronId, BrainError> {
        let id = NeuronId::parse(text).map_err(|e| BrainError::usage(e.to_string()))?;
        let is_digits = text.chars().all(|c| c.is_ascii_hexdigit());
        if text.len() + if is_digits { 2 } else { 0 } < limits::ID_PREFIX_CHARS {
            return Ok(id);
        }
        let commit = self.at(at)?;
        let store = &self.cycle.store;
        if TreeNetwork::new(store, store.tree_of(commit)?).neuron(&id)?.is_some() {
            return Ok(id);
        }
        let snapshot = self.snapshot_of(commit)?;
        let graph = snapshot.graph();
        // The digits alone name a memory as well.
        let is_start =
            |id: &str| id.starts_with(text) || id.strip_prefix("e-").is_some_and(|digits| digits.starts_with(text));
        let ids = graph.nodes().map(|node| graph.id(node)).filter(|id| is_start(id));
        let mut found: Vec<String> = ids.take(NAMED).map(str::to_owned).collect();
        if found.is_empty() {
            // What is archived is in no snapshot.
            let place = crate::model::layout::NEURONS;
            store.each_file(store.tree_of(commit)?, place, &mut |path, _| {
                if let Some(name) = path.rsplit('/').next().and_then(|name| name.strip_suffix(".json"))
                    && is_start(name)
                    && found.len() < NAMED
                {
                    found.push(name.to_owned());
                }
                Ok(())
            })?;
        }
        match &found.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Ok(id),
            [one] => NeuronId::parse(one).map_err(|e| BrainError::usage(e.to_string())),
            several => Err(BrainError::Usage {
                message: format!("{text} is the beginning of several ids"),
                hint: Some(format!("name one of them in full, such as {}", several.join(", "))),
            }),
        }
    }
}
