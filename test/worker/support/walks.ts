import { AsyncLocalStorage } from "node:async_hooks";
import { runInDurableObject } from "cloudflare:test";
import type { World } from "./world.ts";

/** A function on a stack: its file, from the project's root, and its name. */
export interface Step {
  readonly file: string;
  /**
   * With its class, if the stack has it: `Lane.poke`. V8 leaves out the class where it has inlined the call. `""` if the
   * function has no name.
   */
  readonly name: string;
}

/** The way to a place where the product has an effect, outermost function first. */
export interface Way {
  /** The effect, such as `UPDATE approval_v1`. */
  readonly effect: string;
  readonly steps: readonly Step[];
}

/** The product's ways to its effects, while a test records them. */
export interface Walk {
  readonly ways: readonly Way[];
  /** Records the way to here. */
  note(effect: string): void;
  stop(): void;
}

declare global {
  interface ImportMeta {
    /** Loads modules, as Vite does. */
    glob<Module>(patterns: readonly string[], options: { readonly eager: true }): Record<string, Module>;
  }
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

const MODULES = import.meta.glob<Record<string, unknown>>(
  ["../../../src/**/*.ts", "../../../delivery/**/*.ts", "!../../../src/core/**"],
  { eager: true },
);
const QUERY = /^\s*(SELECT|INSERT|UPDATE|DELETE)\b.*?\b(\w+_v\d+)\b/is;
/** Ways begin here: a wake-up, a timer or an alarm calls these functions, whoever has asked for it. */
const BEGINNINGS: ReadonlySet<string> = new Set([
  "ThreadLoop.poke",
  "ThreadLoop.drive",
  "Lane.poke",
  "Lane.nudge",
]);
const MOST_STEPS = 200;

/**
 * Records the ways to everything that the product reads from its tables and writes into them, from stack traces. A stack
 * forgets a function that has returned the promise of another one. So each public method of a class remembers the stack
 * that has led to it.
 */
export async function recordWalk(world: World): Promise<Walk> {
  const ways: Way[] = [];
  const before = new AsyncLocalStorage<readonly Step[]>();
  const undo: (() => void)[] = [];
  const replace = (owner: object, name: string, change: (own: Method) => Method): void => {
    const found = Object.getOwnPropertyDescriptor(owner, name);
    const own: unknown = found?.value;
    if (found === undefined || typeof own !== "function" || name === "constructor") return;
    Object.defineProperty(owner, name, { ...found, value: change(own as Method) });
    undo.push(() => Object.defineProperty(owner, name, found));
  };
  const here = (): readonly Step[] => joined(before.getStore() ?? [], stack());
  for (const owner of productClasses())
    for (const name of Object.getOwnPropertyNames(owner.prototype))
      replace(owner.prototype, name, (own) => {
        const step = { file: owner.file, name: `${owner.name}.${name}` };
        return function method(...args) {
          const way = BEGINNINGS.has(step.name) ? [] : here();
          return before.run([...way, step], () => own.apply(this, args));
        };
      });
  const note = (effect: string): void => void ways.push({ effect, steps: here() });
  const sql = await runInDurableObject(
    world.stub,
    (_bot, state) => Object.getPrototypeOf(state.storage.sql) as object,
  );
  replace(sql, "exec", (own) => {
    return function exec(...args) {
      const query = QUERY.exec(String(args[0]));
      if (query !== null) note(`${query[1]?.toUpperCase() ?? ""} ${query[2] ?? ""}`);
      return own.apply(this, args);
    };
  });
  const stop = (): void => {
    for (const one of undo.toReversed()) one();
  };
  return { ways, note, stop };
}

/** Counts how often a way goes into or out of a folder. */
export function crossings({ steps }: Pick<Way, "steps">, folder: string): number {
  const inside = steps.map(({ file }) => file.startsWith(`${folder}/`));
  return inside.filter((isInside, index) => isInside !== (inside[index - 1] ?? false)).length;
}

/** Returns those of these effects to which no way leads through these functions in this order. */
export function notWalked({ ways }: Walk, wanted: Readonly<Record<string, string>>): string[] {
  return Object.entries(wanted)
    .filter(([effect, through]) => {
      const names = through.split(" → ");
      return !ways.some((way) => way.effect === effect.replace(/ #.*/, "") && hasInOrder(way, names));
    })
    .map(([effect]) => effect);
}

function hasInOrder({ steps }: Way, names: readonly string[]): boolean {
  let found = 0;
  for (const step of steps) {
    const name = names[found];
    if (name !== undefined && methodOf(step) === methodOf({ name })) found += 1;
  }
  return found === names.length;
}

/**
 * Returns the functions with a name from one to another on a way to an effect, the shortest such way. A function without
 * a name is a part of the one around it.
 */
export function callsBetween({ ways }: Walk, first: string, last: string): string[] {
  const found = ways.flatMap(({ steps }) => {
    const names = steps.map(({ name }) => name).filter((name) => name !== "");
    const from = names.findIndex((name) => name === first || name.endsWith(`.${first}`));
    const to = names.lastIndexOf(last);
    return from === -1 || to === -1 ? [] : [names.slice(from, to + 1)];
  });
  return found.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function productClasses(): { readonly file: string; readonly name: string; readonly prototype: object }[] {
  return Object.entries(MODULES).flatMap(([path, exports]) =>
    Object.values(exports)
      .filter((one) => typeof one === "function")
      .filter((one) => /^class\b/.test(Function.prototype.toString.call(one)))
      .map((one) => one as unknown as { readonly name: string; readonly prototype: object })
      .filter(({ prototype }) => !(prototype instanceof Error))
      .map(({ name, prototype }) => ({ file: path.replace("../../../", ""), name, prototype })),
  );
}

/** Returns the name of a function without its class. */
function methodOf({ name }: Pick<Step, "name">): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** Adds to a way the functions of a stack that it does not have. */
function joined(way: readonly Step[], steps: readonly Step[]): readonly Step[] {
  const known = new Set(way.map((step) => `${step.file} ${methodOf(step)}`));
  const last = steps.findLastIndex((step) => known.has(`${step.file} ${methodOf(step)}`));
  return [...way, ...steps.slice(last + 1)];
}

/** The helpers of `core`, and the guard around the database, are no places of their own. */
const HELPERS = /^src\/(?:core\/|agent\/store-versions\.ts$)/;

/** The functions of the product on the stack, outermost first. */
function stack(): Step[] {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = MOST_STEPS;
  const { stack: text = "" } = new Error();
  Error.stackTraceLimit = limit;
  return text
    .split("\n")
    .flatMap((line) => {
      const [, called = "", path = ""] = /^\s*at (?:(.+?) \()?(.+?):\d+:\d+\)?$/.exec(line) ?? [];
      const file = /\/((?:src|delivery|providers)\/.*)$/.exec(path)?.[1];
      if (file === undefined || HELPERS.test(file)) return [];
      return [
        {
          file,
          name: called
            .replace(/^async /, "")
            .replace(/^Object\./, "")
            .replace(/^.*<anonymous>$/, ""),
        },
      ];
    })
    .toReversed();
}
