//! The published schema and reference page of rules are those of the reader's tables.
//!
//! After a change of the tables: `UPDATE=1 cargo test -p leat-rpc --test rules_reference`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use leat_rpc::mock::rules;

fn check(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == wanted,
        "docs/reference/{name} is stale: run `UPDATE=1 cargo test -p leat-rpc --test rules_reference`"
    );
}

#[test]
fn the_published_schema_is_that_of_the_reader() {
    check("mock-rules.schema.json", &format!("{:#}\n", rules::schema()));
}

#[test]
fn the_published_reference_is_that_of_the_reader() {
    check("mock-rules.md", &rules::reference_markdown());
}

#[test]
fn every_reference_in_the_schema_is_defined() {
    let schema = rules::schema();
    let text = schema.to_string();
    for part in text.split("\"$ref\":\"#/$defs/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(schema["$defs"][name].is_object(), "{name} is not defined");
    }
}
