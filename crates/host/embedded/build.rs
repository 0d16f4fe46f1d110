//! Bundles the built-in modules of `js/` (and Leat's Express, the same sources as on Node.js) and compiles each to bytecode.
//!
//! `OUT_DIR/builtins.rs` then holds a table of names and of places in their bytecode. The sources need Node.js and their npm packages to be
//! bundled; the binary needs neither.

#![allow(unsafe_code, reason = "bytecode is written by QuickJS's own functions")]

use std::error::Error;
use std::fmt::Write as _;
use std::hash::Hasher as _;
use std::path::Path;
use std::process::Command;

use rquickjs::{Context, Ctx, Runtime, qjs};

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::var("OUT_DIR")?;
    let leat = "../../../packages/leat";
    println!("cargo:rerun-if-changed=js");
    for watched in ["src/express", "src/middleware", "src/gateway", "src/http/parse_errors.ts", "package-lock.json"] {
        println!("cargo:rerun-if-changed={leat}/{watched}");
    }
    let bundled = Path::new(&out).join("js");
    let status = Command::new("node").arg("js/bundle.mjs").arg(&bundled).status();
    let status = status.map_err(|error| format!("node js/bundle.mjs: {error}; the build needs Node.js"))?;
    if !status.success() {
        return Err("node js/bundle.mjs failed, see above".into());
    }
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&bundled)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".js") {
            names.push(stem.to_owned());
        }
    }
    // By the modules' names: the table is searched by them, and their order is not that of the files.
    let module = |stem: &str| stem.replace('=', ":").replace('+', "/");
    names.sort_by_key(|stem| module(stem));
    // Bytecode depends on the engine and on how it was built: so do the built-ins.
    let mut build = std::hash::DefaultHasher::new();
    build.write(env!("CARGO_PKG_VERSION").as_bytes());
    build.write(std::env::var("TARGET")?.as_bytes());
    let mut bytecode: Vec<(String, Vec<u8>)> = Vec::new();
    for stem in &names {
        // File names have `+` for the slash of `node:fs/promises`, and `=` for the colon.
        let module = module(stem);
        let source = std::fs::read_to_string(bundled.join(format!("{stem}.js")))?;
        let compiled = context.with(|ctx| compile(&ctx, &module, &source))?;
        build.write(&compiled);
        bytecode.push((module, compiled));
    }
    let mut table = table(&bytecode, Path::new(&out))?;
    writeln!(table, "/// What the built-ins and the engine of this binary are, as a number.")?;
    writeln!(table, "pub(crate) const BUILD: u64 = {:#x};", build.finish())?;
    std::fs::write(Path::new(&out).join("builtins.rs"), table)?;
    Ok(())
}

/// The names in one text and the bytecode in one file, so that a start touches few pages of either: what the packages from npm have,
/// which is most, stands behind all others. Writes the file, and gives the table of what is where.
fn table(bytecode: &[(String, Vec<u8>)], out: &Path) -> Result<String, Box<dyn Error>> {
    let mut order: Vec<usize> = (0..bytecode.len()).collect();
    order.sort_by_key(|at| bytecode[*at].0.starts_with("leat:npm/"));
    let mut starts = vec![0; bytecode.len()];
    let mut all = Vec::new();
    for at in order {
        starts[at] = all.len();
        all.extend_from_slice(&bytecode[at].1);
    }
    std::fs::write(out.join("builtins.bc"), all)?;
    let mut names = String::new();
    let mut table =
        String::from("static BYTECODE: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/builtins.bc\"));\n");
    writeln!(table, "static BUILTINS: &[Builtin] = &[")?;
    for ((module, compiled), start) in bytecode.iter().zip(starts) {
        let name = names.len();
        names.push_str(module);
        writeln!(
            table,
            "    Builtin {{ name: {name}..{}, bytecode: {start}..{} }},",
            names.len(),
            start + compiled.len()
        )?;
    }
    writeln!(table, "];\nstatic NAMES: &str = {names:?};")?;
    Ok(table)
}

/// Compiles a script whose value is a function around the module. The sources stay behind; lines do not.
fn compile(ctx: &Ctx<'_>, name: &str, source: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let file = std::ffi::CString::new(name)?;
    let text = std::ffi::CString::new(source)?;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: `raw` is the live context of `ctx`; text and name are NUL-terminated and outlive the calls. The value that was
    // compiled is freed once, after it was written, and the written bytes are copied before they are freed.
    unsafe {
        let flags = (qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY) as i32;
        let value = qjs::JS_Eval(raw, text.as_ptr(), source.len() as _, file.as_ptr(), flags);
        if qjs::JS_IsException(value) {
            let thrown = ctx.catch();
            return Err(format!("{name}: {:?}", thrown).into());
        }
        let mut length = 0;
        let flags = (qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE) as i32;
        let bytes = qjs::JS_WriteObject(raw, &mut length, value, flags);
        qjs::JS_FreeValue(raw, value);
        if bytes.is_null() {
            return Err(format!("{name}: its bytecode can't be written").into());
        }
        let copied = std::slice::from_raw_parts(bytes, length as usize).to_vec();
        qjs::js_free(raw, bytes.cast());
        Ok(copied)
    }
}
