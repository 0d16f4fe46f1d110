//! A name server on loopback that answers as it is told.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use tokio::net::UdpSocket;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Answers,
    Fails,
    Silent,
}

pub struct Names {
    pub address: SocketAddr,
    pub mood: Cell<Mood>,
    pub ttl: Cell<u32>,
    pub queries: Cell<usize>,
    records: RefCell<HashMap<String, Vec<IpAddr>>>,
}

impl Names {
    pub async fn start() -> Rc<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let names = Rc::new(Self {
            address: socket.local_addr().unwrap(),
            mood: Cell::new(Mood::Answers),
            ttl: Cell::new(0),
            queries: Cell::new(0),
            records: RefCell::default(),
        });
        tokio::task::spawn_local(Rc::clone(&names).serve(socket));
        names
    }

    pub fn set(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.records.borrow_mut().insert(name.to_owned(), addresses);
    }

    async fn serve(self: Rc<Self>, socket: UdpSocket) {
        let mut block = [0; 1500];
        loop {
            let (len, from) = socket.recv_from(&mut block).await.unwrap();
            self.queries.set(self.queries.get() + 1);
            if self.mood.get() == Mood::Silent {
                continue;
            }
            let mut message = Message::from_vec(&block[..len]).unwrap().into_response();
            if self.mood.get() == Mood::Fails {
                message.metadata.response_code = ResponseCode::ServFail;
            } else {
                self.answer(&mut message);
            }
            socket.send_to(&message.to_vec().unwrap(), from).await.unwrap();
        }
    }

    fn answer(&self, message: &mut Message) {
        let query = message.queries[0].clone();
        let text = query.name().to_string().trim_end_matches('.').to_ascii_lowercase();
        let records = self.records.borrow();
        let Some(addresses) = records.get(&text) else {
            message.metadata.response_code = ResponseCode::NXDomain;
            return;
        };
        for address in addresses {
            let data = match (address, query.query_type()) {
                (IpAddr::V4(v4), RecordType::A) => RData::A((*v4).into()),
                (IpAddr::V6(v6), RecordType::AAAA) => RData::AAAA((*v6).into()),
                _ => continue,
            };
            message.add_answer(Record::from_rdata(query.name().clone(), self.ttl.get(), data));
        }
    }
}
