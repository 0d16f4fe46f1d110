use leat_files::{Files, Hidden, Settings, SettingsError};
use leat_message::{Exchange, Fault};
use leat_route::Params;

use crate::config;

/// Opens the directory of a `files` route.
pub(crate) fn compile(files: &config::Files) -> Result<Files, SettingsError> {
    Files::new(Settings {
        root: files.root().to_owned(),
        index: files.index().to_vec(),
        precompressed: files.precompressed().iter().map(|coding| coding_of(*coding)).collect(),
        hidden: if files.hidden() { Hidden::Serve } else { Hidden::Refuse },
        cache_control: files.cache_control().map(str::to_owned),
    })
}

/// Answers with a file. The path that it is looked up by is the request's, after the route's rewrite; it is empty where
/// the request names the prefix itself, so that the client is sent to the directory with its slash.
pub(crate) async fn serve<X: Exchange>(
    x: &mut X,
    files: &Files,
    rewrite: &config::Rewrite,
    params: &Params,
) -> Result<(), Fault> {
    let mut path = Vec::new();
    rewrite.write_path_below(&x.request(), params, &mut path);
    files.serve(&path, x).await
}

fn coding_of(coding: config::Coding) -> leat_files::Coding {
    match coding {
        config::Coding::Br => leat_files::Coding::Br,
        config::Coding::Zstd => leat_files::Coding::Zstd,
        config::Coding::Gzip => leat_files::Coding::Gzip,
    }
}
