//! leat-testkit
