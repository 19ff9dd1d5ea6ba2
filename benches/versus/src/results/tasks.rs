//! The tasks into which the results are divided: a table each, with the peers that do the task.

use super::charts::{self, Chart};

pub(crate) struct Task {
    pub(crate) title: &'static str,
    /// What is measured, and what the columns are.
    pub(crate) note: &'static str,
    /// The rows: the scenarios with these names. The second is a phrase for the README.
    pub(crate) whats: &'static [(&'static str, &'static str)],
    pub(crate) measure: Measure,
    pub(crate) chart: Option<&'static Chart>,
}

/// How our own speed is given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    GigabytesPerSecond,
    NanosecondsPerUnit,
    /// Beside a loop that only loads and stores.
    ShareOfLimit,
}
use Measure::{GigabytesPerSecond, NanosecondsPerUnit, ShareOfLimit};

impl Task {
    pub(crate) fn whats(&self) -> Vec<&'static str> {
        self.whats.iter().map(|(what, _)| *what).collect()
    }
}

/// Eight typical rows for the README. The two rows with the lowest ratios are added to them.
pub(crate) const TYPICAL: &[(&str, &str, &str)] = &[
    ("validate", "cyrillic", "64"),
    ("validate", "ascii", "8KiB"),
    ("decode", "ascii", "64"),
    ("decode", "cjk", "1460"),
    ("replace", "latin-1", "1-in-64"),
    ("to-utf-16", "cyrillic", "65536"),
    ("lines", "cyrillic", "1460"),
    ("message", "cyrillic", "125"),
];

pub(crate) const TASKS: &[Task] = &[
    Task {
        title: "Validation",
        note: "Is a message UTF-8? The size is the length of the message. Ours is `from_utf8`. `simdutf8` is its `basic` flavour; like \
               `simdutf` it answers only yes or no, while ours also locates the error. `smoothutf8` is made for short messages.",
        whats: &[("validate", "validate")],
        measure: GigabytesPerSecond,
        chart: Some(&charts::VALIDATION),
    },
    Task {
        title: "Locating an error",
        note: "Where in 8 KiB is the error: near the start, in the middle, near the end? `simdutf8` is its `compat` flavour.",
        whats: &[("locate", "find an error in 8 KiB")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "Streaming by chunk size",
        note: "A stream in chunks, which split characters after each of their bytes, to borrowed text \
               (`Utf8Decoder::push`). `std` is `from_utf8` on a `Vec` with the bytes left over; `encoding_rs` copies; \
               `async-utf8-decoder` allocates a `String` for each chunk.",
        whats: &[("decode", "decode a stream")],
        measure: GigabytesPerSecond,
        chart: Some(&charts::STREAMING),
    },
    Task {
        title: "Streaming, verdict only",
        note: "The same streams without their text (`Utf8Validator`). `simdutf8` is its streaming validator, which reports an error \
               only at the end and without an offset.",
        whats: &[("verdict", "validate a stream")],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "Repair of damaged input",
        note: "1 MiB of damaged input into a new `String`, in each error mode (`Utf8Decoder::push_to_string`). The size is the density of \
               errors. `latin-1` is Latin-1 text; `ff` is nothing but FF; in the others, single bytes of valid text were changed. The peers \
               insert U+FFFD whatever the mode; `std` is `String::from_utf8_lossy`. `replace-utf-16` writes into a slice of `u16` \
               (`push_to_utf16`).",
        whats: &[
            ("replace", "repair with U+FFFD"),
            ("replace-utf-16", "repair with U+FFFD, to UTF-16"),
            ("skip", "repair by skipping"),
            ("escape", "repair with escapes"),
            ("as-latin1", "repair as Latin-1"),
            ("as-windows1252", "repair as windows-1252"),
        ],
        measure: GigabytesPerSecond,
        chart: Some(&charts::DAMAGED),
    },
    Task {
        title: "Text and errors of damaged input",
        note: "The same input to borrowed text and errors (`Utf8Decoder::push`). `std` is `utf8_chunks`, which neither \
               counts offsets nor classifies errors.",
        whats: &[("pieces", "split into text and errors")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "UTF-8 to chars",
        note: "Bytes, not validated before, into a slice of `char` (`Utf8Decoder::push_to_chars`). The size is the length of one text in \
               bytes; after `+24` the text begins 24 bytes after a multiple of 64. `std` is `from_utf8` and `chars`.",
        whats: &[("to-chars", "convert to `char`s")],
        measure: GigabytesPerSecond,
        chart: Some(&charts::CONVERSIONS),
    },
    Task {
        title: "UTF-8 to UTF-16",
        note: "Bytes, not validated before, into a slice of `u16` (`Utf8Decoder::push_to_utf16`). `encoding_rs` is `mem::convert_utf8_to_utf16`.",
        whats: &[("to-utf-16", "convert to UTF-16")],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "chars to UTF-8",
        note: "`char`s into a slice of bytes (`Utf8Encoder::push_chars_to_slice`). The size is the length of the result in bytes. \
               `std` is `String::extend`.",
        whats: &[("from-chars", "convert from `char`s")],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "UTF-16 to UTF-8",
        note: "Chunks of UTF-16 into a `String` (`Utf16Decoder::push_to_string`). The size is the number of units in a chunk. \
               `encoding_rs` is `mem::convert_utf16_to_str`, which replaces unpaired surrogates.",
        whats: &[
            ("from-utf-16", "convert from UTF-16"),
            ("repair-utf-16", "repair UTF-16 with U+FFFD"),
        ],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "Share of the limit",
        note: "`utf8-simd` beside a loop that only loads the same input, and stores as many bytes, with the widest vectors of the level: \
               ours, GB/s of input, of the limit, and our share. Input and output together have 24 KiB (L1), 512 KiB (L2), 8 MiB (L3) or \
               128 MiB (DRAM).",
        whats: &[
            ("limit-validate", "validate, against loads"),
            ("limit-to-utf-16", "convert to UTF-16, against loads and stores"),
            ("limit-to-chars", "convert to `char`s, against loads and stores"),
            ("limit-from-utf-16", "convert from UTF-16, against loads and stores"),
            ("limit-from-chars", "convert from `char`s, against loads and stores"),
            ("limit-to-latin-1", "convert to Latin-1, against loads and stores"),
            ("limit-from-latin-1", "convert from Latin-1, against loads and stores"),
        ],
        measure: ShareOfLimit,
        chart: None,
    },
    Task {
        title: "Codecs in FramedRead",
        note: "`Utf8Codec` with reads of 1460 bytes. The peers are minimal codecs of the same shape on `std` and `simdutf8`; \
               `(BytesCodec)` passes bytes on unchecked.",
        whats: &[("codec", "`FramedRead` of text")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "Lines",
        note: "Lines of about ten words, reads of 1460 bytes. `lines` is `Utf8LinesCodec` in `FramedRead`; `read-lines` is `Utf8Lines` \
               over a reader. `tokio-util` is its `LinesCodec`; `FramedRead` is our own `Utf8LinesCodec` in it.",
        whats: &[("lines", "`FramedRead` of lines"), ("read-lines", "lines of a reader")],
        measure: NanosecondsPerUnit,
        chart: Some(&charts::LINES),
    },
    Task {
        title: "Borrowed lines",
        note: "The lines of a reader in memory, in reads of 8192 bytes: `next_line` of a blocking reader. In `log` a line has 36 bytes, in the \
               others it has about ten words. `async`, `LineDecoder` and those that are `owned` are ours. `bstr` is `for_byte_line` with a check \
               of each line; `(bstr)` checks nothing. `std` is `BufRead`, and `tokio-util` is `LinesCodec`.",
        whats: &[("borrow-lines", "borrowed lines")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "Writer",
        note: "Texts of about this many bytes to a writer that accepts every write in full (`Utf8Writer`). `(BytesCodec)` is \
               `FramedWrite` with unchecked bytes.",
        whats: &[("write", "write texts")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "Readers",
        note: "Borrowed text from a reader that is always ready (`Utf8Reader`). The size is the number of bytes in a read. `FramedRead` is our \
               own `Utf8Codec` in it; `tungstenite` joins a message of as many fragments.",
        whats: &[("read", "read text")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "Characters of a stream",
        note: "The sum of all `char`s of a stream of 8 KiB chunks: one by one (`chars`, `CharStream::next`) and in blocks (`blocks`, \
               `CharStream::next_block`). `CharCodec` is our own in `FramedRead`; `CharStream` is one by one; `(str::chars)` is a loop \
               over a `str`.",
        whats: &[("chars", "`char`s of a stream"), ("blocks", "blocks of `char`s of a stream")],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "WebSocket messages",
        note: "A server's time from the read to the text of a message: header, unmasking, validation, order of frames, limits. Ours \
               is the reader of the example server. In `message` a read returns one message, in `burst` as many as fit. \
               (`tokio-tungstenite` clears its read buffer of 128 KiB before each read.)",
        whats: &[("message", "WebSocket message"), ("burst", "WebSocket messages in bursts")],
        measure: NanosecondsPerUnit,
        chart: Some(&charts::WEBSOCKET),
    },
    Task {
        title: "Unmasking and validating",
        note: "The payload of a WebSocket message, unmasked and validated in one pass. `two passes` are our own; `fastwebsockets` is its \
               `unmask`, then `simdutf8`.",
        whats: &[("unmask", "unmask and validate")],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "HTTP bodies",
        note: "`body`: `Utf8Body` around a body whose 16 KiB frames are ready; `std` collects the body and validates it then. `upload` and \
               `download`: the same with hyper over the loopback device, client and server in one thread. `(bare)` is the body without \
               validation, `(validate)` is `Utf8Validator` on its frames.",
        whats: &[
            ("body", "HTTP body"),
            ("upload", "HTTP upload over loopback"),
            ("download", "HTTP download over loopback"),
        ],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "Server-sent events",
        note: "Events of one line of data, of 180 bytes unless the name has another length. The size is the length of a chunk in bytes. \
               `events` is `EventDecoder::push`, `event-stream` is `Utf8Stream::events`. Most peers have only a stream. Lines end with LF, \
               CR or CR LF; in `damaged`, one byte in 1024 is FF. In brackets: a peer that does not return all data of the row. \
               `sse-stream` ends at an ill-formed byte, `sseer`, `eventsource-stream` and `eventsource-stream2` lose events after it, and the \
               latter two return the last event after a CR late or not at all. `(copy)` only allocates and copies each event, with its length \
               known: an event that is cut, of 4 KiB and more, also needs a search for its end and a test of its text, and each of the three \
               is limited by the cache.",
        whats: &[
            ("events", "decode server-sent events"),
            ("events-20", "decode events of 20 bytes"),
            ("events-4k", "decode events of 4 KiB"),
            ("events-1m", "decode events of 1 MiB"),
            ("events-cr", "decode events after CR"),
            ("events-crlf", "decode events after CR LF"),
            ("events-damaged", "decode damaged events"),
            ("event-stream", "stream of events"),
            ("event-stream-20", "stream of events of 20 bytes"),
            ("event-stream-4k", "stream of events of 4 KiB"),
            ("event-stream-1m", "stream of events of 1 MiB"),
            ("event-stream-cr", "stream of events after CR"),
            ("event-stream-crlf", "stream of events after CR LF"),
            ("event-stream-damaged", "stream of damaged events"),
        ],
        measure: NanosecondsPerUnit,
        chart: None,
    },
    Task {
        title: "Dialects",
        note: "CESU-8 and Modified UTF-8: a stream in chunks into a new `String` (`DialectDecoder::push_to_string`), and text into a new \
               `Vec` (`DialectEncoder::push_to_vec`). The peers get all input in one call; `residua` accepts more than the \
               specification. `(utf-8)` decodes the same text in UTF-8.",
        whats: &[
            ("cesu-8-decode", "decode CESU-8"),
            ("mutf-8-decode", "decode Modified UTF-8"),
            ("cesu-8-encode", "encode CESU-8"),
            ("mutf-8-encode", "encode Modified UTF-8"),
        ],
        measure: GigabytesPerSecond,
        chart: None,
    },
    Task {
        title: "Fallback",
        note: "Input that may be windows-1252 instead of UTF-8, in reads of 1460 bytes, with each extent of the fallback. `encoding_rs` \
               is given the right encoding from the start; `(utf-8)` is our own decoding without a fallback.",
        whats: &[
            ("fallback-rest", "fall back for the rest"),
            ("fallback-line", "fall back by line"),
            ("fallback-part", "fall back by part"),
            ("fallback-codec", "fall back in `FramedRead`"),
            ("fallback-stream", "fall back in a stream"),
        ],
        measure: GigabytesPerSecond,
        chart: None,
    },
];
