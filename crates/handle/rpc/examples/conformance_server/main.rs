//! The server that the Connect conformance suite tests: `connectrpc.conformance.v1.ConformanceService`, natively or as a
//! mock that runs a file of rules.
//!
//! `conformance_server FOLDER [RULES]`, with the folder of the suite's .proto files. The suite says on stdin what it wants (a
//! `ServerCompatRequest` behind its length) and is told on stdout where it is served.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod message;
mod rules;
mod service;

use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use leat_message::{Address, Limits, Peer, Profile, Scheme};
use leat_rpc::serve::{Rpc, Settings};
use leat_schema::Sources;
use leat_serve::{OnError, Protocol, Service, Site, serve};
use message::Fields;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use service::Conformance;
use tokio::net::TcpListener;
use tokio::task::{LocalSet, spawn_local};
use tokio_rustls::TlsAcceptor;

/// What the suite asks for (`server_compat.proto`).
struct Wanted {
    tls: Option<Arc<ServerConfig>>,
    certificate: Vec<u8>,
    receive_bytes_max: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let protos = arguments.next().expect("the folder of the suite's .proto files");
    let wanted = read_request();
    match arguments.next() {
        Some(rules) => run(move || rules::service(&protos, &rules), wanted),
        None => {
            let mut sources = Sources::new();
            sources.include(&protos).path(format!("{protos}/connectrpc/conformance/v1/service.proto"));
            run(|| Conformance::new(sources.build().expect("the suite's .proto files")), wanted);
        }
    }
}

/// Serves what `make` makes, which is called on the core that it is for.
fn run<S: leat_rpc::Service>(make: impl FnOnce() -> S, wanted: Wanted) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async move {
        spawn_local(leat_stream::clock::run());
        let settings = Settings { receive_bytes_max: wanted.receive_bytes_max, ..Settings::default() };
        let service = Service::new(Site {
            handler: Rpc::new(make(), settings),
            limits: Limits::default(),
            profile: Profile::Compatible,
            on_error: OnError::Close,
            drain_grace_ms: 500,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        answer(address.port(), &wanted.certificate);
        let acceptor = wanted.tls.map(TlsAcceptor::from);
        loop {
            let (stream, remote) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let (service, acceptor) = (Rc::clone(&service), acceptor.clone());
            spawn_local(async move {
                let scheme = if acceptor.is_some() { Scheme::Https } else { Scheme::Http };
                let peer = Peer { remote: Address::Ip(remote), local: Address::Ip(address), scheme, tls: None };
                let socket = match acceptor {
                    None => stream.into(),
                    Some(acceptor) => match acceptor.accept(leat_stream::Plain::Tcp(stream)).await {
                        Ok(stream) => tokio_rustls::TlsStream::Server(stream).into(),
                        Err(_) => return,
                    },
                };
                serve(socket, Vec::new(), Protocol::Sniff, Rc::new(peer), service).await;
            });
        }
    });
}

fn read_request() -> Wanted {
    let mut length = [0; 4];
    std::io::stdin().read_exact(&mut length).unwrap();
    let mut request = vec![0; u32::from_be_bytes(length) as usize];
    std::io::stdin().read_exact(&mut request).unwrap();
    let fields = Fields::read(&request);
    let certificate = fields.bytes(7).map(Fields::read);
    let tls = (fields.number(4) == Some(1)).then(|| {
        let given = certificate.as_ref().expect("a certificate");
        let chain = certificates(given.bytes(1).unwrap());
        let key = PrivateKeyDer::from_pem_slice(given.bytes(2).unwrap()).unwrap();
        let builder = match fields.bytes(5).filter(|pem| !pem.is_empty()) {
            None => ServerConfig::builder().with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                certificates(pem).into_iter().for_each(|certificate| roots.add(certificate).unwrap());
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
                ServerConfig::builder().with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    });
    let limit = fields.number(6).filter(|&limit| limit > 0);
    Wanted {
        certificate: tls.as_ref().and_then(|_| certificate?.bytes(1)).unwrap_or_default().to_vec(),
        tls,
        receive_bytes_max: limit.map_or(Settings::default().receive_bytes_max, |limit| limit as usize),
    }
}

fn certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem).map(Result::unwrap).collect()
}

fn answer(port: u16, certificate: &[u8]) {
    let mut response = Vec::new();
    message::put(1, b"127.0.0.1", &mut response);
    message::put_number(2, port.into(), &mut response);
    if !certificate.is_empty() {
        message::put(3, certificate, &mut response);
    }
    let mut out = std::io::stdout();
    out.write_all(&(response.len() as u32).to_be_bytes()).unwrap();
    out.write_all(&response).unwrap();
    out.flush().unwrap();
}
