"""What COMPARISON.md says of Python's codecs, as functions that `.ci/check comparison` runs."""

import codecs
import io
import sys


def python_incremental_decoder_joins_split_characters():
    decoder = codecs.getincrementaldecoder("utf-8")()
    assert decoder.decode(b"10 \xe2\x82") + decoder.decode(b"\xac", final=True) == "10 €"


def python_error_offsets_start_at_each_chunk():
    decoder = codecs.getincrementaldecoder("utf-8")()
    assert decoder.decode(b"0123456789\xe2") == "0123456789"
    try:
        decoder.decode(b"ab\xff")
    except UnicodeDecodeError as error:
        # The error is at byte 10 of the stream. The held byte counts to this chunk.
        assert (error.start, error.end, error.object) == (0, 1, b"\xe2ab\xff")
    else:
        raise AssertionError("no error")


def python_strict_decoder_drops_the_text_before_an_error():
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(b"lost\xff")
    except UnicodeDecodeError as error:
        assert error.start == 4
    assert decoder.decode(b"next") == "next"


def python_replaces_maximal_subparts():
    for data, count in [(b"\xf0\x9f\x91", 1), (b"\xed\xa0\x80", 3), (b"\xf4\x90\x80\x80", 4)]:
        assert data.decode("utf-8", "replace") == "\ufffd" * count


def python_surrogateescape_restores_the_bytes_in_any_split():
    data = b"caf\xe9 \xe2\x82"
    for at in range(len(data) + 1):
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        text = decoder.decode(data[:at]) + decoder.decode(data[at:], final=True)
        assert text == "caf\udce9 \udce2\udc82"
        assert text.encode("utf-8", "surrogateescape") == data


def python_surrogatepass_decodes_surrogates():
    assert b"\xed\xa0\xbd".decode("utf-8", "surrogatepass") == "\ud83d"


def python_has_no_cesu_8():
    for name in ["cesu-8", "wtf-8"]:
        try:
            codecs.lookup(name)
        except LookupError:
            continue
        raise AssertionError(name)


def python_utf_8_sig_removes_a_bom_that_is_split():
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    chunks = [b"\xef", b"\xbb", b"\xbfa"]
    assert "".join(map(decoder.decode, chunks)) == "a"
    assert b"\xef\xbb\xbfa".decode("utf-8") == "\ufeffa"


def python_text_lines_fail_before_an_earlier_good_line():
    lines = io.TextIOWrapper(io.BytesIO(b"one\ncaf\xe9\nthree\n"), encoding="utf-8")
    try:
        next(lines)
    except UnicodeDecodeError as error:
        assert error.start == 7
    else:
        raise AssertionError("no error")


def python_text_lines_have_no_limit():
    lines = io.TextIOWrapper(io.BytesIO(b"a" * (1 << 20)), encoding="utf-8")
    assert len(next(lines)) == 1 << 20


def python_decodes_and_encodes_legacy_encodings():
    assert b"\x93\xfa\x96{".decode("shift_jis") == "日本"
    assert "日本".encode("shift_jis") == b"\x93\xfa\x96{"


tests = [test for name, test in list(globals().items()) if name.startswith("python_")]
for test in tests:
    test()
    print("ok", test.__name__)
print(len(tests), "statements hold in Python", sys.version.split()[0])
