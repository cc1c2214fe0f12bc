import { describe, expect, it, vi } from "vitest";
import { OutgoingText, joinParagraphs, silencePrompt } from "../../../src/outgoing/index.ts";
import type { OutgoingOptions } from "../../../src/outgoing/index.ts";
import { direct, group, inChunks, streamThrough } from "./stream-through.ts";

function finished(text: string, options: OutgoingOptions = {}, context = group): string {
  const { result } = streamThrough([text], options, context);
  return result.kind === "silent" ? "(silent)" : result.text;
}

describe("a text that was cut short", () => {
  const nobody = { append: () => {}, replace: () => {}, interrupt: () => {} };

  it.each([
    ["[[silence", ""],
    ["**[[sil", ""],
    ["[[silence]]", ""],
    ["Wait. [[sile", "Wait."],
    ["Half of it.<tool_ca", "Half of it."],
    ["Two **words", "Two **words"],
  ])("shows nothing of what had only begun: %j", (text, expected) => {
    for (const context of [group, direct]) {
      expect(new OutgoingText({}, context, nobody).fragment(text).trim()).toBe(expected);
    }
  });

  it("has no footer, and is transformed", () => {
    const outgoing = new OutgoingText(
      { footer: "Foot", transform: (text) => text.toUpperCase() },
      group,
      nobody,
    );
    expect(outgoing.fragment("half of")).toBe("HALF OF");
  });
});

describe("silence", () => {
  it.each([
    "[[silence]]",
    " \n[[silence]]\n",
    "[[Silence]].",
    "**[[SILENCE]]**",
    "`[[silence]]`",
    "```\n[[silence]]\n```",
    '"[[silence]]"',
    "<think>Not for me.</think>\n[[silence]]",
    "Not for me.</think>[[silence]]",
    "<|channel|>final<|message|>[[silence]]<|return|>",
    "[[silence]] because they talk to each other.",
    "[[silence]]\n\nNo answer is needed here.",
    "[[ silence ]]",
    "\\[\\[silence\\]\\]",
    "# [[silence]]",
    "- [[silence]]",
    "1. [[silence]]",
    "> **[[ Silence ]]**",
  ])("is chosen by %j", (text) => {
    expect(finished(text)).toBe("(silent)");
    expect(streamThrough(inChunks(text.replace(/^Not.*>/, ""), 1)).shown.join("")).toBe("");
  });

  it.each([
    ["[[silence", "[[silence"],
    ["[[silence]", "[[silence]"],
    ["[[silent]]", "[[silent]]"],
    ["`[[silence]]` is what I say to stay quiet.", "`[[silence]]` is what I say to stay quiet."],
    ["All is well. [[silence]]", "All is well."],
    ["All is [[silence]] well.", "All is well."],
    ["Write `[[silence]]`, I said.", "Write `[[silence]]`, I said."],
    ["[[silen</think>Hello", "Hello"],
    ["1. One\n2. Two", "1. One\n2. Two"],
    ["42", "42"],
    ["[[ silent ]]", "[[ silent ]]"],
    ["\\[a\\]", "\\[a\\]"],
    ["[[silence]] hm</think>Hello", "Hello"],
  ])("is not chosen by %j, which shows %j", (text, expected) => {
    expect(finished(text)).toBe(expected);
  });

  it("is an empty text in a private chat, where somebody waits for an answer", () => {
    expect(streamThrough(["[[silence]]"], {}, direct)).toMatchObject({
      shown: [""],
      result: { kind: "text", text: "" },
    });
  });

  it("may have a signal that is a word, which is not found in other words", () => {
    const options = { silence: { signal: "NO_REPLY" } };
    expect(finished("no_reply", options)).toBe("(silent)");
    expect(finished("NO_REPLY - not for me", options)).toBe("(silent)");
    expect(finished("No", options)).toBe("No");
    expect(finished("NO_REPLYING here", options)).toBe("NO_REPLYING here");
    expect(finished("Ok, DO_NO_REPLY it", options)).toBe("Ok, DO_NO_REPLY it");
    expect(finished("Ok. NO_REPLY", options)).toBe("Ok.");
    expect(streamThrough(["Ok, NO_REPLY", "ING it"], options).shown).toEqual(["Ok,", "Ok, NO_REPLYING it"]);
    const { shown } = streamThrough(inChunks("Nobody said NO_REPLY today.", 1), options);
    expect(shown.slice(0, 3)).toEqual(["", "", "Nob"]);
    expect(shown.at(-1)).toBe("Nobody said today.");
  });

  it("is chosen by a signal with an escaped mark, and leaves no bare marks around it", () => {
    expect(finished("NO\\_REPLY", { silence: { signal: "NO_REPLY" } })).toBe("(silent)");
    expect(finished("--- !!! [[silence]]")).toBe("(silent)");
    expect(finished("👍 [[silence]]")).toBe("👍");
  });

  it("may have a signal that looks like a tag or a token", () => {
    expect(finished("<silence>", { silence: { signal: "<silence>" } })).toBe("(silent)");
    expect(finished("<|silence|>", { silence: { signal: "<|silence|>" } })).toBe("(silent)");
    expect(finished("A <|silence|> B", { silence: { signal: "<|silence|>" } })).toBe("A B");
  });

  it("can be switched off", () => {
    expect(finished("[[silence]]", { silence: false })).toBe("[[silence]]");
    expect(silencePrompt({ silence: false })).toBeUndefined();
  });

  it("is explained to the model with its signal", () => {
    expect(silencePrompt({})).toContain("[[silence]]");
    expect(silencePrompt({ silence: { signal: "NO_REPLY" } })).toContain("NO_REPLY");
  });

  it.each(["", "abc", "two words", "`code`", "x".repeat(65)])("refuses the signal %j", (signal) => {
    expect(() => finished("", { silence: { signal } })).toThrow(
      expect.objectContaining({ code: "invalid-silence-signal" }),
    );
  });
});

describe("removeArtefacts: false", () => {
  it("leaves everything but the signal", () => {
    const text = "<think>x</think>A<|im_end|>";
    expect(finished(text, { removeArtefacts: false })).toBe(text);
    expect(finished("A [[silence]]", { removeArtefacts: false })).toBe("A");
  });
});

describe("transform", () => {
  it("sees the cleaned text and whom it is for, and appends while the beginning stays the same", () => {
    const transform = vi.fn<(text: string) => string>((text) => text.replaceAll("colour", "color"));
    const stream = streamThrough(["<think>x</think>The ", "colour", " is red."], { transform });
    expect(stream.shown).toEqual(["The", "The color", "The color is red."]);
    expect(stream.replacements).toBe(0);
    expect(stream.result).toEqual({ kind: "text", text: "The color is red." });
    expect(transform).toHaveBeenLastCalledWith("The colour is red.", group);
  });

  it("replaces what is shown when the beginning changes", () => {
    const stream = streamThrough(["a", "b", "c"], {
      transform: (text) => text.toUpperCase().replace("AB", "x"),
    });
    expect(stream.shown).toEqual(["A", "x", "xC"]);
    expect(stream.replacements).toBe(1);
  });

  it("gives way to the text as it was when it throws, and reports once", () => {
    const onError = vi.fn<(error: unknown) => void>();
    const failure = new Error("no");
    const transform = (): string => {
      throw failure;
    };
    const stream = streamThrough(["a", "b", "c"], { transform, onError });
    expect(stream.shown).toEqual(["a", "ab", "abc"]);
    expect(stream.result).toEqual({ kind: "text", text: "abc" });
    expect(onError.mock.calls).toEqual([[failure, "transform"]]);
  });

  it("gives way when it returns no text", () => {
    const onError = vi.fn<(error: unknown) => void>();
    const transform = (() => undefined) as unknown as (text: string) => string;
    expect(finished("a", { transform, onError })).toBe("a");
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError), "transform");
  });

  it("is not asked about silence", () => {
    const transform = vi.fn<(text: string) => string>(() => "loud");
    expect(finished("[[silence]]", { transform })).toBe("(silent)");
    expect(transform).not.toHaveBeenCalled();
  });
});

describe("footer", () => {
  it("is the last paragraph of the complete text, and not shown before", () => {
    const stream = streamThrough(["Hello", " there.\n"], { footer: "An AI wrote this." });
    expect(stream.shown.at(-1)).toBe("Hello there.");
    expect(stream.result).toEqual({ kind: "text", text: "Hello there.\n\nAn AI wrote this." });
  });

  it("may depend on whom it is for, and be left out", () => {
    const footer: OutgoingOptions["footer"] = (context) =>
      context.event?.thread.isDirectMessage ? undefined : "In public.";
    expect(finished("Hi", { footer }, group)).toBe("Hi\n\nIn public.");
    expect(finished("Hi", { footer }, direct)).toBe("Hi");
  });

  it("follows no empty and no silent reply", () => {
    expect(finished("<think>x", { footer: "F" })).toBe("");
    expect(finished("[[silence]]", { footer: "F" })).toBe("(silent)");
    expect(finished("Hi", { footer: " " })).toBe("Hi");
  });

  it("is left out when it throws", () => {
    const onError = vi.fn<(error: unknown) => void>();
    const footer = (): string => {
      throw new Error("no");
    };
    expect(finished("Hi", { footer, onError })).toBe("Hi");
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("joinParagraphs", () => {
  it.each([
    ["A", "A\n\nF"],
    ["A\n\n", "A\n\nF"],
    ["", "F"],
    ["```js\ncode", "```js\ncode\n```\n\nF"],
    ["```js\ncode\n", "```js\ncode\n```\n\nF"],
    ["```js\ncode\n```", "```js\ncode\n```\n\nF"],
    ["````\n```\ncode", "````\n```\ncode\n````\n\nF"],
    ["~~~\ncode", "~~~\ncode\n~~~\n\nF"],
    ["- a\n  ```\n  code", "- a\n  ```\n  code\n  ```\n\nF"],
    ["1. ```\n   code", "1. ```\n   code\n   ```\n\nF"],
    ["> ```\n> code", "> ```\n> code\n> ```\n\nF"],
    ["> ```\n> code\n\nafter", "> ```\n> code\n\nafter\n\nF"],
    ["a ``` b", "a ``` b\n\nF"],
  ])("after %j gives %j", (text, expected) => {
    expect(joinParagraphs(text, "F")).toBe(expected);
  });
});

it("keeps its promise about a whole reply of a group", () => {
  const outgoing = new OutgoingText({ footer: "—" }, group, {
    append: () => {},
    replace: () => {},
    interrupt: () => {},
  });
  expect(outgoing.finish("Sure.<tool_call>{}</tool_call>\n\nDone.")).toEqual({
    kind: "text",
    text: "Sure.\n\nDone.\n\n—",
  });
});
