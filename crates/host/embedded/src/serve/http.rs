//! A world's servers: where they listen, the requests that come, and what JavaScript says to them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use leat_door::{BACKLOG, Bound, MakeHandler, Server, Settings};
use leat_message::{Head, Length, Method, Name, Reason, Reply, TlsInfo, Version};
use leat_script::{Arrival, Lane, Port, Published, REPLY_WORDS, Wake};
use rquickjs::function::Args;
use rquickjs::{Ctx, Function, JsLifetime, Object, Persistent, Result};
use tokio::sync::Notify;

use super::call::{self, Hooks, Objects};
use super::direct::Direct;
use super::records;
use super::slabs::{Slabs, bytes_of};
use super::{head, natives, shaken};
use crate::host::{Failure, Hold, Host};
use crate::listeners;
use crate::world::Entered;

/// What a call to JavaScript made of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// The whole reply is written.
    Whole,
    /// It goes on.
    Begun,
    /// It goes on, and JavaScript has had its whole body.
    Heard,
}

/// A reply that was given before the call for its request returned.
#[derive(Default)]
struct Current {
    exchange: Option<u32>,
    status: Option<u16>,
    keep: bool,
    head_len: usize,
    bytes: Vec<u8>,
}

/// Memory that the reply of a call may keep for the next one.
const CURRENT_BYTES_KEPT: usize = 64 * 1024;

/// Records of this turn to the lane.
#[derive(Default)]
struct Pending {
    words: Vec<u32>,
    text: Vec<u8>,
}

/// One server that listens.
struct Listening {
    server: Rc<Server<Direct>>,
    objects: Rc<Objects>,
    hold: Option<Hold>,
    /// The process's share of its socket.
    socket: Option<listeners::Listening>,
}

/// The servers of a world.
pub(crate) struct Http {
    host: Rc<Host>,
    lane: Rc<Lane>,
    port: RefCell<Port>,
    slabs: RefCell<Slabs>,
    pending: RefCell<Pending>,
    current: RefCell<Current>,
    scratch: RefCell<Vec<u8>>,
    /// The exchange whose whole body has come with its head, until JavaScript was told of it: it need not be asked for.
    whole: Cell<Option<u32>>,
    /// Something was stopped that may have been to answer an exchange.
    stopped: Cell<bool>,
    /// That body, while JavaScript is told of it.
    body: RefCell<Vec<u8>>,
    /// The connection whose request JavaScript is being called for.
    calling: Cell<Option<u32>>,
    /// Bytes of what was sent last.
    written: Cell<usize>,
    servers: RefCell<HashMap<u32, Listening>>,
    next_server: Cell<u32>,
    /// An open connection keeps the program running, unless JavaScript says otherwise.
    holds: RefCell<HashMap<u32, Option<Hold>>>,
    hooks: RefCell<Option<Rc<Hooks>>>,
    /// The connections' objects.
    lines: RefCell<HashMap<u32, Persistent<Object<'static>>>>,
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

    /// Gives a request to JavaScript with all of its `body`, if that has come (else it is empty), and its reply to `reply` where
    /// it is whole at once.
    pub(super) fn request<R: Reply>(
        &self,
        server: u32,
        connection: u32,
        exchange: u32,
        request: Head<'_>,
        body: &[u8],
        reply: &mut R,
    ) -> Made {
        let (Some(world), Some(hooks)) = (self.host.world(), self.hooks.borrow().clone()) else { return Made::Begun };
        if let Some(metrics) = self.host.seat().metrics() {
            metrics.requests.add(1);
        }
        {
            let mut current = self.current.borrow_mut();
            current.exchange = Some(exchange);
            current.status = None;
        }
        let enter = |call: &mut dyn FnMut(&Ctx<'_>) -> Result<()>| {
            world.try_enter(|ctx| {
                self.calling.set(Some(connection));
                let called = call(ctx);
                // Ticks and promises come behind it.
                self.calling.set(None);
                called
            })
        };
        self.whole.set((!body.is_empty()).then_some(exchange));
        // The request's object, if the call left it without its reply.
        let mut open = None;
        let mut entered = enter(&mut |ctx| {
            self.hand_over(ctx, &hooks, [server, connection, exchange], request, !body.is_empty(), &mut open)
        });
        let mut heard = false;
        if let Some(open) = open.filter(|_| !self.is_answered() && self.is_entered(entered, exchange)) {
            if !body.is_empty() {
                // Behind what the request's own turn has left to do, as a body comes on Node.
                heard = true;
                self.keep_body(body);
                entered = enter(&mut |ctx| {
                    self.whole.set(None);
                    hooks.body.clone().restore(ctx)?.call((open.clone().restore(ctx)?,))
                });
                self.forget_body();
            }
            if !self.is_answered() && self.is_entered(entered, exchange) {
                enter(&mut |ctx| hooks.pending.clone().restore(ctx)?.call((open.clone().restore(ctx)?,)));
            }
        }
        self.whole.set(None);
        let begun = if heard { Made::Heard } else { Made::Begun };
        let mut current = self.current.borrow_mut();
        let unanswered = current.exchange.take().is_some() && current.status.is_none();
        if unanswered && entered != Entered::Done(()) {
            // Nobody will answer it any more.
            let reason = if entered == Entered::OutOfMemory { Reason::LaneGone } else { Reason::LaneTurnTime };
            let has_body = request.method_bytes() != b"HEAD";
            (current.bytes, current.head_len) = refusal(reason, has_body);
            let status = reason.status();
            current.status = Some(status);
            current.keep = false;
        }
        let Some(status) = current.status.take() else { return begun };
        let (head, body) = current.bytes.split_at_checked(current.head_len).unwrap_or_default();
        let written = reply.whole(status, head, body, current.keep);
        if !written {
            let (head_len, bytes, keep) = (current.head_len, std::mem::take(&mut current.bytes), current.keep);
            drop(current);
            let flags = natives::LAST | if keep { natives::KEEP } else { 0 };
            self.push(natives::HEAD, flags, exchange, status.into(), head_len as u32, &bytes);
            self.flush();
            return begun;
        }
        reply.record().bytes_in = if heard { body.len() as u64 } else { 0 };
        if current.bytes.capacity() > CURRENT_BYTES_KEPT {
            current.bytes = Vec::new();
        }
        Made::Whole
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

    /// Keeps the body of a request for JavaScript's questions.
    fn keep_body(&self, bytes: &[u8]) {
        let mut body = self.body.borrow_mut();
        body.clear();
        body.extend_from_slice(bytes);
        // As what parses it wants it.
        body.push(0);
    }

    fn forget_body(&self) {
        let mut body = self.body.borrow_mut();
        body.clear();
        if body.capacity() > CURRENT_BYTES_KEPT {
            *body = Vec::new();
        }
    }

    /// The body that JavaScript is being told of, and a zero behind it; empty for none.
    pub(super) fn body(&self) -> std::cell::Ref<'_, Vec<u8>> {
        self.body.borrow()
    }

    /// JavaScript asks for `bytes` more of a body.
    pub(super) fn read(&self, exchange: u32, bytes: u32) {
        if self.whole.get() != Some(exchange) {
            self.push(natives::READ, 0, exchange, bytes, 0, &[]);
        }
    }

    /// Nothing can answer an exchange any more, since what was to do so was stopped. A reply that has begun is cut off.
    pub(super) fn abandon(&self, exchange: u32, has_begun: bool, has_body: bool) {
        if has_begun {
            self.push(natives::ABORT, 0, exchange, 0, 0, &[]);
            return;
        }
        let reason = Reason::LaneTurnTime;
        let (bytes, head_len) = refusal(reason, has_body);
        self.push(natives::HEAD, natives::LAST, exchange, reason.status().into(), head_len as u32, &bytes);
    }

    /// The connection whose request JavaScript is being called for; -1 for none.
    pub(super) fn serving(&self) -> f64 {
        self.calling.get().map_or(-1.0, f64::from)
    }

    /// Bytes of what was sent last.
    pub(super) fn written(&self) -> f64 {
        self.written.get() as f64
    }

    /// Whether JavaScript may be entered again for an exchange: a call for it that was stopped is answered already.
    fn is_entered(&self, entered: Entered<()>, exchange: u32) -> bool {
        match entered {
            Entered::Done(()) => self.host.exited().is_none(),
            Entered::Interrupted => self.current.borrow().exchange != Some(exchange),
            Entered::OutOfMemory => false,
        }
    }

    /// Calls JavaScript for a request; `open` is its object, if it has no reply then.
    fn hand_over(
        &self,
        ctx: &Ctx<'_>,
        hooks: &Hooks,
        [server, connection, exchange]: [u32; 3],
        request: Head<'_>,
        whole: bool,
        open: &mut Option<Persistent<Object<'static>>>,
    ) -> Result<()> {
        let line = self.lines.borrow().get(&connection).cloned();
        let objects = self.servers.borrow().get(&server).map(|listening| Rc::clone(&listening.objects));
        let (Some(line), Some(objects)) = (line, objects) else {
            // Its server was forgotten.
            self.push(natives::ABORT, 0, exchange, 0, 0, &[]);
            return Ok(());
        };
        let line = line.restore(ctx)?;
        let req = head::object(ctx, &hooks.names, objects.request.clone().restore(ctx)?, request)?;
        let flags = flags_of(request);
        let is_usual = flags & !HAS_BODY == USUAL && (whole || flags == USUAL) && request.method_bytes() != b"HEAD";
        let mut called = Ok(false);
        if is_usual {
            called = call::usual(ctx, hooks, &objects, &line, &req, exchange, whole);
        }
        if matches!(called, Ok(false)) {
            called = hooks.request.clone().restore(ctx)?.call((line, req.clone(), exchange, flags)).map(|()| true);
        }
        if !self.is_answered() {
            *open = Some(Persistent::save(ctx, req));
        }
        called.map(|_| ())
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
    fn is_answered(&self) -> bool {
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
    fn flush(&self) {
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

/// The reply that says `reason` and ends its connection; how long its head is.
fn refusal(reason: Reason, has_body: bool) -> (Vec<u8>, usize) {
    let (status, text) = (reason.status(), reason.problem());
    let mut bytes = format!(
        "HTTP/1.1 {status} Service Unavailable\r\nContent-Type: application/problem+json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    )
    .into_bytes();
    let head_len = bytes.len();
    if has_body {
        bytes.extend_from_slice(text.as_bytes());
    }
    (bytes, head_len)
}

/// The flags of a request without a body, that names its host and leaves the connection open.
const USUAL: u32 = 1 | 8;

const HAS_BODY: u32 = 2;

/// What JavaScript is told of a request beside its head (`js/http/native.ts`).
fn flags_of(head: Head<'_>) -> u32 {
    let lines = head.lines();
    let has = |name: Name| lines.fields.iter().any(|field| field.id == name);
    let has_body = !matches!(lines.length, Length::None | Length::Known(0));
    [
        (lines.keep_alive, 1),
        (has_body, 2),
        (lines.upgrade || lines.method == Method::Connect, 4),
        (has(Name::Host), 8),
        (has(Name::Expect), 16),
        (lines.version == Version::Http2, 32),
        (lines.version == Version::Http10, 64),
        (lines.method == Method::Other, 128),
    ]
    .into_iter()
    .fold(0, |flags, (set, flag)| if set { flags | flag } else { flags })
}

/// The native functions of `leat:http`.
pub(crate) fn group<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    natives::group(ctx)
}
