//! Places of sealed memories among answers: by how close each comes to the question, which is the one measure that both have.

/// A place in a merged list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The answer of that number.
    Answer(usize),
    /// The sealed memory of that number.
    Sealed(usize),
}

/// Answers in their order, and each sealed memory before the first answer that comes less close to the question. Of sealed ones the closest comes
/// first; those that are less close than `least` are left out.
pub fn merged(answers: &[f64], sealed: &[f64], least: f64) -> Vec<Place> {
    let mut order: Vec<usize> = (0..sealed.len()).filter(|at| sealed[*at] >= least).collect();
    order.sort_by(|a, b| sealed[*b].total_cmp(&sealed[*a]));
    let mut waiting = order.into_iter().peekable();
    let mut places = Vec::new();
    for (at, close) in answers.iter().enumerate() {
        while let Some(next) = waiting.next_if(|next| sealed[*next] > *close) {
            places.push(Place::Sealed(next));
        }
        places.push(Place::Answer(at));
    }
    places.extend(waiting.map(Place::Sealed));
    places
}

#[cfg(test)]
mod tests {
    use super::Place::{Answer, Sealed};
    use super::*;

    #[test]
    fn sealed_memories_stand_before_the_first_answer_that_is_less_close() {
        let places = merged(&[1.0, 0.3, 0.8], &[0.1, 0.5, 0.9], 0.2);
        assert_eq!(places, [Answer(0), Sealed(2), Sealed(1), Answer(1), Answer(2)]);
        assert_eq!(merged(&[], &[0.2], 0.2), [Sealed(0)]);
        assert_eq!(merged(&[0.5], &[0.5], 0.2), [Answer(0), Sealed(0)], "as close: behind");
        assert_eq!(merged(&[0.5], &[], 0.2), [Answer(0)]);
    }
}
