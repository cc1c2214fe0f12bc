/** What a broken, hostile or merely odd model server may send, as the bytes of its answer. */
import fc from "fast-check";

export interface StrangeStream {
  readonly events: readonly StrangeEvent[];
  readonly end: "done" | "no-done" | "no-finish" | "two-finishes" | "text-after-finish" | "cut" | "two-dones";
  /** Sizes of the pieces in which the bytes leave, over and over. */
  readonly pieces: readonly number[];
  readonly lineEnd: "\n" | "\r\n";
}

type StrangeEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "delta"; readonly delta: unknown }
  | { readonly kind: "raw"; readonly line: string };

/** Stands for the marker of the chat that the stream answers. */
export const MARKER = "%MARKER%";

/** Markup that is dear to parse. Each is of a size that people could ask a model for, and that ends in a moment. */
const bombs: readonly string[] = [
  "[".repeat(1000),
  "![[](".repeat(250),
  "*a **b ".repeat(130),
  "_".repeat(1500),
  "> ".repeat(180) + "deep",
  "- ".repeat(300) + "deep",
  "`".repeat(2001),
  "|a".repeat(180) + "|\n" + "|-".repeat(180) + "|\n" + "|b".repeat(180) + "|",
  "<a href='".repeat(130),
  "&#x0;&#xD800;&#x110000;&bogus;".repeat(50),
  "```".repeat(130),
  "\\".repeat(1500),
  "[a]: b\n".repeat(130) + "[a][a]",
  "$$".repeat(250),
  "~~**__".repeat(400),
  "[x](javascript:alert(1)) [y](tg://user?id=1) [z](data:text/html,x)",
];

const text = fc.oneof(
  fc.constantFrom(`Here is ${MARKER}. `, "Hello. ", "A\n\nB", "", " ", "\n\n\n"),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom(
    "\ud800",
    "x\udfff",
    "\u0000\u0001\u0008",
    "\u202eabc\u2066",
    "\u001b[2J",
    "\u200b",
    "\ufffe",
  ),
  fc.constantFrom("<think>hidden", "</think>", "<tool_call>{}</tool_call>", "<|im_end|>", "[[silent]]"),
  fc.constantFrom(...bombs),
  fc.integer({ min: 2_000, max: 6_000 }).map((length) => "word ".repeat(length / 5)),
  fc.integer({ min: 2_000, max: 6_000 }).map((length) => "w".repeat(length)),
  fc.constantFrom("e" + "\u0301".repeat(3000), "👨‍👩‍👧‍👦".repeat(300)),
);

const toolArguments = fc.constantFrom(
  "{}",
  "",
  "{",
  "null",
  "[]",
  '"text"',
  "}{",
  '{"__proto__":{"polluted":true}}',
  `{"a":"${MARKER}`,
  "[".repeat(3000),
  "\u0000",
  '{"a":1e999}',
);

const delta: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, {}, [], "text", 7, { content: null }, { content: 7 }, { content: ["a"] }),
  fc.constantFrom({ role: "system" }, { role: null }, { refusal: "no" }, { reasoning_content: MARKER }),
  fc.constantFrom({ tool_calls: null }, { tool_calls: [] }, { tool_calls: [null] }, { tool_calls: [{}] }),
  fc.constantFrom({ function_call: { name: "x" } }, { tool_calls: [{ index: 5, function: {} }] }),
  fc
    .record({
      name: fc.constantFrom("ring_bell", "no_such_tool", "", "__proto__", "constructor", `tool_${MARKER}`),
      arguments: toolArguments,
      index: fc.constantFrom(0, 0, 1, -1, 1000),
    })
    .map(({ name, arguments: input, index }) => ({
      tool_calls: [{ index, id: `call-${index}`, type: "function", function: { name, arguments: input } }],
    })),
);

const line = fc.constantFrom(
  "data: {",
  `data: {"error":{"message":"EXCEPTION-DETAIL ${MARKER}","type":"server_error"}}`,
  "data: null",
  "data: []",
  'data: "text"',
  `: a comment with ${MARKER}`,
  "event: strange",
  "retry: 1",
  "data:",
  "\u0000",
  'data: {"choices":null}',
  'data: {"choices":[]}',
  'data: {"choices":[{}]}',
  'data: {"choices":[{"index":0,"delta":{"content":"other"}},{"index":1,"delta":{"content":"second"}}]}',
  `<html>EXCEPTION-DETAIL ${MARKER}</html>`,
  `data: ${"[".repeat(5000)}`,
);

const event: fc.Arbitrary<StrangeEvent> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("text" as const), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delta" as const), delta }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("raw" as const), line }) },
);

export const strangeStream: fc.Arbitrary<StrangeStream> = fc.record({
  events: fc.array(event, { maxLength: 5 }),
  end: fc.constantFrom(
    "done",
    "done",
    "no-done",
    "no-finish",
    "two-finishes",
    "text-after-finish",
    "cut",
    "two-dones",
  ),
  pieces: fc.array(fc.constantFrom(1, 2, 3, 7, 64, 1000, 100_000), { minLength: 1, maxLength: 4 }),
  lineEnd: fc.constantFrom("\n", "\r\n"),
});

/** The bytes of the answer in their pieces. */
export function piecesOf(stream: StrangeStream, marker: string): Buffer[] {
  const lines = stream.events.map((one) => {
    if (one.kind === "raw") return one.line;
    return chunk(one.kind === "text" ? { content: one.text } : one.delta);
  });
  const finish = chunk({}, "stop");
  const done = "data: [DONE]";
  const endings: Readonly<Record<StrangeStream["end"], readonly string[]>> = {
    done: [finish, done],
    "no-done": [finish],
    "no-finish": [done],
    "two-finishes": [finish, chunk({}, "length"), done],
    "text-after-finish": [finish, chunk({ content: `late ${MARKER}` }), done],
    cut: [],
    "two-dones": [finish, done, done],
  };
  const gap = stream.lineEnd.repeat(2);
  const whole = [...lines, ...endings[stream.end]].map((one) => one + gap).join("");
  const bytes = Buffer.from(whole.replaceAll(MARKER, marker), "utf8");
  const pieces: Buffer[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn += 1) {
    // Very small pieces stop after a while: they show nothing new, and each costs a packet.
    const size = turn > 300 ? 4096 : (stream.pieces[turn % stream.pieces.length] ?? 1);
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}

function chunk(delta: unknown, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 0, model: "m", choices })}`;
}
