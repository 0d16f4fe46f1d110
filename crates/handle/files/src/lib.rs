//! leat-files
