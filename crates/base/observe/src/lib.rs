//! leat-observe
