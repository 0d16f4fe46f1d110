//! Binding: busy ports, siblings, Unix sockets, reloads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc;
use std::time::Duration;

use leat_listen::{Inherited, ListenAddress, ListenError, ListenerSet, ServeOptions};
use leat_message::Address;
use support::{Folder, SOON, bind, gate, on_core, serve, soon};

fn try_bind(addresses: &[&str], workers: usize) -> Result<ListenerSet, ListenError> {
    let addresses: Vec<ListenAddress> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    ListenerSet::bind(&addresses, workers, Inherited::none())
}

fn port(set: &ListenerSet, index: usize) -> u16 {
    set.endpoints()[index].local_addr().unwrap().port()
}

#[test]
fn a_busy_port_is_an_error_that_names_the_address() {
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let shared = bind(&["127.0.0.1:0"], 3);
    let reusing = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    reusing.set_reuse_port(true).unwrap();
    reusing.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    reusing.listen(1).unwrap();
    for busy in [
        plain.local_addr().unwrap(),
        shared.endpoints()[0].local_addr().unwrap(),
        reusing.local_addr().unwrap().as_socket().unwrap(),
    ] {
        for (text, workers) in [(busy.to_string(), 1), (busy.to_string(), 2), (format!("0.0.0.0:{}", busy.port()), 2)] {
            let error = try_bind(&["127.0.0.1:0", &text], workers).expect_err(&text);
            assert!(matches!(error, ListenError::Busy(_)), "{error}");
            assert!(error.to_string().contains(&text), "{error}");
        }
    }
}

#[test]
fn siblings_share_the_port_and_each_gets_connections() {
    const CLIENTS: usize = 64;
    let set = bind(&["127.0.0.1:0"], 2);
    let address = set.endpoints()[0].local_addr().unwrap();
    let listeners: Vec<_> = (0..2).map(|worker| set.endpoints()[0].listener(worker).unwrap()).collect();
    let gate = gate(|_| {});
    let (accepted, counted) = mpsc::channel();
    let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut shares = [0; 2];
    std::thread::scope(|scope| {
        for (worker, listener) in listeners.into_iter().enumerate() {
            let (accepted, gate) = (accepted.clone(), &gate);
            scope.spawn(move || {
                on_core(|| async move {
                    let mut connections = serve(listener, gate, ServeOptions::default());
                    while let Ok(Some(connection)) =
                        tokio::time::timeout(Duration::from_millis(300), connections.recv()).await
                    {
                        accepted.send((worker, connection.peer.remote.clone())).unwrap();
                    }
                });
            });
        }
        for _ in 0..CLIENTS {
            let (worker, remote) = counted.recv_timeout(SOON).unwrap();
            assert!(clients.iter().any(|client| Address::Ip(client.local_addr().unwrap()) == remote));
            shares[worker] += 1;
        }
    });
    assert!(shares.iter().all(|&share| share > 0), "{shares:?}");
}

#[test]
fn accepted_sockets_send_at_once_and_probe_dead_peers() {
    on_core(|| async {
        let set = bind(&["127.0.0.1:0"], 2);
        let address = set.endpoints()[0].local_addr().unwrap();
        let gate = gate(|_| {});
        let mut both =
            [0, 1].map(|worker| serve(set.endpoints()[0].listener(worker).unwrap(), &gate, ServeOptions::default()));
        for _ in 0..16 {
            let _client = tokio::net::TcpStream::connect(address).await.unwrap();
            let [one, two] = &mut both;
            let accepted = soon(async {
                tokio::select! {
                    accepted = one.recv() => accepted.unwrap(),
                    accepted = two.recv() => accepted.unwrap(),
                }
            })
            .await;
            let leat_stream::Socket::Plain(leat_stream::Plain::Tcp(stream)) = &accepted.socket else {
                panic!("not TCP")
            };
            assert!(stream.nodelay().unwrap());
            assert!(socket2::SockRef::from(stream).keepalive().unwrap());
            #[cfg(target_os = "linux")]
            assert_eq!(socket2::SockRef::from(stream).tcp_notsent_lowat().unwrap(), 128 * 1024);
        }
    });
}

#[test]
fn an_ipv6_wildcard_takes_ipv4_unless_it_has_a_listener_of_its_own() {
    let both = bind(&["[::]:0"], 1);
    let port_both = port(&both, 0);
    assert!(TcpStream::connect(("127.0.0.1", port_both)).is_ok());
    assert!(TcpStream::connect(("::1", port_both)).is_ok());
    drop(both);
    let pair = bind(&[&format!("[::]:{port_both}"), &format!("0.0.0.0:{port_both}")], 2);
    assert_eq!((port(&pair, 0), port(&pair, 1)), (port_both, port_both));
}

#[test]
fn an_ipv4_client_of_a_dual_stack_listener_has_its_ipv4_address() {
    on_core(|| async {
        let set = bind(&["[::]:0"], 1);
        let gate = gate(|_| {});
        let mut connections = serve(set.endpoints()[0].listener(0).unwrap(), &gate, ServeOptions::default());
        let client = tokio::net::TcpStream::connect(("127.0.0.1", port(&set, 0))).await.unwrap();
        let accepted = soon(connections.recv()).await.unwrap();
        assert_eq!(accepted.peer.remote, Address::Ip(client.local_addr().unwrap()));
        assert_eq!(accepted.peer.local, Address::Ip(client.peer_addr().unwrap()));
    });
}

#[test]
fn an_address_may_stand_once_unless_the_system_chooses_its_port() {
    let set = bind(&["127.0.0.1:0", "127.0.0.1:0"], 2);
    assert_ne!(port(&set, 0), port(&set, 1));
    let folder = Folder::new();
    let path = format!("unix:{}", folder.path("a.sock").display());
    for pair in [["127.0.0.1:1", "127.0.0.1:1"], [&path, &format!("{path},mode=600")], ["fd:3", "fd:3"]] {
        let error = try_bind(&pair, 1).expect_err(pair[0]);
        assert!(matches!(error, ListenError::Repeated(_)), "{error}");
    }
    assert!(!folder.path("a.sock").exists(), "nothing was bound");
}

#[test]
fn addresses_that_overlap_are_not_blamed_on_another_process() {
    let set = bind(&["127.0.0.1:0"], 2);
    let special = set.endpoints()[0].local_addr().unwrap();
    let all = format!("0.0.0.0:{}", special.port());
    let reload = set.rebind(&[all.parse().unwrap()]);
    drop(set);
    let together = try_bind(&[&special.to_string(), &all], 2);
    for error in [reload.expect_err("reload"), together.expect_err("together")] {
        assert!(matches!(error, ListenError::Overlaps { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&all) && text.contains(&special.to_string()), "{text}");
    }
}

#[test]
fn what_cannot_be_bound_says_why() {
    let folder = Folder::new();
    for (address, advice) in [
        ("192.0.2.1:0".to_owned(), "not an address of this machine"),
        (format!("unix:{}", folder.path("none/a.sock").display()), "No such file"),
        ("fd:3".to_owned(), "LISTEN_FDS"),
        ("systemd:web".to_owned(), "FileDescriptorName=web"),
    ] {
        let error = try_bind(&[&address], 2).expect_err(&address).to_string();
        assert!(error.contains(&address) && error.contains(advice), "{error}");
    }
}

#[test]
fn a_stale_unix_socket_is_replaced_and_a_live_one_is_busy() {
    let folder = Folder::new();
    let path = folder.path("leat.sock");
    let address = format!("unix:{}", path.display());
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let set = bind(&[&address], 2);
    UnixStream::connect(&path).unwrap();
    let error = try_bind(&[&address], 1).expect_err("live");
    assert!(matches!(error, ListenError::Busy(_)), "{error}");
    assert!(error.to_string().contains("leat.sock"), "{error}");
    UnixStream::connect(&path).unwrap();
    drop(set);
    drop(bind(&[&address], 1));

    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "precious").unwrap();
    let error = try_bind(&[&address], 1).expect_err("a file");
    assert!(matches!(error, ListenError::NotASocket(_)), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_unix_socket_with_a_full_queue_is_live() {
    let folder = Folder::new();
    let path = folder.path("full.sock");
    let listener = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
    listener.bind(&socket2::SockAddr::unix(&path).unwrap()).unwrap();
    listener.listen(0).unwrap();
    let _first = UnixStream::connect(&path).unwrap();
    let error = try_bind(&[&format!("unix:{}", path.display())], 1).expect_err("live");
    assert!(matches!(error, ListenError::Busy(_)), "{error}");
}

#[test]
fn a_unix_socket_has_the_mode_that_was_asked_for() {
    let folder = Folder::new();
    for (mode, bits) in [("600", 0o600), ("666", 0o666), ("060", 0o060)] {
        let path = folder.path(mode);
        let _set = bind(&[&format!("unix:{},mode={mode}", path.display())], 1);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, bits);
    }
}

#[test]
fn cores_share_a_unix_socket() {
    on_core(|| async {
        let folder = Folder::new();
        let path = folder.path("leat.sock");
        let set = bind(&[&format!("unix:{}", path.display())], 2);
        let gate = gate(|_| {});
        for worker in [1, 0, 1] {
            let listener = set.endpoints()[0].listener(worker).unwrap();
            let (accepted, connections) = tokio::sync::mpsc::unbounded_channel();
            let serving = tokio::task::spawn_local(leat_listen::serve(
                listener,
                gate.clone(),
                ServeOptions::default(),
                move |connection| accepted.send(connection).unwrap(),
            ));
            let mut connections = connections;
            let _client = tokio::net::UnixStream::connect(&path).await.unwrap();
            let accepted = soon(connections.recv()).await.unwrap();
            assert_eq!((&accepted.peer.remote, &accepted.peer.local), (&Address::Unix, &Address::Unix));
            serving.abort();
        }
    });
}

#[test]
fn a_reload_keeps_what_waits_in_the_sockets_of_addresses_that_stay() {
    on_core(|| async {
        let old = bind(&["127.0.0.1:0", "127.0.0.1:0"], 2);
        let (kept, dropped) = (old.endpoints()[0].local_addr().unwrap(), old.endpoints()[1].local_addr().unwrap());
        let clients: Vec<TcpStream> = (0..16).map(|_| TcpStream::connect(kept).unwrap()).collect();

        let busy = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = [ListenAddress::Tcp(kept), ListenAddress::Tcp(busy.local_addr().unwrap())];
        assert!(matches!(old.rebind(&addresses), Err(ListenError::Busy(_))));
        assert!(TcpStream::connect(dropped).is_ok(), "a reload that fails changes nothing");

        let new = old.rebind(&[ListenAddress::Tcp(kept), "127.0.0.1:0".parse().unwrap()]).unwrap();
        assert_eq!(new.endpoints()[0].local_addr(), Some(kept));
        drop(old);
        let gate = gate(|_| {});
        let mut both =
            [0, 1].map(|worker| serve(new.endpoints()[0].listener(worker).unwrap(), &gate, ServeOptions::default()));
        support::until(|| gate.connections() == clients.len()).await;
        let [one, two] = &mut both;
        assert!(one.try_recv().is_ok() && two.try_recv().is_ok(), "each core keeps its socket");
    });
}

#[test]
fn a_reload_to_port_zero_keeps_the_port() {
    let old = bind(&["127.0.0.1:0", "127.0.0.1:0"], 2);
    let ports = [port(&old, 0), port(&old, 1)];
    let addresses = ["127.0.0.1:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap()];
    let new = old.rebind(&addresses).unwrap();
    assert_eq!([port(&new, 0), port(&new, 1)], ports);
    let one = new.rebind(&addresses[..1]).unwrap();
    assert_eq!(port(&one, 0), ports[0]);
    assert_eq!(one.unclaimed().len(), 2, "a socket for each core");
}
