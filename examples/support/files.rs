//! Files, standard input and sockets as one type, for the examples that read any of them. Files are read without another
//! thread, compared, and replaced only by a complete output.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

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
                complain(format_args!("listening on {}", listener.local_addr()?));
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

// ---- files ---------------------------------------------------------------------------------------

/// A regular file. Two names, links or descriptors of one file have equal values.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

#[cfg(unix)]
impl FileId {
    /// Returns `None` if it is not a regular file.
    pub(crate) fn of(file: &File, _: &Path) -> io::Result<Option<Self>> {
        use std::os::unix::fs::MetadataExt;

        let data = file.metadata()?;
        Ok(data.is_file().then(|| Self { device: data.dev(), inode: data.ino() }))
    }
}

/// A regular file, by its canonical path: hard links are not recognised.
#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileId(PathBuf);

#[cfg(not(unix))]
impl FileId {
    /// Returns `None` if it is not a regular file.
    pub(crate) fn of(file: &File, path: &Path) -> io::Result<Option<Self>> {
        Ok(if file.metadata()?.is_file() { Some(Self(path.canonicalize()?)) } else { None })
    }
}

/// Standard input or output as a file, and which one if it is a regular file.
#[cfg(unix)]
pub(crate) fn duplicate(stream: &impl std::os::fd::AsFd) -> Option<(File, Option<FileId>)> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    let id = FileId::of(&file, Path::new("")).ok()?;
    Some((file, id))
}

#[cfg(not(unix))]
pub(crate) fn duplicate<T>(_: &T) -> Option<(File, Option<FileId>)> {
    None
}

/// A file, read or written on the thread that polls it. These programs have nothing else to do in the
/// meantime, and handing each block to another thread takes longer than reading it.
#[derive(Debug)]
pub(crate) struct OnThisThread<F>(pub(crate) F);

impl<F: Read + Unpin> AsyncRead for OnThisThread<F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let len = self.0.read(buffer.initialize_unfilled())?;
        buffer.advance(len);
        Poll::Ready(Ok(()))
    }
}

impl<F: Write + Unpin> AsyncWrite for OnThisThread<F> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

/// An output file. Until [`commit`](Self::commit), the bytes are in a temporary file in the same directory,
/// which is removed if the output is dropped. A device or a pipe is written directly.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    temporary: Option<Temporary>,
}

#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    /// The name it gets in the end.
    target: PathBuf,
}

impl Output {
    /// Opens the output at `path`. The file that it replaces must be writable, and must not be the source.
    pub(crate) fn create(path: &Path, source: Option<&FileId>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let (target, permissions) = match OpenOptions::new().write(true).open(path) {
            Ok(file) => match FileId::of(&file, path)? {
                None => return Ok(Self { file, temporary: None }),
                Some(id) if source == Some(&id) => return Err(overwrites_the_source()),
                // Through symbolic links, so that they stay.
                Some(_) => (path.canonicalize()?, Some(file.metadata()?.permissions())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        #[cfg(unix)]
        if let Some(permissions) = &permissions {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

            options.mode(permissions.mode());
        }
        let mut number = 0;
        let (file, path) = loop {
            let name = format!(".{}-{}-{number}", env!("CARGO_CRATE_NAME"), process::id());
            let path = target.with_file_name(name);
            match options.open(&path) {
                Ok(file) => break (file, path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        };
        let output = Self { file, temporary: Some(Temporary { path, target }) };
        if let Some(permissions) = permissions {
            output.file.set_permissions(permissions)?;
        }
        Ok(output)
    }

    /// Gives the output its name, in place of an older file.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        if let Some(temporary) = &self.temporary {
            // The old file is replaced only by one that is on the disk.
            self.file.sync_all()?;
            fs::rename(&temporary.path, &temporary.target)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // If this fails, there is nothing left to do.
            let _ = fs::remove_file(&temporary.path);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn overwrites_the_source() -> io::Error {
    io::Error::other("this would overwrite the source")
}
