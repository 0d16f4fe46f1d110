use std::process::ExitCode;

use crate::arguments::RunArguments;

/// `leat run`.
pub(crate) fn run(arguments: &RunArguments) -> ExitCode {
    let options = leat_embedded::Options {
        app: arguments.app.clone(),
        arguments: arguments.arguments.clone(),
        on_error: leat_embedded::OnError::Exit,
    };
    match leat_embedded::run(&options) {
        Ok(code) => ExitCode::from(u8::try_from(code.rem_euclid(256)).unwrap_or(1)),
        Err(error) => {
            eprintln!("leat run: {error}");
            ExitCode::FAILURE
        }
    }
}
