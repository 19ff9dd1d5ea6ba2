// What COMPARISON.md says of `TextDecoder` and `TextDecoderStream`, as functions that `.ci/check comparison` runs.

import assert from "node:assert/strict";
import { TextDecoderStream } from "node:stream/web";

const bytes = (...values) => Uint8Array.from(values);
const ascii = (text) => [...text].map((character) => character.codePointAt(0));

/** What a stream decodes these chunks to, and the error that ended it. */
async function decodeStream(chunks, options) {
  const stream = new TextDecoderStream("utf-8", options);
  const writer = stream.writable.getWriter();
  (async () => {
    for (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  })().catch(() => {});
  writer.closed.catch(() => {});
  const texts = [];
  try {
    for await (const text of stream.readable) texts.push(text);
  } catch (error) {
    return { texts, error };
  }
  return { texts };
}

const tests = {
  text_decoder_joins_split_characters_with_stream_true() {
    const decoder = new TextDecoder();
    const first = decoder.decode(bytes(0xe2, 0x82), { stream: true });
    assert.equal(first + decoder.decode(bytes(0xac)), "€");
    const each = new TextDecoder();
    assert.equal(each.decode(bytes(0xe2, 0x82)) + each.decode(bytes(0xac)), "\ufffd\ufffd");
  },

  text_decoder_replaces_maximal_subparts() {
    for (const [data, count] of [
      [[0xf0, 0x9f, 0x91], 1],
      [[0xed, 0xa0, 0x80], 3],
      [[0xf4, 0x90, 0x80, 0x80], 4],
    ]) {
      assert.equal(new TextDecoder().decode(bytes(...data)), "\ufffd".repeat(count));
    }
  },

  text_decoder_fatal_throws_without_an_offset_or_the_text_before() {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    assert.throws(
      () => decoder.decode(bytes(...ascii("lost"), 0xff)),
      (error) => {
        const numbers = Object.values(error).filter((value) => typeof value === "number");
        return error instanceof TypeError && !/4/.test(error.message) && !numbers.includes(4);
      },
    );
  },

  text_decoder_removes_a_bom_unless_ignore_bom_is_set() {
    const data = bytes(0xef, 0xbb, 0xbf, 0x61);
    assert.equal(new TextDecoder().decode(data), "a");
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(data), "\ufeffa");
  },

  text_decoder_decodes_legacy_encodings() {
    assert.equal(new TextDecoder("shift_jis").decode(bytes(0x93, 0xfa, 0x96, 0x7b)), "日本");
  },

  text_encoder_encodes_utf_8_only() {
    assert.equal(new TextEncoder("shift_jis").encoding, "utf-8");
    assert.deepEqual(new TextEncoder().encode("\ud83d"), bytes(0xef, 0xbf, 0xbd));
  },

  async text_decoder_stream_joins_split_characters() {
    const { texts } = await decodeStream([bytes(0xe2, 0x82), bytes(0xac)]);
    assert.equal(texts.join(""), "€");
  },

  async text_decoder_stream_fatal_ends_at_the_error() {
    const chunks = [bytes(...ascii("lost"), 0xff), bytes(...ascii("never read"))];
    const { texts, error } = await decodeStream(chunks, { fatal: true });
    assert.deepEqual(texts, []);
    assert.ok(error instanceof TypeError);
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("ok", name);
}
console.log(Object.keys(tests).length, "statements hold in Node.js", process.versions.node);
