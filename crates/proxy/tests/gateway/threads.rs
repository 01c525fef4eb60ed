//! A gateway on threads of its own, and one in the runtime of the caller.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use jsonmend_proxy::{Config, Upstream};
use tokio::{sync::Notify, time::sleep};

use crate::scene::{Scene, Step, call_events, chunk, chunked, last, within};

const WAYS: [Option<NonZeroUsize>; 3] = [None, NonZeroUsize::new(1), NonZeroUsize::new(2)];

const REQUEST: &str = "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";

fn configure(config: Config, url: &str) -> Config {
    config.with_upstream(Upstream::parse(url).unwrap())
}

#[tokio::test]
async fn streams_pass_at_once_and_end_well_when_the_gateway_stops() {
    let events = call_events(&["{'a': ", "True}"], "tool_calls");
    let (first, rest) = events.split_at(2);
    for threads in WAYS {
        let go = Arc::new(Notify::new());
        let steps = vec![
            chunked("text/event-stream"),
            chunk(first.concat()),
            Step::Wait(Arc::clone(&go)),
            chunk(rest.concat()),
            last(),
        ];
        let mut scene = Scene::on_threads(threads, vec![steps], configure).await;
        let mut clients = Vec::new();
        for _ in 0..5 {
            let mut client = scene.connect().await;
            client.send(REQUEST).await;
            client.until("arguments").await;
            clients.push(client);
        }
        scene.ask_to_stop();
        // Each stream waits for one of these, in any order.
        let going = tokio::spawn(async move {
            loop {
                go.notify_one();
                sleep(Duration::from_millis(5)).await;
            }
        });
        for mut client in clients {
            let reply = client.reply().await;
            assert!(reply.whole && reply.text().contains("true}"), "{threads:?}: {reply:?}");
        }
        going.abort();
        scene.stopped().await;
    }
}

#[tokio::test]
async fn everything_ends_at_once_when_the_future_is_dropped() {
    for threads in WAYS {
        let gone = Arc::new(Notify::new());
        let steps =
            vec![chunked("text/event-stream"), chunk("data: 1\n\n"), Step::Gone(Arc::clone(&gone))];
        let scene = Scene::on_threads(threads, vec![steps], configure).await;
        let mut client = scene.connect().await;
        client.send(REQUEST).await;
        client.until("data: 1").await;
        scene.end();
        assert!(!client.reply().await.whole, "{threads:?}");
        within(gone.notified()).await;
        assert!(tokio::net::TcpStream::connect(scene.address).await.is_err(), "{threads:?}");
    }
}
