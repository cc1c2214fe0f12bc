import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { BotSource, ReadyWorker } from "../../ops/serve/bot-source.ts";
import { ENTRY } from "../../ops/serve/bundle-files.ts";
import { demoScript } from "../demo-model/demo-script.ts";

/** Modules that run beside the bot's own bundle. */
const MODULES = path.join(import.meta.dirname, "worker");
const PREFIX = "playground-";
const DEVELOPED = `${PREFIX}entry.js`;
const CLOCK = `${PREFIX}clock.js`;
const DEMO = `${PREFIX}demo.js`;

/**
 * Puts the playground's modules around a bot: the demo model, its door and a clock that can be moved. The bot's own
 * bundle stays as it is, so that a deployed bot has none of them.
 *
 * @param shiftMs time to add to the machine's clock, asked at each load. Undefined for a bot on the real Telegram, which
 *   gets the demo model alone
 */
export function developSource(source: BotSource, shiftMs: (() => number) | undefined): BotSource {
  let last: { readonly worker: ReadyWorker; readonly moved: number | undefined } | undefined;
  return {
    place: source.place,
    configFile: source.configFile,
    lookedFor: () => source.lookedFor(),
    close: () => source.close(),
    async load(onBundle) {
      const moved = shiftMs?.();
      // A bot that restarts because its clock was moved is the same. A saved source asks for a load of its own.
      const worker = last === undefined || last.moved === moved ? await source.load(onBundle) : last.worker;
      last = { worker, moved };
      const written = {
        [DEMO]: await demoScript({ canCall: moved !== undefined }),
        ...(moved === undefined ? { [DEVELOPED]: PLAIN_ENTRY } : movedModules(worker, moved)),
      };
      const modules = moved === undefined ? [] : await moduleFiles();
      const encoded = Object.entries(written).map(
        ([name, text]) => [name, new TextEncoder().encode(text)] as const,
      );
      return { ...worker, entry: DEVELOPED, files: new Map([...worker.files, ...modules, ...encoded]) };
    },
  };
}

const PLAIN_ENTRY = [
  `import "./${DEMO}";`,
  `export * from "./${ENTRY}";`,
  `export { default } from "./${ENTRY}";`,
].join("\n");

/** The modules are imported in this order: the bot's bundle begins on the moved clock. */
function movedModules({ config }: ReadyWorker, shiftMs: number): Record<string, string> {
  const classes = config.classes.map(({ className }) => className);
  const clock = [
    `import { shiftDate } from "./${PREFIX}shift-date.js";`,
    ...(shiftMs === 0 ? [] : [`shiftDate(${shiftMs});`]),
  ];
  const entry = [
    `import "./${DEMO}";`,
    `import "./${CLOCK}";`,
    `import { movable } from "./${PREFIX}movable.js";`,
    `import { withDoor } from "./${PREFIX}door.js";`,
    `import bot, * as worker from "./${ENTRY}";`,
    `export * from "./${ENTRY}";`,
    ...classes.map((name) => `export const ${name} = movable(worker.${name}, ${shiftMs});`),
    `export default withDoor(bot, { ${classes.join(", ")} });`,
  ];
  return { [DEVELOPED]: entry.join("\n"), [CLOCK]: clock.join("\n") };
}

async function moduleFiles(): Promise<readonly (readonly [string, Uint8Array])[]> {
  const names = (await readdir(MODULES)).filter((name) => name.endsWith(".js"));
  return Promise.all(
    names.map(async (name) => [`${PREFIX}${name}`, await readFile(path.join(MODULES, name))] as const),
  );
}
