//! The encodings of the Encoding Standard, as encoding_rs decodes them.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use encoding_rs::{DecoderResult, Encoding};

/// One label of each encoding that the standard has a decoder for, except UTF-8.
pub const LABELS: [&str; 38] = [
    "ibm866",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-8-i",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "koi8-r",
    "koi8-u",
    "macintosh",
    "windows-874",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "x-mac-cyrillic",
    "gbk",
    "gb18030",
    "big5",
    "euc-jp",
    "iso-2022-jp",
    "shift_jis",
    "euc-kr",
    "utf-16be",
    "utf-16le",
    "x-user-defined",
];

/// The output of one decoder that receives everything at once: text split into characters, and errors.
pub fn whole(label: &str, bytes: &[u8]) -> Vec<String> {
    let mut decoder =
        Encoding::for_label(label.as_bytes()).unwrap().new_decoder_without_bom_handling();
    let (mut words, mut read) = (Vec::new(), 0);
    loop {
        let mut text = String::with_capacity(4 * bytes.len() + 16);
        let (result, used) =
            decoder.decode_to_string_without_replacement(&bytes[read..], &mut text, true);
        read += used;
        words.extend(text.chars().map(String::from));
        match result {
            DecoderResult::InputEmpty => return words,
            DecoderResult::OutputFull => panic!("there is room"),
            DecoderResult::Malformed(len, after) => {
                let end = read - usize::from(after);
                let at = end - usize::from(len);
                words.push(format!("{at} {:02x?}", &bytes[at..end]));
            }
        }
    }
}
