import fc from "fast-check";

/** Words of several scripts, with graphemes of many units. */
const word = fc.constantFrom(
  "alpha",
  "Wort",
  "naïve",
  "e\u0301te\u0301",
  "שלום",
  "مرحبا",
  "漢字かな",
  "한국어",
  "👨‍👩‍👧‍👦",
  "🇩🇪🇫🇷",
  "👍🏽",
  "नमस्ते",
  "x\u200dy",
  "a_b_c",
  "2*3",
  "@user",
  "#tag",
  "$x^2$",
  "https://example.com/a_b?c=d",
  "mail@example.com",
  "5 < 6",
  "&amp;",
  "\\*",
  "end.",
  "what?",
  "a\u0007b",
  "z\u0301\u0302\u0303",
);

const words = fc.array(word, { minLength: 1, maxLength: 5 }).map((list) => list.join(" "));

const inline: fc.Arbitrary<string> = fc.letrec<{ inline: string; run: string }>((tie) => ({
  run: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    words,
    fc.constantFrom("code", "a `b` c", "  spaced  ").map((text) => `\`\` ${text} \`\``),
    tie("inline").map((text) => `**${text}**`),
    tie("inline").map((text) => `*${text}*`),
    tie("inline").map((text) => `~~${text}~~`),
    fc
      .tuple(words, fc.constantFrom("https://e.com/x", "/local", "http://e.com/(a)"))
      .map(([text, url]) => `[${text}](${url})`),
    words.map((text) => `![${text}](https://e.com/i.png)`),
    fc.constantFrom("[ref]", "[text][ref]", "[^1]", "<b>html</b>", "<https://auto.example>", "line\\\nbreak"),
    fc.constantFrom("**注意：**说明", "看**（文）**字", "一<br>二", "a<br/>\nb"),
  ),
  inline: fc.array(tie("run"), { minLength: 1, maxLength: 3 }).map((runs) => runs.join(" ")),
})).inline;

const leaf: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: inline },
  { weight: 2, arbitrary: fc.array(inline, { minLength: 1, maxLength: 3 }).map((list) => list.join("\n")) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 6 }), words)
      .map(([level, text]) => `${"#".repeat(level)} ${text}`),
  },
  { weight: 1, arbitrary: words.map((text) => `${text}\n===`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "---",
      "***",
      "    indented\n\n      code",
      "<div>\nhtml\n</div>",
      "[ref]: https://ref.example",
      "[^1]: a note",
      "```",
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom("", "ts", "python"),
        fc.array(fc.constantFrom("  if (x) {", "}", "", "# no heading", "* a *", "\tb"), { maxLength: 12 }),
      )
      .map(([language, lines]) => ["```" + language, ...lines, "```"].join("\n")),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 3 }), inline)
      .map(([columns, rows, text]) => {
        const cell = text.replace(/[|\n]/g, " ");
        const row = (fill: string): string =>
          `| ${Array.from({ length: columns }, () => fill).join(" | ")} |`;
        return [row("head"), row("---"), ...Array.from({ length: rows }, () => row(cell))].join("\n");
      }),
  },
);

const indent = (text: string, prefix: string): string => text.replaceAll("\n", `\n${prefix}`);

const block: fc.Arbitrary<string> = fc.letrec<{ block: string; blocks: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    leaf,
    leaf,
    tie("blocks").map((text) => `> ${indent(text, "> ")}`),
    fc
      .tuple(
        fc.constantFrom("- ", "* ", "- [ ] ", "- [x] "),
        fc.array(tie("blocks"), { minLength: 1, maxLength: 3 }),
        fc.constantFrom("\n", "\n\n"),
      )
      .map(([bullet, items, gap]) => items.map((item) => bullet + indent(item, "  ")).join(gap)),
    fc
      .tuple(
        fc.integer({ min: 0, max: 90 }),
        fc.array(tie("blocks"), { minLength: 1, maxLength: 3 }),
        fc.constantFrom("\n", "\n\n"),
      )
      .map(([start, items, gap]) =>
        items.map((item, index) => `${start + index}. ${indent(item, "    ")}`).join(gap),
      ),
  ),
  blocks: fc.array(tie("block"), { minLength: 1, maxLength: 2 }).map((list) => list.join("\n\n")),
})).block;

/** Documents as a model writes them. */
export const structuredMarkdown: fc.Arbitrary<string> = fc
  .array(fc.tuple(block, fc.constantFrom("\n\n", "\n\n", "\n")), { maxLength: 5 })
  .map((blocks) => blocks.map(([text, gap]) => text + gap).join(""));

/** The same with a blank line after every block. */
export const separatedMarkdown: fc.Arbitrary<string> = fc
  .array(block, { maxLength: 5 })
  .map((blocks) => blocks.join("\n\n"));

/** Fragments of syntax in any order, which mostly are not well formed. */
export const brokenMarkdown: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          "*",
          "**",
          "_",
          "~~",
          "`",
          "``",
          "```",
          "[",
          "](",
          ")",
          "![",
          "]",
          "<",
          ">",
          "\\",
          "|",
          "|---|",
          "#",
          "- ",
          "1. ",
          "> ",
          "    ",
          "\t",
          "\n",
          "\n\n",
          "\r\n",
          "\r",
          "---",
          "===",
          "&",
          "&amp;",
          "<!--",
          "-->",
          "<div>",
          "[a]: b",
          "[^a]: b",
        ),
      },
      { weight: 2, arbitrary: word },
      { weight: 1, arbitrary: fc.constantFrom(" ", " ", "\n") },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
    ),
    { maxLength: 80 },
  )
  .map((parts) => parts.join(""));

export const markdown: fc.Arbitrary<string> = fc.oneof(structuredMarkdown, brokenMarkdown);

/** Cuts a text into chunks at any units. */
export function chunksOf(text: string, sizes: readonly number[]): string[] {
  const chunks: string[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const size = Math.max(1, sizes[turn % Math.max(1, sizes.length)] ?? 1);
    chunks.push(text.slice(at, at + size));
    at += size;
  }
  return chunks;
}
