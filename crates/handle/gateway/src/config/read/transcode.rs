use std::sync::Arc;

use leat_rpc::transcode::{Settings, Transcoder, Unknown};
use leat_schema::Sources;

use super::proxy::{HOST, IDLE_TIME, MIRRORED, RESPONSE_TIME, SPLITS, TOTAL_TIME, read_proxy};
use super::upstream::Upstreams;
use crate::config::action::Proxy;
use crate::config::problem::Place;
use crate::config::table::{Group, Key, Kind, Open, Section};

const UNKNOWN: &[(&str, &str)] = &[("refuse", "400, which names it"), ("ignore", "they are left out")];

pub(super) static TRANSCODE: Section = Section::new(
    "transcode",
    "the `transcode` section",
    "Passes RPC on to an upstream that speaks gRPC, for clients that speak gRPC, gRPC-Web, Connect, or REST by the schema's `google.api.http` options. What the gateway itself has to tell them of errors is told in their protocol. Only `proto` and `descriptor_set` differ from `proxy`, and what is said here of messages.",
    &[
        Key::required(
            "upstream",
            Kind::Text { what: "the name of an upstream, or a URL", example: "h2c://127.0.0.1:50051" },
            "The name of an upstream whose endpoints speak HTTP/2, or the URL of one: `h2c://…` without TLS, `h2://…` with it.",
        )
        .aka(&["to", "url", "target", "pass", "grpc_pass"]),
        Key::optional(
            "proto",
            Kind::List { of: &Kind::Text { what: "a .proto file or a folder of them", example: "protos" }, one: true },
            "The schema: .proto files, or folders with all that is below them. Imports are looked for there, in `include`, and among the files of `google/…` that are built in.",
        )
        .aka(&["protos", "schema", "proto_path"]),
        Key::optional(
            "descriptor_set",
            Kind::List { of: &Kind::Text { what: "a descriptor set", example: "shop.binpb" }, one: true },
            "The schema as `protoc --descriptor_set_out --include_imports` or `buf build` write it.",
        )
        .aka(&["descriptors", "proto_descriptor", "proto_descriptor_bin"]),
        Key::default(
            "include",
            Kind::List { of: &Kind::Text { what: "a folder", example: "third_party" }, one: true },
            "[]",
            "More folders to look for imports in.",
        )
        .aka(&["import_path", "includes", "I"]),
        Key::default(
            "message_bytes_max",
            Kind::Size { min: 1, max: 1 << 30 },
            "4MiB",
            "The longest message of a client, in its own form and not compressed; above it `resource_exhausted`. A call holds one at a time.",
        )
        .aka(&["max_message_size", "receive_bytes_max"]),
        Key::default(
            "reply_bytes_max",
            Kind::Size { min: 1, max: 1 << 30 },
            "16MiB",
            "The longest message of the upstream, where the client does not speak gRPC itself. A call holds one at a time.",
        )
        .aka(&["send_bytes_max"]),
        Key::default(
            "unknown_fields",
            Kind::Choice(UNKNOWN),
            "refuse",
            "What becomes of names in the query or the body of a REST request that are no field of the message. Connect's own rule is to leave them out.",
        )
        .aka(&["ignore_unknown_query_parameters"]),
        HOST,
        RESPONSE_TIME,
        IDLE_TIME,
        SPLITS,
        MIRRORED,
        TOTAL_TIME,
    ],
)
.groups(&[Group { keys: &["proto", "descriptor_set"], required: true }]);

/// Reads the section, and the schema that it names. Upstreams that can't speak gRPC are told where they are known.
pub(super) fn read_transcode(open: &Open<'_>, upstreams: &mut Upstreams) -> Option<Proxy> {
    let proxy = read_proxy(open, upstreams);
    let unknown = open.choice("unknown_fields", &[("refuse", Unknown::Refuse), ("ignore", Unknown::Ignore)]);
    let message_bytes_max = usize::try_from(open.size("message_bytes_max")).unwrap_or(usize::MAX);
    let reply_bytes_max = usize::try_from(open.size("reply_bytes_max")).unwrap_or(usize::MAX);
    let mut sources = Sources::new();
    for text in open.texts("include") {
        sources.include(open.reader.path(text.value));
    }
    let named = [open.texts("proto"), open.texts("descriptor_set")].concat();
    for text in &named {
        sources.path(open.reader.path(text.value));
    }
    let place = named.first().map_or(open.place(), |text| text.place);
    let schema = match sources.build() {
        Ok(schema) => schema,
        Err(problems) => {
            for problem in problems {
                let help = problem.help.clone().unwrap_or_else(|| "correct the schema".to_owned());
                let problem = leat_config::Problem { help: None, ..problem };
                open.reader.problem_help(place, format!("the schema: {problem}"), help);
            }
            return None;
        }
    };
    if schema.methods().is_empty() {
        open.reader.problem_help(place, "the schema has no service", "name the files that have one");
        return None;
    }
    let transcoder = match Transcoder::new(
        Arc::clone(&schema),
        Settings { message_bytes_max, reply_bytes_max, unknown: unknown?, ..Settings::default() },
    ) {
        Ok(transcoder) => transcoder,
        Err(problems) => {
            for problem in problems {
                let at = schema.declared_at(&problem.method).map(|(file, at)| format!("{file}:{at}: "));
                open.reader.problem_help(place, format!("{}{problem}", at.unwrap_or_default()), problem.help());
            }
            return None;
        }
    };
    check_upstream(open, upstreams, proxy.as_ref(), place);
    Some(Proxy { transcoder: Some(Arc::new(transcoder)), ..proxy? })
}

fn check_upstream(open: &Open<'_>, upstreams: &Upstreams, proxy: Option<&Proxy>, place: Place) {
    let Some(proxy) = proxy else { return };
    let splits = proxy.splits().iter().map(|split| split.upstream());
    for number in std::iter::once(proxy.upstream()).chain(splits) {
        if let Some(url) = upstreams.without_http2(number) {
            let (_, rest) = url.split_once("://").unwrap_or(("", url));
            let scheme = if url.starts_with("https:") { "h2" } else { "h2c" };
            open.reader.problem_help(
                open.place_of("upstream").unwrap_or(place),
                format!("gRPC needs HTTP/2, and the endpoint `{url}` speaks HTTP/1.1"),
                format!("write `{scheme}://{rest}`"),
            );
        }
    }
}
