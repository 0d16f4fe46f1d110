//! The page about templates, from the tables that the reader uses.

use std::cell::RefCell;
use std::fmt::Write as _;

use super::budget::Budget;
use super::fake::FAKES;
use super::filter::FILTERS;
use super::names::VARIABLES;
use super::text::text;
use crate::mock::state::Draws;

const TOP: &str = "# Templates of mocks

What may stand between `{{` and `}}` in the replies of rules ([reference](mock-rules.md#reply)). An expression is
[CEL](https://cel.dev): fields have their names of the .proto file, numbers of `int32`, `int64` and the like are `int`, those of
`uint32` and the like `uint` (`1u`), enums are `int`. A value that is one template and nothing else takes the type of its
field; what stands beside other text becomes text. This page is made from the tables that the reader uses.
";

/// The reference page of templates.
pub fn templates_markdown() -> String {
    let mut page = TOP.to_owned();
    table(
        &mut page,
        "Variables",
        &["name", "value"],
        VARIABLES.iter().map(|(name, meaning)| vec![format!("`{name}`"), (*meaning).to_owned()]),
    );
    page.push_str("\nFilters follow behind `|`, from left to right: `{{ request.name | trim | upper }}`.\n");
    table(
        &mut page,
        "Filters",
        &["filter", "what becomes of the value"],
        FILTERS.iter().map(|(_, example, meaning)| vec![format!("`{example}`"), (*meaning).to_owned()]),
    );
    page.push_str("\nEach of these makes another value every time; which ones, follows from the seed, the session, the rule and the\nnumber of the call.\n");
    let draws = RefCell::new(Draws::new(1, &[]));
    table(
        &mut page,
        "Fakes",
        &["name", "such as"],
        FAKES.iter().map(|(name, make)| {
            let example = text(&make(&mut draws.borrow_mut()), &Budget::new()).unwrap_or_default();
            vec![format!("`fake.{name}`"), format!("`{example}`")]
        }),
    );
    page
}

fn table(page: &mut String, title: &str, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let rule = vec!["---"; heads.len()].join(" | ");
    let mut write = |line: String| {
        let written = writeln!(page, "{line}");
        debug_assert!(written.is_ok());
    };
    write(format!("\n## {title}\n\n| {} |\n| {rule} |", heads.join(" | ")));
    for row in rows {
        write(format!("| {} |", row.join(" | ")));
    }
}
