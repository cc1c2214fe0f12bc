import fc from "fast-check";
import { expect, it } from "vitest";
import { telegramEntities } from "../../../delivery/text/render/index.ts";
import { splitText } from "../../../delivery/text/split/index.ts";
import { plainMarkdown } from "../../../src/core/message/plain-markdown.ts";

/** What people read of a text in Markdown. */
function shown(markdown: string): { readonly text: string; readonly entities: number } {
  const [part] = splitText(markdown, {
    renderer: telegramEntities,
    limits: { maxLength: 4096, maxEntities: 100 },
    final: true,
  });
  return { text: part?.content.text ?? "", entities: part?.content.entities.length ?? 0 };
}

it.each([
  String.raw`order 7 (processing): \(x\) \[y\]`,
  "a *b* _c_ ~d~ `e` #f - g 5$ and $6$ | <b> [x](y) &amp; h:i @you ==z== ^",
  "1. first",
  "https://example.com/a_b_(c)",
])("shows %j as it is, in the middle of a line", (text) => {
  expect(shown(`Value: ${plainMarkdown(text)}`)).toEqual({ text: `Value: ${text}`, entities: 0 });
});

it("shows any plain text as it is", () => {
  const signs = fc.constantFrom(...`ab 1\\*_{}[]()<>#+-.!|~$&:@^=\``.split(""));
  fc.assert(
    fc.property(fc.array(signs, { minLength: 1, maxLength: 30 }), (all) => {
      const text = all.join("").replaceAll(/\s+/g, " ").trim();
      fc.pre(text !== "");
      expect(shown(`Value: ${plainMarkdown(text)}`)).toEqual({ text: `Value: ${text}`, entities: 0 });
    }),
    { numRuns: 500 },
  );
});
