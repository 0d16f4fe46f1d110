use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::access_log::Tally;
use crate::block::{Block, lock};
use crate::{Shared, Snapshot, SpanQueue};

/// Names of routes, and of endpoints, whose numbers are kept: above it, those that no configuration uses any more are
/// forgotten. 10,000 names cost about 7 MB a core.
pub const NAMES_MAX: usize = 10_000;

/// All numbers of a process. Cores take their cells from it once; the control thread reads it.
#[derive(Debug, Default)]
pub struct Registry {
    blocks: Mutex<Blocks>,
    process: Process,
    began_ns: u64,
}

#[derive(Debug, Default)]
struct Blocks {
    all: Vec<Arc<Block>>,
    /// Blocks whose thread has ended. The next thread goes on counting in one of them: sums never go down.
    free: Vec<Arc<Block>>,
}

/// Numbers that belong to no core; written rarely, by any thread.
#[derive(Debug, Default)]
pub struct Process {
    /// Configurations that were taken over after the first one.
    pub reloads_done: Shared,
    /// Configurations that were refused.
    pub reloads_failed: Shared,
    /// Bytes held in buffers now; set by whoever is about to take a snapshot.
    pub buffer_bytes: Shared,
    /// What became of access records; to be given to [`crate::access_log::AccessLog::start`].
    pub access_log: Arc<Tally>,
    /// Spans that wait to be sent, and what became of others.
    pub spans: SpanQueue,
}

impl Registry {
    /// A registry without cores.
    pub fn new() -> Arc<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began_ns = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        Arc::new(Self { began_ns, ..Self::default() })
    }

    /// When counting began, in nanoseconds since 1970.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// The numbers that belong to no core.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Sums all cores up. Reads every cell; cores are not held up. Each number is exact for some moment during the call.
    pub fn snapshot(&self) -> Snapshot {
        let blocks = lock(&self.blocks).all.clone();
        let mut total = Snapshot::of(&self.process);
        blocks.iter().for_each(|block| block.add_to(&mut total));
        total
    }

    pub(crate) fn lend(&self) -> Arc<Block> {
        let mut blocks = lock(&self.blocks);
        if let Some(block) = blocks.free.pop() {
            return block;
        }
        let block = Arc::<Block>::default();
        blocks.all.push(Arc::clone(&block));
        block
    }

    pub(crate) fn give_back(&self, block: &Arc<Block>) {
        lock(&self.blocks).free.push(Arc::clone(block));
    }
}
