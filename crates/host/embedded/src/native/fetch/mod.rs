//! Requests to servers, for `fetch` and for node:http's client: the pools, name resolution and TLS are those of the gateway.
//!
//! JavaScript starts an exchange with a function that hears of it, and gets a number, by which it writes, reads and aborts.

mod drive;
mod event;
mod exchange;
mod inflate;
mod origin;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use leat_message::Length;
use rquickjs::function::Func;
use rquickjs::{Ctx, Exception, Function, Object, Persistent, Result, Value};

use self::drive::Request;
use self::exchange::Exchange;
use self::origin::{Origin, Origins};
use super::view;
use crate::host::Host;

/// Exchanges of one world at the same time.
const EXCHANGES_MAX: usize = 65_536;

/// Exchanges under way, by number.
#[derive(Default)]
struct Running {
    next: Cell<u32>,
    all: RefCell<HashMap<u32, Rc<Exchange>>>,
}

impl Running {
    fn get(&self, id: u32) -> Option<Rc<Exchange>> {
        self.all.borrow().get(&id).map(Rc::clone)
    }

    fn remove(&self, id: u32) -> Option<Rc<Exchange>> {
        self.all.borrow_mut().remove(&id)
    }
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let running = Rc::new(Running::default());
    let origins = Rc::new(Origins::new());
    let group = Object::new(ctx.clone())?;
    // `start(request, on)`: the number of a new exchange.
    group.set("start", {
        let running = Rc::clone(&running);
        Func::from(move |ctx: Ctx<'js>, request: Object<'js>, on: Function<'js>| {
            start(&ctx, &running, &origins, &request, on)
        })
    })?;
    // Whether there is room for more.
    group.set("write", {
        let running = Rc::clone(&running);
        Func::from(move |ctx: Ctx<'js>, id: u32, bytes: Value<'js>| -> Result<bool> {
            let bytes = view::copied(&ctx, &bytes)?;
            Ok(running.get(id).is_none_or(|exchange| exchange.write(bytes)))
        })
    })?;
    group.set("end", {
        let running = Rc::clone(&running);
        Func::from(move |id: u32| {
            if let Some(exchange) = running.get(id) {
                exchange.end();
            }
        })
    })?;
    group.set("read", {
        let running = Rc::clone(&running);
        Func::from(move |id: u32| {
            if let Some(exchange) = running.get(id) {
                exchange.read();
            }
        })
    })?;
    group.set(
        "abort",
        Func::from(move |id: u32| {
            if let Some(exchange) = running.remove(id) {
                exchange.abort();
            }
        }),
    )?;
    Ok(group)
}

fn start<'js>(
    ctx: &Ctx<'js>,
    running: &Rc<Running>,
    origins: &Rc<Origins>,
    request: &Object<'js>,
    on: Function<'js>,
) -> Result<u32> {
    if running.all.borrow().len() >= EXCHANGES_MAX {
        return Err(Exception::throw_range(ctx, "too many requests are under way"));
    }
    let host = Host::of(ctx)?;
    let request = read(request)?;
    let id = running.next.get();
    running.next.set(id.wrapping_add(1));
    let exchange = Exchange::new(&host, Persistent::save(ctx, on));
    running.all.borrow_mut().insert(id, Rc::clone(&exchange));
    let running = Rc::clone(running);
    drive::start(&exchange, origins, request, move || _ = running.remove(id));
    Ok(id)
}

/// What JavaScript asks for. Names and values of fields were checked there, and have one character for each byte.
fn read(request: &Object<'_>) -> Result<Request> {
    let lines: Vec<String> = request.get("fields")?;
    let mut fields = Vec::with_capacity(lines.len() / 2);
    for pair in lines.chunks_exact(2) {
        if let [name, value] = pair {
            fields.push((bytes(name), bytes(value)));
        }
    }
    let length: f64 = request.get("length")?;
    let length = match length {
        count if count >= 0.0 => Length::Known(count as u64),
        -1.0 => Length::Stream,
        _ => Length::None,
    };
    Ok(Request {
        origin: Origin {
            is_tls: request.get("isTLS")?,
            host: request.get("host")?,
            port: request.get("port")?,
            is_unix: request.get("isUnix")?,
            server_name: request.get("serverName")?,
            authorities: request.get("authorities")?,
        },
        method: request.get("method")?,
        path: request.get("path")?,
        fields,
        length,
        inflates: request.get("inflates")?,
        head_ms: request.get("headMs")?,
        idle_ms: request.get("idleMs")?,
    })
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect()
}
