//! What JavaScript calls; `packages/leat/src/native/addon.ts` says what each is for.
#![allow(missing_docs, reason = "documented where they are called from")]

use leat_message::{Method, Name, Reason};
use leat_script::SLABS_MAX;
use napi::bindgen_prelude::{FromNapiValue, Uint8Array, Unknown};
use napi::{Env, JsValue};
use napi_derive::napi;
use tokio::sync::oneshot;

use crate::dial::Destination;
use crate::engine::{Engine, Order};
use crate::error::{Coded, coded, from_io};
use crate::port;
use crate::settings::Settings;
use leat_door::{BACKLOG, Bound};

#[napi(object)]
#[derive(Default)]
pub struct Place {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub path: Option<String>,
    pub fd: Option<i32>,
    pub backlog: Option<i32>,
    pub ipv6_only: Option<bool>,
    pub reuse_port: Option<bool>,
}

#[napi(object)]
pub struct Listening {
    pub server: u32,
    pub address: Option<String>,
    pub family: Option<String>,
    pub port: Option<u16>,
}

#[napi(object)]
pub struct ReasonText {
    pub code: String,
    pub status: u32,
    pub text: String,
}

#[napi(object)]
pub struct DoctorOutcome {
    pub code: u8,
    pub stdout: String,
    pub stderr: String,
}

#[napi(object)]
pub struct Attached {
    pub lane: u32,
    pub fd: i32,
}

#[napi]
pub fn attach(env: &Env, words: Unknown<'_>, parts: Unknown<'_>) -> Result<Attached, Coded> {
    let (lane, fd) = port::attach(env.raw(), words.raw(), parts.raw())?;
    Ok(Attached { lane, fd })
}

#[napi]
pub fn take(lane: u32) -> Result<u32, Coded> {
    port::take(lane)
}

#[napi]
pub fn supply(env: &Env, lane: u32, slab: Unknown<'_>) -> Result<(), Coded> {
    port::supply(env.raw(), lane, slab.raw())
}

#[napi]
pub fn supply_body(env: &Env, lane: u32, slab: Unknown<'_>) -> Result<(), Coded> {
    port::supply_body(env.raw(), lane, slab.raw())
}

#[napi]
pub fn flush(env: &Env, lane: u32, count: u32, text: Unknown<'_>, buffers: Unknown<'_>) -> Result<(), Coded> {
    port::flush(env.raw(), lane, count, text.raw(), buffers.raw())
}

#[napi]
pub fn destination(lane: u32, destination: Destination) -> Result<u32, Coded> {
    port::name_destination(lane, destination.read()?)
}

#[napi]
pub fn listen(lane: u32, options: Unknown<'_>) -> Result<Listening, Coded> {
    let settings = Settings::from_unknown(options).map_err(argument)?;
    let place = Place::from_unknown(options).map_err(argument)?;
    let lane = port::engine_lane(lane)?;
    let engine = Engine::get()?;
    let settings = leat_door::Settings::try_from(settings)?;
    let options = Box::new(settings.serve_options().map_err(tls)?);
    let server = engine.next_server();
    let mut shared = engine.shared();
    let at = place_of(&place)?;
    if let leat_door::Place::Tcp { address, reuse_port: true, .. } = at
        && address.port() != 0
        && let Some(&with) = shared.get(&address)
    {
        engine.order(Order::Join { lane, server, with });
        shared.insert(address, server);
        return Ok(listening(server, Some(address)));
    }
    let Bound { listener, address } =
        leat_door::open(at, place.backlog.unwrap_or(BACKLOG)).map_err(|error| from_io(&error))?;
    if let Some(address) = address.filter(|_| place.reuse_port == Some(true)) {
        shared.insert(address, server);
    }
    let ipv6 = address.is_some_and(|address| address.is_ipv6());
    let settings = Box::new(settings);
    engine.order(Order::Open { lane, server, listener: Some(listener), settings, options, ipv6 });
    Ok(listening(server, address))
}

#[napi]
pub fn listen_none(lane: u32, settings: Settings) -> Result<Listening, Coded> {
    let lane = port::engine_lane(lane)?;
    let engine = Engine::get()?;
    let settings = leat_door::Settings::try_from(settings)?;
    let options = Box::new(settings.serve_options().map_err(tls)?);
    let server = engine.next_server();
    engine.order(Order::Open { lane, server, listener: None, settings: Box::new(settings), options, ipv6: true });
    Ok(listening(server, None))
}

#[napi]
pub fn adopt(server: u32, fd: i32) -> Result<(), Coded> {
    let socket = leat_door::accepted(fd).map_err(|error| from_io(&error))?;
    Engine::get()?.order(Order::Adopt(server.into(), socket));
    Ok(())
}

#[napi(js_name = "settings")]
pub fn change(server: u32, settings: Settings) -> Result<(), Coded> {
    Engine::get()?.order(Order::Change(server.into(), Box::new(settings.try_into()?)));
    Ok(())
}

#[napi]
pub fn close(server: u32) -> Result<(), Coded> {
    let engine = Engine::get()?;
    engine.shared().retain(|_, &mut with| with != u64::from(server));
    let (closed, done) = oneshot::channel();
    engine.order(Order::Close(server.into(), closed));
    // The address is free when this returns, as when Node closes a handle. Dropped unanswered where others go on with it.
    let _ = done.blocking_recv();
    Ok(())
}

#[napi]
pub fn fatal(env: &Env, error: Unknown<'_>) {
    port::fatal(env.raw(), error.raw());
}

#[napi]
pub fn doctor(folder: String, json: bool) -> DoctorOutcome {
    let leat_doctor::Outcome { code, stdout, stderr } = leat_doctor::doctor(std::path::Path::new(&folder), json);
    DoctorOutcome { code, stdout, stderr }
}

#[napi]
pub fn metrics() -> Result<String, Coded> {
    let snapshot = Engine::get()?.snapshot();
    snapshot.map(|snapshot| snapshot.text()).ok_or_else(|| coded("LEAT_ENGINE", "the engine does not answer"))
}

#[napi]
pub fn names() -> Vec<String> {
    std::iter::once(Name::Other).chain(Name::ALL.iter().copied()).map(|name| name.as_str().to_owned()).collect()
}

#[napi]
pub fn methods() -> Vec<String> {
    const ALL: [(Method, &str); 9] = [
        (Method::Get, "GET"),
        (Method::Head, "HEAD"),
        (Method::Post, "POST"),
        (Method::Put, "PUT"),
        (Method::Delete, "DELETE"),
        (Method::Connect, "CONNECT"),
        (Method::Options, "OPTIONS"),
        (Method::Trace, "TRACE"),
        (Method::Patch, "PATCH"),
    ];
    let mut list = vec![String::new(); ALL.len() + 1];
    for (method, name) in ALL {
        if let Some(place) = list.get_mut(method as usize + 1) {
            name.clone_into(place);
        }
    }
    list
}

#[napi]
pub fn reasons() -> Vec<ReasonText> {
    let text = |reason: &Reason| ReasonText {
        code: reason.code().to_owned(),
        status: reason.status().into(),
        text: reason.text().to_owned(),
    };
    let none = ReasonText { code: String::new(), status: 0, text: "Nothing went wrong.".into() };
    std::iter::once(none).chain(Reason::ALL.iter().map(text)).collect()
}

#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// How many slabs may be lent at once, the one that is being filled among them.
#[napi]
pub fn slabs_max() -> u32 {
    SLABS_MAX as u32
}

fn argument(error: napi::Error) -> Coded {
    coded("LEAT_ARGUMENT", error.reason.as_str())
}

fn tls(refusal: leat_door::TlsRefusal) -> Coded {
    coded("LEAT_TLS", refusal.0)
}

fn place_of(place: &Place) -> Result<leat_door::Place<'_>, Coded> {
    if let Some(fd) = place.fd {
        return Ok(leat_door::Place::Descriptor(fd));
    }
    if let Some(path) = &place.path {
        return Ok(leat_door::Place::Unix(path));
    }
    let host = place.host.as_deref().unwrap_or("::");
    // A zone (`fe80::1%eth0`) is not part of what is parsed here.
    let ip = host.parse().map_err(|_| coded("EINVAL", format!("{host} is not an IP address")))?;
    Ok(leat_door::Place::Tcp {
        address: std::net::SocketAddr::new(ip, place.port.unwrap_or(0)),
        ipv6_only: place.ipv6_only.unwrap_or(false),
        reuse_port: place.reuse_port.unwrap_or(false),
    })
}

fn listening(server: u64, address: Option<std::net::SocketAddr>) -> Listening {
    Listening {
        server: server as u32,
        address: address.map(|address| address.ip().to_string()),
        family: address.map(|address| if address.is_ipv6() { "IPv6" } else { "IPv4" }.to_owned()),
        port: address.map(|address| address.port()),
    }
}

#[napi]
pub fn descriptors(paths: Vec<String>, includes: Vec<String>) -> Result<Uint8Array, Coded> {
    let set = leat_door::descriptors(&paths, &includes).map_err(|problem| coded("LEAT_RPC", problem))?;
    Ok(set.into())
}
