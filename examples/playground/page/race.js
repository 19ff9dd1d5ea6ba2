// The race: our kernels in wasm without and with simd128, and the browser's TextDecoder, on the same chunks.

const SIZE = 1 << 20;
const ROUNDS = 15;
/** The shortest time of a round, in milliseconds. */
const ROUND = 4;

/** Corpora: a passage that is repeated. The last ones are ill-formed: of bytes of Latin-1, or with FF in the place of one byte of `every`. */
export const CORPORA = [
  { id: "ascii", name: "English (ASCII)", text: "A decoder that waits for the whole message needs memory for the whole message. " },
  { id: "latin", name: "Czech", text: "Příliš mnoho dekodérů předpokládá, že každý kus končí celým znakem. " },
  { id: "cyrillic", name: "Russian", text: "Сеть доставляет байты кусками, и кусок может закончиться внутри символа. " },
  { id: "cjk", name: "Japanese", text: "ネットワークはバイト列を任意の位置で分割して届けます。" },
  { id: "emoji", name: "Emoji", text: "🌍🚀👩‍🚀🦀🎉🧵💬📡" },
  { id: "json", name: "JSON, mixed", text: '{"id":1042,"name":"Zoë","text":"κόσμε 🌍","tags":["日本","été"],"ok":true}\n' },
  { id: "damaged", name: "Latin-1 (ill-formed)", text: "Caf\u00E9 cr\u00E8me \u00E0 la fa\u00E7on de Zo\u00E9, servi tr\u00E8s chaud. ", latin1: true },
  { id: "damaged-cyrillic", name: "Russian, one byte in 16 is FF", text: "Сеть доставляет байты кусками, и кусок может закончиться внутри символа. ", every: 16 },
  { id: "damaged-cjk", name: "Japanese, one byte in 16 is FF", text: "ネットワークはバイト列を任意の位置で分割して届けます。", every: 16 },
];

function chunksOf(id, size) {
  const { text, latin1, every } = CORPORA.find((corpus) => corpus.id === id);
  const passage = latin1 ? Uint8Array.from(text, (char) => char.charCodeAt(0)) : new TextEncoder().encode(text);
  const bytes = new Uint8Array(SIZE);
  // Whole passages, so that the end is well-formed; spaces fill the rest.
  bytes.fill(0x20);
  for (let at = 0; at + passage.length <= SIZE; at += passage.length) bytes.set(passage, at);
  // Any byte of a character, in no order.
  for (let at = 0; every && at < SIZE; at += every) bytes[at + ((at * 7) >> 4) % every] = 0xFF;
  const chunks = [];
  for (let at = 0; at < SIZE; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

function tasksOf(modules) {
  const validators = modules.map(({ name, module }) => {
    const validator = new module.Validator();
    return {
      name: `${name} (wasm)`,
      run(chunks) {
        let valid = true;
        for (const chunk of chunks) valid = validator.push(chunk) && valid;
        return validator.finish() && valid;
      },
    };
  });
  const decoders = modules.map(({ name, module }) => {
    const decoder = new module.Decoder();
    return {
      name: `${name} (wasm)`,
      run(chunks) {
        let units = 0;
        for (const chunk of chunks) units += decoder.push(chunk);
        return units + decoder.finish();
      },
    };
  });
  const streamed = (chunks, fatal) => {
    const decoder = new TextDecoder("utf-8", { fatal, ignoreBOM: true });
    let units = 0;
    for (const chunk of chunks) units += decoder.decode(chunk, { stream: true }).length;
    return units + decoder.decode().length;
  };
  const valid = (chunks) => {
    try {
      return streamed(chunks, true) >= 0;
    } catch {
      return false;
    }
  };
  return [
    { task: "Validate", contenders: [...validators, { name: "TextDecoder", run: valid }] },
    { task: "Decode", contenders: [...decoders, { name: "TextDecoder", run: (chunks) => streamed(chunks, false) }] },
  ];
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const pause = () => new Promise((resolve) => { setTimeout(resolve); });

/** Runs the race. Calls `show` with results and a sentence, after each round. All contenders must agree. */
export async function race(modules, corpus, size, show) {
  const chunks = chunksOf(corpus, size);
  // To stop at the first error says nothing about speed.
  const isDamaged = CORPORA.some(({ id, latin1, every }) => id === corpus && (latin1 || every));
  const tasks = tasksOf(modules).filter(({ task }) => !(isDamaged && task === "Validate"));
  for (const { task, contenders } of tasks) {
    const answers = contenders.map(({ run }) => run(chunks));
    if (new Set(answers).size !== 1) throw new Error(`${task}: the answers differ: ${answers}`);
    for (const contender of contenders) contender.speeds = [];
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { contenders } of tasks) {
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const contender = contenders[(turn + round) % contenders.length];
        const start = performance.now();
        let [runs, time] = [0, 0];
        while (time < ROUND) {
          contender.run(chunks);
          runs += 1;
          time = performance.now() - start;
        }
        contender.speeds.push((runs * SIZE) / time / 1000);
        await pause();
      }
    }
    const results = tasks.map(({ task, contenders }) => ({
      task, rows: contenders.map(({ name, speeds }) => ({ name, speed: median(speeds) })),
    }));
    show(results, round + 1 < ROUNDS ? `Round ${round + 1} of ${ROUNDS}` : `${ROUNDS} rounds.`);
  }
}
