//! Files, standard input and sockets as one type, for the examples that read any of them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::fs::File;
use tokio::io::AsyncRead;
use tokio::net::{TcpListener, TcpStream};

use super::terminal::complain;

/// A source of bytes.
pub(crate) enum Source {
    File(PathBuf),
    Stdin,
    Connect(String),
    Listen(String),
}

pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Source {
    pub(crate) fn new(path: &Path) -> Self {
        match path.to_str().map(|text| (text, text.strip_prefix("tcp://"))) {
            Some(("-", _)) => Self::Stdin,
            Some((_, Some(address))) => Self::Connect(address.to_owned()),
            _ => Self::File(path.to_owned()),
        }
    }

    /// Whether writing to `path` would overwrite the source.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        match self {
            Self::File(from) => match (from.canonicalize(), path.canonicalize()) {
                (Ok(from), Ok(to)) => from == to,
                _ => false,
            },
            _ => false,
        }
    }

    /// Opens the source; also returns its length in bytes, if that is known.
    pub(crate) async fn open(
        &self,
        read_size: usize,
    ) -> io::Result<(Box<dyn AsyncRead + Unpin>, Option<u64>)> {
        Ok(match self {
            Self::File(path) => {
                let mut file = File::open(path).await?;
                file.set_max_buf_size(read_size);
                let size = Some(file.metadata().await?).filter(|data| data.is_file());
                (Box::new(file), size.map(|data| data.len()))
            }
            Self::Stdin => (Box::new(tokio::io::stdin()), None),
            Self::Connect(address) => {
                let connect = TcpStream::connect(address);
                (Box::new(tokio::time::timeout(CONNECT_TIMEOUT, connect).await??), None)
            }
            Self::Listen(address) => {
                let listener = TcpListener::bind(address).await?;
                complain(&format!("listening on {}", listener.local_addr()?));
                (Box::new(listener.accept().await?.0), None)
            }
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Stdin => f.write_str("standard input"),
            Self::Connect(address) => write!(f, "tcp://{address}"),
            Self::Listen(address) => write!(f, "listen {address}"),
        }
    }
}
