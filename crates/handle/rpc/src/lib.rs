//! Answers RPC calls of every protocol: one [`wire`](leat_rpc_wire) below, one shared handler above.

pub mod mock;
