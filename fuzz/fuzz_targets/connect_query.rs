//! Queries of Connect's GET, and the other short values that calls bring: see ../README.md.
#![no_main]

use leat_rpc_wire::connect::query::Query;
use leat_rpc_wire::{MediaType, binary_value, connect, grpc};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut message = Vec::new();
    if Query::read(data).decode(&mut message).is_ok() {
        assert!(message.len() <= data.len());
    }
    if let Some(time) = grpc::timeout::read(data) {
        let mut text = String::new();
        grpc::timeout::write(time, &mut text);
        assert!(grpc::timeout::read(text.as_bytes()).is_some_and(|again| again <= time));
    }
    let _ = connect::timeout::read(data);
    if let Some(media) = MediaType::from_bytes(data) {
        assert_eq!(MediaType::from_bytes(media.name().as_bytes()), Some(media));
    }
    if let Some(bytes) = binary_value::decode(data) {
        let mut text = String::new();
        binary_value::encode(&bytes, &mut text);
        assert_eq!(binary_value::decode(text.as_bytes()), Some(bytes));
    }
    if let Some(status) = grpc::status::from_message(data) {
        assert_eq!(grpc::status::from_message(&grpc::status::to_message(&status)), Some(status));
    }
    let mut escaped = String::new();
    let plain = grpc::status::unescape(data);
    grpc::status::escape(&plain, &mut escaped);
    assert_eq!(grpc::status::unescape(escaped.as_bytes()), plain);
});
