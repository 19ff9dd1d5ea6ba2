//! How are the bytes of a reader in any charset read as UTF-8? It does no I/O: `io` and `stream` do.

use std::io;
use std::mem;

use bytes::{Buf, Bytes};
use pin_project_lite::pin_project;

use crate::adaptor::CAPACITY;
use crate::adaptor::charset::{ByteOrder, Charset};
use crate::adaptor::legacy::Legacy;
use crate::decoder::{BOM, ErrorMode, free_if_empty};

pin_project! {
    /// Reads a file in any charset as UTF-8. A BOM of UTF-8, or of UTF-16 in either byte order, determines the charset.
    /// Without one, it is the charset that you [set](Self::with_charset), UTF-8 by default.
    ///
    /// It implements [`Read`](std::io::Read) or tokio's `AsyncRead`, like the inner reader. Read it with a `Utf8Reader`, a
    /// `Utf8Stream` or another decoder of UTF-8. The bytes of a UTF-8 file pass unchanged and unchecked, so that the decoder
    /// reports each error with its offset in the file, and its options and error mode apply. A BOM is kept, as U+FEFF. [`BomPolicy::Strip`](crate::BomPolicy::Strip) removes it.
    ///
    /// It holds at most two bytes until the charset is known. In a charset other than UTF-8 it also holds a read buffer of
    /// 8 KiB, a copy of the bytes in it that are not decoded, and a block of 16 KiB of text. How the reads split the file does
    /// not affect the text.
    ///
    /// # Errors
    ///
    /// Those of the inner reader; nothing is lost, and the next call reads again. In [`ErrorMode::Fatal`], the default,
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) for each ill-formed part in a charset other than UTF-8. The text
    /// before it is returned first, and the next call continues after it. The message contains its offset in the file. A
    /// `Utf8Reader` or `Utf8Stream` returns it as `StreamError::Inner`; [`error_count`](Self::error_count) counts it. A line or an event
    /// that contains it is rejected.
    ///
    /// # Cancel safety
    ///
    /// This reader loses no data. A method of tokio loses what its documentation states.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::{CharsetReader, Utf8Reader};
    /// use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};
    ///
    /// let read = |file: &[u8]| {
    ///     let file = CharsetReader::new(file).with_charset("windows-1252").unwrap();
    ///     let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    ///     Utf8Reader::new(file.with_error_mode(ErrorMode::Replacement)).with_options(options).collect_text(100)
    /// };
    /// assert_eq!(read(b"\xFF\xFEc\0a\0f\0\xE9\0")?, "café");
    /// assert_eq!(read(b"\xEF\xBB\xBFcaf\xC3\xA9")?, "café");
    /// assert_eq!(read(b"caf\xE9")?, "café");
    /// # Ok::<_, utf8_codec::io::StreamError<std::io::Error>>(())
    /// ```
    #[derive(Debug)]
    #[must_use = "readers do nothing unless read"]
    pub struct CharsetReader<R> {
        #[pin]
        pub(crate) reader: R,
        pub(crate) bytes: CharsetBytes,
    }
}

impl<R> CharsetReader<R> {
    /// Reads from `reader`, in UTF-8 unless it begins with a BOM of UTF-16.
    pub fn new(reader: R) -> Self {
        let bytes = CharsetBytes {
            charset: Charset::Utf8,
            mode: ErrorMode::Fatal,
            state: CharsetState::Start { first: [0; 3], len: 0 },
            ready: Bytes::new(),
            buffer: Vec::new(),
        };
        Self { reader, bytes }
    }

    /// Sets the charset of a file without a BOM, by its label in the WHATWG Encoding Standard, in any case. Call it before the
    /// first read.
    ///
    /// Returns `None` if the label is unknown, or if its encoding needs the feature `encoding_rs` and that is not enabled.
    /// All encodings need it except UTF-8, UTF-16, and windows-1252, whose labels include `latin1` and `iso-8859-1`.
    pub fn with_charset(mut self, label: impl AsRef<[u8]>) -> Option<Self> {
        self.bytes.charset = Charset::from_label(label.as_ref())?;
        Some(self)
    }

    /// Sets what replaces ill-formed parts in a charset other than UTF-8.
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.bytes.mode = mode;
        self
    }

    /// Returns the name of the charset in the WHATWG Encoding Standard. Until the beginning of the file has been read, it is
    /// that of a file without a BOM.
    pub fn charset(&self) -> &'static str {
        self.bytes.legacy().map_or(self.bytes.charset, Legacy::charset).name()
    }

    /// Returns the number of ill-formed parts so far, repaired or not. It is 0 in UTF-8, which is not checked.
    pub fn error_count(&self) -> u64 {
        self.bytes.legacy().map_or(0, Legacy::error_count)
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader mutably. Bytes that you read from it are missing from the text.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Consumes the adaptor and returns the reader. What it holds is lost.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

/// The bytes that have been read.
///
/// ```text
/// match bytes.next()? {
///     CharsetStep::Ready => copy bytes.ready
///     CharsetStep::Pass  => read into the room of the caller
///     CharsetStep::Read  => read into bytes.room(); bytes.fill(number of bytes, 0 at the end)
///     CharsetStep::End   => deliver the end
/// }
/// ```
#[derive(Debug)]
pub(crate) struct CharsetBytes {
    /// The charset, if there is no BOM of another one.
    charset: Charset,
    mode: ErrorMode,
    state: CharsetState,
    /// UTF-8 that the caller has not read.
    pub(crate) ready: Bytes,
    buffer: Vec<u8>,
}

#[derive(Debug)]
enum CharsetState {
    /// All bytes so far can be the beginning of a BOM.
    Start {
        first: [u8; 3],
        len: usize,
    },
    Utf8,
    Legacy(Box<Legacy>),
    Ended(Option<Box<Legacy>>),
}

pub(crate) enum CharsetStep {
    Ready,
    Pass,
    Read,
    End,
}

impl CharsetBytes {
    fn legacy(&self) -> Option<&Legacy> {
        match &self.state {
            CharsetState::Start { .. } | CharsetState::Utf8 => None,
            CharsetState::Legacy(legacy) => Some(legacy),
            CharsetState::Ended(legacy) => legacy.as_deref(),
        }
    }

    pub(crate) fn next(&mut self) -> io::Result<CharsetStep> {
        if !self.ready.is_empty() {
            return Ok(CharsetStep::Ready);
        }
        let (legacy, otherwise) = match &mut self.state {
            CharsetState::Start { .. } => return Ok(CharsetStep::Read),
            CharsetState::Utf8 => return Ok(CharsetStep::Pass),
            CharsetState::Legacy(legacy) => (legacy, CharsetStep::Read),
            CharsetState::Ended(Some(legacy)) => (legacy, CharsetStep::End),
            CharsetState::Ended(None) => return Ok(CharsetStep::End),
        };
        let block = legacy.next(self.mode);
        let block = block.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        self.ready = block.unwrap_or_default();
        Ok(if self.ready.is_empty() { otherwise } else { CharsetStep::Ready })
    }

    pub(crate) fn room(&mut self) -> &mut [u8] {
        match &mut self.state {
            CharsetState::Start { first, len } => &mut first[*len..],
            _ => {
                self.buffer.resize(CAPACITY, 0);
                &mut self.buffer
            }
        }
    }

    /// Records that `read` bytes have been written to the room, 0 at the end.
    pub(crate) fn fill(&mut self, read: usize) {
        match &mut self.state {
            CharsetState::Start { first, len } => {
                *len += read;
                let (first, len) = (*first, *len);
                self.open(&first[..len], read);
            }
            CharsetState::Legacy(legacy) => {
                legacy.push(Bytes::copy_from_slice(&self.buffer[..read]));
            }
            CharsetState::Utf8 | CharsetState::Ended(_) => {}
        }
        if read == 0 {
            let state = mem::replace(&mut self.state, CharsetState::Ended(None));
            if let CharsetState::Legacy(mut legacy) = state {
                legacy.finish();
                self.state = CharsetState::Ended(Some(legacy));
            }
        }
    }

    /// Begins a stream whose `first` bytes, the last `read` of them new, may be a BOM.
    fn open(&mut self, first: &[u8], read: usize) {
        let bom = [
            (Charset::Utf8, BOM.as_slice()),
            (Charset::Utf16(ByteOrder::Big), b"\xFE\xFF"),
            (Charset::Utf16(ByteOrder::Little), b"\xFF\xFE"),
        ];
        if let Some((charset, _)) = bom.iter().find(|(_, bom)| first.starts_with(bom)) {
            self.charset = *charset;
        } else if read > 0 && bom.iter().any(|(_, bom)| bom.starts_with(first)) {
            return;
        }
        let first = Bytes::copy_from_slice(first);
        self.state = match Legacy::boxed(self.charset) {
            Some(mut legacy) => {
                legacy.push(first);
                CharsetState::Legacy(legacy)
            }
            None => {
                self.ready = first;
                CharsetState::Utf8
            }
        };
    }

    /// Moves bytes that are ready to `room`. Returns how many.
    pub(crate) fn take(&mut self, room: &mut [u8]) -> usize {
        let len = room.len().min(self.ready.len());
        self.ready.copy_to_slice(&mut room[..len]);
        free_if_empty(&mut self.ready);
        len
    }
}
