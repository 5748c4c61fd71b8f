//! A content as what it has in common with another and what is new: the instructions of git's packs.
//!
//! Source: git's `gitformat-pack`, "Deltified representation".

/// Bytes that two contents must have in common to be worth a copy: an instruction to copy takes up to seven.
const WINDOW: usize = 8;
/// Most bytes of one copy, and of one insertion.
const COPIED: usize = 0xff_ffff;
const INSERTED: usize = 0x7f;
/// Longer contents are not looked at: an index of every place in one takes memory, and no document of ours is long.
const LONGEST: usize = 256 << 10;

/// A content that others are told apart from, and where its windows are.
pub(super) struct Base {
    content: Vec<u8>,
    /// By the hash of a window the first place of one, plus 1; 0: none.
    places: Vec<u32>,
}

fn window(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + WINDOW).and_then(|window| window.try_into().ok()).map(u64::from_le_bytes)
}

impl Base {
    /// `None` if it is too long, or too short to bring anything.
    pub fn new(content: Vec<u8>) -> Option<Self> {
        if !(WINDOW..=LONGEST).contains(&content.len()) {
            return None;
        }
        let mut base = Self { places: vec![0; content.len().next_power_of_two()], content };
        for at in 0..=base.content.len() - WINDOW {
            let slot = base.slot(window(&base.content, at)?);
            let place = &mut base.places[slot];
            *place = if *place == 0 { at as u32 + 1 } else { *place };
        }
        Some(base)
    }

    fn slot(&self, window: u64) -> usize {
        let bits = self.places.len().trailing_zeros();
        // Source: Knuth, The Art of Computer Programming, vol. 3, 6.4: multiplication by a share of the golden ratio.
        (window.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    /// Where the base has these bytes; not every place is known.
    fn place(&self, bytes: u64) -> Option<usize> {
        let at = self.places[self.slot(bytes)].checked_sub(1)? as usize;
        (window(&self.content, at) == Some(bytes)).then_some(at)
    }

    /// The instructions that make `target` of it; `None` if that is too long.
    pub fn delta(&self, target: &[u8]) -> Option<Vec<u8>> {
        if target.len() > LONGEST {
            return None;
        }
        let base = &self.content[..];
        let mut out = Vec::with_capacity(target.len() / 4);
        length(base.len(), &mut out);
        length(target.len(), &mut out);
        let (mut at, mut fresh) = (0, 0);
        // Where the last copy ended: what follows there is the likeliest to follow here.
        let mut behind = 0;
        while let Some(next) = window(target, at) {
            let from = if window(base, behind) == Some(next) { Some(behind) } else { self.place(next) };
            let Some(from) = from else {
                at += 1;
                behind += 1;
                continue;
            };
            let same = |(a, b): &(&u8, &u8)| a == b;
            let back = base[..from].iter().rev().zip(target[fresh..at].iter().rev()).take_while(same).count();
            let on = base[from..].iter().zip(&target[at..]).take_while(same).count();
            insert(&target[fresh..at - back], &mut out);
            copy(from - back, back + on, &mut out);
            (at, behind) = (at + on, from + on);
            fresh = at;
        }
        insert(&target[fresh..], &mut out);
        Some(out)
    }
}

/// Follows the instructions; `None` if they are none, are for another base, or make more than so many bytes.
pub(super) fn apply(base: &[u8], delta: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut rest = delta;
    let from = read_length(&mut rest)?;
    let to = read_length(&mut rest).filter(|to| *to <= most)?;
    let mut out = Vec::with_capacity(to);
    while let Some((head, after)) = rest.split_first() {
        rest = after;
        let part = match head & 0x7f {
            0 if *head == 0 => return None,
            length if head & 0x80 == 0 => take(&mut rest, usize::from(length))?,
            bits => {
                let mut number = |bits: u8, count: u8| {
                    (0..count).try_fold(0_usize, |sum, place| {
                        let byte = if bits & 1 << place > 0 { take(&mut rest, 1)?[0] } else { 0 };
                        Some(sum | usize::from(byte) << (8 * place))
                    })
                };
                let (start, length) = (number(bits & 0xf, 4)?, number(bits >> 4, 3)?);
                base.get(start..)?.get(..if length == 0 { 0x1_0000 } else { length })?
            }
        };
        if out.len() + part.len() > to {
            return None;
        }
        out.extend_from_slice(part);
    }
    (from == base.len() && out.len() == to).then_some(out)
}

fn take<'d>(rest: &mut &'d [u8], bytes: usize) -> Option<&'d [u8]> {
    let (taken, after) = rest.split_at_checked(bytes)?;
    *rest = after;
    Some(taken)
}

fn read_length(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn length(mut bytes: usize, out: &mut Vec<u8>) {
    while bytes >= 0x80 {
        out.push(bytes as u8 | 0x80);
        bytes >>= 7;
    }
    out.push(bytes as u8);
}

fn insert(bytes: &[u8], out: &mut Vec<u8>) {
    for part in bytes.chunks(INSERTED) {
        out.push(part.len() as u8);
        out.extend_from_slice(part);
    }
}

fn copy(mut from: usize, mut bytes: usize, out: &mut Vec<u8>) {
    while bytes > 0 {
        let part = bytes.min(COPIED);
        let head = out.len();
        out.push(0x80);
        for (bit, byte) in (from as u32).to_le_bytes().into_iter().enumerate().filter(|(_, byte)| *byte > 0) {
            out[head] |= 1 << bit;
            out.push(byte);
        }
        for (bit, byte) in (part as u32).to_le_bytes()[..3].iter().enumerate().filter(|(_, byte)| **byte > 0) {
            out[head] |= 0x10 << bit;
            out.push(*byte);
        }
        (from, bytes) = (from + part, bytes - part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Follows the instructions, as git's documentation tells it.
    fn made(base: &[u8], delta: &[u8]) -> Vec<u8> {
        let mut rest = delta.iter().copied();
        let mut number = || {
            let (mut value, mut shift) = (0_usize, 0);
            loop {
                let byte = rest.next().unwrap();
                value |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    return value;
                }
            }
        };
        let (from, to) = (number(), number());
        assert_eq!(from, base.len());
        let mut out = Vec::new();
        while let Some(head) = rest.next() {
            if head & 0x80 == 0 {
                assert!(head > 0, "reserved");
                out.extend((0..head).map(|_| rest.next().unwrap()));
                continue;
            }
            let mut part = |bits: std::ops::Range<u8>| {
                let first = bits.start;
                bits.filter(|bit| head & 1 << bit > 0)
                    .fold(0, |sum, bit| sum | usize::from(rest.next().unwrap()) << (8 * (bit - first)))
            };
            let (offset, size) = (part(0..4), part(4..7));
            let size = if size == 0 { 0x10000 } else { size };
            out.extend_from_slice(&base[offset..offset + size]);
        }
        assert_eq!(out.len(), to);
        out
    }

    #[test]
    fn what_changed_little_takes_little() {
        let base: String =
            (0..200).map(|n| format!("{{\"target\": \"tea-{n:03}\", \"weight\": {}}},\n", n * 7)).collect();
        let target =
            base.replace("tea-100\", \"weight\": 700", "tea-100\", \"weight\": 1234").replacen("tea", "coffee", 1);
        let delta = Base::new(base.clone().into()).unwrap().delta(target.as_bytes()).unwrap();
        assert_eq!(made(base.as_bytes(), &delta), target.as_bytes());
        assert!(delta.len() < 60, "{}", delta.len());
        assert!(Base::new(b"short".to_vec()).is_none() && Base::new(vec![0; LONGEST + 1]).is_none());
    }

    proptest! {
        #[test]
        fn whatever_changed_is_made_again(
            base in proptest::collection::vec(0_u8..4, WINDOW..3000),
            cuts in proptest::collection::vec((0_usize..3000, 0_usize..3000, proptest::collection::vec(any::<u8>(), 0..300)), 0..6),
        ) {
            let mut target = Vec::new();
            for (from, to, new) in cuts {
                let (from, to) = (from.min(base.len()), to.min(base.len()));
                target.extend_from_slice(&base[from.min(to)..to.max(from)]);
                target.extend_from_slice(&new);
            }
            let delta = Base::new(base.clone()).unwrap().delta(&target).unwrap();
            prop_assert_eq!(&made(&base, &delta), &target);
            prop_assert_eq!(apply(&base, &delta, target.len()), Some(target));
        }

        #[test]
        fn what_is_no_difference_makes_nothing(
            base in proptest::collection::vec(any::<u8>(), 0..300),
            mut delta in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let made = apply(&base, &delta, 500);
            prop_assert!(made.is_none_or(|made| made.len() <= 500));
            let target: Vec<u8> = base.iter().copied().chain(delta.iter().copied()).collect();
            delta = Base::new(base.clone()).and_then(|base| base.delta(&target)).unwrap_or_default();
            for cut in 0..delta.len() {
                prop_assert!(apply(&base, &delta[..cut], 500).is_none(), "cut off at {}", cut);
            }
            prop_assert!(delta.is_empty() || target.is_empty() || apply(&base, &delta, target.len() - 1).is_none(), "too long");
            prop_assert!(delta.is_empty() || apply(&[&base[..], b"x"].concat(), &delta, 500).is_none(), "another base");
        }
    }
}
