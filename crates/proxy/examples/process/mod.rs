//! A process that is measured, for the examples.

use std::{
    env,
    error::Error,
    fs,
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};

pub(crate) type Failed = Box<dyn Error + Send + Sync>;

/// How long a process may take until it takes connections.
const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with its owner, also when that fails.
pub(crate) struct Process(Child);

impl Process {
    /// Starts one whose output is not shown. It does not get the variables of the example itself, such as
    /// `WIREMEND_BESIDE`: to a gateway, they are settings that it does not know.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failed> {
        let own = env::vars_os().map(|(name, _)| name);
        for name in own.filter(|name| name.to_string_lossy().starts_with("WIREMEND_")) {
            command.env_remove(name);
        }
        Ok(Self(command.stdout(Stdio::null()).spawn()?))
    }

    /// Waits until it takes connections, and returns how long it waited.
    pub(crate) async fn until_there(&mut self, address: SocketAddr) -> Result<Duration, Failed> {
        let began = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            if self.0.try_wait()?.is_some() || began.elapsed() > PATIENCE {
                return Err(format!("nobody listens on {address}").into());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Ok(began.elapsed())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // This is SIGKILL: the process gets no chance to end anything well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An address that was free a moment ago.
pub(crate) async fn free() -> Result<SocketAddr, Failed> {
    Ok(TcpListener::bind("127.0.0.1:0").await?.local_addr()?)
}

/// The memory of a process, in kilobytes.
pub(crate) fn resident(process: u32) -> Result<u64, Failed> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.ok_or("no VmRSS")?.trim().trim_end_matches(" kB").parse()?)
}
