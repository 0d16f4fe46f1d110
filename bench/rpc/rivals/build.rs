//! Code of the echo service for both servers. The descriptors are compiled here, since neither generator may ask for a `protoc`.

#[cfg(feature = "rivals")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use prost::Message as _;

    println!("cargo:rerun-if-changed=../echo.proto");
    let set = protox::compile(["echo.proto"], [".."])?;
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    let file = out.join("echo.binpb");
    std::fs::write(&file, set.encode_to_vec())?;
    let tonic = out.join("tonic");
    std::fs::create_dir_all(&tonic)?;
    tonic_prost_build::configure().build_client(false).out_dir(tonic).compile_fds(set)?;
    connectrpc_build::Config::new()
        .files(&["echo.proto"])
        .includes(&[".."])
        .descriptor_set(file)
        .include_file("connect.rs")
        .compile()
        .map_err(|error| format!("{error:#}").into())
}

#[cfg(not(feature = "rivals"))]
fn main() {}
