//! What a good configuration becomes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::IpAddr;
use std::path::Path;

use leat_dial::EndpointLimits;
use leat_gateway::config::{
    self, Action, Bind, Coding, Config, EndpointAddress, ForwardedStyle, LogFormat, LogTarget, OnError, Protocol,
    ProxyHost, TlsVersion, Workers,
};
use leat_message::{Limits, Profile};

fn corpus() -> std::path::PathBuf {
    std::fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/config")).unwrap()
}

fn read(text: &str) -> Config {
    config::parse(text, "leat.yaml", &corpus()).unwrap_or_else(|problems| panic!("{problems:#?}")).config
}

fn full() -> Config {
    config::load(&corpus().join("good-full.yaml")).unwrap_or_else(|problems| panic!("{problems:#?}")).config
}

#[test]
fn an_empty_file_has_the_defaults_of_the_engine() {
    let config = read("");
    assert_eq!(config.limits(), &Limits::default());
    assert_eq!(config.listeners().len(), 1);
    let listener = &config.listeners()[0];
    assert_eq!(listener.address(), &Bind::Tcp("127.0.0.1:8080".parse().unwrap()));
    assert!(listener.http2() && listener.tls().is_none() && listener.proxy_protocol().is_none());
    assert_eq!(listener.profile(), Profile::Compatible);
    assert_eq!(config.workers(), Workers::Auto);
    assert!(config.admin().is_none());
    assert_eq!((config.access_log().target(), config.access_log().format()), (&LogTarget::Stderr, LogFormat::Auto));
    assert_eq!(config.on_error(), OnError::Close);
    assert_eq!((config.drain().grace_ms(), config.drain().deadline_ms()), (1_000, 30_000));
    assert_eq!(config.forwarded().style(), ForwardedStyle::XForwarded);
    assert_eq!(config.forwarded().trusted_hops(), 0);
    assert_eq!(config.forwarded().via(), Some("leat"));
    assert_eq!(config.forwarded().request_id().map(|id| id.field()), Some("x-request-id"));
    assert!(config.routes().is_empty() && config.upstreams().is_empty());
}

#[test]
fn an_upstream_has_the_defaults_of_dial() {
    let config = read("routes: [{ proxy: \"http://127.0.0.1:3000\" }]");
    let (upstream, wanted) = (&config.upstreams()[0], EndpointLimits::default());
    assert_eq!(upstream.connections_max(), wanted.connections_max);
    assert_eq!(upstream.h2_connections_max(), wanted.h2_connections_max);
    assert_eq!(upstream.h2_streams_max(), wanted.h2_streams_max);
    assert_eq!(upstream.queue_max(), wanted.queue_max);
    assert_eq!(upstream.queue_time_ms(), wanted.queue_time_ms);
    assert_eq!(upstream.idle_time_ms(), wanted.idle_time_ms);
    assert_eq!(upstream.connect_time_ms(), wanted.connect_time_ms);
    assert_eq!(upstream.response_head_bytes_max(), wanted.head_bytes_max);
    assert_eq!(upstream.response_fields_max(), wanted.fields_max);
    let Action::Proxy(proxy, _) = config.routes()[0].action() else { panic!("not a proxy") };
    assert_eq!(proxy.host(), &ProxyHost::Keep);
    assert_eq!(
        (proxy.response_time_ms(), proxy.idle_time_ms(), proxy.total_time_ms()),
        (Some(60_000), Some(300_000), None)
    );
    assert_eq!(config.routes()[0].body().bytes_max, Limits::default().body_bytes_max);
}

#[test]
fn every_key_arrives_where_it_belongs() {
    let config = full();
    let listener = &config.listeners()[0];
    assert!(!listener.http2());
    assert_eq!(listener.profile(), Profile::Strict);
    let tls = listener.tls().unwrap();
    assert_eq!(tls.min_version(), TlsVersion::Tls13);
    assert_eq!(tls.certificates()[0].cert(), corpus().join("files/cert.pem"));
    assert_eq!(tls.certificates()[0].key(), corpus().join("files/key.pem"));
    let proxy_protocol = listener.proxy_protocol().unwrap();
    for (address, trusted) in
        [("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("11.0.0.1", false), ("::1", true), ("::2", false)]
    {
        assert_eq!(proxy_protocol.trusts(address.parse::<IpAddr>().unwrap()), trusted, "{address}");
    }
    let others: Vec<&Bind> = config.listeners()[1..].iter().map(|listener| listener.address()).collect();
    let unix = Bind::Unix { path: corpus().join("files/leat.sock"), mode: Some(0o660) };
    assert_eq!(others, [&unix, &Bind::Descriptor(3), &Bind::Systemd("web".into())]);

    let limits = config.limits();
    assert_eq!((limits.head_bytes_max, limits.fields_max, limits.body_bytes_max), (65_536, 50, 10_000_000));
    assert_eq!((limits.body_time_ms, limits.drain_time_ms, limits.throughput_bytes_min), (None, 500, 0));
    assert_eq!(config.on_error(), OnError::Crash);
    assert_eq!(config.forwarded().request_id(), None);
    assert_eq!(config.access_log().target(), &LogTarget::File(corpus().join("files/access.log")));

    let names: Vec<&str> = config.routes().iter().map(|route| route.name()).collect();
    assert_eq!(names, ["api", "/old/{id}/{*rest}", "/v2/{id}", "/static*", "/ping", "/json"]);
    let api = &config.routes()[0];
    assert_eq!((api.body().bytes_max, api.body().time_ms), (1 << 30, Some(300_000)));
    assert_eq!(api.request_fields().remove(), ["x-powered-by", "server"]);
    assert_eq!(api.request_fields().set(), [("x-frame-options".to_owned(), "DENY".to_owned())]);
    assert_eq!(api.request_fields().add().len(), 3);
    assert_eq!(api.request_fields(), api.response_fields());
    let Action::Proxy(proxy, _) = api.action() else { panic!("not a proxy") };
    assert_eq!(config.upstreams()[proxy.upstream()].name(), "users");
    assert_eq!((proxy.host(), proxy.total_time_ms()), (&ProxyHost::Endpoint, Some(600_000)));
    let Action::Proxy(proxy, _) = config.routes()[2].action() else { panic!("not a proxy") };
    assert_eq!(
        config.upstreams()[proxy.upstream()].endpoints()[0].address(),
        &EndpointAddress::Unix(corpus().join("files/app.sock"))
    );
    let Action::Files(files, _) = config.routes()[3].action() else { panic!("not files") };
    assert_eq!(files.root(), corpus().join("files/public"));
    assert_eq!(files.precompressed(), [Coding::Br, Coding::Zstd, Coding::Gzip]);
    assert_eq!((files.index().len(), files.hidden(), files.cache_control()), (2, true, Some("public, max-age=60")));
    let Action::Respond(reply) = config.routes()[4].action() else { panic!("not a reply") };
    assert_eq!((reply.status(), reply.body()), (201, &b"pong"[..]));
    let Action::Respond(reply) = config.routes()[5].action() else { panic!("not a reply") };
    assert_eq!(reply.body(), br#"{"count":3,"list":[1.5,"a"],"none":null,"ok":true,"text":"3"}"#);
    assert_eq!(reply.fields()[0], ("content-type".to_owned(), "application/json".to_owned()));

    let users = &config.upstreams()[0];
    assert_eq!(users.tls().server_name(), Some("users.internal"));
    assert_eq!(users.endpoints()[1].weight(), 3);
    assert!(users.endpoints()[1].is_tls() && users.endpoints()[1].protocol() == Protocol::Http2);
}

#[test]
fn endpoints_know_where_to_connect_and_how_they_are_called() {
    let config = config::load(&corpus().join("good-endpoints.yaml")).unwrap().config;
    let endpoints = config.upstreams()[0].endpoints();
    let name = |host: &str, port| EndpointAddress::Name { host: host.into(), port };
    let ip = |text: &str| EndpointAddress::Ip(text.parse().unwrap());
    let unix = |path: &str| EndpointAddress::Unix(path.into());
    for (endpoint, (address, protocol, tls, authority)) in endpoints.iter().zip([
        (ip("127.0.0.1:80"), Protocol::Http1, false, "127.0.0.1"),
        (ip("[::1]:3000"), Protocol::Http1, false, "[::1]:3000"),
        (name("app.internal", 50051), Protocol::Http2, false, "app.internal:50051"),
        (name("app.internal", 443), Protocol::Http1, true, "app.internal"),
        (name("app.internal", 443), Protocol::Http2, true, "app.internal"),
        (unix("/run/app.sock"), Protocol::Http1, false, "localhost"),
        (unix("/run/b.sock"), Protocol::Http1, false, "localhost"),
        (unix("/run/app.sock"), Protocol::Http2, false, "localhost"),
    ]) {
        let found = (endpoint.address(), endpoint.protocol(), endpoint.is_tls(), endpoint.authority());
        assert_eq!(found, (&address, protocol, tls, authority.to_owned()), "{}", endpoint.url());
    }
    assert_eq!(endpoints.len(), 8);
}

#[test]
fn one_url_in_two_routes_is_one_upstream() {
    let config = read(
        "routes:\n  - proxy: http://a:3000\n  - match: { path: /x }\n    proxy: http://a:3000/\n  - match: { path: /y }\n    proxy: http://b:3000\n",
    );
    assert_eq!(config.upstreams().len(), 2);
}

#[test]
fn values_of_fields_are_not_in_debug_output() {
    let config = read(
        "routes: [{ request_headers: { set: { authorization: geheim }, add: { x: geheim } }, proxy: \"http://a\" }]",
    );
    let shown = format!("{config:?}");
    assert!(shown.contains("authorization") && !shown.contains("geheim"), "{shown}");
}

#[test]
fn response_edits_of_a_fixed_reply_are_made_once() {
    let config = read(
        "routes: [{ response_headers: { remove: x-a, set: { X-B: new }, add: { x-c: [\"1\", \"2\"] } }, respond: { headers: { x-a: a, x-b: old, x-c: \"0\" } } }]",
    );
    let Action::Respond(reply) = config.routes()[0].action() else { panic!("not a reply") };
    assert_eq!(reply.lines(), b"x-c: 0\r\nX-B: new\r\nx-c: 1\r\nx-c: 2\r\n");
}
