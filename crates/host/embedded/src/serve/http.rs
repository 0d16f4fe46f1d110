//! A world's servers: where they listen, the requests that come, and what JavaScript says to them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use leat_door::{BACKLOG, Bound, MakeHandler, Server, Settings};
use leat_message::TlsInfo;
use leat_script::{Arrival, Lane, Port, Published, REPLY_WORDS, Wake};
use rquickjs::function::Args;
use rquickjs::{Ctx, Function, JsLifetime, Object, Persistent, Result};
use tokio::sync::Notify;

use super::call::{Hooks, Objects};
use super::direct::Direct;
use super::records;
use super::slabs::{Slabs, bytes_of};
use super::{natives, shaken};
use crate::host::{Failure, Hold, Host};
use crate::listeners;

/// A reply that was given before the call for its request returned.
#[derive(Default)]
pub(super) struct Current {
    pub(super) exchange: Option<u32>,
    pub(super) status: Option<u16>,
    pub(super) keep: bool,
    pub(super) head_len: usize,
    pub(super) bytes: Vec<u8>,
}

/// Memory that the reply of a call may keep for the next one.
pub(super) const CURRENT_BYTES_KEPT: usize = 64 * 1024;

/// Records of this turn to the lane.
#[derive(Default)]
struct Pending {
    words: Vec<u32>,
    text: Vec<u8>,
}

/// One server that listens.
pub(super) struct Listening {
    server: Rc<Server<Direct>>,
    pub(super) objects: Rc<Objects>,
    hold: Option<Hold>,
    /// The process's share of its socket.
    socket: Option<listeners::Listening>,
}

/// The servers of a world.
pub(crate) struct Http {
    pub(super) host: Rc<Host>,
    lane: Rc<Lane>,
    port: RefCell<Port>,
    slabs: RefCell<Slabs>,
    pending: RefCell<Pending>,
    pub(super) current: RefCell<Current>,
    scratch: RefCell<Vec<u8>>,
    /// The exchange whose whole body has come with its head, until JavaScript was told of it: it need not be asked for.
    pub(super) whole: Cell<Option<u32>>,
    /// Something was stopped that may have been to answer an exchange.
    stopped: Cell<bool>,
    /// That body, while JavaScript is told of it.
    pub(super) body: RefCell<Vec<u8>>,
    /// The connection whose request JavaScript is being called for.
    pub(super) calling: Cell<Option<u32>>,
    /// Bytes of what was sent last.
    written: Cell<usize>,
    pub(super) servers: RefCell<HashMap<u32, Listening>>,
    next_server: Cell<u32>,
    /// An open connection keeps the program running, unless JavaScript says otherwise.
    holds: RefCell<HashMap<u32, Option<Hold>>>,
    pub(super) hooks: RefCell<Option<Rc<Hooks>>>,
    /// The connections' objects.
    pub(super) lines: RefCell<HashMap<u32, Persistent<Object<'static>>>>,
}

/// How natives find it.
#[derive(Clone, JsLifetime)]
pub(super) struct HttpRef(pub(super) Rc<Http>);

/// Wakes the task that takes what the lane has published.
struct Bell(Arc<Notify>);

impl Wake for Bell {
    fn wake(&self) {
        self.0.notify_one();
    }
}

impl Http {
    /// The servers of the world that runs, made with the first call.
    pub(super) fn of(ctx: &Ctx<'_>) -> Result<Rc<Self>> {
        if let Some(found) = ctx.userdata::<HttpRef>() {
            return Ok(Rc::clone(&found.0));
        }
        let http = Self::new(Host::of(ctx)?);
        // Nobody borrows it: it was not there.
        let _ = ctx.store_userdata(HttpRef(Rc::clone(&http)));
        Ok(http)
    }

    fn new(host: Rc<Host>) -> Rc<Self> {
        let bell = Arc::new(Notify::new());
        let (seed, mut port) = leat_script::lane(Box::new(Bell(Arc::clone(&bell))));
        let lane = Lane::new(seed);
        let slabs = Slabs::lend(&mut port);
        let http = Rc::new(Self {
            host: Rc::clone(&host),
            lane: Rc::clone(&lane),
            port: RefCell::new(port),
            slabs: RefCell::new(slabs),
            pending: RefCell::default(),
            current: RefCell::default(),
            scratch: RefCell::default(),
            whole: Cell::new(None),
            stopped: Cell::new(false),
            body: RefCell::default(),
            calling: Cell::new(None),
            written: Cell::new(0),
            servers: RefCell::default(),
            next_server: Cell::new(1),
            holds: RefCell::default(),
            hooks: RefCell::default(),
            lines: RefCell::default(),
        });
        tokio::task::spawn_local(lane.run());
        let heard = Rc::downgrade(&http);
        let ring = Arc::clone(&bell);
        tokio::task::spawn_local(async move {
            loop {
                bell.notified().await;
                match heard.upgrade() {
                    Some(http) => http.drain(),
                    None => return,
                }
            }
        });
        let ending = Rc::downgrade(&http);
        let lost = Rc::clone(&host);
        tokio::task::spawn_local(async move {
            lost.lost().await;
            if let Some(http) = ending.upgrade() {
                // The engine answers what is under way.
                http.port.borrow().end();
            }
        });
        let stopped = Rc::downgrade(&http);
        host.on_stopped(Box::new(move || {
            if let Some(http) = stopped.upgrade() {
                http.stopped.set(true);
                ring.notify_one();
            }
        }));
        let turn = Rc::downgrade(&http);
        host.on_turn_end(Box::new(move || {
            if let Some(http) = turn.upgrade() {
                http.flush();
            }
        }));
        let end = Rc::downgrade(&http);
        http.host.at_end(Box::new(move || {
            if let Some(http) = end.upgrade() {
                http.hooks.borrow_mut().take();
                http.lines.borrow_mut().clear();
                http.servers.borrow_mut().clear();
            }
        }));
        http
    }

    /// The world's host.
    pub(super) fn host(&self) -> &Rc<Host> {
        &self.host
    }

    /// What JavaScript is called for.
    pub(super) fn set_hooks<'js>(&self, ctx: &Ctx<'js>, hooks: Object<'js>) -> Result<()> {
        *self.hooks.borrow_mut() = Some(Rc::new(Hooks::new(ctx, hooks)?));
        Ok(())
    }

    /// Calls a hook, in a turn of its own.
    pub(super) fn call(&self, name: &str, run: impl for<'js> FnOnce(&Ctx<'js>, Function<'js>) -> Result<()>) {
        let (Some(world), Some(hooks)) = (self.host.world(), self.hooks.borrow().clone()) else { return };
        world.enter(|ctx| {
            let hook = hooks.all.clone().restore(ctx)?.get(name)?;
            run(ctx, hook)
        });
    }

    /// Binds and listens.
    pub(super) fn listen<'js>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        place: leat_door::Place<'_>,
        backlog: Option<i32>,
        settings: Settings,
        objects: Objects,
    ) -> Result<(u32, Option<std::net::SocketAddr>)> {
        let options = settings
            .serve_options()
            .map_err(|refusal| Failure { message: refusal.0, code: "LEAT_TLS", ..Failure::default() }.throw(ctx))?;
        let bound = self.bind(place, backlog.unwrap_or(BACKLOG));
        let (Bound { listener, address }, socket) = bound.map_err(|error| {
            let (code, errno) = leat_door::errno_of(&error);
            Failure { message: error.to_string(), code, errno: Some(errno), ..Failure::default() }.throw(ctx)
        })?;
        let number = self.next_server.replace(self.next_server.get() + 1);
        let ipv6 = address.is_some_and(|address| address.is_ipv6());
        let http = Rc::downgrade(self);
        let host = Rc::clone(&self.host);
        let make: MakeHandler<Direct> = Rc::new(move |script, peer| {
            // The servers end before their world.
            let http = http.upgrade().unwrap_or_else(|| Http::new(Rc::clone(&host)));
            Direct::new(script, http, number, peer)
        });
        let server = Server::open(Some(listener), settings, options, ipv6, make);
        server.join(&self.lane, number.into());
        let hold = Some(self.host.hold());
        self.servers.borrow_mut().insert(number, Listening { server, objects: Rc::new(objects), hold, socket });
        Ok((number, address))
    }

    /// Binds among the workers of the process; what is shared otherwise already is bound as it is.
    fn bind(
        &self,
        place: leat_door::Place<'_>,
        backlog: i32,
    ) -> std::io::Result<(Bound, Option<listeners::Listening>)> {
        let wanted = match place {
            leat_door::Place::Tcp { address, ipv6_only, reuse_port: false } => {
                listeners::Place::Tcp { ip: address.ip(), port: address.port(), ipv6_only }
            }
            leat_door::Place::Unix(path) => listeners::Place::Unix(path.into()),
            place => {
                self.host.serves();
                return Ok((leat_door::open(place, backlog)?, None));
            }
        };
        let (bound, socket) = self.host.listen(&wanted, backlog)?;
        Ok((bound, Some(socket)))
    }

    /// Stops accepting; open connections go on.
    pub(super) fn close(&self, number: u32) {
        if let Some(listening) = self.servers.borrow_mut().get_mut(&number) {
            listening.server.leave(&self.lane, number.into(), None);
            listening.socket = None;
            listening.hold = None;
        }
    }

    /// Forgets a server whose last connection has ended.
    pub(super) fn forget(&self, number: u32) {
        self.servers.borrow_mut().remove(&number);
    }

    /// Whether the server keeps the program running.
    pub(super) fn hold(&self, number: u32, hold: bool) {
        if let Some(listening) = self.servers.borrow_mut().get_mut(&number) {
            listening.hold = hold.then(|| self.host.hold());
        }
    }

    /// Changes settings of a running server.
    pub(super) fn change(&self, number: u32, settings: Settings) {
        if let Some(listening) = self.servers.borrow().get(&number) {
            listening.server.change(settings);
        }
    }

    /// Whether an open connection keeps the program running.
    pub(super) fn hold_connection(&self, connection: u32, hold: bool) {
        if let Some(held) = self.holds.borrow_mut().get_mut(&connection) {
            *held = hold.then(|| self.host.hold());
        }
    }

    /// A connection has ended.
    pub(super) fn parted(&self, connection: u32) {
        self.holds.borrow_mut().remove(&connection);
        self.lines.borrow_mut().remove(&connection);
    }

    /// A connection has come.
    pub(super) fn opened(&self, server: u32, connection: u32, arrival: &Arrival, tls: Option<&TlsInfo>) {
        self.holds.borrow_mut().insert(connection, Some(self.host.hold()));
        let flags = u32::from(arrival.ipv6) | u32::from(arrival.unix) << 1 | u32::from(arrival.http2) << 2;
        self.call("opened", |ctx, hook| {
            let mut args = Args::new(ctx.clone(), 8);
            args.push_args([server, connection])?;
            args.push_arg(arrival.remote.as_str())?;
            args.push_arg(arrival.remote_port)?;
            args.push_arg(arrival.local.as_str())?;
            args.push_arg(arrival.local_port)?;
            args.push_arg(flags)?;
            if let Some(tls) = tls {
                args.push_arg(shaken::object(ctx, arrival, tls)?)?;
            }
            hook.call_arg(args)
        });
    }

    /// The object of a connection, which comes with its requests.
    pub(super) fn set_line<'js>(&self, ctx: &Ctx<'js>, connection: u32, line: Object<'js>) {
        self.lines.borrow_mut().insert(connection, Persistent::save(ctx, line));
    }

    /// Memory for a body that is being written, which is given back by `keep_scratch`.
    pub(super) fn take_scratch(&self) -> Vec<u8> {
        self.scratch.take()
    }

    pub(super) fn keep_scratch(&self, mut scratch: Vec<u8>) {
        scratch.clear();
        if scratch.capacity() <= CURRENT_BYTES_KEPT {
            self.scratch.replace(scratch);
        }
    }

    /// The connection whose request JavaScript is being called for; -1 for none.
    pub(super) fn serving(&self) -> f64 {
        self.calling.get().map_or(-1.0, f64::from)
    }

    /// Bytes of what was sent last.
    pub(super) fn written(&self) -> f64 {
        self.written.get() as f64
    }

    /// What JavaScript is called for; `None` before it has said.
    pub(super) fn hooks(&self) -> Option<Rc<Hooks>> {
        self.hooks.borrow().clone()
    }

    /// Whether this is the exchange of the request that is being called for, and has no reply yet.
    pub(super) fn awaits(&self, exchange: u32) -> bool {
        let current = self.current.borrow();
        current.exchange == Some(exchange) && current.status.is_none()
    }

    /// Whether the request that is being called for has its whole reply.
    pub(super) fn is_answered(&self) -> bool {
        self.current.borrow().status.is_some()
    }

    /// Notes the whole reply of the request that is being called for: `write` appends head and body, and says where the body
    /// begins. `false` where it is another one's, or this one has begun to answer already.
    pub(super) fn answer_now(
        &self,
        exchange: u32,
        status: u16,
        keep: bool,
        write: impl FnOnce(&mut Vec<u8>) -> usize,
    ) -> bool {
        let mut current = self.current.borrow_mut();
        if current.exchange != Some(exchange) || current.status.is_some() {
            return false;
        }
        current.bytes.clear();
        current.head_len = write(&mut current.bytes);
        self.written.set(current.bytes.len());
        current.status = Some(status);
        current.keep = keep;
        true
    }

    /// As [`Http::answer_now`], where `write` may find that it can't: then it gives `None`, and nothing was answered.
    pub(super) fn answer_now_if(
        &self,
        exchange: u32,
        status: u16,
        keep: bool,
        write: impl FnOnce(&mut Vec<u8>) -> Option<usize>,
    ) -> bool {
        let mut current = self.current.borrow_mut();
        if current.exchange != Some(exchange) || current.status.is_some() {
            return false;
        }
        current.bytes.clear();
        let Some(head_len) = write(&mut current.bytes) else { return false };
        current.head_len = head_len;
        self.written.set(current.bytes.len());
        current.status = Some(status);
        current.keep = keep;
        true
    }

    /// Adds a record of this turn.
    pub(super) fn push(&self, kind: u32, flags: u32, target: u32, status: u32, head_len: u32, bytes: &[u8]) {
        let mut current = self.current.borrow_mut();
        if current.exchange == Some(target) {
            // What follows belongs behind this.
            current.exchange = None;
        }
        drop(current);
        let mut pending = self.pending.borrow_mut();
        let record: [u32; REPLY_WORDS] = [kind | flags << 8, target, bytes.len() as u32, 0, status, head_len];
        pending.words.extend_from_slice(&record);
        pending.text.extend_from_slice(bytes);
        self.written.set(bytes.len());
    }

    /// Sends the records of this turn.
    pub(super) fn flush(&self) {
        let mut pending = self.pending.borrow_mut();
        if pending.words.is_empty() {
            return;
        }
        let mut port = self.port.borrow_mut();
        let mut batch = port.batch();
        std::mem::swap(&mut batch.words, &mut pending.words);
        std::mem::swap(&mut batch.bytes, &mut pending.text);
        batch.text_bytes = batch.bytes.len();
        pending.words.clear();
        pending.text.clear();
        port.send(batch);
    }

    /// Takes what the lane has published.
    fn drain(&self) {
        if self.stopped.replace(false) {
            self.call("stopped", |_, hook| hook.call(()));
        }
        let until = self.port.borrow_mut().begin_turn();
        loop {
            let Some(Published { slab, from, to }) = self.port.borrow_mut().take(until) else { break };
            let words = {
                let mut slabs = self.slabs.borrow_mut();
                let words = slabs.read(slab, &mut self.port.borrow_mut());
                // A copy, since JavaScript may call for what lends this slab again.
                words.get(from as usize / 4..to as usize / 4).unwrap_or_default().to_vec()
            };
            records::tell(self, &words, bytes_of(&words), from);
        }
        self.port.borrow_mut().end_turn();
    }
}

/// The native functions of `leat:http`.
pub(crate) fn group<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    natives::group(ctx)
}
