use crate::config::{Action, Config, Problem};
use crate::endpoints::seats;
use crate::lasting::Lasting;

/// What was found in a configuration that reads well. In no order.
#[derive(Debug)]
pub struct Checked {
    /// What keeps it from running.
    pub problems: Vec<Problem>,
    /// What is doubtful.
    pub warnings: Vec<Problem>,
}

/// Finds out whether a configuration can be run, without running it: certificates are read, directories opened, rules of
/// mocks compiled. `file` is how problems call the configuration; `lasting` is what it will be run with.
pub fn check(config: &Config, file: &str, lasting: &Lasting) -> Checked {
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for (route, mock) in config.mocks() {
        match mock.load(file, || lasting.mocks.fitting(route.name(), mock.settings())) {
            Ok((_, loaded)) => warnings.extend(loaded.warnings().iter().cloned()),
            Err(found) => problems.extend(found),
        }
    }
    for upstream in config.upstreams() {
        if let Err(error) = seats(upstream, 0) {
            problems.push(Problem::new(file, upstream.place(), error.to_string()));
        }
    }
    for scheme in config.auth() {
        if let Err(error) = scheme.endpoint_problem() {
            problems.push(Problem::new(file, scheme.place(), error));
        }
    }
    for route in config.routes() {
        if let Action::Files(files, _) = route.action()
            && let Err(error) = crate::files::compile(files)
        {
            problems.push(Problem::new(file, route.place(), error.to_string()));
        }
    }
    Checked { problems, warnings }
}
