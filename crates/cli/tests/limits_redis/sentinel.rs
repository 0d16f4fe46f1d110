//! A master that sentinels watch over.

use std::time::Duration;

use leat_testkit::{Folder, Leat, eventually};

use crate::load::Load;
use crate::server::{Redis, ask, gateway, own_address, statuses};

/// A master, its replica, and three sentinels that replace the master after half a second.
struct Watched {
    master: Redis,
    replica: Redis,
    sentinels: Vec<Redis>,
}

impl Watched {
    fn start() -> Option<Self> {
        let announced = |more: &[&str]| {
            let address = own_address();
            let ip = address.ip().to_string();
            Redis::launch(address, Folder::new(), &[&["--replica-announce-ip", &ip], more].concat())
        };
        let master = announced(&[])?;
        let (ip, port) = (master.address.ip().to_string(), master.address.port().to_string());
        let replica = announced(&["--replicaof", &format!("{ip} {port}")])?;
        [&master, &replica].into_iter().for_each(Redis::wait_ready);
        // Before there are sentinels: they ask about replicas when they begin, and then only every ten seconds.
        eventually("the replica", || replica.ask("INFO replication").contains("master_link_status:up").then_some(()));
        let sentinel = || {
            let (address, folder) = (own_address(), Folder::new());
            let settings = format!(
                "sentinel monitor leat {ip} {port} 2
sentinel down-after-milliseconds leat 500
sentinel failover-timeout leat 3000
sentinel announce-ip {}
",
                address.ip()
            );
            let file = folder.write("sentinel.conf", settings).display().to_string();
            Redis::launch(address, folder, &[&file, "--sentinel"])
        };
        let sentinels = [sentinel()?, sentinel()?, sentinel()?].into();
        let all = Self { master, replica, sentinels };
        all.sentinels.iter().for_each(Redis::wait_ready);
        eventually("the sentinels", || {
            let knows = |one: &Redis| {
                let told = one.ask("SENTINEL MASTER leat").replace("\r\n", " ");
                told.contains("num-slaves $1 1 ") && told.contains("num-other-sentinels $1 2 ")
            };
            all.sentinels.iter().all(knows).then_some(())
        });
        Some(all)
    }

    fn gateway(&self, limit: &str) -> Leat {
        let urls: Vec<_> = self.sentinels.iter().map(|one| format!("'redis://{}'", one.address)).collect();
        let server = format!("{{ sentinels: [{}], master: leat, deadline: 300ms }}", urls.join(", "));
        gateway(&server, &format!("x: {{ {limit}, key: all, redis: shared, on_error: closed }}"), "x")
    }
}

#[test]
fn a_master_that_dies_is_replaced_without_a_restart_and_admits_at_most_one_burst_more() {
    const RATE: u64 = 200;
    const BURST: u64 = 100;
    let Some(mut watched) = Watched::start() else { return };
    let limit = format!("rate: {RATE}/s, burst: {BURST}");
    let mut gateways = [0, 1].map(|_| watched.gateway(&limit));
    let load = Load::start(&gateways.each_ref().map(|leat| leat.address(0)), |_, _| String::new());
    load.until(Duration::from_millis(1_000));
    watched.master.kill();
    let replica = watched.replica.address.to_string();
    for leat in &mut gateways {
        leat.wait_log("the new master", |line| line.contains("\"event\":\"redis_master\"") && line.contains(&replica));
        let mut client = leat.connect();
        eventually("the new master to count", || (ask(&mut client, "").status != 503).then_some(()));
    }
    load.until(load.elapsed() + Duration::from_millis(1_000));
    let died_at = Duration::from_millis(1_000);
    let seen = load.stop();
    assert!(seen.passed.iter().any(|at| *at < died_at), "the old one admitted");
    assert!(seen.failed > 0, "there was a time without a master");
    let excess = seen.excess(2 * BURST, RATE, Duration::from_millis(100));
    assert!(excess <= 0, "{excess} too many");
    assert!(seen.passed.len() as u64 > BURST + RATE, "both admitted: {}", seen.passed.len());
}

#[test]
fn a_master_that_becomes_a_replica_is_left() {
    let Some(watched) = Watched::start() else { return };
    let mut leat = watched.gateway("rate: 4/h");
    let mut client = leat.connect();
    eventually("a master", || (ask(&mut client, "").status == 200).then_some(()));
    // What it counted is at the replica as well; then the two change places.
    eventually("the count", || watched.replica.ask("KEYS *").contains("leat:limit:x").then_some(()));
    eventually("the change", || watched.sentinels[0].ask("SENTINEL FAILOVER leat").contains("+OK").then_some(()));
    let replica = watched.replica.address.to_string();
    leat.wait_log("the new master", |line| line.contains("\"event\":\"redis_master\"") && line.contains(&replica));
    let mut passed = 1;
    eventually("the limit to be used up", || {
        let status = ask(&mut client, "").status;
        passed += usize::from(status == 200);
        (status == 429).then_some(())
    });
    assert_eq!(passed, 4, "nothing was forgotten");
}

#[test]
fn sentinels_that_know_nothing_of_the_master_are_told_of() {
    let Some(watched) = Watched::start() else { return };
    let server = format!("{{ sentinels: 'redis://{}', master: other, deadline: 300ms }}", watched.sentinels[0].address);
    let mut leat = gateway(&server, "x: { rate: 4/h, key: all, redis: shared, on_error: closed }", "x");
    let mut client = leat.connect();
    assert_eq!(statuses(&mut client, "", 2), [503, 503]);
    leat.wait_log("the reason", |line| {
        line.contains("\"event\":\"redis_down\"") && line.contains("no master of this name")
    });
    // It is known by now that nobody knows: requests do not wait.
    assert_eq!(statuses(&mut client, "", 50), [503; 50]);
}
