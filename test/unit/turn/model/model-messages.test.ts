import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { toModelMessages, withinLimit } from "../../../../src/turn/model/model-messages.ts";

const message = (id: string, role: "user" | "assistant", text: string): UIMessage => ({
  id,
  role,
  parts: [{ type: "text", text }],
});
const ids = (messages: readonly UIMessage[]) => messages.map((each) => each.id);
const options = { tools: {}, maxContextTokens: 1000, resolveFile: () => Promise.resolve(undefined) };

describe("withinLimit", () => {
  const history = [
    message("u1", "user", "x".repeat(400)),
    message("a1", "assistant", "x".repeat(400)),
    message("u2", "user", "x".repeat(400)),
    message("a2", "assistant", "x".repeat(400)),
    message("u3", "user", "hello"),
  ];

  it("keeps everything that fits", () => {
    expect(ids(withinLimit(history, 10_000))).toEqual(["u1", "a1", "u2", "a2", "u3"]);
  });

  it("drops the oldest, and begins with a person's message", () => {
    expect(ids(withinLimit(history, 250))).toEqual(["u2", "a2", "u3"]);
    expect(ids(withinLimit(history, 150))).toEqual(["u3"]);
  });

  it("keeps the newest message however long it is", () => {
    expect(ids(withinLimit([message("u1", "user", "x".repeat(4000))], 10))).toEqual(["u1"]);
  });

  it("keeps the question of an answer that is too long already", () => {
    const running = message("a3", "assistant", "x".repeat(4000));
    expect(ids(withinLimit([...history, running], 150))).toEqual(["u3", "a3"]);
  });

  it("leaves out an answer that was cut back to nothing", () => {
    expect(
      ids(
        withinLimit(
          [message("u1", "user", "hi"), { id: "a1", role: "assistant", parts: [{ type: "step-start" }] }],
          100,
        ),
      ),
    ).toEqual(["u1"]);
  });
});

describe("toModelMessages", () => {
  const withFile: UIMessage = {
    id: "u1",
    role: "user",
    parts: [
      { type: "text", text: "Look:" },
      { type: "file", mediaType: "image/png", url: "stored:1" },
    ],
  };

  it("gives the model the bytes of a stored file, and never its reference", async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const resolveFile = () => Promise.resolve({ kind: "bytes" as const, bytes, mediaType: "image/png" });
    const sent = JSON.stringify(await toModelMessages([withFile], { ...options, resolveFile }));
    expect(sent).toContain("AQID");
    expect(sent).not.toContain("stored:1");
  });

  it("puts a text file where it was sent, as text", async () => {
    const resolveFile = () => Promise.resolve({ kind: "text" as const, text: "[File a.txt]\nhello" });
    const [sent] = await toModelMessages([withFile], { ...options, resolveFile });
    expect(sent?.content).toEqual([
      { type: "text", text: "Look:" },
      { type: "text", text: "[File a.txt]\nhello" },
    ]);
  });
});
