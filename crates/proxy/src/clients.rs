//! The clients of one runtime, and the threads that have one each.

use std::{io, net, num::NonZeroUsize, sync::Arc};

use tokio::{
    net::TcpStream,
    runtime::Builder,
    sync::{OwnedSemaphorePermit, mpsc, watch},
    task::{JoinError, JoinSet},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    server::serve_client,
    shared::{Providers, Shared},
};

/// What serves clients.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) shared: Arc<Shared>,
    pub(crate) tls: Option<TlsAcceptor>,
    /// Whether answers that have begun are the last ones. When nobody can say so any more, everything ends.
    pub(crate) stopped: watch::Receiver<bool>,
}

/// The clients of the runtime that this is used in.
pub(crate) struct Clients {
    place: Place,
    providers: Arc<Providers>,
    tasks: JoinSet<()>,
}

impl Clients {
    pub(crate) fn new(place: Place) -> Self {
        let providers = Arc::new(Providers::new(&place.shared));
        Self { place, providers, tasks: JoinSet::new() }
    }

    /// Serves a client. The rest is kept until it has left.
    pub(crate) fn take(&mut self, stream: TcpStream, kept: impl Send + 'static) {
        let (Place { shared, tls, stopped }, providers) =
            (self.place.clone(), Arc::clone(&self.providers));
        self.tasks.spawn(async move {
            let _kept = kept;
            shared.metrics.connections.add(1);
            serve_client(&shared, &providers, stream, tls, stopped).await;
            shared.metrics.connections.add(-1);
        });
    }

    /// Waits until one has left. `None` if there is none.
    pub(crate) async fn left(&mut self) -> Option<Result<(), JoinError>> {
        self.tasks.join_next().await
    }

    /// Waits until all have left.
    pub(crate) async fn drain(&mut self) {
        while self.left().await.is_some() {}
    }

    /// Ends them all.
    pub(crate) async fn shutdown(mut self) {
        self.tasks.shutdown().await;
    }
}

/// A client on its way to a thread.
struct Given {
    stream: net::TcpStream,
    permit: OwnedSemaphorePermit,
    /// How many of these there are is how many clients the thread has.
    counted: Arc<()>,
}

struct Thread {
    give: mpsc::UnboundedSender<Given>,
    counted: Arc<()>,
}

/// Threads with a runtime each. What a client, its requests and their upstream connections wake stays on one thread:
/// a runtime with several threads wakes a second one for the tasks of a request, which costs a system call and the time
/// of another core.
pub(crate) struct Threads {
    threads: Vec<Thread>,
    tasks: JoinSet<io::Result<()>>,
}

impl Threads {
    pub(crate) fn start(number: NonZeroUsize, place: &Place) -> Self {
        let (mut threads, mut tasks) = (Vec::new(), JoinSet::new());
        for _ in 0..number.get() {
            // Its length is bounded by the number of connections.
            let (give, given) = mpsc::unbounded_channel();
            let place = place.clone();
            tasks.spawn_blocking(move || {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(serve_given(place, given));
                Ok(())
            });
            threads.push(Thread { give, counted: Arc::new(()) });
        }
        Self { threads, tasks }
    }

    /// Gives a client to the thread that has the fewest.
    pub(crate) fn give(&self, stream: TcpStream, permit: OwnedSemaphorePermit) {
        let fewest = self.threads.iter().min_by_key(|thread| Arc::strong_count(&thread.counted));
        let (Some(thread), Ok(stream)) = (fewest, stream.into_std()) else { return };
        let counted = Arc::clone(&thread.counted);
        // It can only have ended by a failure, which ends the server.
        let _ = thread.give.send(Given { stream, permit, counted });
    }

    /// Waits until one cannot go on.
    pub(crate) async fn failed(&mut self) -> io::Error {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => error,
            Some(Err(error)) => io::Error::other(error),
            Some(Ok(Ok(()))) | None => io::Error::other("a thread has ended"),
        }
    }

    /// Takes no more clients, and waits until all have left.
    pub(crate) async fn drain(&mut self) {
        self.threads.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Serves clients until no more are given and all have left, or until everything ends.
async fn serve_given(place: Place, mut given: mpsc::UnboundedReceiver<Given>) {
    let mut stopped = place.stopped.clone();
    let mut clients = Clients::new(place);
    loop {
        let next = tokio::select! {
            Some(_) = clients.left() => continue,
            next = given.recv() => next,
        };
        let Some(Given { stream, permit, counted }) = next else { break };
        if let Ok(stream) = TcpStream::from_std(stream) {
            clients.take(stream, (permit, counted));
        }
    }
    tokio::select! {
        () = clients.drain() => {}
        () = async { while stopped.changed().await.is_ok() {} } => {}
    }
    clients.shutdown().await;
}

#[cfg(test)]
mod tests {
    use tokio::{net::TcpListener, sync::Semaphore};

    use super::*;
    use crate::{Config, Upstream};

    #[tokio::test]
    async fn a_thread_gets_as_many_clients_as_the_others() {
        let config = Config::new().with_upstream(Upstream::parse("http://127.0.0.1:1").unwrap());
        let (_stopping, stopped) = watch::channel(false);
        let shared = Arc::new(Shared::new(config).unwrap());
        let place = Place { shared, tls: None, stopped };
        let mut threads = Threads::start(NonZeroUsize::new(3).unwrap(), &place);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let room = Arc::new(Semaphore::new(9));
        let mut open = Vec::new();
        for _ in 0..9 {
            open.push(TcpStream::connect(listener.local_addr().unwrap()).await.unwrap());
            let permit = Arc::clone(&room).try_acquire_owned().unwrap();
            threads.give(listener.accept().await.unwrap().0, permit);
        }
        let counts = threads.threads.iter().map(|thread| Arc::strong_count(&thread.counted) - 1);
        assert_eq!(counts.collect::<Vec<_>>(), [3, 3, 3]);
        // Who leaves makes room.
        open.clear();
        let _all = room.acquire_many(9).await.unwrap();
        threads.drain().await;
    }
}
