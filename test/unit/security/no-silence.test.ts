import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { safeText } from "../../../src/messengers/declare/texts.ts";
import { visibleText } from "../../../src/messengers/turns/visible-text.ts";
import { splitText } from "../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../delivery/text/render/index.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";

const policy = { emptyResponseText: "EMPTY", errorResponseText: "ERROR", interruptedResponseText: "CUT" };
const said = (text: string, kind: "done" | "failed" = "done"): string =>
  visibleText(
    { kind, text },
    policy,
    messageEvent(),
    createLog(() => {}),
  );

describe("an answer of which nothing can be read", () => {
  it.each([
    "",
    " \n\t ",
    "```",
    "```js\n```",
    "`".repeat(2001),
    "```[[silent]]",
    "~~~\n\n~~~",
    "[a]: https://example.com",
    "<!-- nothing -->",
    "\u200b",
  ])("shows a text in place of %j, or what it really shows", (text) => {
    for (const shown of [said(text), said(text, "failed")]) {
      const parts = splitText(shown, {
        renderer: telegramEntities,
        limits: { maxLength: 4096, maxEntities: 100 },
        final: true,
      });
      expect(parts.length).toBeGreaterThan(0);
      expect(parts.every(({ content }) => content.text.trim() !== "")).toBe(true);
    }
  });

  it("stands in for an empty code block", () => {
    expect(said("```js\n```")).toBe("EMPTY");
    expect(said("```js\n```", "failed")).toBe("ERROR");
  });

  it.each(["Hello", "1", "**bold**", "- item", "> quote", "# Head", "🙂", "---", "`code`", "\\*"])(
    "keeps %j",
    (text) => {
      expect(said(text)).toBe(text);
    },
  );
});

describe("a text of the bot's own that cannot be made", () => {
  const notes: string[] = [];
  const log = createLog((_level, line) => void notes.push(line));
  const textOf = (text: unknown): string =>
    safeText({ errorResponseText: text as string }, "errorResponseText", messageEvent(), log);

  it.each([
    [
      "throws",
      () => {
        throw new Error("EXCEPTION-DETAIL");
      },
    ],
    ["returns nothing", () => undefined],
    ["returns a number", () => 7],
    ["returns a promise", async () => "later"],
  ])("gives the usual one when it %s, and says so in the log", (_name, text) => {
    notes.length = 0;
    expect(textOf(text)).toMatch(/^Sorry, something went wrong/);
    expect(notes.join()).toContain('"method":"delivery.errorResponseText"');
    expect(notes.join()).not.toContain("EXCEPTION-DETAIL");
  });

  it("is taken as it is when it is empty", () => {
    expect(textOf("")).toBe("");
    expect(textOf(() => "")).toBe("");
  });
});
