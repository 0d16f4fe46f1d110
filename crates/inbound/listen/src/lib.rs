//! leat-listen
