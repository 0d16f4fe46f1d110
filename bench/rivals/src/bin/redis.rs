//! Calls a script as the gateway's rate limits do, through Leat's client or redis-rs, for `bench/count_redis.mjs`.
//! usage: rival-redis leat|redis-rs HOST:PORT CALLS TASKS

use std::rc::Rc;

use leat_redis::{Arguments, Client, Login, Place, Question, Script, Server, Servers, Target};
use leat_testkit::Counting;
use tokio::task::LocalSet;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SCRIPT: Script = Script { text: "return { 1, 0, 10, 0, 0, 1 }" };
const KEY: &str = "leat:limit:one:g:{0123456789abcdef0123456789abcdef}";
const ARGUMENTS: [&str; 5] = ["g", "1000", "8000", "1", "1"];

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, address, calls, tasks] = arguments.as_slice() else {
        return Err("usage: rival-redis leat|redis-rs HOST:PORT CALLS TASKS".into());
    };
    let (calls, tasks): (usize, usize) = (calls.parse()?, tasks.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        tokio::task::spawn_local(leat_stream::clock::run());
        match who.as_str() {
            "leat" => leat(address, calls / tasks, tasks).await,
            "redis-rs" => redis_rs(address, calls / tasks, tasks).await,
            _ => Err("the client is `leat` or `redis-rs`".into()),
        }
    })
}

async fn leat(address: &str, calls: usize, tasks: usize) -> Result<(), Failed> {
    let (host, port) = address.rsplit_once(':').ok_or("an address has a port")?;
    let place = Place::One(Target::Tcp(host.to_owned(), port.parse()?));
    let (login, sentinel_login) = (Login::default(), Login::default());
    let server = Server { place, security: None, login, sentinel_login, database: 0, deadline_ms: 60_000 };
    let client = Client::start(&Servers::default().followed(&server), SCRIPT);
    let arguments = Rc::new(Arguments::new(ARGUMENTS));
    let call = move || {
        let (client, arguments, mut question) = (client.clone(), Rc::clone(&arguments), Question::default());
        async move {
            for _ in 0..calls {
                question.clear();
                question.key(&[KEY.as_bytes()]);
                question.arguments(&arguments);
                if client.call(&question).await?.list().len() != 6 {
                    return Err("six numbers are the answer".into());
                }
            }
            Ok(())
        }
    };
    run(tasks, calls, call).await
}

async fn redis_rs(address: &str, calls: usize, tasks: usize) -> Result<(), Failed> {
    let client = redis::Client::open(format!("redis://{address}"))?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    let hash: String = redis::cmd("SCRIPT").arg("LOAD").arg(SCRIPT.text).query_async(&mut connection).await?;
    let call = move || {
        let (mut connection, hash) = (connection.clone(), hash.clone());
        async move {
            for _ in 0..calls {
                let mut command = redis::cmd("EVALSHA");
                command.arg(&hash).arg(1).arg(KEY).arg(&ARGUMENTS[..]);
                let numbers: [i64; 6] = command.query_async(&mut connection).await?;
                if numbers != [1, 0, 10, 0, 0, 1] {
                    return Err("six numbers are the answer".into());
                }
            }
            Ok(())
        }
    };
    run(tasks, calls, call).await
}

/// Runs so many tasks beside each other, and says what a call allocates, after one round to be warm.
async fn run<F>(tasks: usize, calls: usize, task: impl Fn() -> F) -> Result<(), Failed>
where
    F: Future<Output = Result<(), Failed>> + 'static,
{
    for round in 0..2 {
        let before = Counting::of_thread();
        let started: Vec<_> = (0..tasks).map(|_| tokio::task::spawn_local(task())).collect();
        for one in started {
            one.await??;
        }
        if round == 1 {
            let spent = Counting::of_thread().since(before);
            let each = |count: u64| count as f64 / (tasks * calls) as f64;
            println!("{{\"allocations\":{:.2},\"bytes\":{:.0}}}", each(spent.count), each(spent.bytes));
        }
    }
    Ok(())
}
