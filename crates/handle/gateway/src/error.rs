use std::fmt;

use leat_files::SettingsError;

use crate::admit::auth::SchemeError;
use crate::config::Problem;
use crate::endpoints::EndpointsError;

/// Why a configuration can't be run, although it reads well.
#[derive(Debug)]
pub enum GatewayError {
    /// An endpoint's settings don't go together.
    Endpoint(EndpointsError),
    /// A scheme of authentication can't be run.
    Auth(SchemeError),
    /// A directory can't be served.
    Files(SettingsError),
    /// A route names an upstream by a number that there is none of: a bug in the reader.
    Upstream(usize),
    /// A mock's schema or rules are wrong.
    Mock(Vec<Problem>),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(error) => write!(f, "{error}"),
            Self::Auth(error) => write!(f, "{error}"),
            Self::Files(error) => write!(f, "{error}"),
            Self::Upstream(number) => write!(f, "there is no upstream number {number}"),
            Self::Mock(problems) => problems.iter().try_for_each(|problem| writeln!(f, "{problem}")),
        }
    }
}

impl std::error::Error for GatewayError {}
