use std::fmt::Write;

use leat_gateway::config::Config;
use leat_rpc::mock::Loaded;

use crate::arguments::MockArguments;

/// Services and methods that are listed.
const LISTED_MAX: usize = 20;

/// What of the flags a person is reminded of.
pub(super) struct Shown {
    is_tls: bool,
    wants_certificate: bool,
    admin: bool,
    protos: Vec<String>,
    fake: bool,
}

impl Shown {
    pub(super) fn of(arguments: &MockArguments) -> Self {
        let protos = arguments.proto.iter().map(|path| path.display().to_string()).collect();
        Self {
            is_tls: arguments.tls_cert.is_some(),
            wants_certificate: arguments.client_ca.is_some(),
            admin: arguments.admin.is_some(),
            protos,
            fake: arguments.fake,
        }
    }
}

/// What a person sees when the mock runs: where, what it answers, and what to try.
pub(super) fn text(shown: &Shown, addresses: &[String], config: &Config) -> String {
    let Some(loaded) = config.mocks().find_map(|(_, mock)| mock.loaded()) else { return String::new() };
    let schema = loaded.schema();
    let services: Vec<_> = schema.services().iter().filter(|service| is_own(service.full_name())).collect();
    let address = addresses.first().map_or("", String::as_str);
    let scheme = if shown.is_tls { "https" } else { "http" };
    let mut out = String::new();
    // Writing to a String can't fail.
    let _ = writeln!(
        out,
        "Leat mock on {address}: {}, {}",
        count(services.len(), "service"),
        count(loaded.rules(), "rule")
    );
    for service in services.iter().take(LISTED_MAX) {
        let methods: Vec<&str> = schema.methods_of(service).iter().map(leat_schema::Method::name).collect();
        let _ = writeln!(out, "  {}: {}", service.full_name(), methods.join(", "));
    }
    if services.len() > LISTED_MAX {
        let _ = writeln!(out, "  and {} more", services.len() - LISTED_MAX);
    }
    if let Some(method) = example(&loaded) {
        let _ = writeln!(out, "\nTry:");
        if address.starts_with("unix:") {
            let path = address.trim_start_matches("unix:");
            let _ = writeln!(out, "  curl --unix-socket {path} http://localhost{} --json '{{}}'", method.path());
        } else {
            let (curl, grpcurl) = match (shown.is_tls, shown.wants_certificate) {
                (false, _) => ("", "-plaintext"),
                (true, false) => (" --insecure", "-insecure"),
                (true, true) => (" --insecure --cert FILE --key FILE", "-insecure -cert FILE -key FILE"),
            };
            let _ = writeln!(out, "  curl{curl} {scheme}://{address}{} --json '{{}}'", method.path());
            let _ = writeln!(out, "  grpcurl {grpcurl} -d '{{}}' {address} {}", method.full_name());
        }
    }
    if let (true, Some(admin)) = (shown.admin, addresses.last().filter(|_| addresses.len() > 1)) {
        let _ = writeln!(out, "  curl http://{admin}/mock/calls        what it was asked, and what it answered");
    }
    if loaded.rules() == 0 && !shown.fake {
        let protos = shown.protos.join(" ");
        let _ = writeln!(
            out,
            "\nThere are no rules: calls fail with UNIMPLEMENTED. Made-up answers: leat mock --proto {protos} --fake"
        );
    }
    out
}

/// A method to try: unary, and best one that a rule answers.
fn example(loaded: &Loaded) -> Option<&leat_schema::Method> {
    let unary = || loaded.schema().methods().iter().filter(|method| method.is_unary() && is_own(method.full_name()));
    unary().find(|method| loaded.has_rules(method)).or_else(|| unary().next())
}

/// Whether a service is one of the schema's own: a server tells of reflection and health too.
fn is_own(name: &str) -> bool {
    !name.starts_with("grpc.health.") && !name.starts_with("grpc.reflection.")
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
