//! `leat demo`: a small upstream, the gateway in front of it with a configuration to look at and play with, and apps
//! on Node.js where there is one.

mod app;
mod site;
mod upstream;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::arguments::DemoArguments;
use crate::event::tell;
use crate::event::{Level, event};
use crate::process::{self, ConfigSource, Settings, StartError};

/// Starts the upstream and the gateway; ends with the gateway.
pub(crate) fn run(arguments: &DemoArguments) -> ExitCode {
    match start(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            event(Level::Error, "failed", &message, &[]);
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &DemoArguments) -> Result<(), String> {
    let upstream = upstream::start().map_err(|error| format!("the demo's upstream can't start: {error}"))?;
    let folder = Folder::new().map_err(|error| format!("no temporary folder can be made: {error}"))?;
    let admin = free_port().map_err(|error| format!("no port is free for the admin address: {error}"))?;
    let config_path = site::write(&folder.0, arguments.listen, admin, upstream)
        .map_err(|error| format!("the demo's configuration can't be written: {error}"))?;
    let start = |example| app::App::start(example, &folder.0, arguments.package.as_deref());
    // Where one can't be started the other can't either, for the same reason.
    let apps = start(&app::NOTES).and_then(|notes| start(&app::LINKS).map(|links| (notes, links)));
    // It needs a newer Node.js than the others. Where those can't be started, their reason is said once.
    let shop = apps.is_ok().then(|| start(&app::SHOP));
    let notices = app::App::start_embedded(&folder.0);
    let about_apps = [
        site::about_apps(&apps, &config_path),
        shop.as_ref().map(site::about_shop).unwrap_or_default(),
        site::about_notices(&notices),
    ]
    .concat();
    let shown = config_path.clone();
    let settings = Settings {
        config: ConfigSource::File(config_path),
        watch: true,
        workers: None,
        log_level: None,
        ready: Some(Box::new(move |addresses, _| {
            tell(format_args!("{}", site::introduction(addresses, admin, upstream, &shown, &about_apps)))
        })),
    };
    process::run(settings).map_err(|error| match error {
        StartError::Config(_) => "the demo's configuration is bad, which is a bug in Leat".to_owned(),
        StartError::Failed(message) => format!("{message}\n  another address: leat demo --listen 127.0.0.1:8088"),
    })
}

/// A port that nobody listens on now.
fn free_port() -> std::io::Result<SocketAddr> {
    TcpListener::bind(("127.0.0.1", 0))?.local_addr()
}

/// A folder that goes with the demo.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("leat-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind in the temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
