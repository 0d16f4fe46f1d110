use std::io::Write;

/// Says that a test does not run here, and why: `SKIP what: reason`. The test then returns. `make test` lists it, and
/// continuous integration counts it as a failure, so it is for what a machine lacks, never for what does not work.
pub fn skip(what: &str, reason: &str) {
    // Straight to the descriptor: the test harness swallows what `println!` prints in a test that passes.
    let _ = writeln!(std::io::stderr().lock(), "\nSKIP {what}: {reason}");
}
