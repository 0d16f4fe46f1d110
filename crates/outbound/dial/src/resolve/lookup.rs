use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::{Hosts, TokioResolver};

use super::{Found, ResolverSettings, ms};

const RESOLV_CONF: &str = "/etc/resolv.conf";
/// Once one family has answered, how long the other is waited for. RFC 8305 section 3 says 50 ms before connecting; what is
/// found here is kept for a TTL, so a little more patience is right.
const SECOND_FAMILY_TIME: Duration = Duration::from_millis(200);
/// Queries for one name and family, all name servers together.
const ATTEMPTS: usize = 2;

/// Looks names up: in `/etc/hosts`, then at the name servers.
pub(super) struct Lookup {
    settings: ResolverSettings,
    client: Option<TokioResolver>,
    /// When `/etc/resolv.conf` was changed last, as far as it was read.
    changed: Option<SystemTime>,
}

impl Lookup {
    pub(super) fn new(settings: ResolverSettings) -> Self {
        Self { settings, client: None, changed: None }
    }

    /// Looks one name up. Reads the files at once; the future only talks to name servers.
    pub(super) fn find(&mut self, text: Arc<str>) -> impl Future<Output = Option<Found>> + use<> {
        let settings = self.settings.clone();
        let name = Name::from_utf8(&text).ok();
        let hosts = name.as_ref().and_then(in_hosts);
        let client = if hosts.is_none() { self.client() } else { None };
        async move {
            if let Some(list) = hosts {
                return found(list, settings.hosts_time_ms, settings.addresses_max);
            }
            let (list, ttl_ms) = both_families(client?, name?).await;
            found(list, ttl_ms.clamp(settings.ttl_min_ms, settings.ttl_max_ms), settings.addresses_max)
        }
    }

    /// The client for the name servers, made anew when the system's list of them has changed.
    fn client(&mut self) -> Option<TokioResolver> {
        if self.settings.nameservers.is_empty() {
            let changed = std::fs::metadata(RESOLV_CONF).and_then(|file| file.modified()).ok();
            if changed != self.changed {
                self.client = None;
                self.changed = changed;
            }
        }
        if self.client.is_none() {
            self.client = build(&self.settings);
        }
        self.client.clone()
    }
}

fn build(settings: &ResolverSettings) -> Option<TokioResolver> {
    let (config, mut options) = if settings.nameservers.is_empty() {
        // Without the file, the local name server is asked, as the C library does.
        hickory_resolver::system_conf::read_system_conf()
            .unwrap_or_else(|_| (servers(&[SocketAddr::from(([127, 0, 0, 1], 53))]), ResolverOpts::default()))
    } else {
        (servers(&settings.nameservers), ResolverOpts::default())
    };
    // What is kept, and for how long, is decided here, not in the client.
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.timeout = ms(settings.query_time_ms);
    options.attempts = ATTEMPTS;
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build().ok()
}

fn servers(addresses: &[SocketAddr]) -> ResolverConfig {
    let server = |address: &SocketAddr| {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
            connection.port = address.port();
            connection
        });
        NameServerConfig::new(address.ip(), true, connections.into())
    };
    ResolverConfig::from_name_servers(addresses.iter().map(server).collect())
}

fn in_hosts(name: &Name) -> Option<Vec<IpAddr>> {
    let hosts = Hosts::from_system().ok()?;
    let mut list = Vec::new();
    for family in [RecordType::AAAA, RecordType::A] {
        if let Some(lookup) = hosts.lookup_static_host(&Query::query(name.clone(), family)) {
            list.extend(lookup.answers().iter().filter_map(|record| address(&record.data)));
        }
    }
    (!list.is_empty()).then_some(list)
}

/// Asks for both families at once; returns the addresses and the least TTL in milliseconds.
async fn both_families(client: TokioResolver, name: Name) -> (Vec<IpAddr>, u64) {
    let v6 = one_family(client.clone(), name.clone(), RecordType::AAAA);
    let v4 = one_family(client, name, RecordType::A);
    tokio::pin!(v6, v4);
    let (first, second) = tokio::select! {
        first = &mut v6 => { let second = second_family(first.is_some(), v4).await; (first, second) },
        first = &mut v4 => { let second = second_family(first.is_some(), v6).await; (first, second) },
    };
    let (mut list, mut ttl_ms) = (Vec::new(), u64::MAX);
    for (addresses, ttl) in [first, second].into_iter().flatten() {
        list.extend(addresses);
        ttl_ms = ttl_ms.min(ttl);
    }
    (list, ttl_ms)
}

/// Addresses of one family and their TTL in milliseconds; `None` where there are none.
type Family = Option<(Vec<IpAddr>, u64)>;

/// Waits for the second answer, but not for long where the first one has addresses.
async fn second_family(first_has: bool, second: impl Future<Output = Family>) -> Family {
    if first_has { tokio::time::timeout(SECOND_FAMILY_TIME, second).await.ok().flatten() } else { second.await }
}

async fn one_family(client: TokioResolver, name: Name, family: RecordType) -> Family {
    let lookup = client.lookup(name, family).await.ok()?;
    let records = lookup.answers();
    let list: Vec<IpAddr> = records.iter().filter_map(|record| address(&record.data)).collect();
    // A chain of aliases lives as long as its shortest link.
    let ttl = records.iter().map(|record| u64::from(record.ttl)).min()?;
    (!list.is_empty()).then_some((list, ttl * 1_000))
}

fn address(data: &RData) -> Option<IpAddr> {
    match data {
        RData::A(address) => Some(address.0.into()),
        RData::AAAA(address) => Some(address.0.into()),
        _ => None,
    }
}

fn found(mut list: Vec<IpAddr>, time_ms: u64, addresses_max: usize) -> Option<Found> {
    list.sort_unstable();
    list.dedup();
    list.truncate(addresses_max);
    let until = Instant::now() + ms(time_ms);
    (!list.is_empty()).then(|| Found { list: list.into(), until })
}
