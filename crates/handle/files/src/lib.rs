//! Serves the files of a directory: GET and HEAD, conditions, ranges, precompressed siblings, and no way out of it.
//!
//! A request goes through these files in this order: `path` (from percent-encoding to a checked relative path),
//! `lookup` over `beneath` (from there to an open regular file), `coding` (which sibling), `conditions` over
//! `validators` (whether to answer in full), `ranges` (which bytes), `body` over `reader` (the bytes).
//!
//! What the page cache and the directory cache hold is served on the core's own thread without waiting; the rest is
//! opened and read on tokio's blocking threads.

mod beneath;
mod body;
mod coding;
mod conditions;
mod files;
mod lookup;
mod media_type;
mod multipart;
mod path;
mod ranges;
mod reader;
mod settings;
mod validators;

pub use coding::{Acceptable, Coding};
pub use files::Files;
pub use ranges::RANGES_MAX;
pub use reader::CHUNK_BYTES;
pub use settings::{Hidden, Settings, SettingsError};
