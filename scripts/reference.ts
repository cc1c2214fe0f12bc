/**
 * `npm run reference`: writes the pages of `docs/reference/` that are made from the product's types and comments, and the
 * chart of the figures in `docs/performance.md`. A test fails while a file differs from them.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { figuresChart } from "./reference/figures-chart.ts";
import { referencePages } from "./reference/pages.ts";
import { productFiles } from "./reference/product-files.ts";
import { root } from "./run-step.ts";

const folder = path.join(root, "docs/reference");
mkdirSync(folder, { recursive: true });
for (const [name, text] of referencePages({ root, files: productFiles(root) })) {
  writeFileSync(path.join(folder, name), text);
  process.stdout.write(`docs/reference/${name}\n`);
}
const page = readFileSync(path.join(root, "docs/performance.md"), "utf8");
writeFileSync(path.join(root, "docs/pictures/figures.svg"), figuresChart(page));
process.stdout.write("docs/pictures/figures.svg\n");
