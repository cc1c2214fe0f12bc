import { describe, expect, it } from "vitest";
import { Planner, splitText } from "../../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../../delivery/text/render/index.ts";
import { weighLines } from "../../../../delivery/text/split/scan/weigh-text.ts";
import { shown } from "./shown.ts";

const options = { renderer: telegramEntities, limits: { maxLength: 4096, maxEntities: 100 } };

function show(markdown: string, final = true): string {
  return splitText(markdown, { ...options, final })
    .map(({ content }) => shown(content))
    .join("\n=====\n");
}

const FENCE = "```";

describe("a model's text, as a person sees it on Telegram", () => {
  it.each([
    [
      "steps with code and lists in them",
      `1. **Install** it:\n   ${FENCE}bash\n   npm install foo\n   ${FENCE}\n2. Configure:\n   - open \`config.json\`\n   - set *debug*\n\n   ${FENCE}json\n   {\n     "debug": true\n   }\n   ${FENCE}\n3. Run it`,
      '1. <bold>Install</bold> it:\n<pre bash>npm install foo</pre>\n2. Configure:\n  ◦ open <code>config.json</code>\n  ◦ set <italic>debug</italic>\n\n<pre json>{\n  "debug": true\n}</pre>\n3. Run it',
    ],
    [
      "steps with code between them, at the margin",
      `1. Install:\n\n${FENCE}bash\nnpm i\n${FENCE}\n\n2. Run:\n\n${FENCE}\nnpm start\n${FENCE}\n\n3. Done`,
      "1. Install:\n\n<pre bash>npm i</pre>\n\n2. Run:\n\n<pre>npm start</pre>\n\n3. Done",
    ],
    [
      "numbered lists in numbered lists",
      "1. One\n   1. One-one\n   2. One-two\n      - a\n2. Two\n   more\n\n   a paragraph",
      "1. One\n  1. One-one\n  2. One-two\n    ▪ a\n2. Two\n  more\n\n  a paragraph",
    ],
    [
      "lists that are indented too little below a number",
      "9. Nine\n   - a\n10. Ten\n   - a\n     - b\n\n     ```js\n     x\n       y\n     ```\n   - c\n11. Eleven\n\n   - d\n\n   more\n\nEnd",
      "9. Nine\n  ◦ a\n10. Ten\n  ◦ a\n    ▪ b\n\n<pre js>x\n  y</pre>\n  ◦ c\n11. Eleven\n\n  ◦ d\n\n  more\n\nEnd",
    ],
    [
      "lists that are indented by two below a number",
      "1. One\n  - a\n  - b\n2. Two\n  1. c\n  2. d\n3. Three\n - e",
      "1. One\n  ◦ a\n  ◦ b\n2. Two\n  1. c\n  2. d\n3. Three\n\n• e",
    ],
    [
      "headings right behind a list",
      "- one\n- two\n## Next\ntext\n### And\n- three",
      "• one\n• two\n\n<bold>Next</bold>\n\ntext\n\n<bold>And</bold>\n\n• three",
    ],
    [
      "formulas and prices",
      "It is $E = mc^2$ and \\( x_1 * y_1 * z \\).\n\n\\[ a_1 * b_2 * c_3 \\]\n\nIt costs $5 to $10.",
      "It is $E = mc^2$ and \\( x_1 * y_1 * z \\).\n\n\\[ a_1 * b_2 * c_3 \\]\n\nIt costs $5 to $10.",
    ],
    [
      "tables with pipes in code",
      "| Op | Code |\n|---|---|\n| or | `a \\| b` |\n| and | `a && b` |",
      "<pre>Op  │ Code\n────┼───────\nor  │ a | b\nand │ a && b</pre>",
    ],
    [
      "tables with scripts of double width",
      "| Name | Qty |\n|:--|--:|\n| Äpfel 🍎 | 3 |\n| 梨 | 12 |",
      "<pre>Name     │ Qty\n─────────┼────\nÄpfel 🍎 │   3\n梨       │  12</pre>",
    ],
    [
      "tables too wide for a phone",
      "| Feature | Basic plan | Professional plan |\n|---|:-:|--:|\n| Storage | 10 GB | 1 TB of fast storage |\n| Support | - | by *phone* |",
      "Feature: Storage\nBasic plan: 10 GB\nProfessional plan: 1 TB of fast storage\n\nFeature: Support\nBasic plan: -\nProfessional plan: by <italic>phone</italic>",
    ],
    [
      "emoji at the start of items",
      "- ✅ Done: **first**\n- ❌ Not done\n\n1️⃣ First\n2️⃣ Second",
      "• ✅ Done: <bold>first</bold>\n• ❌ Not done\n\n1️⃣ First\n2️⃣ Second",
    ],
    [
      "line breaks as tags, also in tables",
      "one<br>two<br/>\nthree **b<br />c**\n\n<br>\n\n| a | b |\n|---|---|\n| x<br>y | z |",
      "one\ntwo\nthree <bold>b\nc</bold>\n\n<pre>a   │ b\n────┼──\nx y │ z</pre>",
    ],
    [
      "other tags, which stand for themselves",
      "<b>bold</b> and H<sub>2</sub>O, List<String>\n\n<details>\n<summary>More</summary>\n\ntext\n\n</details>",
      "<b>bold</b> and H<sub>2</sub>O, List<String>\n\n<details>\n<summary>More</summary>\n\ntext\n\n</details>",
    ],
    [
      "addresses with underscores and parentheses",
      "See https://example.com/foo_bar_baz, https://en.wikipedia.org/wiki/Foo_(bar). And foo_bar@example.com",
      "See https://example.com/foo_bar_baz, https://en.wikipedia.org/wiki/Foo_(bar). And foo_bar@example.com",
    ],
    [
      "bold inside of words, and stars that mean nothing",
      "un**frigging**believable, 2**3**4, snake_case_name, *.ts and *.js, 5 * 3 * 2",
      "un<bold>frigging</bold>believable, 2<bold>3</bold>4, snake_case_name, *.ts and *.js, 5 * 3 * 2",
    ],
    [
      "emphasis in scripts without spaces",
      "**注意：**这是重要的。请看**文档（中文）**说明。**「引用」**です。これは*強調*。**“引号”**的。**한국어(Korean)**는 굵게.",
      "<bold>注意：</bold>这是重要的。请看<bold>文档（中文）</bold>说明。<bold>「引用」</bold>です。これは<italic>強調</italic>。<bold>“引号”</bold>的。<bold>한국어(Korean)</bold>는 굵게.",
    ],
    [
      "quotes with lists",
      "> **Note**\n> text\n> - a\n> - b\n\nAfter",
      "<blockquote><bold>Note</bold>\ntext\n\n• a\n• b</blockquote>\n\nAfter",
    ],
    [
      "quotes in items, flush like their first line",
      "1. One\n   > first\n   > second\n   >\n   > - a\n   >   more\n2. Two\n   - x\n     > y\n     > z",
      "1. One\n<blockquote>first\nsecond\n\n◦ a\n  more</blockquote>\n2. Two\n  ◦ x\n<blockquote>y\nz</blockquote>",
    ],
    [
      "a wide table in an item, apart from what stands before it",
      "- text\n\n  | Feature | Professional plan |\n  |---|---|\n  | Storage | 1 TB of fast storage and much more of it |\n  | Support | - |\n\n  after\n- b\n  - c\n\n    > q\n\n    | Feature | Professional plan |\n    |---|---|\n    | Storage | 1 TB of fast storage and much more of it |",
      "• text\n\n  Feature: Storage\n  Professional plan: 1 TB of fast storage and much more of it\n\n  Feature: Support\n  Professional plan: -\n\n  after\n• b\n  ◦ c\n\n<blockquote>q</blockquote>\n\n    Feature: Storage\n    Professional plan: 1 TB of fast storage and much more of it",
    ],
    [
      "lists that count down",
      "10. Ten\n9. Nine\n   - a\n\n8. Eight\n\n1. One\n1. Two\n1. Three",
      "10. Ten\n9. Nine\n  ◦ a\n\n8. Eight\n\n9. One\n10. Two\n11. Three",
    ],
    [
      "links of every kind",
      '[Docs](https://d.example "title"), [rel](/local), ![img](https://x.y/z.png), <https://a.example>',
      "<text_link https://d.example>Docs</text_link>, rel (/local), <text_link https://x.y/z.png>img</text_link>, https://a.example",
    ],
    [
      "code that shows fences",
      `${FENCE}\`markdown\n${FENCE}js\nx\n${FENCE}\n${FENCE}\``,
      `<pre markdown>${FENCE}js\nx\n${FENCE}</pre>`,
    ],
    ["right-to-left text", "**שלום** עולם. *مرحبا* بك", "<bold>שלום</bold> עולם. <italic>مرحبا</italic> بك"],
  ])("shows %s", (_name, markdown, expected) => {
    expect(show(markdown)).toBe(expected);
  });

  it.each([
    ["half of a line break", "one<b", "one"],
    ["a footnote", "See[^1]", "See[^1]"],
    ["half of a footnote", "See [^no", "See [^no"],
    ["an open run in Chinese", "**注意：**请看**文档（中", "<bold>注意：</bold>请看<bold>文档（中</bold>"],
    ["half of a closing run in Chinese", "请看**文档（中文）*", "请看<bold>文档（中文）</bold>"],
    ["code in an item", `1. a\n   ${FENCE}sh\n   npm i\n   npm`, "1. a\n<pre sh>npm i\nnpm</pre>"],
  ])("shows %s repaired", (_name, markdown, expected) => {
    expect(show(markdown, false)).toBe(expected);
  });
});

/** Blocks that grow past what is read again with every chunk, line by line. */
const growing: Readonly<Record<string, readonly string[]>> = {
  "a nested list": Array.from(
    { length: 150 },
    (_, item) => `${"  ".repeat(item % 5)}- item ${item} **bold**`,
  ).with(0, "- item 0"),
  "one item with numbered steps": [
    "- begin",
    ...Array.from({ length: 60 }, (_, step) => [
      `  ${step + 1}. step ${step + 1}`,
      "",
      "     text of the step",
      "",
    ]).flat(),
  ],
  "one item with steps that are all numbered 1": [
    "- begin",
    ...Array.from({ length: 120 }, (_, step) => `  1. step ${step + 1}`),
  ],
  "code in an item": [
    "1. begin",
    "",
    "   ```ts",
    ...Array.from({ length: 150 }, (_, line) => (line % 7 === 6 ? "" : `     let line${line} = ${line};`)),
    "   ```",
  ],
  "an aligned table in an item": [
    "- begin",
    "",
    "  | number | square |",
    "  |--:|---|",
    ...Array.from({ length: 130 }, (_, row) => `  | ${row + 1000} | ${row * row + 1_000_000} |`),
  ],
  "a table of labelled rows in an item": [
    "- begin",
    "",
    "  | number | text |",
    "  |--:|---|",
    ...Array.from({ length: 70 }, (_, row) => `  | ${row} | ${"some longer text ".repeat(3)}|`),
  ],
  "a quote": Array.from({ length: 200 }, (_, line) => (line % 4 === 3 ? ">" : `> quoted words ${line}`)),
  "a quote with lists in it": [
    "> begin",
    ">",
    ...Array.from({ length: 70 }, (_, item) => [
      `> ${item + 1}. step`,
      ">    - a point",
      ">    - another",
    ]).flat(),
  ],
  "code in a quote": ["> begin", "> ```py", ...Array.from({ length: 200 }, (_, line) => `> x = ${line}`)],
  "a footnote": [
    "[^1]: begin",
    "",
    ...Array.from({ length: 130 }, (_, line) => [`    text ${line}`, ""]).flat(),
  ],
  "tasks under an item": [
    "- begin",
    ...Array.from({ length: 120 }, (_, item) => `  - [${item % 2 === 0 ? "x" : " "}] task ${item}`),
  ],
};

describe("a block that becomes too large to be parsed again with every chunk", () => {
  it.each(Object.entries(growing))(
    "looks while it is open as it will when it is closed: %s",
    (_name, lines) => {
      // More than twice of what is read again.
      expect(weighLines(lines)).toBeGreaterThan(6200);
      const planner = new Planner(options);
      for (const [index, line] of lines.entries()) {
        planner.append(`${line}\n`);
        // What comes at the beginning may be held back until it is known what it is.
        if (index < 10 || index % 3 > 0) continue;
        const sofar = lines.slice(0, index + 1).join("\n");
        expect(
          planner
            .parts()
            .map(({ content }) => shown(content))
            .join("\n=====\n"),
        ).toBe(show(`${sofar}\n`));
      }
    },
  );
});
