use std::sync::Arc;

use leat_gateway::config::{Admin, Config, Problem};
use leat_listen::Supervisor;

use super::StartError;
use super::control::{Control, read_config, workers};
use super::plan::{self, Plan};
use crate::commands::check::{Telling, watched};
use crate::event::{self, Level, event};

/// What a reload came to.
#[derive(Clone)]
pub(super) enum Reloaded {
    /// The new configuration runs.
    Done {
        /// The one before.
        before: Arc<Config>,
    },
    /// The old one goes on.
    Failed {
        /// Why, in words.
        message: String,
        /// What is wrong with the file, if that is why.
        problems: Vec<Problem>,
    },
}

impl Control {
    /// Reads the configuration again and takes it over as a whole; if anything is wrong with it, nothing changes.
    pub(super) async fn reload(&mut self) -> Reloaded {
        self.tell_supervisor(Supervisor::reloading);
        let before = Arc::clone(&self.plan.config);
        // Before anything is read: where that is refused, what it would have brought is looked at until it is mended.
        let brought = if self.watch.is_some() { watched(&before) } else { Vec::new() };
        let tried = self.try_reload().await;
        // Before the reload is told of: who waits for that word asks with a certificate of the new authority.
        self.reload_certificates();
        let came = match tried {
            Ok(()) => {
                self.shared.registry.process().reloads_done.add(1);
                event(Level::Info, "reloaded", "the configuration was taken over", &[]);
                Reloaded::Done { before }
            }
            Err(error) => {
                self.shared.registry.process().reloads_failed.add(1);
                if let Some(watch) = &mut self.watch {
                    watch.also(brought);
                }
                let (message, problems) = match error {
                    StartError::Config(problems) => ("the configuration is bad".to_owned(), problems),
                    StartError::Failed(message) => (message, Vec::new()),
                };
                let message = format!("{message}; the old configuration stays");
                event(Level::Error, "reload_failed", &message, &[]);
                Reloaded::Failed { message, problems }
            }
        };
        self.tell_supervisor(Supervisor::ready);
        came
    }

    async fn try_reload(&mut self) -> Result<(), StartError> {
        let (config, seen) = read_config(&self.settings.config, &self.shared.lasting, Telling::Running).await?;
        if config.routes().is_empty() && !self.plan.config.routes().is_empty() {
            // An empty file is a valid configuration, and what a full disk or a program that is still writing leaves.
            let message = "the new configuration has no routes: the file is probably not complete";
            return Err(StartError::Failed(message.to_owned()));
        }
        if workers(&self.settings, &config) != self.cores.len() {
            event(Level::Warn, "workers_stay", "another number of workers needs a restart or SIGUSR2", &[]);
        }
        let doors = plan::doors(&config, &self.tickets, &self.plan.doors).map_err(StartError::failed)?;
        let sockets = self.plan.sockets.rebind(&plan::addresses(&config)).map_err(StartError::failed)?;
        let log = if config.access_log() == self.plan.config.access_log() {
            self.plan.log.clone()
        } else {
            plan::open_log(config.access_log(), &self.shared.registry.process().access_log)?
        };
        let admin_changed = config.admin().map(Admin::bind) != self.plan.config.admin().map(Admin::bind);
        // Where the file says the same as before, a level that was set meanwhile stays.
        let level = (config.log_level() != self.plan.config.log_level()).then(|| Level::of(config.log_level()));
        let collector_changed = config.observation().otlp() != self.plan.config.observation().otlp();
        let listening = self.plan.listening();
        let limits = config.limits().clone();
        let plan = Arc::new(Plan { config, sockets: Arc::new(sockets), doors, log });
        if let Err(error) = self.apply(&plan).await {
            // Some cores may run the new plan already: all go back to the one that is known to work.
            self.apply(&self.plan).await.map_err(StartError::Failed)?;
            drop(plan);
            self.close_gone();
            return Err(StartError::Failed(error));
        }
        self.shared.gate.set_limits(&limits);
        if let Some(watch) = &mut self.watch {
            watch.beside(seen);
        }
        // With the old plan go its descriptors, so that those of the cores are the last of a listener that is gone.
        self.plan = plan;
        self.live.replace(&self.plan.config, self.plan.listening());
        if let (Some(level), None) = (level, self.settings.log_level) {
            event::set_level(level);
        }
        self.close_gone();
        self.start_checks();
        if collector_changed {
            self.start_exports();
        }
        if admin_changed {
            self.start_admin();
        }
        self.announce(&listening);
        Ok(())
    }

    /// Takes changed certificates over. What is wrong with the others is said once, not at every look.
    pub(super) fn reload_certificates(&mut self) {
        let mut refused = Vec::new();
        for settings in self.plan.doors.iter().filter_map(|door| door.options.tls.as_ref()) {
            let reloaded = settings.reload();
            for path in &reloaded.replaced {
                event(
                    Level::Info,
                    "certificate_reloaded",
                    "a certificate was taken over",
                    &[("path", &path.display().to_string())],
                );
            }
            refused.extend(reloaded.refused.iter().map(|error| format!("{error}; the old certificate stays")));
        }
        for message in refused.iter().filter(|message| !self.refused_certificates.contains(message)) {
            event(Level::Error, "certificate_refused", message, &[]);
        }
        self.refused_certificates = refused;
    }
}
