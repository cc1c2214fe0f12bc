import { describe, expect, it } from "vitest";
import { Planner, splitText } from "../../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../../delivery/text/render/index.ts";
import { hardDocuments } from "./corpus.ts";
import { shown } from "./shown.ts";

const limits = { maxLength: 4096, maxEntities: 100 };

/** What is shown while the text is streaming: formatting is written as <type>. */
function shownSoFar(markdown: string): string {
  const [part] = splitText(markdown, { renderer: telegramEntities, limits, final: false });
  return part === undefined ? "" : shown(part.content);
}

describe("text that is still streaming", () => {
  it.each([
    ["an open bold run", "some **bold te", "some <bold>bold te</bold>"],
    ["the first star of a bold run", "some *", "some"],
    ["half of a closing bold run", "some **bold*", "some <bold>bold</bold>"],
    ["nested open runs", "**bold *both", "<bold>bold <italic>both</italic></bold>"],
    ["an open code span", "call `foo(", "call <code>foo(</code>"],
    ["an open strikethrough", "~~old", "<strikethrough>old</strikethrough>"],
    ["the text of a link", "see [the te", "see the te"],
    ["the address of a link", "see [the text](https://exam", "see the text"],
    ["a whole link", "see [the text](https://e.com)", "see <text_link https://e.com>the text</text_link>"],
    ["half of an image", "see ![alt](https://exam", "see alt"],
    ["a product of numbers", "2 * 3 and 4*5", "2 * 3 and 4*5"],
    ["a name with underscores", "call snake_case", "call snake_case"],
    ["the marker of a heading", "text\n\n##", "text"],
    ["the bullet of a list", "text\n-", "text"],
    ["the number of an item", "1. one\n2.", "1. one"],
    ["half of a task", "- [x] done\n- [", "☑ done"],
    ["the opening of a fence", "text\n```py", "text"],
    ["a fence that is open", "```py\nprint(1", "<pre py>print(1</pre>"],
    ["half of a closing fence", "```py\nprint(1)\n``", "<pre py>print(1)</pre>"],
    ["code in a list that is open", "- a\n  ```py\n  x = *1", "• a\n<pre py>x = *1</pre>"],
    ["the header of a table", "text\n\n| a | b |\n", "text"],
    ["half of a row", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |", "<pre>a │ b\n──┼──\n1 │ 2</pre>"],
    ["an underline that may be a rule", "text\n--", "text"],
    ["half of a character reference", "a &am", "a"],
    ["half of an autolink", "at <https://e.com/x", "at https://e.com/x"],
    ["half of a surrogate pair", "ok \ud83d", "ok"],
    ["a definition", "text\n\n[a]: http", "text"],
    ["half of a line ending", "text\r", "text"],
    ["a quote that goes on", "> quoted **wo", "<blockquote>quoted <bold>wo</bold></blockquote>"],
  ])("shows %s repaired", (_name, markdown, expected) => {
    expect(shownSoFar(markdown)).toBe(expected);
  });

  it("never shows a raw marker of well formed markdown", () => {
    const text =
      "# Title\n\nSome **bold *and it* text**, `code`, ~~old~~ and [a link](https://e.com/x).\n\n- one **b**\n- two\n\n```js\nlet a;\n```\n\nend";
    for (let length = 1; length <= text.length; length += 1) {
      expect(shownSoFar(text.slice(0, length)).replace(/<.*?>/g, "")).not.toMatch(/[*`~#[\]]|^-/m);
    }
  });

  it("completes parts of an open block, and keeps what it shows equal to the split of the text so far", () => {
    const text = (hardDocuments["one list item of 40,000 characters"] ?? "").slice(0, 30_000);
    const planner = new Planner({ renderer: telegramEntities, limits });
    planner.append(text);
    expect(planner.parts().filter(({ complete }) => complete).length).toBeGreaterThan(2);
    expect(planner.parts()).toEqual(splitText(text, { renderer: telegramEntities, limits, final: false }));
  });

  it("fills the parts of a long reply well", () => {
    const paragraph =
      "A sentence of prose with **some** words. Another one that is *longer* than the first, with `code`. ";
    const text = `${paragraph.repeat(4)}\n\n- point one\n- point two\n\n`.repeat(40).slice(0, 12_000);
    const parts = splitText(text, {
      renderer: telegramEntities,
      limits: { ...limits, maxEntities: 1000 },
      final: true,
    });
    expect(parts.length).toBeLessThanOrEqual(4);
    for (const { content } of parts.slice(0, -1)) expect(content.text.length).toBeGreaterThan(3000);
  });

  it("refuses text after the end", () => {
    const planner = new Planner({ renderer: telegramEntities, limits });
    planner.finish();
    expect(() => planner.append("more")).toThrow(/begin a new planner/);
  });
});
