use std::sync::Arc;

use super::{Read, own_field, secret};
use crate::admit::auth::{COST_GOOD, COST_MAX, COST_MIN, PasswordLine, Passwords};
use crate::config::auth::{AuthKind, BasicAuth};
use crate::config::table::{Key, Kind, Open, Section};

/// How lines are made: without `-C` they are of cost 5.
const HTPASSWD: &str = "`htpasswd -B -C 10 FILE USER`";
/// Lines of a password file that are complained about one by one.
const LINES_SHOWN_MAX: usize = 10;

pub(super) static BASIC: Section = Section::new(
    "basic",
    "the `basic` section",
    "Users and passwords. Passwords are checked beside the cores, a few at a time, and right ones are remembered for five minutes.",
    &[
        Key::required(
            "file",
            Kind::Text { what: "a file", example: "htpasswd" },
            "A line `user:bcrypt` for each user, as `htpasswd -B` writes it.",
        )
        .aka(&["users", "htpasswd"]),
        Key::optional(
            "realm",
            Kind::Text { what: "a name", example: "staff" },
            "What browsers show when they ask. Without it: the scheme's name.",
        ),
        Key::optional(
            "user_header",
            Kind::Text { what: "a field name", example: "x-user" },
            "The field that tells the upstream the user. What clients send under this name is removed.",
        ),
    ],
)
.shorthand("file");

pub(super) fn read(open: &Open<'_>, name: &str) -> Read {
    let passwords = open.text("file").and_then(|text| {
        let content = secret::text_file(open.reader, text)?;
        match Passwords::parse(&content) {
            Ok(passwords) if !passwords.is_empty() => {
                if let Some((line, cost)) = passwords.weak() {
                    let message = format!(
                        "line {line} of the file `{}`: bcrypt's cost {cost} is quick to guess from if the file is stolen",
                        text.value
                    );
                    open.reader.warn(text.place, message, format!("write lines of cost {COST_GOOD} or more: {HTPASSWD}"));
                }
                Some(passwords)
            }
            Ok(_) => {
                let message = format!("the file `{}` has no users: nobody would be let in", text.value);
                open.reader.problem_help(text.place, message, format!("add one: {HTPASSWD}"));
                None
            }
            Err(lines) => {
                for (line, problem) in lines.iter().take(LINES_SHOWN_MAX) {
                    let problem = match problem {
                        PasswordLine::NoUser => "there is no user before a `:`".to_owned(),
                        PasswordLine::NotBcrypt => "the password is not in bcrypt's form (`$2y$…`)".to_owned(),
                        PasswordLine::Cost(cost) => {
                            format!("bcrypt's cost {cost} is not from {COST_MIN} to {COST_MAX}")
                        }
                        PasswordLine::Twice => "the user stands there twice".to_owned(),
                    };
                    let message = format!("line {line} of the file `{}`: {problem}", text.value);
                    open.reader.problem_help(text.place, message, format!("write lines with {HTPASSWD}"));
                }
                None
            }
        }
    });
    let realm = open.text("realm").map_or(Some(name.to_owned()), |text| {
        let fits = text.value.chars().all(|c| (' '..='~').contains(&c) && c != '"' && c != '\\');
        if !fits {
            open.reader.problem_help(
                text.place,
                "`realm` has a character that is not ASCII, or a quotation mark or backslash",
                "write a plain name",
            );
        }
        fits.then(|| text.value.to_owned())
    });
    let user_field = match open.text("user_header").map(|text| own_field(open, text)) {
        None => None,
        Some(name) => Some(name?),
    };
    let own = user_field.iter().cloned().collect();
    Some((AuthKind::Basic(BasicAuth { passwords: Arc::new(passwords?), realm: realm?, user_field }), own))
}
