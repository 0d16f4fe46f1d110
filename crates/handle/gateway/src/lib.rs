//! leat-gateway
