//! The published schema and reference page are those of the reader's tables, and the schema agrees with the reader about
//! the good files of the corpus.
//!
//! After a change of the tables: `UPDATE=1 cargo test -p leat-gateway --test reference`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use leat_gateway::config;

fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference").join(name)
}

fn check(name: &str, wanted: &str) {
    let path = reference(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, wanted).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == wanted,
        "docs/reference/{name} is stale: run `UPDATE=1 cargo test -p leat-gateway --test reference`"
    );
}

#[test]
fn the_published_schema_is_that_of_the_reader() {
    check("leat.schema.json", &format!("{:#}\n", config::schema()));
}

#[test]
fn the_published_reference_is_that_of_the_reader() {
    check("config.md", &config::reference_markdown());
}

#[test]
fn every_reference_in_the_schema_is_defined() {
    let schema = config::schema();
    let text = schema.to_string();
    for part in text.split("\"$ref\":\"#/$defs/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(schema["$defs"][name].is_object(), "{name} is not defined");
    }
}
