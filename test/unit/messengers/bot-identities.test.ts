import { declaredOf } from "../../../lab/support/messenger-events.ts";
import { expect, it } from "vitest";
import { createLog } from "../../../src/core/base/log.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { RootRuntime } from "../../../src/messengers/root/root-runtime.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const DAY_MS = 86_400_000;
const OLD_TOKEN = "111:old-token-of-the-bot";
const NEW_TOKEN = "222:new-token-of-the-bot";

/** A root without a configured user name, and a Bot API; `start` is the same root after its object was started again. */
function createRig() {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const names = new Map([
    [OLD_TOKEN, "old_bot"],
    [NEW_TOKEN, "new_bot"],
  ]);
  const calls: string[] = [];
  const log: string[] = [];
  const api = { answer: async (response: Response): Promise<Response> => response };
  const fetch: typeof globalThis.fetch = (input) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const [, bot = "", method = ""] = url.pathname.split("/");
    calls.push(method);
    const token = bot.slice("bot".length);
    const result = { id: Number(token.split(":")[0]), is_bot: true, username: names.get(token) };
    return api.answer(Response.json({ ok: true, result }));
  };
  const write = createLog((_level, line) => log.push(line));
  const start = (token = OLD_TOKEN) => {
    const [definition] = normalizeMessengers({
      telegram: telegramMessenger({ token, secretToken: "s3cret", commandMenu: false }),
    });
    if (definition === undefined) throw new Error("no definition");
    const later: Promise<void>[] = [];
    const deps = { clock, newId: () => "id", random: () => 0, fetch };
    const root: RootRuntime = new RootRuntime({
      database,
      deps,
      log: write,
      messengers: declaredOf(() => [definition], deps, { identity: (id) => root.identity(id), log: write }),
      deliver: () => Promise.resolve(),
      commands: () => [],
      later: (work) => void later.push(work()),
      observe: () => {},
      hasEvent: () => Promise.resolve(false),
      objects: { rootClass: () => "Bot" } as never,
    });
    /** Whether a group's message that begins with this name speaks to the bot. */
    const isAddressed = async (name: string): Promise<boolean> => {
      const chat = { id: -5, type: "group", title: "Team" };
      const text = `@${name} hello`;
      const entities = [{ type: "mention", offset: 0, length: name.length + 1 }];
      const from = { id: 7, is_bot: false, first_name: "Ada" };
      const raw = { update_id: 1, message: { message_id: 1, date: 1, chat, from, text, entities } };
      const thread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
      const context = {
        messengerId: "telegram",
        deps,
        log: write,
        identity: () => root.identity("telegram"),
        root: <Calls extends object>() => ({}) as Calls,
      };
      const event = await definition.platform.parse({ key: "m:1", thread, raw }, context);
      return event.kind === "mention";
    };
    return { isAddressed, settle: async () => void (await Promise.all(later)), root };
  };
  return { api, calls, clock, database, log, names, start };
}

it("reads mentions by the new name after the token was changed", async () => {
  const { start } = createRig();
  const before = start(OLD_TOKEN);
  expect([await before.isAddressed("old_bot"), await before.isAddressed("new_bot")]).toEqual([true, false]);
  const after = start(NEW_TOKEN);
  expect([await after.isAddressed("old_bot"), await after.isAddressed("new_bot")]).toEqual([false, true]);
});

it("asks the platform once for a token, over restarts", async () => {
  const { calls, start } = createRig();
  await Promise.all([start().isAddressed("old_bot"), start().isAddressed("old_bot")]);
  calls.length = 0;
  await start().isAddressed("old_bot");
  expect(calls).toEqual([]);
});

it("stores no token, and logs none", async () => {
  const { database, log, start } = createRig();
  await start().isAddressed("old_bot");
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  const stored = JSON.stringify(tables.map(({ name }) => database.all(`SELECT * FROM ${name}`)));
  expect(stored).toContain("old_bot");
  for (const secret of [OLD_TOKEN, "old-token-of-the-bot"]) {
    expect(stored).not.toContain(secret);
    expect(log.join()).not.toContain(secret);
  }
});

it("learns a new name within a day, and holds up no message for it", async () => {
  const { api, calls, clock, names, start } = createRig();
  const bot = start();
  await bot.isAddressed("old_bot");
  names.set(OLD_TOKEN, "renamed_bot");
  await clock.advance(DAY_MS - 1);
  expect(await bot.isAddressed("old_bot")).toBe(true);
  await clock.advance(1);
  let answer = (): void => {};
  const asked = new Promise<void>((resolve) => (answer = resolve));
  api.answer = (response) => asked.then(() => response);
  expect(await bot.isAddressed("old_bot")).toBe(true);
  expect(await bot.isAddressed("old_bot")).toBe(true);
  answer();
  await bot.settle();
  expect(calls).toEqual(["getMe", "getMe"]);
  expect([await bot.isAddressed("old_bot"), await bot.isAddressed("renamed_bot")]).toEqual([false, true]);
  expect(await start().isAddressed("renamed_bot")).toBe(true);
});

it("keeps the name that it has while the platform cannot be asked, and asks again an hour later", async () => {
  const { api, calls, clock, log, names, start } = createRig();
  await start().isAddressed("old_bot");
  names.set(OLD_TOKEN, "renamed_bot");
  await clock.advance(DAY_MS);
  api.answer = () => Promise.reject(new TypeError(`fetch failed: /bot${OLD_TOKEN}/getMe`));
  const bot = start();
  for (let message = 0; message < 3; message += 1) {
    expect(await bot.isAddressed("old_bot")).toBe(true);
    await bot.settle();
  }
  expect(calls).toEqual(["getMe", "getMe"]);
  expect(log).toEqual([expect.stringContaining("identity.not-refreshed")]);
  expect(log.join()).not.toContain(OLD_TOKEN);
  api.answer = async (response) => response;
  await clock.advance(3_600_000);
  expect(await bot.isAddressed("old_bot")).toBe(true);
  await bot.settle();
  expect(await bot.isAddressed("renamed_bot")).toBe(true);
});
