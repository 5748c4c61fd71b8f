//! The loop.
#![allow(clippy::disallowed_methods, reason = "child processes")]
pub mod bootstrap;
pub mod command;
