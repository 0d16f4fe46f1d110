//! Random clients and random servers: whatever one sends and the other does, what comes out is legal, within the windows
//! and the limits, and the same however what was read is cut. The fuzz target `h2_connection` plays the same game.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod game;

use game::duel::Duels;
use game::{Tally, call, duel, play};

/// Games of a run.
const GAMES: u64 = 3_000;
/// Longest script of a game in bytes: some 150 frames and actions.
const SCRIPT_BYTES_MAX: u64 = 600;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn script(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let len = next(&mut state) % SCRIPT_BYTES_MAX;
    (0..len).map(|_| next(&mut state) as u8).collect()
}

#[test]
fn what_comes_out_is_legal_and_within_the_limits_whatever_goes_in() {
    let mut total = Tally::default();
    for seed in 0..GAMES {
        let tally = std::panic::catch_unwind(|| play(&script(seed)));
        total += tally.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    // A game that ends at its first frame, or in which nothing is answered, would prove nothing.
    assert!(total.requests > GAMES * 3 && total.whole_replies > GAMES * 2, "{total:?}");
    assert!(total.settled > GAMES / 2, "{total:?}");
    assert!(total.body_bytes > GAMES * 100 && total.data_bytes > GAMES * 1_000, "{total:?}");
}

#[test]
fn a_client_is_as_legal_whatever_servers_send() {
    let mut total = Tally::default();
    for seed in 0..GAMES {
        let tally = std::panic::catch_unwind(|| call(&script(seed)));
        total += tally.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(total.requests > GAMES * 3 && total.whole_replies > GAMES / 2, "{total:?}");
    assert!(total.settled > GAMES / 2, "{total:?}");
    assert!(total.body_bytes > GAMES * 100 && total.data_bytes > GAMES * 1_000, "{total:?}");
}

#[test]
fn a_client_and_a_server_of_ours_understand_each_other() {
    let mut total = Duels::default();
    for seed in 0..GAMES {
        let duels = std::panic::catch_unwind(|| duel(&script(seed)));
        total += duels.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(total.whole > GAMES * 2 && total.cut > GAMES / 4, "{total:?}");
    assert!(total.requests > GAMES * 3 && total.body_bytes > GAMES * 1_000, "{total:?}");
}
