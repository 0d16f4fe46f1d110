//! A cluster of three masters.

use std::time::Duration;

use leat_testkit::{Folder, Leat, eventually};

use crate::load::Load;
use crate::server::{Redis, ask, errors, gateway, own_address, statuses};

/// Three masters with a third of the slots each, and a replica of the first.
struct Cluster {
    nodes: Vec<Redis>,
}

impl Cluster {
    fn start() -> Option<Self> {
        let node = || {
            let address = own_address();
            let ip = address.ip().to_string();
            let settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-announce-ip", &ip];
            Redis::launch(address, Folder::new(), &settings)
        };
        let cluster = Self { nodes: [node()?, node()?, node()?, node()?].into() };
        cluster.nodes.iter().for_each(Redis::wait_ready);
        for (number, (first, last)) in [(0, 5_460), (5_461, 10_922), (10_923, 16_383)].into_iter().enumerate() {
            let node = &cluster.nodes[number];
            node.ask(&format!("CLUSTER ADDSLOTSRANGE {first} {last}\r\nCLUSTER SET-CONFIG-EPOCH {}", number + 1));
        }
        for node in &cluster.nodes[1..] {
            let address = cluster.nodes[0].address;
            node.ask(&format!("CLUSTER MEET {} {}", address.ip(), address.port()));
        }
        let first = cluster.id(0);
        // Once: the same again would begin the synchronization anew.
        eventually("the replica to know its master", || {
            cluster.nodes[3].ask(&format!("CLUSTER REPLICATE {first}")).contains("+OK").then_some(())
        });
        eventually("the replica", || {
            cluster.nodes[3].ask("INFO replication").contains("master_link_status:up").then_some(())
        });
        eventually("the cluster", || {
            let info = |node: &Redis| node.ask("CLUSTER INFO");
            let is_whole = |told: String| {
                told.contains("cluster_state:ok") && told.contains("known_nodes:4") && told.contains("cluster_size:3")
            };
            cluster.nodes.iter().all(|node| is_whole(info(node))).then_some(())
        });
        Some(cluster)
    }

    fn id(&self, node: usize) -> String {
        self.nodes[node].ask("CLUSTER MYID").lines().nth(1).unwrap().trim().to_owned()
    }

    fn gateway(&self, limits: &str, route: &str) -> Leat {
        let server = format!(
            "{{ cluster: ['redis://{}', 'redis://{}'], deadline: 2s }}",
            self.nodes[1].address, self.nodes[0].address
        );
        gateway(&server, limits, route)
    }

    /// The node and the name of the only key.
    fn key(&self) -> (usize, String) {
        let found = self.nodes[..3].iter().enumerate().find_map(|(number, node)| {
            let keys = node.ask("KEYS leat:limit:*");
            Some((number, keys.lines().find(|line| line.starts_with("leat:"))?.trim().to_owned()))
        });
        found.expect("a key")
    }
}

fn numbered(number: usize) -> String {
    format!("x-key: {number}\r\n")
}

#[test]
fn keys_are_counted_where_their_slots_are() {
    let Some(cluster) = Cluster::start() else { return };
    let mut leat = cluster.gateway("x: { rate: 2/h, key: 'header:x-key', redis: shared, on_error: closed }", "x");
    let mut client = leat.connect();
    for number in 0..30 {
        assert_eq!(statuses(&mut client, &numbered(number), 3), [200, 200, 429], "{number}");
    }
    let keys = |node: &Redis| node.ask("DBSIZE").lines().next().unwrap()[1..].parse::<u64>().unwrap();
    let counts: Vec<u64> = cluster.nodes[..3].iter().map(keys).collect();
    assert!(counts.iter().all(|count| *count > 0) && counts.iter().sum::<u64>() == 30, "{counts:?}");
    assert_eq!(errors(&mut leat, "x"), 0);
}

#[test]
fn limits_by_the_same_key_are_one_step_and_others_are_asked_in_their_order() {
    let Some(cluster) = Cluster::start() else { return };
    let leat = cluster.gateway(
        "fast: { rate: 2/h, key: 'header:x-key', redis: shared }\nslow: { rate: 3/h, key: 'header:x-key', redis: shared }
everybody: { rate: 100/h, key: all, redis: shared }",
        "[everybody, slow, fast]",
    );
    let mut client = leat.connect();
    for number in 0..10 {
        assert_eq!(statuses(&mut client, &numbered(number), 4), [200, 200, 429, 429], "{number}");
    }
    // What `fast` refused was not debited from `slow`, and what passed tells of the tightest of all.
    let response = ask(&mut client, "x-key: last\r\n");
    assert_eq!(
        response.field("ratelimit-policy"),
        Some("\"everybody\";q=100;w=3600, \"slow\";q=3;w=3600, \"fast\";q=2;w=3600")
    );
    assert_eq!(response.fields_named("ratelimit"), ["\"fast\";r=1;t=1800"]);
}

#[test]
fn a_slot_that_moves_under_load_loses_no_count_and_no_request() {
    const RATE: u64 = 200;
    const BURST: u64 = 100;
    let Some(cluster) = Cluster::start() else { return };
    let limit = format!("x: {{ rate: {RATE}/s, burst: {BURST}, key: all, redis: shared, on_error: closed }}");
    let gateways = [0, 1].map(|_| cluster.gateway(&limit, "x"));
    let load = Load::start(&gateways.each_ref().map(|leat| leat.address(0)), |_, _| String::new());
    load.until(Duration::from_millis(700));
    let (from, name) = cluster.key();
    let to = (from + 1) % 3;
    let (ids, there) = ([cluster.id(from), cluster.id(to)], cluster.nodes[to].address);
    let slot = cluster.nodes[from].ask(&format!("CLUSTER KEYSLOT {name}")).lines().next().unwrap()[1..].to_owned();
    let say = |node: usize, command: &str| {
        let said = cluster.nodes[node].ask(command);
        assert!(said.starts_with("+OK"), "{command}: {said}");
    };
    say(to, &format!("CLUSTER SETSLOT {slot} IMPORTING {}", ids[0]));
    say(from, &format!("CLUSTER SETSLOT {slot} MIGRATING {}", ids[1]));
    load.until(load.elapsed() + Duration::from_millis(300));
    // From here on the old node sends everybody to the new one, by `ASK`.
    say(from, &format!("MIGRATE {} {} {name} 0 5000", there.ip(), there.port()));
    load.until(load.elapsed() + Duration::from_millis(500));
    for node in [to, from, 3 - from - to] {
        say(node, &format!("CLUSTER SETSLOT {slot} NODE {}", ids[1]));
    }
    load.until(load.elapsed() + Duration::from_millis(700));
    let seen = load.stop();
    assert_eq!(seen.failed, 0);
    let excess = seen.excess(BURST, RATE, Duration::from_millis(100));
    assert!(excess <= 0, "{excess} too many");
    assert!(seen.refused > 0 && seen.passed.len() as u64 > BURST + RATE, "{}", seen.passed.len());
}

#[test]
fn a_master_that_dies_under_load_is_replaced_and_its_slots_alone_have_no_answer_meanwhile() {
    let Some(mut cluster) = Cluster::start() else { return };
    let limit = "x: { rate: 100/s, burst: 50, key: 'header:x-key', redis: shared, on_error: closed }";
    let mut gateways = [0, 1].map(|_| cluster.gateway(limit, "x"));
    let load = Load::start(&gateways.each_ref().map(|leat| leat.address(0)), |_, request| numbered(request % 30));
    load.until(Duration::from_millis(700));
    cluster.nodes[0].kill();
    let replica = cluster.nodes[3].address.to_string();
    for leat in &mut gateways {
        leat.wait_log("the new master", |line| line.contains("\"event\":\"redis_masters\"") && line.contains(&replica));
        let mut client = leat.connect();
        eventually("every slot to have a master", || {
            (0..30).all(|number| ask(&mut client, &numbered(number)).status != 503).then_some(())
        });
    }
    load.until(load.elapsed() + Duration::from_millis(500));
    let seen = load.stop();
    assert!(seen.failed > 0, "there was a time without a master");
    let meanwhile = seen.passed.iter().filter(|at| (800..1_200).contains(&at.as_millis())).count();
    assert!(meanwhile > 0, "other masters' keys were counted");
}
