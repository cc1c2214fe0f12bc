import { wait, type Clock } from "../base/deps.ts";
import { errorCode, SwitchboardError } from "../base/errors.ts";
import type { FigureReport } from "./figures.ts";
import { restAfter } from "../base/rest-after.ts";

/** Calls between the objects of one bot that belong together. Each of them returns a promise of plain data. */
export interface CallGroup<Calls extends object> {
  /** The first part of the names of its calls: `approvals` of `approvals.noteApproval`. */
  readonly name: string;
  /** Only the compiler reads it. */
  readonly calls?: Calls;
}

/** The one method of an object that carries these calls. */
export interface InnerDoor {
  /**
   * @param figures what the caller's process has counted, for the root; see `Figures`
   * @param from the class of the caller's root, if the called object is of another class
   */
  inner(method: string, args: readonly unknown[], figures?: FigureReport, from?: string): Promise<unknown>;
}

/** Code of a call that the other object does not know: it still runs another version of the bot. */
export const UNKNOWN_CALL = "unknown-call";
/** The code that versions before 0.2.0 have for it. */
const UNKNOWN_BEFORE = "inner-call-unknown";

/** A deploy replaces the objects of a bot within seconds. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 2000;
const LONGEST_WAIT_MS = 20_000;

/**
 * Returns the calls of a group to another object. While that object runs an earlier version that does not know a call,
 * the call is repeated for 20 seconds. Then it fails with `unknown-call`, and its caller repeats its stored work later.
 */
export function callsOver<Calls extends object>(
  group: CallGroup<Calls>,
  door: () => InnerDoor,
  clock: Clock,
): Calls {
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const until = clock.now() + LONGEST_WAIT_MS;
    for (let failures = 1; ; failures += 1) {
      try {
        return await door().inner(name, args);
      } catch (error) {
        const code = errorCode(error);
        if (code !== UNKNOWN_CALL && code !== UNKNOWN_BEFORE) throw error;
        const restMs = restAfter(failures, FIRST_REST_MS, LONGEST_REST_MS);
        if (clock.now() + restMs > until) throw unknownCall(name);
        await wait(clock, restMs);
      }
    }
  };
  return new Proxy({} as Calls, {
    get: (_target, method) =>
      // A promise that resolves with this object asks for `then`.
      typeof method !== "string" || method === "then"
        ? undefined
        : (...args: unknown[]) => call(`${group.name}.${method}`, args),
  });
}

/** Returns the function of an object that answers a call. Undefined if it has none of this name. */
export function answerOf(
  calls: object,
  method: string,
): ((...args: readonly unknown[]) => unknown) | undefined {
  if (method === "constructor" || method in Object.prototype) return undefined;
  const found: unknown = (calls as Readonly<Record<string, unknown>>)[method];
  return typeof found === "function" ? found.bind(calls) : undefined;
}

/** All of these objects as one. */
type Joined<Parts extends readonly object[]> = Parts extends readonly [
  infer First,
  ...infer Rest extends readonly object[],
]
  ? First & Joined<Rest>
  : object;

/** Returns one object that answers a call with the first part that knows it. */
export function answeredBy<Parts extends readonly object[]>(...parts: Parts): Joined<Parts> {
  return new Proxy({} as Joined<Parts>, {
    get: (_target, method) =>
      typeof method === "string"
        ? parts.map((part) => answerOf(part, method)).find((answer) => answer !== undefined)
        : undefined,
  });
}

export function unknownCall(name: string): SwitchboardError {
  return new SwitchboardError(UNKNOWN_CALL, `This version knows no call named "${name}" between objects.`);
}
