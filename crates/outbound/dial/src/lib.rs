//! leat-dial
