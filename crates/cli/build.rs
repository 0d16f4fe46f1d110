//! How the binary is linked. Its relocations are packed where the C library can read that (glibc 2.36): they are a tenth of the pages
//! that a start touches otherwise.

use std::env;
use std::process::Command;

/// The first glibc that reads packed relocations.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let native = env::var_os("HOST") == env::var_os("TARGET");
    let gnu = env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|found| found == "gnu");
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|found| found == "linux");
    if native && gnu && linux && glibc().is_some_and(|found| found >= GLIBC) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's C library.
fn glibc() -> Option<(u32, u32)> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
