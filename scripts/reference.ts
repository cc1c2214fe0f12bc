/**
 * `npm run reference`: writes the pages of `docs/reference/` that are made from the product's types and comments. A test
 * fails while a page differs from them.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { referencePages } from "./reference/pages.ts";
import { productFiles } from "./reference/product-files.ts";
import { root } from "./run-step.ts";

const folder = path.join(root, "docs/reference");
mkdirSync(folder, { recursive: true });
for (const [name, text] of referencePages({ root, files: productFiles(root) })) {
  writeFileSync(path.join(folder, name), text);
  process.stdout.write(`docs/reference/${name}\n`);
}
