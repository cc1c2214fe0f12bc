import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { BotSource, ReadyWorker } from "../../scripts/serve/bot-source.ts";
import { ENTRY } from "../../scripts/serve/worker-bundle.ts";

/** Modules that run beside the bot's own bundle. */
const MODULES = path.join(import.meta.dirname, "worker");
const PREFIX = "playground-";
const DEVELOPED = `${PREFIX}entry.js`;
const CLOCK = `${PREFIX}clock.js`;

/**
 * Puts the playground's modules around a bot: its door, a clock that can be moved, and the mark that lets its demo model
 * run tools by hand. The bot's own bundle stays as it is, so that a deployed bot has none of them.
 *
 * @param shiftMs time to add to the machine's clock, asked at each load
 */
export function developSource(source: BotSource, shiftMs: () => number): BotSource {
  return {
    place: source.place,
    configFile: source.configFile,
    lookedFor: () => source.lookedFor(),
    close: () => source.close(),
    async load(onBundle) {
      const worker = await source.load(onBundle);
      const modules = await moduleFiles();
      const { entry, clock } = entryOf(worker, shiftMs());
      const written = new Map([
        [DEVELOPED, new TextEncoder().encode(entry)],
        [CLOCK, new TextEncoder().encode(clock)],
      ]);
      return { ...worker, entry: DEVELOPED, files: new Map([...worker.files, ...modules, ...written]) };
    },
  };
}

/** The modules are imported in this order: the bot's bundle begins on the moved clock. */
function entryOf(
  { config }: ReadyWorker,
  shiftMs: number,
): { readonly entry: string; readonly clock: string } {
  const classes = config.classes.map(({ className }) => className);
  const clock = [
    `import { shiftDate } from "./${PREFIX}shift-date.js";`,
    ...(shiftMs === 0 ? [] : [`shiftDate(${shiftMs});`]),
  ];
  const entry = [
    `import "./${PREFIX}mark-dev.js";`,
    `import "./${CLOCK}";`,
    `import { movable } from "./${PREFIX}movable.js";`,
    `import { withDoor } from "./${PREFIX}door.js";`,
    `import bot, * as worker from "./${ENTRY}";`,
    `export * from "./${ENTRY}";`,
    ...classes.map((name) => `export const ${name} = movable(worker.${name}, ${shiftMs});`),
    `export default withDoor(bot, { ${classes.join(", ")} });`,
  ];
  return { entry: entry.join("\n"), clock: clock.join("\n") };
}

async function moduleFiles(): Promise<readonly (readonly [string, Uint8Array])[]> {
  const names = (await readdir(MODULES)).filter((name) => name.endsWith(".js"));
  return Promise.all(
    names.map(async (name) => [`${PREFIX}${name}`, await readFile(path.join(MODULES, name))] as const),
  );
}
