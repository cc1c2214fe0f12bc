/** Texts by name, of any length: typical texts of models, and texts that could be the most expensive to read. */
export const costlyTexts: Readonly<Record<string, (length: number) => string>> = {
  prose: repeated("A sentence of plain prose that goes on for a while. ", { lineLength: 400, gap: "\n\n" }),
  "rich prose": repeated(
    "Some *mixed* **prose** with a [link](https://example.com/x), `code` and snake_case words. ",
    { lineLength: 350, gap: "\n\n" },
  ),
  "one paragraph": repeated("A sentence of plain prose that goes on for a while. "),
  "one rich paragraph": repeated("Some *mixed* **prose** with a [link](https://example.com/x) and `code`. "),
  "one paragraph of lines": repeated("A line of prose, *formatted*, in one paragraph.\n"),
  "one word": repeated("a"),
  "a code fence": (length) => cut("```ts\n", "  const line = 'code'; // and *more*\n", length),
  "one line of code": (length) => cut("```ts\n", "let value = 1; ", length),
  "code in a list item": (length) => cut("- item\n\n  ```ts\n", "  const line = 'code';\n", length),
  "a list": repeated("- item **one** here, with `code`\n"),
  "an ordered list": repeated("1. item **one** here, with `code`\n"),
  "a list item": (length) => cut("1. begin\n\n", "   A paragraph inside the item, with *words*.\n\n", length),
  "an item with steps": (length) =>
    cut("- begin\n", "  1. step\n\n     ```sh\n     npm test\n     ```\n\n", length),
  "wide gaps": repeated(`a${" ".repeat(900)}`),
  "Chinese emphasis": repeated("**注意：**这是重要的。请看**文档（中文）**说明，"),
  "line break tags": repeated("one<br>two<br/>"),
  "a nested list": repeated("- one\n  - two\n    - three **bold**\n      - four\n"),
  "a table": (length) => cut("| a | b |\n|---|---|\n", "| one | two *three* |\n", length),
  "a table with some hard rows": (length) =>
    cut("| a | b |\n|---|---|\n", `${"| one | two *three* |\n".repeat(60)}| a & b | <c> |\n`, length),
  "a wide table": (length) =>
    cut(
      "| alpha | beta | gamma |\n|---|---|---|\n",
      "| quite a long cell of text | another one of these | and *one* more |\n",
      length,
    ),
  "one row of a table": (length) => cut("| a | b |\n|---|---|\n", "| c ", length),
  "a quote": repeated("> words and more *words* in a quote\n"),
  "HTML lines": (length) => cut("<div>\n", "<p>text</p>\n", length),
  "half images": repeated("![[]("),
  "stars and runs": repeated("*a **b "),
  "closed stars": repeated("*a*b**c"),
  underscores: repeated("_a __b "),
  tildes: repeated("~~a ~b "),
  brackets: repeated("["),
  "closed brackets": repeated("[]"),
  "closing brackets": (length) => "[".repeat(Math.ceil(length / 2)) + "]".repeat(Math.floor(length / 2)),
  "half links": repeated("[a]("),
  "nested links": (length) => "[".repeat(Math.ceil(length / 5)) + "](x)".repeat(Math.floor(length / 5)),
  "links with parentheses": repeated("[a](((("),
  references: repeated("[a][b] "),
  footnotes: repeated("[^a] "),
  "footnote definitions": repeated("[^a]: x\n"),
  definitions: repeated("[a]: b\n"),
  "backticks that grow": (length) => {
    let text = "";
    for (let run = 1; text.length < length; run += 1) text += `${"`".repeat(run)} `;
    return text.slice(0, length);
  },
  backticks: repeated("`"),
  "backticks apart": repeated("`a``b "),
  "less-than signs": repeated("<"),
  "half tags": repeated("<a "),
  "half comments": repeated("<!-- "),
  "half instructions": repeated("<? <!A <![CDATA[ "),
  "greater-than signs": repeated(">"),
  "spaced quotes": repeated("> "),
  "quotes in quotes": (length) => lines(length, (depth) => `${"> ".repeat(depth)}a`),
  "lists in lists": (length) => lines(length, (depth) => `${"  ".repeat(depth)}- a`),
  "bullets in bullets": repeated("- "),
  "numbers in numbers": repeated("1. "),
  "double dollars": repeated("$$"),
  "dollars apart": repeated("$a $$b "),
  "formula parentheses": repeated("\\("),
  "formula brackets": repeated("\\[ a \\( b "),
  backslashes: repeated("\\"),
  ampersands: repeated("&"),
  "half references": repeated("&#x"),
  entities: repeated("&amp;"),
  pipes: repeated("|"),
  "rule lines": repeated("|-"),
  dashes: repeated("- - "),
  "number signs": repeated("# "),
  equals: repeated("=\na\n"),
  "blank lines": repeated("\n"),
  spaces: repeated(" "),
  tabs: repeated("\t"),
  "carriage returns": repeated("\r"),
  "spaced lines": repeated("a \t \n"),
  addresses: repeated("https://a.b/c "),
  "one address": (length) => cut("https://a.b/", "c/(d", length),
  "mail addresses": repeated("a@b.c "),
  "half mail addresses": repeated("a.b@"),
  "www.": repeated("www."),
  colons: repeated("a:b_"),
  "combining marks": (length) => cut("x", "\u0301", length),
  "emoji families": repeated("👨‍👩‍👧‍👦"),
  "zero-width joiners": repeated("a\u200d"),
  "control characters": repeated("a\u0000b\u001b"),
  "half thoughts": repeated("<think"),
  thoughts: repeated("<think>a</think> b "),
  "open thoughts": repeated("<think>"),
  "closing thoughts": repeated("a</think>"),
  "tags with attributes": repeated('<invoke a="b" c="d'),
  "many attributes": repeated("<invoke a=b c=d e=f g=h i=j "),
  tokens: repeated("<|im_start|>"),
  "half tokens": repeated("<|||"),
  "half signals": repeated("[[silence"),
  signals: repeated("[[silence]] a "),
  heads: repeated("<|channel|>a "),
};

interface Wrapping {
  readonly lineLength: number;
  readonly gap: string;
}

function repeated(unit: string, wrapping?: Wrapping): (length: number) => string {
  const block =
    wrapping === undefined
      ? unit
      : unit.repeat(Math.ceil(wrapping.lineLength / unit.length)).trimEnd() + wrapping.gap;
  return (length) => cut("", block, length);
}

function cut(head: string, unit: string, length: number): string {
  return head + unit.repeat(Math.ceil(length / unit.length)).slice(0, Math.max(0, length - head.length));
}

/** Returns lines, each one level deeper than the one before. Starts over after 1,000 levels. */
function lines(length: number, line: (depth: number) => string): string {
  let text = "";
  for (let depth = 1; text.length < length; depth = (depth % 1000) + 1) text += `${line(depth)}\n`;
  return text.slice(0, length);
}
