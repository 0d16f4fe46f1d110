//! leat-route
