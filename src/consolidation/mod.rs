//! Consolidation: what sleep strengthens, replays and prunes, as arithmetic on neurons.
//!
//! Pure. In the flow: quiet → **sleep** → main. Source: MagistraAI's technical note, 6.
