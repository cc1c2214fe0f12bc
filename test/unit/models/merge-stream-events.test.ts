import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeStreamEvents } from "../../../src/models/merge-stream-events.ts";
import { FakeClock } from "./fake-clock.ts";

const encoder = new TextEncoder();

function event(delta: object, extra: object = {}): string {
  const chunk = { id: "1", choices: [{ index: 0, delta, finish_reason: null, ...extra }] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** A server whose bytes the test sends, and what came out of the merging fetch. */
async function rig(headers: Record<string, string> = { "content-type": "text/event-stream" }) {
  const clock = new FakeClock();
  const source = new TransformStream<Uint8Array, Uint8Array>();
  const writer = source.writable.getWriter();
  const response = await mergeStreamEvents(
    () => Promise.resolve(new Response(source.readable, { headers })),
    {
      clock,
      mergeMs: 100,
    },
  )("https://model.example");
  let text = "";
  let failure: unknown;
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })().catch((error: unknown) => {
    failure = error;
  });
  return {
    clock,
    write: async (bytes: string | Uint8Array) => {
      void writer.write(typeof bytes === "string" ? encoder.encode(bytes) : bytes);
      await clock.advance(0);
    },
    end: async () => {
      await writer.close();
      await reading;
    },
    fail: async (error: Error) => {
      await writer.abort(error);
      await reading;
    },
    text: () => text,
    failure: () => failure,
  };
}

/** The text of every event, in order. */
function texts(stream: string): string[] {
  return stream
    .split(/\r?\n\r?\n/)
    .filter((line) => line.startsWith("data: {"))
    .map((line) => {
      const chunk = JSON.parse(line.slice(6)) as { choices: { delta?: { content?: string } }[] };
      return chunk.choices[0]?.delta?.content ?? "";
    });
}

describe("mergeStreamEvents", () => {
  it("passes the first delta at once and joins those that follow it quickly", async () => {
    const { clock, write, text } = await rig();
    await write(event({ content: "One" }));
    expect(texts(text())).toEqual(["One"]);
    await write(event({ content: " two" }) + event({ content: " three" }));
    expect(texts(text())).toEqual(["One"]);
    await clock.advance(100);
    expect(texts(text())).toEqual(["One", " two three"]);
  });

  it("lets what is no text pass at once, behind the text before it", async () => {
    const { write, end, text } = await rig();
    const call = event({ tool_calls: [{ index: 0, function: { name: "f", arguments: "" } }] });
    const finish = event({}, { finish_reason: "stop" });
    await write(event({ content: "a" }) + event({ content: "b" }) + event({ content: "c" }) + call);
    expect(text()).toBe(event({ content: "a" }) + event({ content: "bc" }) + call);
    await write(`${finish}: a comment\n\ndata: [DONE]\n\n`);
    await end();
    expect(text().endsWith(`${call}${finish}: a comment\n\ndata: [DONE]\n\n`)).toBe(true);
  });

  it("keeps reasoning and text apart", async () => {
    const { write, end, text } = await rig();
    await write(
      event({ reasoning_content: "hm" }) + event({ reasoning_content: "m" }) + event({ content: "a" }),
    );
    await end();
    expect(text()).toContain(event({ reasoning_content: "m" }) + event({ content: "a" }));
  });

  it("understands events that end with carriage returns", async () => {
    const { write, text } = await rig();
    await write(event({ content: "a" }).replaceAll("\n", "\r\n"));
    await write(event({ content: "b" }).replaceAll("\n", "\r\n"));
    expect(texts(text())).toEqual(["a", "b"]);
  });

  it("gives out what it holds before it passes a failure on", async () => {
    const { write, fail, text, failure } = await rig();
    await write(event({ content: "a" }) + event({ content: "b" }));
    await fail(new Error("reset"));
    expect(failure()).toBeInstanceOf(Error);
    expect(texts(text())[0]).toBe("a");
  });

  it("leaves an answer alone that is no stream", async () => {
    const { write, end, text } = await rig({ "content-type": "application/json" });
    await write('{"choices":[]}');
    await end();
    expect(text()).toBe('{"choices":[]}');
  });

  it("loses and reorders nothing, however the bytes are cut and timed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ text: fc.string({ unit: "grapheme", minLength: 1 }), isCall: fc.boolean() })),
        fc.array(fc.nat({ max: 60 })),
        async (parts, cuts) => {
          const { clock, write, end, text } = await rig();
          const bytes = encoder.encode(
            parts
              .map(({ text, isCall }) =>
                event(isCall ? { content: text, tool_calls: [] } : { content: text }),
              )
              .join(""),
          );
          let from = 0;
          for (const cut of cuts) {
            await write(bytes.slice(from, from + cut));
            await clock.advance(cut);
            from += cut;
          }
          await write(bytes.slice(from));
          await end();
          expect(texts(text()).join("")).toBe(parts.map((part) => part.text).join(""));
        },
      ),
      { numRuns: 50 },
    );
  });
});
