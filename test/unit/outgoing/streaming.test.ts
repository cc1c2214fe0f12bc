import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STEP_BREAK } from "../../../src/core/turn/step-break.ts";
import { cleanText, OutgoingText } from "../../../src/outgoing/index.ts";
import { TextCleaner } from "../../../src/outgoing/text-cleaner.ts";
import { group, inChunks, streamThrough } from "./stream-through.ts";

/** Longest time anything is kept back, in characters: the longest marker, and a silence signal in its decoration. */
const LONGEST_HOLD = 256;

/** A closing tag whose thought may have begun before the text did: what was shown is taken back. */
const TAKES_BACK = /<\/think|<\/reflection|\[\/THINK|<channel\|/i;

const fragment = fc.constantFrom(
  ...'<think>|</think>|<thinking>|</thinking>|<reflection>|</reflection>|<tool_call>|</tool_call>|<invoke name="a">|</invoke>|<function=f>|</function>|<answer>|</answer>|<s>|</s>|<b>|</b>|<thinker>|<thi|</|<|[|[TOOL_CALLS]|[THINK]|[/THINK]|[[silence]]|[[sil|`|``|```|~~~|\\|> |- |1. |  |word|Word |a < b|. |!'.split(
    "|",
  ),
  "\n",
  "\n\n",
  "<|im_start|>",
  "assistant\n",
  "user\n",
  "<|im_end|>",
  "<|channel|>",
  "analysis",
  "final",
  "<|message|>",
  "<|channel>",
  "<channel|>",
  "<|x",
  "｜DSML｜",
  "<｜DSML｜invoke>",
  "</｜DSML｜invoke>",
  "👩‍👩‍👧",
  STEP_BREAK,
);
const anyText = fc.oneof(
  fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join("")),
  fc.string({ maxLength: 60 }),
);

/** A text and one way to cut it. */
const anyStream = fc
  .tuple(anyText, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 60 }))
  .map(([text, lengths]) => {
    const chunks: string[] = [];
    let start = 0;
    for (let index = 0; start < text.length; index++) {
      const end = start + (lengths[index % lengths.length] ?? 1);
      chunks.push(text.slice(start, end));
      start = end;
    }
    return { text, chunks };
  });

describe("streaming", () => {
  it("ends in the whole text cleaned, however it is cut", () => {
    fc.assert(
      fc.property(anyStream, ({ text, chunks }) => {
        let visible = "";
        const cleaner = new TextCleaner(
          { removeArtefacts: true, signal: undefined, maySignal: () => false },
          {
            append: (piece) => {
              visible += piece;
            },
            shorten: (length) => {
              visible = visible.slice(0, length);
            },
          },
        );
        for (const chunk of chunks) cleaner.append(chunk);
        cleaner.end();
        expect(visible).toBe(cleanText(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it("shows the same at the end of a stream, however it is cut", () => {
    fc.assert(
      fc.property(anyStream, ({ text, chunks }) => {
        const bySmallSteps = streamThrough(chunks);
        const atOnce = streamThrough([text]);
        expect(bySmallSteps.result).toEqual(atOnce.result);
        const shown = atOnce.shown.at(-1) ?? "";
        // What is void stays until there is something to replace it with.
        if (shown !== "" || !TAKES_BACK.test(text)) expect(bySmallSteps.shown.at(-1) ?? "").toBe(shown);
      }),
      { numRuns: 3_000 },
    );
  });

  it("shows only the beginning of what is shown in the end, unless a thought is taken back", () => {
    fc.assert(
      fc.property(anyStream, fc.boolean(), ({ text, chunks }, hasSilence) => {
        fc.pre(!TAKES_BACK.test(text));
        const { replacements, result, shown } = streamThrough(chunks, hasSilence ? {} : { silence: false });
        const final = result.kind === "text" ? result.text : "";
        expect(replacements).toBe(0);
        let before = "";
        for (const visible of shown) {
          expect(visible.startsWith(before)).toBe(true);
          before = visible;
        }
        expect(final.startsWith(before)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it("never shows a prefix of the signal, nor anything of a reply that is silence", () => {
    const decorated = fc
      .tuple(
        fc.constantFrom(
          "",
          "**",
          "`",
          "```\n",
          " \n",
          '"',
          ". ",
          "[",
          "— ",
          "| ",
          "<answer>",
          "**<final>\n",
          `${"-".repeat(30)}\n`,
        ),
        fc.constantFrom("", "!", ".", "**", "`", "\n```"),
      )
      .map(([before, after]) => `${before}[[silence]]${after}`);
    fc.assert(
      fc.property(decorated, fc.integer({ min: 1, max: 5 }), (text, length) => {
        const { result, shown } = streamThrough(inChunks(text, length));
        expect(result).toEqual({ kind: "silent" });
        expect(shown.join("")).toBe("");
      }),
    );
  });

  it("shows of a text with hidden parts its visible words, and at no time anything else", () => {
    const word = fc.constantFrom("one", "two.", "three,", "`code`", "**four**");
    const paragraph = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
    const hidden = fc
      .tuple(
        fc.constantFrom(
          ["<think>", "</think>"],
          ["<tool_call>", "</tool_call>"],
          ["[THINK]", "[/THINK]"],
          ["<|channel|>analysis<|message|>", "<|end|>"],
          ["<|python_tag|>", "<|eom_id|>"],
          ['<invoke name="f">', "</invoke>"],
        ),
        fc.stringMatching(/^[xyz \n{}"]{0,20}$/),
      )
      .map(([[open, close], content]) => `${open}${content}${close}`);
    const parts = fc.array(fc.tuple(paragraph, hidden), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 20 }), (pairs, length) => {
        const text = pairs.map(([said, secret]) => `${said}\n\n${secret}`).join("\n\n");
        const expected = pairs.map(([said]) => said).join("\n\n");
        const { replacements, result, shown } = streamThrough(inChunks(text, length));
        expect(result).toEqual({ kind: "text", text: expected });
        expect(replacements).toBe(0);
        for (const visible of shown) expect(expected.startsWith(visible)).toBe(true);
      }),
    );
  });

  it("keeps back no ordinary text for longer than the longest marker", () => {
    const ordinary = fc
      .array(
        fc.constantFrom("a", "word ", "<", "<|", "<thi", "[", "[TOOL", "[[sil", "<think a=", '"', ">x", "/"),
        {
          maxLength: 400,
        },
      )
      .map((parts) => parts.join(""))
      .filter((text) => cleanText(text) === text);
    fc.assert(
      fc.property(ordinary, (text) => {
        const { shown } = streamThrough(inChunks(text, 1));
        shown.forEach((visible, index) => {
          const so = text.slice(0, index + 1).trimEnd();
          expect(so.length - visible.length).toBeLessThanOrEqual(LONGEST_HOLD);
        });
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["a <t", "a", "a <tx"],
    ["a <think", "a", "a <thinker>"],
    ["a <", "a", "a < b"],
    ["see [[si", "see", "see [[site]]"],
    ["[[sil", "", "[[silver]]"],
    ["**", "", "**Bold"],
    ["a <|b", "a", "a <|b c"],
  ])("shows %j as %j, and once it is clear that it is text as %j", (begun, shown, whole) => {
    const stream = streamThrough([begun, whole.slice(begun.length)]);
    expect(stream.shown).toEqual([shown, whole]);
  });

  it("gives up a tag that does not end", () => {
    const text = `<think a="${"x".repeat(LONGEST_HOLD)}`;
    const { shown } = streamThrough(inChunks(text, 1));
    expect(shown.slice(0, LONGEST_HOLD - 1).join("")).toBe("");
    expect(shown[LONGEST_HOLD]).toBe(text.slice(0, LONGEST_HOLD + 1));
  });

  it("takes back no more than one step while it may still become silence", () => {
    const { result, shown } = streamThrough(["*", STEP_BREAK, "*", "</think>", "Hi"]);
    expect(shown).toEqual(["", "", "", "", "*\n\nHi"]);
    expect(result).toEqual({ kind: "text", text: "*\n\nHi" });
  });

  it("takes a thought back whose beginning was never seen", () => {
    const { replacements, result, shown } = streamThrough([
      "Okay, the",
      " user…\n</thi",
      "nk>\n\n",
      "Hello",
      "!",
    ]);
    expect(shown).toEqual(["Okay, the", "Okay, the user…", "Okay, the user…", "Hello", "Hello!"]);
    expect(replacements).toBe(1);
    expect(result).toEqual({ kind: "text", text: "Hello!" });
  });

  it("takes such a thought back no further than to the last step", () => {
    const { shown } = streamThrough(["I look.", `${STEP_BREAK}\n\n`, "hm ", "x</think>Found."]);
    expect(shown).toEqual(["I look.", "I look.", "I look.\n\nhm", "I look.\n\nFound."]);
  });

  it("starts over when the attempt was void, with the first text that is for people", () => {
    const told: string[] = [];
    const outgoing = new OutgoingText({}, group, {
      append: (delta) => told.push(`+${delta}`),
      replace: (text) => told.push(`=${text}`),
      interrupt: () => told.push("!"),
    });
    outgoing.append("One <think>a");
    outgoing.interrupt();
    outgoing.replace("<think>b");
    outgoing.append("</think>");
    outgoing.append("Two");
    outgoing.append(" three");
    outgoing.replace("Four");
    expect(told).toEqual(["+One", "!", "=Two", "+ three", "=Four"]);
    outgoing.finish("Four");
    outgoing.append(" late");
    expect(told).toHaveLength(5);
  });

  it.each([
    "word <b>a</b> `x` [y]\n",
    "<",
    "[[",
    "<think ",
    "<think a=a ",
    "<|a",
    "`",
    " ",
    "</think>",
    "x\u001E",
  ])("cleans a million characters of %j in chunks without slowing down", { retry: 4 }, (unit) => {
    const chunks = inChunks(unit.repeat(Math.ceil(1_000_000 / unit.length)), 50);
    let count = 0;
    const outgoing = new OutgoingText({}, group, {
      append: () => count++,
      replace: () => count++,
      interrupt: () => {},
    });
    const elapsed = (from: number, to: number): number => {
      const start = process.cpuUsage();
      for (const chunk of chunks.slice(from, to)) outgoing.append(chunk);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    const quarter = Math.floor(chunks.length / 4);
    const early = elapsed(0, quarter);
    elapsed(quarter, 3 * quarter);
    const late = elapsed(3 * quarter, 4 * quarter);
    // A busy machine only ever adds time, so that a measurement may be repeated.
    // Work that grew with the text would make the last quarter seven times the first.
    expect(late).toBeLessThan(Math.max(4 * early, 250));
  });
});
