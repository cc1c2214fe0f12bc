/** Part of `npm run reference`: writes the page that tells what works on which platform. A test fails while it differs. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { contracts } from "./contracts.ts";
import { capabilityMatrix } from "./matrix.ts";
import { allRows } from "./rows.ts";

const page = "docs/reference/platforms.md";
writeFileSync(path.join(import.meta.dirname, "../..", page), capabilityMatrix(allRows, contracts));
process.stdout.write(`${page}\n`);
