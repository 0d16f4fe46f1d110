use std::sync::Arc;

use leat_rpc_wire::{Code, Status};
use leat_schema::{Schema, Sources};

use super::{Collector, Error, PATH, PATH_V1ALPHA, Reflection};
use crate::scripted::{Script, ready};
use crate::{Service, health};

const ITEM: &str = "syntax = 'proto2'; package shop; import 'google/protobuf/timestamp.proto';
    message Item { optional google.protobuf.Timestamp at = 1; extensions 100 to 200; }
    extend Item { optional int32 weight = 100; optional string colour = 150; }";
const ORDERS: &str = "syntax = 'proto3'; package shop; import 'item.proto'; import 'google/api/annotations.proto';
    message Order { string id = 1; enum State { NEW = 0; } oneof one { bool yes = 2; } }
    service Orders { rpc Get(Order) returns (Item) { option (google.api.http) = { get: '/v1/{id}' }; } }";

fn schema() -> Arc<Schema> {
    let mut sources = Sources::new();
    sources.proto("item.proto", ITEM).proto("orders.proto", ORDERS);
    sources.proto("bare.proto", "syntax = 'proto3'; enum Bare { ALONE = 0; }");
    sources.build().unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Sends requests in JSON form and gives the responses in JSON form.
fn ask(reflection: &Reflection, path: &str, requests: &[&str]) -> Vec<serde_json::Value> {
    let method = reflection.method(path).unwrap();
    let binary = requests.iter().map(|request| {
        let mut out = Vec::new();
        method.input().to_binary_strict(request.as_bytes(), &mut out).unwrap();
        out
    });
    let mut script = Script::new(method, binary);
    assert!(ready(reflection.converse(None, &mut script)).status.is_ok());
    let sent = script.sent.borrow();
    sent.iter()
        .map(|response| {
            let mut out = Vec::new();
            method.output().to_json(response, &mut out).unwrap();
            serde_json::from_slice(&out).unwrap()
        })
        .collect()
}

/// The names of the files in a response.
fn files(response: &serde_json::Value) -> Vec<String> {
    let descriptor = schema().message("google.protobuf.FileDescriptorProto").unwrap();
    let list = response["fileDescriptorResponse"]["fileDescriptorProto"].as_array();
    let list = list.unwrap_or_else(|| panic!("{response}"));
    list.iter()
        .map(|file| {
            let bytes =
                base64::Engine::decode(&base64::engine::general_purpose::STANDARD, file.as_str().unwrap()).unwrap();
            let mut json = Vec::new();
            descriptor.to_json(&bytes, &mut json).unwrap();
            let file: serde_json::Value = serde_json::from_slice(&json).unwrap();
            file["name"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn services_are_listed_with_those_beside() {
    let reflection = Reflection::new(schema(), &[health::SERVICE, "grpc.reflection.v1.ServerReflection"]);
    for path in [PATH, PATH_V1ALPHA] {
        let response = &ask(&reflection, path, &[r#"{"host":"h","listServices":"*"}"#])[0];
        let names: Vec<&str> = response["listServicesResponse"]["service"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "shop.Orders"]);
        assert_eq!(response["validHost"], "h");
        assert_eq!(response["originalRequest"]["listServices"], "*");
    }
}

#[test]
fn files_come_by_name_symbol_and_extension_with_what_they_import() {
    let reflection = Reflection::new(schema(), &[]);
    let orders = [
        "google/api/annotations.proto",
        "google/api/http.proto",
        "google/protobuf/descriptor.proto",
        "google/protobuf/timestamp.proto",
        "item.proto",
        "orders.proto",
    ];
    let item = ["google/protobuf/timestamp.proto", "item.proto"];
    for (request, first, all) in [
        (r#"{"fileByFilename":"orders.proto"}"#, "orders.proto", &orders[..]),
        (r#"{"fileContainingSymbol":"shop.Orders"}"#, "orders.proto", &orders),
        (r#"{"fileContainingSymbol":".shop.Orders.Get"}"#, "orders.proto", &orders),
        (r#"{"fileContainingSymbol":"shop.Order.id"}"#, "orders.proto", &orders),
        (r#"{"fileContainingSymbol":"shop.Order.one"}"#, "orders.proto", &orders),
        (r#"{"fileContainingSymbol":"shop.Order.State"}"#, "orders.proto", &orders),
        (r#"{"fileContainingSymbol":"shop.Item"}"#, "item.proto", &item),
        (r#"{"fileContainingSymbol":"ALONE"}"#, "bare.proto", &["bare.proto"]),
        (r#"{"fileContainingSymbol":"shop.colour"}"#, "item.proto", &item),
        (r#"{"fileContainingExtension":{"containingType":"shop.Item","extensionNumber":150}}"#, "item.proto", &item),
        (
            r#"{"fileContainingSymbol":"grpc.health.v1.Health"}"#,
            "grpc/health/v1/health.proto",
            &["grpc/health/v1/health.proto"],
        ),
    ] {
        let mut found = files(&ask(&reflection, PATH, &[request])[0]);
        assert_eq!(found[0], first, "{request}");
        found.sort();
        assert_eq!(found, all, "{request}");
    }
}

#[test]
fn files_are_given_as_they_were_read_and_once_a_stream() {
    let schema = schema();
    let reflection = Reflection::new(Arc::clone(&schema), &[]);
    let twice = [r#"{"fileByFilename":"orders.proto"}"#, r#"{"fileByFilename":"item.proto"}"#];
    let responses = ask(&reflection, PATH, &twice);
    assert_eq!(files(&responses[0]).len(), 6);
    assert_eq!(files(&responses[1]), ["item.proto"]);
    let file = schema.files().iter().find(|file| &*file.name == "orders.proto").unwrap();
    let given = responses[0]["fileDescriptorResponse"]["fileDescriptorProto"][0].as_str().unwrap();
    assert_eq!(given, base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &file.bytes));
}

#[test]
fn extension_numbers_are_those_of_the_type() {
    let reflection = Reflection::new(schema(), &[]);
    let response = &ask(&reflection, PATH, &[r#"{"allExtensionNumbersOfType":"shop.Item"}"#])[0];
    assert_eq!(
        response["allExtensionNumbersResponse"],
        serde_json::json!({"baseTypeName": "shop.Item", "extensionNumber": [100, 150]})
    );
}

#[test]
fn what_is_not_there_is_an_answer_and_the_stream_goes_on() {
    let reflection = Reflection::new(schema(), &[]);
    let requests = [
        (r#"{"fileByFilename":"no.proto"}"#, 5),
        (r#"{"fileContainingSymbol":"shop.No"}"#, 5),
        (r#"{"fileContainingExtension":{"containingType":"shop.Item","extensionNumber":-1}}"#, 5),
        (r#"{"allExtensionNumbersOfType":"No"}"#, 5),
        ("{}", 3),
    ];
    let responses = ask(&reflection, PATH, &requests.map(|(request, _)| request));
    for ((request, code), response) in requests.iter().zip(&responses) {
        assert_eq!(response["errorResponse"]["errorCode"], *code, "{request}: {response}");
    }
    let mut script = Script::new(reflection.method(PATH).unwrap(), [b"\xff".to_vec()]);
    let outcome = ready(reflection.converse(None, &mut script));
    assert_eq!(outcome.status, Status::new(Code::InvalidArgument, "malformed request"));
}

#[test]
fn a_collector_rebuilds_the_schema_of_a_server() {
    let reflection = Reflection::new(schema(), &[health::SERVICE]);
    let mut collector = Collector::new();
    let mut sent = std::collections::HashSet::new();
    while let Some(request) = collector.request() {
        assert_eq!(collector.request(), None, "one at a time");
        let mut response = Vec::new();
        reflection.answer(&request, &mut sent, &mut response).unwrap();
        collector.answer(&response).unwrap();
    }
    let mut sources = Sources::new();
    sources.descriptor_set("the server", collector.finish());
    let found = sources.build().unwrap_or_else(|problems| panic!("{problems:?}"));
    let method = found.method("/shop.Orders/Get").unwrap();
    assert_eq!(method.option(leat_schema::bundled::HTTP).unwrap(), b"\x12\x08/v1/{id}");
    assert!(found.message("shop.Item").unwrap().field_named("[shop.weight]").is_some());
    assert!(found.service(health::SERVICE).is_none());
}

#[test]
fn a_collector_refuses_what_it_did_not_ask_for() {
    for (response, wanted) in [
        (&b""[..], Error::Malformed),
        (b"\xff", Error::Malformed),
        (b"\x22\x00", Error::Malformed),
        (b"\x3a\x06\x08\x0c\x12\x02no", Error::Refused { what: "its services".into(), code: 12, message: "no".into() }),
    ] {
        let mut collector = Collector::new();
        collector.request().unwrap();
        assert_eq!(collector.answer(response), Err(wanted), "{response:?}");
    }
    assert_eq!(Collector::new().answer(b""), Err(Error::Malformed));
}
