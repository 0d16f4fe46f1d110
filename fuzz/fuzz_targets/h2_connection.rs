//! A random client and a random server of HTTP/2: see ../README.md.
#![no_main]

#[path = "../../crates/wire/h2/tests/random/game/mod.rs"]
mod game;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    game::play(data);
});
