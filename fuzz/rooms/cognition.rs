//! Of the ways to think, the one that models drive.

#[path = "../../src/cognition/chain/mod.rs"]
pub mod chain;
#[path = "../../src/cognition/exchange.rs"]
pub mod exchange;
