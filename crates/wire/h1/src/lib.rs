//! leat-h1
