//! Random clients and random servers of HTTP/2, against each other and against frames of any kind: see ../README.md.
#![no_main]

#[path = "../../crates/wire/h2/tests/random/game/mod.rs"]
mod game;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    game::play(data);
    game::call(data);
    game::duel(data);
});
