//! Finds the route of a request: method, host, path, fields and query in, the number of a route and its parameters out.
//! Pure: no I/O, no clock, and no allocation per look-up once a [`Params`] has grown to its working size.
//!
//! # Precedence
//! Every route that matches is a candidate; the most specific one wins, decided in this order:
//! 1. host: exact, then the wildcard with the longest suffix, then any;
//! 2. path: exact without parameters, then exact with parameters (segment by segment from the left, text before
//!    parameter), then prefixes, longest first;
//! 3. predicates: the route with more of them (method, fields, query);
//! 4. the order in which the routes were given.
//!
//! A candidate whose predicates fail gives way to the next one, also across hosts. Routes that could never be reached
//! are an error when the table is compiled.
//!
//! # Which path is matched
//! A path is matched segment by segment after percent-decoding; what is forwarded stays as it arrived. Servers disagree
//! on what `//`, `%2F`, `\` and `;` mean, and that disagreement has let requests slip past a proxy's routes. So a path
//! that can be read in more than one way is accepted only if every reading leads to the same route, and dot segments,
//! which clients resolve before they send (RFC 3986 section 5.2.4), are refused in every spelling. See [`Params`].

mod form;
mod hash;
mod host;
mod methods;
mod params;
mod path;
mod pattern;
mod predicate;
mod table;
mod tree;

pub use host::{Host, HostError};
pub use methods::{MethodError, Methods};
pub use params::{PARAMS_MAX, Params};
pub use path::{Path, PathError, SEGMENTS_MAX};
pub use pattern::Pattern;
pub use predicate::{Predicate, Test};
pub use table::{Conflict, Entry, Found, Table};
