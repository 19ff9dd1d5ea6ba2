//! Files, standard input and sockets as one type, for the examples that read any of them.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::net::{TcpListener, TcpStream};

use super::files::{FileId, OnThisThread, duplicate};
use super::terminal::complain;

/// A source of bytes.
pub(crate) enum Source {
    File(PathBuf),
    Stdin,
    Connect(String),
    Listen(String),
}

/// An open source.
pub(crate) struct Input {
    pub(crate) bytes: Box<dyn AsyncRead + Unpin>,
    /// The length in bytes, if it is known.
    pub(crate) size: Option<u64>,
    /// Set if it is a regular file.
    pub(crate) id: Option<FileId>,
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

    /// Opens the source. Other files than regular ones are read on another thread, `read_size` bytes at a time.
    pub(crate) async fn open(&self, read_size: usize) -> io::Result<Input> {
        let stream = |bytes: Box<dyn AsyncRead + Unpin>| Input { bytes, size: None, id: None };
        let on_this_thread = |file: File, id| {
            let size = Some(file.metadata()?.len());
            Ok(Input { bytes: Box::new(OnThisThread(file)), size, id: Some(id) })
        };
        match self {
            Self::File(path) => {
                // Opening a pipe waits for its writer.
                let file = tokio::fs::File::open(path).await?.into_std().await;
                if let Some(id) = FileId::of(&file, path)? {
                    return on_this_thread(file, id);
                }
                let mut file = tokio::fs::File::from_std(file);
                file.set_max_buf_size(read_size);
                Ok(stream(Box::new(file)))
            }
            Self::Stdin => match duplicate(&io::stdin()) {
                Some((file, Some(id))) => on_this_thread(file, id),
                _ => Ok(stream(Box::new(tokio::io::stdin()))),
            },
            Self::Connect(address) => {
                let connect = TcpStream::connect(address);
                Ok(stream(Box::new(tokio::time::timeout(CONNECT_TIMEOUT, connect).await??)))
            }
            Self::Listen(address) => {
                let listener = TcpListener::bind(address).await?;
                complain(&format!("listening on {}", listener.local_addr()?));
                Ok(stream(Box::new(listener.accept().await?.0)))
            }
        }
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
