use std::sync::Arc;

use tokio::sync::mpsc;

use super::lookup::Lookup;
use super::{Name, QUEUE_MAX, ResolverSettings};

/// Starts the control thread; it ends when the returned queue is dropped. `None` where the system gives no thread.
pub(super) fn start(settings: ResolverSettings) -> Option<mpsc::Sender<Arc<Name>>> {
    let (queue, names) = mpsc::channel(QUEUE_MAX);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    std::thread::Builder::new()
        .name("leat-resolve".into())
        .spawn(move || runtime.block_on(tokio::task::LocalSet::new().run_until(serve(names, settings))))
        .ok()?;
    Some(queue)
}

async fn serve(mut names: mpsc::Receiver<Arc<Name>>, settings: ResolverSettings) {
    let mut lookup = Lookup::new(settings);
    while let Some(name) = names.recv().await {
        let found = lookup.find(Arc::clone(&name.text));
        // A name has one lookup at a time, so there are never more tasks than names in the configuration.
        tokio::task::spawn_local(async move {
            let found = found.await;
            name.publish(found);
        });
    }
}
