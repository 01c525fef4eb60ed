//! A provider that breaks: replies in every format, with faults, cuts and delays, over HTTP.
//!
//! A [`Plan`] says what is sent when, and does nothing itself. A [`Server`] carries plans out for
//! clients on this machine. It takes a bounded number of requests, for a bounded time, and then stops.
//!
//! ```
//! use std::{io::{Read, Write}, net::TcpStream};
//! use wiremend_testkit::chaos::{Server, Settings};
//!
//! let server = Server::start(Settings::new().with_seed(7).with_requests(1))?;
//! let mut client = TcpStream::connect(server.address())?;
//! client.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n")?;
//! let mut response = Vec::new();
//! client.read_to_end(&mut response)?;
//! assert!(response.starts_with(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"));
//! // The first request has the seed 7, and the same case every time.
//! assert_eq!(server.wait()[0].seed(), 7);
//! # Ok::<(), std::io::Error>(())
//! ```

mod http;
mod plan;
mod server;

pub use plan::{Pace, Plan, Step, What};
pub use server::{Served, Server, Settings};
