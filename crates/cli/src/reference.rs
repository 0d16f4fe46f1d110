//! docs/reference/run.md and mock.md say what `leat run` and `leat mock` take. `UPDATE=1 cargo test -p leat-cli reference` writes them.

use std::fmt::Write;

use clap::CommandFactory;

use crate::arguments::Arguments;

fn page() -> String {
    let command = Arguments::command();
    let run = command.find_subcommand("run").unwrap();
    let mut out = String::from(
        "# Options of `leat run`\n\n`leat run APP [OPTIONS] [-- ARGUMENTS]`. Options are taken before the app and behind it, up to the first word that is none; what \
         follows that, or `--`, is the app's (`process.argv`). Each option can be given as a variable instead. Sizes are a number with `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` or \
         `GiB`, in any case. Exit codes: the app's own, 1 failed, 2 bad usage.\n\n| option | variable | default | what |\n| --- | --- | --- | --- |\n",
    );
    options(run, &mut out);
    out.push_str("\nWhy the defaults are what they are stands in [the design](../design/embedded.md).\n");
    out
}

fn mock_page() -> String {
    let command = Arguments::command();
    let mock = command.find_subcommand("mock").unwrap();
    let mut out = String::from(
        "# Options of `leat mock`\n\n`leat mock --proto PATH… [--rules PATH…] [OPTIONS]`. Most options can be given as a variable instead; lists \
         have commas there. The mock is a [gateway](config.md) with one route, [`mock`](config.md#mock), whose configuration is made from these options. \
         Exit codes: 0, 1 failed or `--drift` found differences, 2 bad usage, schema or rules.\n\n\
         | option | variable | default | what |\n| --- | --- | --- | --- |\n",
    );
    options(mock, &mut out);
    out.push_str("\n[Rules](mock-rules.md) and the [admin API](mock-admin.md) have pages of their own; [the guide](../guide/mock.md) has the first five minutes.\n");
    out
}

fn options(command: &clap::Command, out: &mut String) {
    for argument in command.get_arguments() {
        let (Some(long), Some(help)) = (argument.get_long(), argument.get_help()) else { continue };
        if long == "help" {
            continue;
        }
        let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
        let value = value.into_iter().flatten().map(|name| format!(" {name}")).collect::<String>();
        let variable = argument.get_env().map(|name| format!("`{}`", name.to_string_lossy())).unwrap_or_default();
        let default = argument.get_default_values().first().filter(|_| argument.get_action().takes_values());
        let default = default.map(|value| format!("`{}`", value.to_string_lossy())).unwrap_or_default();
        let _ = writeln!(out, "| `--{long}{value}` | {variable} | {default} | {help} |");
    }
}

#[test]
fn the_references_of_options_are_up_to_date() {
    for (name, page) in [("run", page()), ("mock", mock_page())] {
        let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/{}.md"), name);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&path).unwrap_or_default(),
            page,
            "UPDATE=1 cargo test -p leat-cli reference writes it"
        );
    }
}
