//! docs/reference/run.md says what `leat run` takes. `UPDATE=1 cargo test -p leat-cli reference` writes it.

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
    for argument in run.get_arguments() {
        let (Some(long), Some(help)) = (argument.get_long(), argument.get_help()) else { continue };
        if long == "help" {
            continue;
        }
        let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(|name| format!(" {name}")).unwrap_or_default();
        let variable = argument.get_env().map(|name| format!("`{}`", name.to_string_lossy())).unwrap_or_default();
        let default = argument.get_default_values().first().filter(|_| argument.get_action().takes_values());
        let default = default.map(|value| format!("`{}`", value.to_string_lossy())).unwrap_or_default();
        let _ = writeln!(out, "| `--{long}{value}` | {variable} | {default} | {help} |");
    }
    out.push_str("\nWhy the defaults are what they are stands in [the design](../design/embedded.md).\n");
    out
}

#[test]
fn the_reference_of_run_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/run.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap_or_default(),
        page(),
        "UPDATE=1 cargo test -p leat-cli reference writes it"
    );
}
