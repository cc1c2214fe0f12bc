/**
 * `npm run licences`: writes `docs/reference/licences.md`, the packages that a bot gets with Switchboard and their
 * licences. A test fails while the page differs from package-lock.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { licencesPage } from "./licences/licences-page.ts";
import { root } from "./run-step.ts";

const lock: unknown = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
writeFileSync(path.join(root, "docs/reference/licences.md"), licencesPage(lock));
