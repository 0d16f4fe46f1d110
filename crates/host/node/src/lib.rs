//! The addon of the npm package: everything that touches Node-API. A JavaScript thread opens its lane with `attach`; one
//! engine thread per process serves the lanes of all of them. Types of what is exported: `packages/leat/src/native/addon.ts`.

mod dial;
mod engine;
mod error;
pub mod exports;
mod metrics;
mod port;
mod settings;
mod wake;
