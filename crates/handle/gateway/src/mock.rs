//! Routes that rules of a mock answer.

use std::rc::Rc;
use std::sync::Arc;

use leat_dial::Pools;
use leat_rpc::builtin::Builtin;
use leat_rpc::health::{self, Health, Statuses};
use leat_rpc::mock::MockService;
use leat_rpc::reflection::Reflection;
use leat_rpc::serve::{self, Cors, Rpc};

use crate::config::{Config, Mock, Problem, Route};
use crate::lasting::Lasting;

/// The services that tell the others, of both versions that answer.
const REFLECTION: [&str; 2] = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/// What answers on a route of a mock.
pub(crate) type MockRoute = Rpc<Builtin<MockService>>;
/// What its raw step found out.
pub(crate) type MockPlan = serve::Plan<leat_rpc::mock::MockPlan>;

/// Makes the calling core's part of a mock. The schema and the rules were read by [`crate::Gateway::check`]; they are read here
/// only for those who did not ask for it.
pub(crate) fn compile(
    route: &Route,
    mock: &Mock,
    config: &Config,
    lasting: &Lasting,
    pools: &Rc<Pools>,
) -> Result<MockRoute, Vec<Problem>> {
    let (held, loaded) = mock.load("the configuration", || lasting.mocks.fitting(route.name(), mock.settings()))?;
    let keeps_calls = config.admin().is_some();
    let file = config.source().map_or("the configuration", |source| source.file());
    let about = |error: std::io::Error| {
        vec![Problem::new(file, mock.place(), format!("the folder of the recording can't be made: {error}"))]
    };
    let service = MockService::new(Arc::clone(&held), Arc::clone(&loaded), pools, keeps_calls).map_err(about)?;
    held.adopt(&loaded)?;
    lasting.mocks.put_to_use(route.name(), &held);
    let schema = loaded.schema();
    let reflection = Reflection::new(Arc::clone(schema), &[&[health::SERVICE], &REFLECTION[..]].concat());
    let names = schema.services().iter().map(leat_schema::Service::full_name);
    let service = Builtin::new(service, Some(reflection), Some(Health::new(Statuses::serving(names))));
    // A route that says who may call answers browsers itself.
    let cors = if route.cors().is_some() { Cors::Off } else { Cors::Any };
    let rpc = Rpc::new(service, serve::Settings { cors, ..serve::Settings::default() });
    Ok(match loaded.rest() {
        Some(rest) => rpc.with_rest(Arc::clone(rest)),
        None => rpc,
    })
}
