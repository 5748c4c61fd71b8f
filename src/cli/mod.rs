//! The command line: parse, call `brain`, print.

pub mod args;
