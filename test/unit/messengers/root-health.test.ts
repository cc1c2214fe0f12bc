import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import type { MessengerPlatform } from "../../../src/core/chat/messenger.ts";
import type { CallFailure, Surface } from "../../../src/core/chat/surface.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { RootRuntime } from "../../../src/messengers/root/root-runtime.ts";
import { declaredOf, definitionOf } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const MINUTE_MS = 60_000;
const REFUSED: CallFailure = { kind: "misconfigured", code: "token-refused" };
const AWAY: CallFailure = { kind: "transient", code: "no-connection" };

/** A root whose storage and platform are as the test says; `restart` is the same root in a new object. */
function createRig(options: { readonly canAsk?: boolean } = {}) {
  const clock = createVirtualClock();
  const database = createNodeDatabase();
  const state = {
    isDiskFull: false,
    deliver: (): Promise<void> => Promise.resolve(),
    /** What every call of the root comes to; nothing when it works. */
    failure: undefined as CallFailure | undefined,
    asked: 0,
  };
  const call = async (): Promise<void> => {
    if (state.failure !== undefined) throw Object.assign(new Error("refused"), { failure: state.failure });
  };
  const surface = {
    classifyError: (error: { readonly failure: CallFailure }) => error.failure,
  } as unknown as Surface;
  const platform: MessengerPlatform = {
    ...definitionOf().platform,
    surface: () => surface,
    receive: async (_request, _context, receive) => {
      const thread = { id: "telegram:1", chatId: "1", isDirectMessage: true };
      await receive.accept([{ key: "m:1:1", thread, raw: {} }]);
      return new Response("ok");
    },
    fetchIdentity: async () => {
      await call();
      return { userId: "7" };
    },
    setCommands: () => call(),
    ...(options.canAsk === true && {
      checkAccess: async () => {
        state.asked += 1;
        await call();
      },
    }),
  };
  const log = createLog(() => undefined);
  const work: Promise<void>[] = [];
  const deps = { clock, newId: () => "id", random: () => 0, fetch };
  const start = (): RootRuntime =>
    new RootRuntime({
      database: {
        ...database,
        all: (...query) => database.all(...query),
        transaction: (body) => database.transaction(body),
        run: (...statement) => {
          if (state.isDiskFull) throw new Error("database or disk is full: SQLITE_FULL");
          return database.run(...statement);
        },
      },
      deps,
      log,
      messengers: declaredOf(() => normalizeMessengers({ telegram: definitionOf({ platform }) }), deps, {
        identity: (id) => root.identity(id),
      }),
      deliver: () => state.deliver(),
      commands: () => [{ name: "help", description: "Show the commands" }],
      later: (task) => void work.push(task()),
      observe: () => undefined,
      hasEvent: () => Promise.resolve(false),
      objects: { rootClass: () => "Bot" } as never,
    });
  let root = start();
  return {
    clock,
    state,
    root: () => root,
    restart: () => void (root = start()),
    /** The code of the problem, once everything that was begun is done. */
    code: async (): Promise<string | undefined> => {
      const problem = await root.problem();
      await Promise.all(work.splice(0));
      return problem?.code;
    },
    webhook: async (): Promise<number | undefined> => {
      const request = new Request("https://bot.example/messengers/telegram/webhook", { method: "POST" });
      return (await root.handle(request))?.status;
    },
  };
}

describe("the health of a root's storage", () => {
  it("says that the disk is full, and what to do, until it is not", async () => {
    const { code, root, state } = createRig();
    state.isDiskFull = true;
    expect(await root().problem()).toEqual({
      status: "unavailable",
      code: "storage-full",
      message:
        "The disk of the bot's storage is full. Free some space; messages wait at the platform until then.",
    });
    state.isDiskFull = false;
    expect(await code()).toBeUndefined();
  });

  it("writes once for all who ask within ten seconds", async () => {
    const { clock, code, state } = createRig();
    expect(await code()).toBeUndefined();
    state.isDiskFull = true;
    expect(await code()).toBeUndefined();
    await clock.advance(10_000);
    expect(await code()).toBe("storage-full");
  });

  it("remembers that a conversation could not store a message, until one can", async () => {
    const { code, state, webhook } = createRig();
    state.deliver = () => Promise.reject(new Error("database or disk is full: SQLITE_FULL"));
    expect(await webhook()).toBe(503);
    expect(await code()).toBe("storage-full");
    state.deliver = () => Promise.resolve();
    expect(await webhook()).toBe(200);
    expect(await code()).toBeUndefined();
  });

  it("forgets a failure after a minute in which nobody wrote", async () => {
    const { clock, code, state, webhook } = createRig();
    state.deliver = () => Promise.reject(new Error("the object was reset"));
    await webhook();
    expect(await code()).toBe("not-stored");
    await clock.advance(MINUTE_MS);
    expect(await code()).toBeUndefined();
  });
});

describe("the health of a root's platforms", () => {
  it("says that the token is refused once the menu of commands was, also after a restart", async () => {
    const { code, restart, root, state } = createRig({ canAsk: true });
    state.failure = REFUSED;
    // The menu is told beside the answer.
    expect(await code()).toBeUndefined();
    expect(await code()).toBe("token-refused");
    restart();
    expect((await root().problem())?.message).toBe(
      'The platform refuses the calls of the messenger "telegram" (token-refused). Check its token, or its other credentials, and the address of its API.',
    );
  });

  it("asks the platform whether the token is good again, twice a minute at most", async () => {
    const { clock, code, root, state } = createRig({ canAsk: true });
    root().access.refused("telegram", "token-refused");
    state.failure = REFUSED;
    expect(await code()).toBe("token-refused");
    state.failure = undefined;
    expect(await code()).toBe("token-refused");
    expect(state.asked).toBe(1);
    await clock.advance(MINUTE_MS / 2);
    expect(await code()).toBeUndefined();
    expect(state.asked).toBe(2);
  });

  it("does not take a platform that is away for a good or a bad token", async () => {
    const { code, root, state } = createRig({ canAsk: true });
    state.failure = AWAY;
    expect(await code()).toBeUndefined();
    root().access.refused("telegram", "token-refused");
    expect(await code()).toBe("token-refused");
  });

  it("is well again as soon as a call of a conversation works", async () => {
    const { code, root } = createRig();
    root().access.refused("telegram", "credentials-refused");
    expect(await code()).toBe("credentials-refused");
    root().access.works("telegram");
    expect(await code()).toBeUndefined();
  });

  it("believes a refusal that nothing repeats for five minutes, where the platform cannot be asked", async () => {
    const { clock, code, root } = createRig();
    root().access.refused("telegram", "credentials-refused");
    await clock.advance(4 * MINUTE_MS);
    expect(await code()).toBe("credentials-refused");
    await clock.advance(MINUTE_MS);
    expect(await code()).toBeUndefined();
  });
});
