//! docs/reference/reasons.md says what `Reason` says. `UPDATE=1 cargo test -p leat-message --test reference` writes it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::path::Path;

use leat_message::{Blame, Reason};

const PAGE: &str = "../../../docs/reference/reasons.md";

const INTRODUCTION: &str = "\
# Reasons

Whatever Leat refuses or gives up has one of these codes. The same code stands in the access record, in the metric label
and in the `application/problem+json` body of the reply; codes never change their meaning. The page is made from the
source.

";

#[test]
fn the_page_of_reasons_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/reasons.md is stale; run: UPDATE=1 cargo test -p leat-message --test reference"
    );
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut groups: Vec<&str> = Vec::new();
    for reason in Reason::ALL {
        let group = group(*reason);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for group_name in groups {
        writeln!(page, "## {group_name}\n\n| code | status | blame | meaning |\n| --- | --- | --- | --- |").unwrap();
        for reason in Reason::ALL.iter().filter(|reason| group(**reason) == group_name) {
            let status = match reason.status() {
                0 => "none: the connection or stream ends".to_owned(),
                status => status.to_string(),
            };
            let meaning = reason.text().replace('|', "\\|");
            writeln!(page, "| `{reason}` | {status} | {} | {meaning} |", blame(reason.blame())).unwrap();
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// Codes are `group.what`.
fn group(reason: Reason) -> &'static str {
    reason.code().split_once('.').map_or(reason.code(), |(group, _)| group)
}

fn blame(blame: Blame) -> &'static str {
    match blame {
        Blame::Peer => "the client",
        Blame::Caller => "the caller",
        Blame::Upstream => "the upstream",
        Blame::Us => "Leat",
    }
}
