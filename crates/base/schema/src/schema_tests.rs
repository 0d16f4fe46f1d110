use std::sync::Arc;

use crate::{Default, Idempotency, Kind, Presence, Schema, Shape, Sources, WellKnown, bundled};

fn schema(text: &str) -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("test.proto", text);
    sources.build().unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn methods_are_found_by_path_and_by_name() {
    let schema = schema(
        r#"syntax = "proto3"; package shop.v1;
        import "google/api/annotations.proto";
        message Ask { int32 id = 1; } message Answer {}
        service Orders {
          rpc Get(Ask) returns (Answer) { option idempotency_level = NO_SIDE_EFFECTS; option (google.api.http) = { get: "/v1/{id}" }; }
          rpc Watch(stream Ask) returns (stream Answer);
        }"#,
    );
    let get = schema.method("/shop.v1.Orders/Get").unwrap();
    assert_eq!((get.full_name(), get.service_name(), get.name()), ("shop.v1.Orders/Get", "shop.v1.Orders", "Get"));
    assert_eq!((get.input().full_name(), get.output().full_name()), ("shop.v1.Ask", "shop.v1.Answer"));
    assert_eq!(get.idempotency(), Idempotency::NoSideEffects);
    assert!(get.is_unary());
    assert_eq!(get.option(bundled::HTTP).unwrap(), b"\x12\x08/v1/{id}");
    let watch = schema.method_named("shop.v1.Orders.Watch").unwrap();
    assert!(watch.client_streams() && watch.server_streams() && !watch.is_unary());
    assert_eq!((get.id(), watch.id()), (0, 1));
    for path in ["shop.v1.Orders/Get", "/shop.v1.Orders/get", "/", ""] {
        assert!(schema.method(path).is_none(), "{path}");
    }
    let service = schema.service("shop.v1.Orders").unwrap();
    assert_eq!(schema.methods_of(service).len(), 2);
    assert_eq!(format!("{watch:?}"), "shop.v1.Orders/Watch(stream shop.v1.Ask) returns (stream shop.v1.Answer)");
}

#[test]
fn fields_have_their_features_resolved() {
    let schema = schema(
        r#"syntax = "proto2"; package p;
        message M {
          required int32 must = 1; optional string name = 2 [default = "x\"y"]; repeated sint64 list = 3;
          repeated E packed = 4 [packed = true]; map<string, M> of = 5; optional group G = 6 { optional bool in = 1; }
          oneof one { bytes raw = 7 [default = "\001a"]; E e = 1000 [default = TWO]; }
          optional double odd_name = 9 [json_name = "odd", default = -inf]; extensions 100 to 200;
        }
        extend M { optional uint64 more = 150 [default = 7]; }
        enum E { ONE = 1; TWO = 2; }"#,
    );
    let message = schema.message("p.M").unwrap();
    let field = |name| message.field_named(name).unwrap();
    assert_eq!(field("must").presence(), Presence::Required);
    assert_eq!(field("name").default(), Some(&Default::String("x\"y".into())));
    assert_eq!(
        (field("list").shape(), field("list").is_packed(), field("list").kind()),
        (Shape::List, false, Kind::Sint64)
    );
    assert!(field("packed").is_packed() && field("packed").is_closed());
    assert_eq!(field("of").shape(), Shape::Map { key: Kind::String });
    assert_eq!(message.message_of(field("of")), Some(message.clone()));
    assert!(field("g").is_delimited());
    assert_eq!(field("raw").default(), Some(&Default::Bytes(b"\x01a"[..].into())));
    assert_eq!(field("e").default(), Some(&Default::Int(2)));
    assert_eq!(message.field(1000).map(|field| field.name()), Some("e"));
    assert_eq!(message.oneofs()[field("e").oneof().unwrap()].members().collect::<Vec<_>>(), [6, 7]);
    assert_eq!(field("odd").number(), field("odd_name").number());
    assert_eq!(field("odd").default(), Some(&Default::Float(f64::NEG_INFINITY)));
    let more = field("[p.more]");
    assert_eq!((more.number(), more.name(), more.is_extension()), (150, "p.more", true));
    assert_eq!(more.default(), Some(&Default::Uint(7)));
    assert_eq!(message.enum_of(field("e")).unwrap().first(), 1);
    for number in [0, 8, 10, 99, 151, u32::MAX] {
        assert!(message.field(number).is_none(), "{number}");
    }
}

#[test]
fn types_that_json_knows_and_details_of_errors_are_always_there() {
    let schema = schema("syntax = 'proto3'; message M {}");
    assert_eq!(schema.message("google.protobuf.Any").unwrap().well_known(), Some(WellKnown::Any));
    assert_eq!(schema.message("google.protobuf.UInt32Value").unwrap().well_known(), Some(WellKnown::Wrapper));
    assert!(schema.message("google.rpc.ErrorInfo").is_some());
    assert!(schema.services().is_empty());
    assert!(schema.files().iter().any(|file| &*file.name == "google/rpc/status.proto"));
}

#[test]
fn every_built_in_file_compiles() {
    for name in bundled::names() {
        let mut sources = Sources::new();
        sources.proto("test.proto", &format!("syntax = 'proto3'; import '{name}';"));
        assert!(sources.build().is_ok(), "{name}");
    }
}
