//! What reads text from an `AsyncRead`?

mod reader_chunks;
mod utf8_byte_reader;
mod utf8_reader;

pub use reader_chunks::ReaderChunks;
pub use utf8_byte_reader::Utf8ByteReader;
pub use utf8_reader::Utf8Reader;
