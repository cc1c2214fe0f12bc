import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createStateAtRoot } from "../../../providers/chat-sdk/state/state-at-root.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { Deps } from "../../../src/core/base/deps.ts";
import type {
  BotIdentity,
  IncomingEvent,
  PlatformContext,
  ReceiveContext,
} from "../../../src/core/chat/messenger.ts";

/** A context whose log is a list and whose clock stands still; its timers fire when `fire` is called. */
export function createPlatformContext(options: {
  readonly fetch?: typeof fetch;
  readonly identity?: () => Promise<BotIdentity>;
  /** The platform's part at the root. @default that of `chatSdkMessenger`, on a database of its own */
  readonly atRoot?: object;
}): { readonly context: PlatformContext; readonly log: string[]; readonly fireTimers: () => void } {
  const log: string[] = [];
  const timers = new Set<() => void>();
  const deps: Deps = {
    clock: {
      now: () => 1_800_000_000_000,
      setTimeout: (callback) => {
        timers.add(callback);
        return callback;
      },
      clearTimeout: (timer) => void timers.delete(timer as () => void),
    },
    newId: () => "id",
    random: () => 0,
    fetch: options.fetch ?? (() => Promise.reject(new Error("no network in this test"))),
  };
  const database = createNodeDatabase();
  const env = { SECRETS_KEY: btoa("k".repeat(32)) };
  const atRoot = options.atRoot ?? createStateAtRoot({ messengerId: "bot", database, deps, env });
  const context: PlatformContext = {
    messengerId: "bot",
    deps,
    log: createLog((_level, line) => void log.push(line)),
    identity: options.identity ?? (() => Promise.reject(new Error("the identity is not needed here"))),
    root: <Calls extends object>() => atRoot as Calls,
  };
  return { context, log, fireTimers: () => timers.forEach((fire) => fire()) };
}

/**
 * A receiver that keeps what it gets; `accept` waits for `durable` and fails when that does.
 *
 * @param chatIds the chats that the bot knows, the last seen one at the end
 */
export function createReceiver(
  durable: () => Promise<void> = () => Promise.resolve(),
  chatIds: readonly string[] = [],
): ReceiveContext & {
  readonly accepted: IncomingEvent[];
  readonly ignored: string[];
} {
  const accepted: IncomingEvent[] = [];
  const ignored: string[] = [];
  return {
    accepted,
    ignored,
    async accept(events) {
      await durable();
      accepted.push(...events);
    },
    ignore: (kind) => void ignored.push(kind),
    findChat: (beginning) => chatIds.findLast((chatId) => chatId.startsWith(beginning)),
  };
}

/** What the inbox gives back: the same through JSON. */
export function throughStorage<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** The answer as the root gives it: what a provider could not have stored is answered 503. */
export async function answerAsRoot(receiving: Promise<Response>): Promise<Response> {
  try {
    return await receiving;
  } catch {
    return new Response(null, { status: 503 });
  }
}
