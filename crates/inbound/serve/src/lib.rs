//! leat-serve
