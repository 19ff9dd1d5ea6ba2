//! `Utf8ChunksCodec`: text and errors, without loss.

use super::*;

// ---- scripts --------------------------------------------------------------------------------

#[tokio::test(start_paused = true)]
async fn chunks_go_on_behind_each_error_without_a_gap() {
    let reader = pausing(&[b"ok\xFFmore\xE2", b"\x82", b"\xF0\x90"]);
    assert_eq!(
        told(reader, Utf8ChunksCodec::new(), show_chunk).await,
        [
            "ok",
            "<ill-formed utf-8 at byte 2: invalid byte (ff)>",
            "more",
            "<ill-formed utf-8 at byte 7: truncated (e2 82, then f0)>",
            "<ill-formed utf-8 at byte 9: incomplete (f0 90, then the end)>",
        ],
    );
}

// ---- random bytes -------------------------------------------------------------------------------

proptest! {
    #[test]
    fn chunks_written_again_are_the_bytes_that_came(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        strict in any::<bool>(),
    ) {
        let strictness = match strict {
            true => Strictness::new().refuse_nul().refuse_controls().refuse_noncharacters(),
            false => Strictness::new(),
        };
        let mut codec =
            Utf8ChunksCodec::new().with_options(Utf8Options::new().with_strictness(strictness));
        let (mut buffer, mut written) = (BytesMut::new(), BytesMut::new());
        for chunk in pieces_of(&bytes, &cuts) {
            buffer.extend_from_slice(chunk);
            while let Some(chunk) = codec.decode(&mut buffer).unwrap() {
                let is_empty = match &chunk {
                    Ok(text) => text.is_empty(),
                    Err(error) => error.bytes().is_empty(),
                };
                prop_assert!(!is_empty);
                codec.encode(chunk, &mut written).unwrap();
            }
        }
        while let Some(chunk) = codec.decode_eof(&mut buffer).unwrap() {
            codec.encode(chunk, &mut written).unwrap();
        }
        prop_assert_eq!(written, bytes);
    }
}

// ---- encoders -----------------------------------------------------------------------------------

#[tokio::test]
async fn damaged_bytes_are_forwarded_without_loss() {
    let bytes = b"ok\xFFmore\xED\xA0\x80\0\xF0\x9F";
    for capacity in 1..16 {
        let chunks = FramedRead::with_capacity(&bytes[..], Utf8ChunksCodec::new(), capacity);
        let mut written = Vec::new();
        chunks.forward(FramedWrite::new(&mut written, Utf8ChunksCodec::new())).await.unwrap();
        assert_eq!(written, bytes);
    }
}

// ---- what else may go wrong -----------------------------------------------------------------------

#[test]
fn the_position_leaves_out_what_is_still_in_the_buffer() {
    let mut buffer = BytesMut::from(&b"ab\xFF\xF0\x9F"[..]);
    let mut codec = Utf8ChunksCodec::new();
    decode_all(&mut codec, &mut buffer);
    assert_eq!((codec.decoder().position(), buffer.len()), (3, 2));
    let range: Range<u64> = 3..5;
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), format!("<{:?}@3>", Kind::Incomplete));
    assert_eq!(codec.decoder().position(), range.end);
}
