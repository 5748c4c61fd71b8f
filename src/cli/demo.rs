//! `demo`.
use super::args;
use super::{Done, Session};
use crate::brain::BrainError;

pub(super) fn demo(_session: &Session, _args: &args::Demo) -> Done {
    Err(BrainError::usage("not here yet"))
}
