import type { UIMessage } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReplyText, textOfParts } from "../../../src/turn/reply-text.ts";

type Parts = UIMessage["parts"];
const text = (value: string): Parts[number] => ({ type: "text", text: value });
const step: Parts[number] = { type: "step-start" };
const tool = {
  type: "tool-search",
  toolCallId: "1",
  state: "output-available",
  input: {},
  output: {},
} as Parts[number];

function follow(parts: Parts = []) {
  const seen: string[] = [];
  let visible = "";
  const reply = new ReplyText(
    {
      append: (delta) => {
        visible += delta;
        seen.push(`+${delta}`);
      },
      replace: (value) => {
        visible = value;
        seen.push(`=${value}`);
      },
      interrupt: () => seen.push("!"),
    },
    parts,
  );
  const say = (delta: string) => reply.onChunk({ type: "text-delta", id: "t", delta });
  return { reply, seen, say, visible: () => visible };
}

describe("textOfParts", () => {
  it("sets what is said after a tool call apart by a blank line", () => {
    expect(textOfParts([step, text("Let me look."), tool, step, text("It is here.")])).toBe(
      "Let me look.\u001E\n\nIt is here.",
    );
  });

  it("joins a continued partial answer without a gap", () => {
    expect(textOfParts([step, text("Hello wor"), step, text("ld")])).toBe("Hello world");
  });

  it("begins without a blank line when nothing was said before the tool", () => {
    expect(textOfParts([step, tool, step, text("Here.")])).toBe("Here.");
  });
});

describe("ReplyText", () => {
  it("passes each delta on and takes no notice of the same text stored", () => {
    const { reply, say, seen } = follow();
    say("Hel");
    say("lo");
    reply.onMessage([step, text("Hello")]);
    expect(seen).toEqual(["+Hel", "+lo"]);
  });

  it("shows nothing of a restart until the new attempt has text, then replaces", () => {
    const { reply, say, seen } = follow();
    say("First try");
    reply.onMessage([]);
    expect(seen).toEqual(["+First try"]);
    say("Second");
    say(" try");
    expect(seen).toEqual(["+First try", "=Second", "+ try"]);
  });

  it("tells when a call was cut short, after all that is known of it, and replaces that with the next text", () => {
    const { reply, say, seen } = follow([step, text("Before."), tool]);
    say("First");
    reply.onInterrupted([step, text("Before."), tool, step, text("First try")]);
    reply.onMessage([step, text("Before."), tool]);
    say("Second");
    expect(seen).toEqual(["=Before.", "+\u001E\n\nFirst", "+ try", "!", "=Before.\u001E\n\nSecond"]);
  });

  it("says the finished steps again when a call was cut short before its first word", () => {
    const { reply, say, seen } = follow([step, text("Before."), tool]);
    reply.onInterrupted([step, text("Before."), tool, step]);
    reply.onMessage([step, text("Before."), tool]);
    say("Second");
    say(" try");
    expect(seen).toEqual(["=Before.", "!", "=Before.\u001E\n\nSecond", "+ try"]);
  });

  it("keeps finished steps when a later one is begun again", () => {
    const { reply, say, visible } = follow();
    say("Let me look.");
    reply.onMessage([step, text("Let me look."), tool]);
    say("It was");
    expect(visible()).toBe("Let me look.\u001E\n\nIt was");
    reply.onMessage([step, text("Let me look."), tool]);
    say("It is here.");
    expect(visible()).toBe("Let me look.\u001E\n\nIt is here.");
  });

  it("shows what is stored already when it is taken up after a crash", () => {
    const { say, visible } = follow([step, text("Before."), tool]);
    say("After.");
    expect(visible()).toBe("Before.\u001E\n\nAfter.");
  });

  it("always ends with what the stored message says", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.string({ maxLength: 5 }), { minLength: 1 })), (attempts) => {
        const { reply, say, visible } = follow();
        for (const deltas of attempts) {
          reply.onMessage([]);
          for (const delta of deltas) say(delta);
        }
        const last = attempts.at(-1)?.join("") ?? "";
        reply.onMessage([step, text(last)]);
        if (last !== "") expect(visible()).toBe(last);
      }),
    );
  });
});
