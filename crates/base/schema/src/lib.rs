//! Protobuf schemas: descriptors of every syntax, methods, fields by path, messages between their binary and JSON forms. No I/O.
