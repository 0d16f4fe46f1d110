//! HTTP/2 on either side.
