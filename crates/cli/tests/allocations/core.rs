use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use leat_dial::{Pools, Resolver, ResolverSettings};
use leat_gateway::config::{LogTarget, parse};
use leat_gateway::{Gateway, Lasting, Observer, shape};
use leat_message::{Address, Peer, Scheme};
use leat_observe::access_log::{AccessLog, Format, Settings, Target};
use leat_observe::{Core as Counters, Registry};
use leat_serve::{OnError, Protocol, Service, Site};
use leat_testkit::{Allocations, Counting};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::{LocalSet, spawn_local};

use crate::core_plugins::CorePlugins;

/// Asks for the counters of the core's thread.
const ASK: u8 = b'?';
/// Asks to print where the core's next allocations come from.
const TRACE: u8 = b't';

/// One core of a gateway on a thread of its own, wired as `leat gateway` does it, with a wire to its allocation counter.
pub(crate) struct Core {
    address: SocketAddr,
    probe: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Core {
    /// Serves `config` on a free port. `http2` is what its connections speak.
    pub(crate) fn start(config: &str, base: &Path, http2: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (probe, far) = UnixStream::pair().unwrap();
        let (config, base) = (config.to_owned(), base.to_owned());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            LocalSet::new().block_on(&runtime, run(&config, &base, http2, listener, far));
        });
        Self { address, probe, thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the core's thread has allocated so far.
    pub(crate) fn allocations(&mut self) -> Allocations {
        self.probe.write_all(&[ASK]).unwrap();
        let mut word = [0; 8];
        let mut read = || {
            self.probe.read_exact(&mut word).unwrap();
            u64::from_ne_bytes(word)
        };
        Allocations { count: read(), bytes: read() }
    }

    /// Prints where the core's next `count` allocations come from.
    pub(crate) fn trace(&mut self, count: u8) {
        self.probe.write_all(&[TRACE, count]).unwrap();
        // The answer says that the request was heard.
        self.probe.read_exact(&mut [0]).unwrap();
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let _ = self.probe.shutdown(std::net::Shutdown::Both);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the core panicked");
        }
    }
}

async fn run(config: &str, base: &Path, http2: bool, listener: TcpListener, probe: UnixStream) {
    spawn_local(leat_stream::clock::run());
    let loaded = parse(config, "leat.yaml", base).unwrap_or_else(|problems| panic!("{problems:?}"));
    let config = Arc::new(loaded.config);
    let registry = Registry::new();
    let log = match config.access_log().target() {
        LogTarget::File(path) => {
            let settings = Settings::new(Target::File(path.clone()), Format::Json);
            Some(AccessLog::start(settings, Arc::clone(&registry.process().access_log)).unwrap())
        }
        _ => None,
    };
    let sink = log.as_ref().map(|log| Rc::new(log.sink()));
    let observer = Observer::new(Counters::new(&registry, &shape(&config)), sink);
    let plugins = CorePlugins::load(&config, &Arc::default()).unwrap();
    let pools = Pools::new(Resolver::new(ResolverSettings::default()));
    let gateway = Gateway::new(Arc::clone(&config), &pools, &Lasting::default(), observer, plugins);
    let gateway = Rc::new(gateway.unwrap());
    let service = Service::new(Site {
        handler: gateway,
        limits: config.limits().clone(),
        profile: leat_message::Profile::Compatible,
        on_error: OnError::Close,
        drain_grace_ms: 0,
    });
    let open = Rc::new(Cell::new(0usize));
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let accepting = spawn_local(async move {
        loop {
            let (stream, remote) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let local = Address::Ip(stream.local_addr().unwrap());
            let peer = Rc::new(Peer { remote: Address::Ip(remote), local, scheme: Scheme::Http, tls: None });
            let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
            let serving = leat_serve::serve(stream.into(), Vec::new(), protocol, peer, Rc::clone(&service));
            let open = Rc::clone(&open);
            open.set(open.get() + 1);
            spawn_local(async move {
                serving.await;
                open.set(open.get() - 1);
            });
        }
    });
    answer_probe(probe).await;
    accepting.abort();
}

/// Allocates nothing itself, or the counts would count it.
async fn answer_probe(probe: UnixStream) {
    probe.set_nonblocking(true).unwrap();
    let mut probe = tokio::net::UnixStream::from_std(probe).unwrap();
    let mut asked = [0];
    while probe.read_exact(&mut asked).await.is_ok() {
        if asked == [TRACE] {
            probe.read_exact(&mut asked).await.unwrap();
            Counting::trace(asked[0].into());
            probe.write_all(&asked).await.unwrap();
            continue;
        }
        let Allocations { count, bytes } = Counting::of_thread();
        let mut answer = [0; 16];
        answer[..8].copy_from_slice(&count.to_ne_bytes());
        answer[8..].copy_from_slice(&bytes.to_ne_bytes());
        probe.write_all(&answer).await.unwrap();
    }
}
