/** The part of `npm run reference` that lists the commands: writes `docs/reference/commands.md`. */
import { writeFileSync } from "node:fs";
import { processIo } from "./command-io.ts";
import { commandsPage } from "./commands-page.ts";
import { createProgram } from "./program.ts";

const PAGE = "docs/reference/commands.md";
writeFileSync(new URL(`../${PAGE}`, import.meta.url), commandsPage(await createProgram(processIo())));
process.stdout.write(`${PAGE}\n`);
