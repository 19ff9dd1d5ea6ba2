//! Are the crates in this folder equal to the published ones?
#![cfg(test)]

use std::io::Read;

/// All strings of up to five of these bytes.
fn strings() -> impl Iterator<Item = Vec<u8>> {
    const BYTES: [u8; 12] = [b'a', 0, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xE2, 0xED, 0xF0, 0xFF];
    (0..=5_u32).flat_map(|len| {
        (0..12_usize.pow(len))
            .map(move |number| (0..len).map(|at| BYTES[number / 12_usize.pow(at) % 12]).collect())
    })
}

#[test]
fn lossy_decoders_push_the_same_pieces() {
    for bytes in strings().filter(|bytes| bytes.len() < 5) {
        for cut in 0..=bytes.len() {
            let (mut ours, mut peers) = (Vec::new(), Vec::new());
            let mut decoder = utf8::LossyDecoder::new(|text| ours.push(text.to_owned()));
            let mut peer = utf8_peer::LossyDecoder::new(|text| peers.push(text.to_owned()));
            for chunk in [&bytes[..cut], &bytes[cut..]] {
                decoder.feed(chunk);
                peer.feed(chunk);
            }
            drop((decoder, peer));
            ours.retain(|text| !text.is_empty());
            peers.retain(|text| !text.is_empty());
            assert_eq!(ours, peers, "{bytes:02x?} cut at {cut}");
        }
    }
}

#[test]
fn readers_decode_the_same_text() {
    for bytes in strings().filter(|bytes| bytes.len() < 5) {
        for size in 1..=bytes.len().max(1) {
            let reader = |bytes| {
                std::io::BufReader::with_capacity(size, std::io::Cursor::new(Vec::clone(bytes)))
            };
            let ours = utf8::BufReadDecoder::read_to_string_lossy(reader(&bytes)).unwrap();
            let peers = utf8_peer::BufReadDecoder::read_to_string_lossy(reader(&bytes)).unwrap();
            assert_eq!(ours, peers, "{bytes:02x?} in {size}");
        }
    }
}

#[test]
fn java_text_is_the_same() {
    for bytes in
        strings().chain([b"\xED\xA0\x80\xED\xB0\x80", b"\xED\xA0\xBD\xED\xB8\x80"].map(Vec::from))
    {
        assert_eq!(
            cesu8::from_cesu8(&bytes).ok(),
            cesu8_peer::from_cesu8(&bytes).ok(),
            "{bytes:02x?}"
        );
        assert_eq!(
            cesu8::from_java_cesu8(&bytes).ok(),
            cesu8_peer::from_java_cesu8(&bytes).ok(),
            "{bytes:02x?}"
        );
    }
    for text in ["", "a", "a\0b", "é€", "🎈", "a🎈\0"] {
        assert_eq!(cesu8::to_cesu8(text), cesu8_peer::to_cesu8(text));
        assert_eq!(cesu8::to_java_cesu8(text), cesu8_peer::to_java_cesu8(text));
        assert_eq!(cesu8::is_valid_cesu8(text), cesu8_peer::is_valid_cesu8(text));
        assert_eq!(cesu8::is_valid_java_cesu8(text), cesu8_peer::is_valid_java_cesu8(text));
    }
}

#[test]
fn transcoding_readers_return_the_same_bytes() {
    const ENCODINGS: [Option<&encoding_rs::Encoding>; 4] = [
        None,
        Some(encoding_rs::UTF_8),
        Some(encoding_rs::UTF_16LE),
        Some(encoding_rs::WINDOWS_1252),
    ];
    let boms: [&[u8]; 4] = [b"", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
    let bodies = strings().filter(|bytes| bytes.len() < 3).chain([b"\x3D\xD8\x4D\xDCa\0".to_vec()]);
    let inputs: Vec<Vec<u8>> =
        bodies.flat_map(|body| boms.map(|bom| [bom, &body].concat())).collect();
    // A file that is only a BOM of UTF-16 is text of no characters here; encoding_rs_io returns the BOM, undecoded.
    for input in inputs.into_iter().filter(|input| input.len() != 2 || !boms.contains(&&input[..]))
    {
        for choice in 0..64_usize {
            let [passthru, strip, over, sniff] = [1, 2, 4, 8].map(|bit| choice & bit != 0);
            let encoding = ENCODINGS[choice / 16];
            let mut ours = encoding_rs_io::DecodeReaderBytesBuilder::new();
            ours.encoding(encoding)
                .utf8_passthru(passthru)
                .strip_bom(strip)
                .bom_override(over)
                .bom_sniffing(sniff);
            let mut peer = encoding_rs_io_peer::DecodeReaderBytesBuilder::new();
            peer.encoding(encoding)
                .utf8_passthru(passthru)
                .strip_bom(strip)
                .bom_override(over)
                .bom_sniffing(sniff);
            let (mut here, mut there) = (Vec::new(), Vec::new());
            ours.build_with_buffer(&input[..], vec![0; 5]).unwrap().read_to_end(&mut here).unwrap();
            peer.build_with_buffer(&input[..], vec![0; 5])
                .unwrap()
                .read_to_end(&mut there)
                .unwrap();
            // encoding_rs_io 0.1.7 can return a part of the last U+FFFD.
            let is_cut = here.ends_with("\u{FFFD}".as_bytes())
                && here.starts_with(&there)
                && here.len() < there.len() + 3;
            assert!(
                is_cut || here == there,
                "{input:02x?} with {ours:?}: {here:02x?}, {there:02x?}"
            );
        }
    }
}
