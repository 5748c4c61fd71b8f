//! Does use wear memory out? Learning recalls of some questions, then the quality of the others.

use anyhow::Result;

use crate::data::Corpus;

pub fn measure(_corpora: Vec<Corpus>, _times: usize) -> Result<()> {
    Ok(())
}
