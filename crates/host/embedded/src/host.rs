//! What the native functions of one world share: whether there is something left to wait for, and how to come back to
//! JavaScript when it is there.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::{Rc, Weak};
use std::time::Instant;

use rquickjs::{Ctx, Error, Exception, Function, IntoJs, JsLifetime, Object, Persistent, Promise, Result, Value};
use tokio::sync::Notify;

use crate::contexts::Contexts;
use crate::listeners::{Listening, Place};
use crate::process::{Hears, Seat};
use crate::world::World;

/// A world's host.
pub struct Host {
    world: RefCell<Weak<World>>,
    /// What keeps the program running: timers, servers, connections, operations under way.
    held: Cell<usize>,
    changed: Notify,
    exit: Cell<Option<i32>>,
    /// `process.nextTick` has something to run.
    ticks: Cell<bool>,
    /// A promise was rejected, or handled late, since the last look.
    rejections: Cell<bool>,
    /// The time of this turn, once somebody asked.
    now: Cell<Option<Instant>>,
    hooks: RefCell<Option<Persistent<Object<'static>>>>,
    arguments: Vec<String>,
    on_error: OnError,
    seat: Seat,
    life: Cell<Life>,
    served: Cell<bool>,
    /// Requests that JavaScript has and that are not answered.
    under_way: Cell<usize>,
    /// Tells of every change of `life` and `under_way`.
    moved: Notify,
    contexts: Contexts,
    turn_end: RefCell<Option<TurnEnd>>,
    stopped: RefCell<Option<TurnEnd>>,
    /// What lets go of values of the world before it ends.
    at_end: RefCell<Vec<TurnEnd>>,
    /// What went wrong, with [`OnError::Keep`].
    troubles: RefCell<Vec<(Trouble, String)>>,
}

/// What an error does that nobody caught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It is printed and ends the program with 1, as in Node.
    #[default]
    Exit,
    /// It is printed, and the program goes on.
    Log,
    /// It is kept for whoever asks, as what was stopped is, and the program goes on.
    Keep,
}

/// What went wrong where nobody waited for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nobody caught an error.
    Uncaught,
    /// JavaScript ran for longer than it may at once.
    Stopped,
    /// The world is not entered again.
    Lost,
}

/// What is kept of troubles until somebody asks; what comes then is lost.
const TROUBLES_MAX: usize = 16;

/// Where a world is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// The program is what it is.
    Runs,
    /// The program listens: turns have an end.
    Serves,
    /// Nothing new is taken on, what is under way is answered: the process ends, or another world comes after this one.
    Stops,
    /// Out of memory: JavaScript is not entered again, and what is under way is answered without it.
    Lost,
}

/// What is done when JavaScript has returned and all its microtasks have run.
type TurnEnd = Box<dyn Fn()>;

/// How native functions find their host.
#[derive(Clone, JsLifetime)]
pub(crate) struct HostRef(pub(crate) Rc<Host>);

impl Host {
    pub(crate) fn new(arguments: Vec<String>, on_error: OnError, seat: Seat) -> Rc<Self> {
        Rc::new(Self {
            world: RefCell::default(),
            held: Cell::new(0),
            changed: Notify::new(),
            exit: Cell::new(None),
            ticks: Cell::new(false),
            rejections: Cell::new(false),
            now: Cell::new(None),
            hooks: RefCell::default(),
            arguments,
            on_error,
            seat,
            life: Cell::new(Life::Runs),
            served: Cell::new(false),
            under_way: Cell::new(0),
            moved: Notify::new(),
            contexts: Contexts::default(),
            turn_end: RefCell::default(),
            stopped: RefCell::default(),
            at_end: RefCell::default(),
            troubles: RefCell::default(),
        })
    }

    /// Where this world is in the process: its number, its sockets, its metrics.
    pub(crate) fn seat(&self) -> &Seat {
        &self.seat
    }

    /// Whether the program goes on after an error that nobody caught.
    pub(crate) fn goes_on(&self) -> bool {
        self.on_error != OnError::Exit
    }

    /// Whether what goes wrong is kept for whoever asks, and not printed.
    pub(crate) fn keeps(&self) -> bool {
        self.on_error == OnError::Keep
    }

    /// Keeps what went wrong, or prints it: `words`, which are put together for that.
    pub(crate) fn tell(&self, trouble: Trouble, what: String, words: impl FnOnce(&str) -> String) {
        if !self.keeps() {
            crate::tell::text(&words(&what));
            return;
        }
        let mut troubles = self.troubles.borrow_mut();
        if troubles.len() < TROUBLES_MAX {
            troubles.push((trouble, what));
        }
    }

    /// Hands out what went wrong, with what JavaScript says of where.
    pub(crate) fn take_troubles(&self) -> Vec<(Trouble, String)> {
        self.troubles.take()
    }

    /// Hands out the last trouble of a kind, which somebody waited for after all.
    pub(crate) fn take_trouble(&self, kind: Trouble) -> Option<String> {
        let mut troubles = self.troubles.borrow_mut();
        let at = troubles.iter().rposition(|(trouble, _)| *trouble == kind)?;
        Some(troubles.remove(at).1)
    }

    /// Listens; from then on turns have an end. Gives the socket, and the process's share of it, which closes it.
    ///
    /// # Errors
    /// What the system says; EADDRINUSE where this world listens there already.
    pub fn listen(&self, place: &Place, backlog: i32) -> std::io::Result<(leat_door::Bound, Listening)> {
        let bound = self.seat.listen(place, backlog)?;
        self.serves();
        Ok(bound)
    }

    /// The program has begun to listen.
    pub fn serves(&self) {
        self.served.set(true);
        if self.life.get() == Life::Runs {
            self.life.set(Life::Serves);
        }
        self.seat.process.control();
    }

    /// The program listens for `signal`, and so decides what becomes of it, until what this gives is dropped.
    pub fn hear(&self, signal: i32) -> Hears {
        self.seat.hear(signal)
    }

    /// Whether the program has listened somewhere.
    pub fn served(&self) -> bool {
        self.served.get()
    }

    /// Where the world is in its life.
    pub fn life(&self) -> Life {
        self.life.get()
    }

    /// Moves on in life; never back.
    pub(crate) fn turn_to(&self, life: Life) {
        if self.life.get() != Life::Lost {
            self.life.set(life);
        }
        self.moved.notify_waiters();
        self.changed.notify_one();
    }

    /// Returns when the world takes nothing new on: servers stop accepting then.
    pub async fn stopping(&self) {
        while matches!(self.life.get(), Life::Runs | Life::Serves) {
            self.moved.notified().await;
        }
    }

    /// Returns when JavaScript is not entered any more: what it owes is to be answered without it.
    pub async fn lost(&self) {
        while self.life.get() != Life::Lost {
            self.moved.notified().await;
        }
    }

    /// A request begins: a drain waits until this is dropped.
    pub fn begin(self: &Rc<Self>) -> UnderWay {
        self.under_way.set(self.under_way.get() + 1);
        UnderWay(Rc::clone(self))
    }

    /// Returns when no request is under way.
    pub async fn idle(&self) {
        while self.under_way.get() > 0 {
            self.moved.notified().await;
        }
    }

    /// The host of the world that runs.
    pub(crate) fn of(ctx: &Ctx<'_>) -> Result<Rc<Self>> {
        let found = ctx.userdata::<HostRef>().map(|host| Rc::clone(&host.0));
        found.ok_or_else(|| Exception::throw_message(ctx, "this context has no host"))
    }

    pub(crate) fn belongs_to(&self, world: &Rc<World>) {
        *self.world.borrow_mut() = Rc::downgrade(world);
    }

    /// The world; `None` once it is gone.
    pub(crate) fn world(&self) -> Option<Rc<World>> {
        self.world.borrow().upgrade()
    }

    /// The program's path, and `process.argv` behind it.
    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Keeps the program running until the hold is dropped.
    pub(crate) fn hold(self: &Rc<Self>) -> Hold {
        self.held.set(self.held.get() + 1);
        Hold(Rc::clone(self))
    }

    /// Whether anything keeps the program running.
    pub(crate) fn is_held(&self) -> bool {
        self.held.get() > 0
    }

    /// Ends the program with `code`, as soon as JavaScript returns.
    pub(crate) fn exit(&self, code: i32) {
        if self.exit.get().is_none() {
            self.exit.set(Some(code));
        }
        self.changed.notify_one();
    }

    /// The code that the program was ended with.
    pub(crate) fn exited(&self) -> Option<i32> {
        self.exit.get()
    }

    /// Returns when the program was ended, nothing keeps it running, or the world is lost.
    pub(crate) async fn over(&self) {
        while self.exited().is_none() && self.is_held() && self.life.get() != Life::Lost {
            self.changed.notified().await;
        }
    }

    /// Returns when the program was ended or the world is lost, whatever is under way.
    pub(crate) async fn ended(&self) {
        while self.exited().is_none() && self.life.get() != Life::Lost {
            self.changed.notified().await;
        }
    }

    /// The functions that JavaScript gave the host (`leat:boot`).
    pub(crate) fn set_hooks<'js>(&self, ctx: &Ctx<'js>, hooks: Object<'js>) {
        *self.hooks.borrow_mut() = Some(Persistent::save(ctx, hooks));
    }

    /// One of them.
    pub(crate) fn hook<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Function<'js>> {
        let hooks = self.hooks.borrow().clone();
        let hooks = hooks.ok_or_else(|| Exception::throw_message(ctx, "the world is not ready"))?;
        hooks.restore(ctx)?.get(name)
    }

    /// To be called before the world's runtime ends.
    pub(crate) fn forget(&self) {
        self.hooks.borrow_mut().take();
        self.contexts.forget();
        self.turn_end.borrow_mut().take();
        self.stopped.borrow_mut().take();
        for forget in self.at_end.borrow_mut().drain(..) {
            forget();
        }
    }

    /// `run` lets go of values of the world that stand outside of it; it is called before the world ends.
    pub(crate) fn at_end(&self, run: TurnEnd) {
        self.at_end.borrow_mut().push(run);
    }

    /// The asynchronous contexts of the world.
    pub(crate) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// `run` is called each time that JavaScript has returned and its microtasks have run.
    pub(crate) fn on_turn_end(&self, run: TurnEnd) {
        *self.turn_end.borrow_mut() = Some(run);
    }

    /// `run` is called after each turn in which something was stopped for its time. It must not enter the world.
    pub(crate) fn on_stopped(&self, run: TurnEnd) {
        *self.stopped.borrow_mut() = Some(run);
    }

    /// Something was stopped in the turn that is over.
    pub(crate) fn tell_stopped(&self) {
        if let Some(run) = &*self.stopped.borrow() {
            run();
        }
    }

    /// JavaScript has returned.
    pub(crate) fn end_turn(&self) {
        if let Some(run) = &*self.turn_end.borrow() {
            run();
        }
    }

    /// `process.nextTick` has something to run once JavaScript returns.
    pub(crate) fn tick(&self) {
        self.ticks.set(true);
    }

    /// A turn begins: its time is not known yet.
    pub(crate) fn turn(&self) {
        self.now.set(None);
    }

    /// The time of this turn: the clock is looked at once, so that what begins in one turn begins together.
    pub(crate) fn now(&self) -> Instant {
        self.now.get().unwrap_or_else(|| {
            let now = Instant::now();
            self.now.set(Some(now));
            now
        })
    }

    pub(crate) fn take_ticks(&self) -> bool {
        self.ticks.replace(false)
    }

    /// Rejected promises are to be looked at once JavaScript returns.
    pub(crate) fn note_rejection(&self) {
        self.rejections.set(true);
    }

    pub(crate) fn take_rejections(&self) -> bool {
        self.rejections.replace(false)
    }

    /// A promise for what `work` gives. It runs on this thread, beside the connections, and keeps the program running.
    /// Work that takes long belongs on another thread (`tokio::task::spawn_blocking`).
    pub(crate) fn promise<'js, T>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        work: impl Future<Output = std::result::Result<T, Failure>> + 'static,
    ) -> Result<Promise<'js>>
    where
        T: for<'a> IntoJs<'a> + 'static,
    {
        let (promise, resolve, reject) = ctx.promise()?;
        let resolve = Persistent::save(ctx, resolve);
        let reject = Persistent::save(ctx, reject);
        let hold = self.hold();
        let host = Rc::downgrade(self);
        tokio::task::spawn_local(async move {
            let done = work.await;
            let Some(world) = host.upgrade().and_then(|host| host.world()) else { return };
            world.enter(|ctx| {
                match done {
                    Ok(value) => match value.into_js(ctx) {
                        Ok(value) => resolve.restore(ctx)?.call::<_, ()>((value,))?,
                        // There is no room for it.
                        Err(Error::Exception) => reject.restore(ctx)?.call::<_, ()>((ctx.catch(),))?,
                        Err(error) => return Err(error),
                    },
                    Err(failure) => {
                        let error = failure.into_error(ctx)?;
                        reject.restore(ctx)?.call::<_, ()>((error,))?;
                    }
                }
                Ok(())
            });
            drop(hold);
        });
        Ok(promise)
    }
}

/// Keeps the program running.
pub(crate) struct Hold(Rc<Host>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.held.set(self.0.held.get().saturating_sub(1));
        self.0.changed.notify_one();
    }
}

/// A request that is not answered yet.
pub struct UnderWay(Rc<Host>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.set(self.0.under_way.get().saturating_sub(1));
        if self.0.under_way.get() == 0 {
            self.0.moved.notify_waiters();
        }
    }
}

/// What JavaScript sees of a native operation that failed: an `Error` with `code`, and with `errno`, `syscall` and `path`
/// where a call of the system failed, as Node's have them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) code: &'static str,
    pub(crate) errno: Option<i32>,
    pub(crate) syscall: Option<&'static str>,
    pub(crate) path: Option<String>,
    /// The error's name where it is another than that of its class.
    pub(crate) name: Option<&'static str>,
    /// The second path of a call that takes two.
    pub(crate) dest: Option<Box<str>>,
}

impl Failure {
    pub(crate) fn into_error<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let exception = Exception::from_message(ctx.clone(), &self.message)?;
        let object = exception.as_object();
        if let Some(errno) = self.errno {
            object.set("errno", errno)?;
        }
        if !self.code.is_empty() {
            object.set("code", self.code)?;
        }
        if let Some(syscall) = self.syscall {
            object.set("syscall", syscall)?;
        }
        if let Some(path) = self.path {
            object.set("path", path)?;
        }
        if let Some(name) = self.name {
            object.prop("name", rquickjs::object::Property::from(name).configurable().writable())?;
        }
        if let Some(dest) = self.dest {
            object.set("dest", &*dest)?;
        }
        Ok(object.clone().into_value())
    }

    /// Throws it.
    pub(crate) fn throw(self, ctx: &Ctx<'_>) -> rquickjs::Error {
        match self.into_error(ctx) {
            Ok(error) => ctx.throw(error),
            Err(error) => error,
        }
    }
}
