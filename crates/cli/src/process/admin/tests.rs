//! docs/reference/admin.md has every call. `UPDATE=1 cargo test -p leat-cli admin` writes its table.

use super::CALLS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/admin.md");
const BEGIN: &str = "| method | path | what |\n| --- | --- | --- |\n";

#[test]
fn the_reference_has_every_call() {
    let row = |(method, path, about): &(&str, &str, &str)| format!("| {method} | `{path}` | {about} |\n");
    let wanted: String = CALLS.iter().map(row).collect();
    let page = std::fs::read_to_string(PAGE).unwrap_or_default();
    let (before, rest) = page.split_once(BEGIN).expect("the page has a table of calls");
    let end = rest.find("\n\n").map_or(rest.len(), |at| at + 1);
    let (table, behind) = rest.split_at(end);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, format!("{before}{BEGIN}{wanted}{behind}")).unwrap();
        return;
    }
    assert_eq!(table, wanted, "UPDATE=1 cargo test -p leat-cli admin writes it");
}
