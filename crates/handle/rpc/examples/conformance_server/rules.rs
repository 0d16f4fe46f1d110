//! The service as a mock that runs a file of rules.

use std::sync::Arc;

use leat_config::{Place, Problem};
use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_rpc::mock::{Loaded, Mock, MockService, Settings};

/// A mock of the suite's service: `protos` is the folder of its .proto files.
pub(crate) fn service(protos: &str, rules: &str) -> MockService {
    let settings = Settings {
        proto: vec![format!("{protos}/connectrpc/conformance/v1/service.proto").into()],
        include: vec![protos.into()],
        rules: vec![rules.into()],
        ..Settings::default()
    };
    let mock = Arc::new(Mock::new(&settings));
    let about = |message| Problem::new(rules, Place::default(), message);
    let loaded = Loaded::read(&settings, &mock, &about).unwrap_or_else(|problems| {
        problems.iter().for_each(|problem| eprintln!("{problem}"));
        std::process::exit(2);
    });
    let loaded = Arc::new(loaded);
    mock.adopt(&loaded).expect("rules that were just read");
    let pools = Pools::new(Resolver::new(ResolverSettings::default()));
    MockService::new(mock, loaded, &pools, false).expect("a mock that records nothing")
}
