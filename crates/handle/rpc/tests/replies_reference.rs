//! The published page about templates is that of the tables that the reader uses.
//!
//! After a change of the tables: `UPDATE=1 cargo test -p leat-rpc --test replies_reference`.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use leat_rpc::mock::reply;

#[test]
fn the_published_page_is_that_of_the_reader() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/mock-templates.md");
    let wanted = reply::templates_markdown();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == wanted,
        "docs/reference/mock-templates.md is stale: run `UPDATE=1 cargo test -p leat-rpc --test replies_reference`"
    );
}
