/** Builds the bots that end-to-end and browser tests serve, where the files of a whole run look for them. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { buildTogether } from "../../lab/support/built-bot.ts";

const BOTS = "test/e2e/bots";

/** Are served by no test file, or cannot be. The log of `failing` names places in its sources, for which it needs a map. */
const NOT_BUILT = new Set(["failing", "misconfigured", "restaurant"]);

const EXAMPLES = ["analyst-bot", "digest-bot", "everywhere", "mcp-bot", "mcp-bot/buyer", "minimal"];

const folders = [
  ".",
  ...(await readdir(BOTS)).filter((name) => !NOT_BUILT.has(name)).map((name) => path.join(BOTS, name)),
  ...EXAMPLES.map((name) => path.join("examples", name)),
  "test/worker/probe",
];
await buildTogether(folders.map((folder) => path.resolve(folder, "wrangler.jsonc")));
