import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { figuresChart } from "../../../scripts/reference/figures-chart.ts";
import { productFiles } from "../../../scripts/reference/product-files.ts";
import { referencePages } from "../../../scripts/reference/pages.ts";
import { readComment } from "../../../scripts/reference/read-comment.ts";

const root = path.resolve(import.meta.dirname, "../../..");

describe("the reference", () => {
  let pages: ReadonlyMap<string, string>;
  beforeAll(() => {
    pages = referencePages({ root, files: productFiles(root) });
  });

  it("is as the types say; otherwise run `npm run reference`", () => {
    const stale = [...pages].filter(([name, text]) => {
      const file = path.join(root, "docs/reference", name);
      return !existsSync(file) || readFileSync(file, "utf8") !== text;
    });
    expect(stale.map(([name]) => name)).toEqual([]);
  });

  it("has settings, methods, hooks, options, texts, variables and codes", () => {
    const all = [...pages.values()].join("\n");
    for (const known of [
      "| `modelPatienceMs` | `120000` |",
      "| `keepDeliveriesMs` | `2592000000` |",
      "### getCommands",
      "### beforeToolCall",
      "### say",
      '| `respondTo` | `["direct-message", "mention"]` |',
      "| `secretToken` |",
      "| `stoppedResponseText` | (stopped) |",
      '| `mode` | "edit", on GitHub and Linear "final-only" |',
      "| `TELEGRAM_BOT_TOKEN` | required |",
      "| `telegram-token-missing` | `ConfigurationError` |",
    ]) {
      expect(all).toContain(known);
    }
    expect(all).not.toContain("### inner\n");
    expect(all).not.toContain("#runtime");
  });

  it("has words for every member", () => {
    const bare = [...pages].flatMap(([name, text]) =>
      text
        .split("\n")
        .filter((line) => /^\| `[^|]*\|[^|]*\| *(?:Type:.*)?\|$/.test(line))
        .map((line) => `${name}: ${line}`),
    );
    expect(bare).toEqual([]);
  });
});

describe("the chart of figures", () => {
  const read = (file: string): string => readFileSync(path.join(root, file), "utf8");

  it("shows the figures of the page on performance; otherwise run `npm run reference`", () => {
    expect(read("docs/pictures/figures.svg")).toBe(figuresChart(read("docs/performance.md")));
  });

  it("draws the longer bar for the larger number, and refuses a table without the row", () => {
    const chart = figuresChart(read("docs/performance.md"));
    const [ours, peers] = [...chart.matchAll(/width="(\d+)" height="20"/g)].map(([, width]) => Number(width));
    expect(peers).toBe(380);
    expect(ours).toBeLessThan(380);
    expect(() => figuresChart("| another row | ms | 1 | 2 |")).toThrow(/no figures in the row/);
  });
});

describe("a documentation comment", () => {
  it("is read without its stars, and its tags apart", () => {
    const source = `/**
   * Does a thing. \`@everyone\` is no tag.
   *
   * - \`one\`: the first
   *
   * @param to where. @default here
   * @throws {TypeError} when it cannot,
   * or will not
   * @default 7
   */`;
    expect(readComment(source)).toEqual({
      text: "Does a thing. `@everyone` is no tag.\n\n- `one`: the first",
      fallback: "7",
      throws: ["{TypeError} when it cannot, or will not"],
      isInternal: false,
    });
  });

  it("keeps the list that comes after a default", () => {
    expect(readComment('/** Action. @default "a"\n *\n * - `a`: one\n */')).toMatchObject({
      text: "Action.\n\n- `a`: one",
      fallback: '"a"',
    });
  });
});
