//! # git-brain
//!
//! A brain you can `git log`: a network of neurons shared by many agents, as versioned JSON files in a git repository.
//!
//! ```text
//! stimulus → trigger → run (cognition) → delta → commit on a branch → merge into wake → new triggers | quiet
//! ```
//!
//! Each arrow is a function from plain data to plain data; each stage can be restarted from git alone. A module imports
//! only what stands above it in this table, which a test holds:
//!
//! | module | owns | |
//! |---|---|---|
//! | [`limits`] | every bound, with its reason | pure |
//! | [`model`] | neuron, connection, salience, ids, canonical JSON | pure |
//! | [`text`] | words, sentences, names of English, French and Japanese | pure |
//! | [`citation`] | citations of code in a text, and where the lines went | pure |
//! | [`client`] | coding agents: hooks, transcripts, settings files | pure |
//! | [`moving`] | memories of other programs as pages, pages as their files | pure |
//! | [`integrity`] | ritual in what minds say: measured, taken out, judged | pure |
//! | [`council`] | votes of different minds: sealed, counted, escalated | pure |
//! | [`deliberation`] | which hypotheses deserve to land: debate, gates, classes | pure |
//! | [`delta`] | operations: read, apply, diff, render; capabilities | pure |
//! | [`merge`] | the typed three-way merge, conflicts as data | pure |
//! | [`activation`] | compact graph, propagation, recall | pure |
//! | [`chemistry`] | dopamine: prediction errors; serotonin: the narrative | pure |
//! | [`consolidation`] | what sleep strengthens, replays and prunes | pure |
//! | [`trigger`] | what changed → what wakes | pure |
//! | [`vitals`] | figures that say how far a network is a brain | pure |
//! | [`picture`] | the part of a network to draw, its layout, its files | pure |
//! | [`review`] | what a waiting run would change, for people; their decisions | pure |
//! | [`audit`] | rules that a history must hold; findings, the sample, SARIF | pure |
//! | [`wisdom`] | what came of actions, distilled into seeds: karma, causes, bundles | pure |
//! | [`sealed`] | memories about a subject under that subject's key | pure |
//! | [`cognition`] | how agents think: a snapshot in, a delta out | pure |
//! | [`world`] | clock, ids, environment, files that people name, trust | |
//! | [`store`] | git: objects, trees, commits, refs, locks, work trees | |
//! | [`llm`] | models behind endpoints: replies and embeddings | |
//! | [`forge`] | requests for review on GitHub, GitLab, Forgejo, Gitea, Radicle | |
//! | [`cycle`] | the loop, one file a stage | |
//! | [`brain`] | the façade: the one thing that front doors know | |
//! | [`cli`] | the command line: parse, call `brain`, print | |
//! | [`http`] | HTTP and the page: judge, call `brain`, answer | |
//! | [`mcp`] | the Model Context Protocol: tools, resources, prompts | |

#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used))]

pub mod activation;
pub mod audit;
pub mod brain;
pub mod chemistry;
pub mod citation;
#[allow(clippy::print_stdout, reason = "a front door prints")]
pub mod cli;
pub mod client;
pub mod cognition;
pub mod consolidation;
pub mod council;
pub mod cycle;
pub mod deliberation;
pub mod delta;
pub mod forge;
pub mod http;
pub mod integrity;
pub mod limits;
pub mod llm;
pub mod mcp;
pub mod merge;
pub mod model;
pub mod moving;
pub mod picture;
pub mod review;
pub mod sealed;
pub mod store;
pub mod text;
pub mod trigger;
pub mod vitals;
pub mod wisdom;
pub mod world;
