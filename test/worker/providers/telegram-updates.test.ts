import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import type { TelegramMessengerOptions } from "../../../providers/telegram/index.ts";
import type { MessengerContext } from "../../../src/messengers/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { captureLog } from "../support/log-lines.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World, WorldOptions } from "../support/world.ts";
import { testEnv } from "../test-env.ts";

beforeEach(() => void captureLog());

const token = "700001:AAE-secret_part";
const ada = { id: 1001, is_bot: false, first_name: "Ada" };
const group = { id: -100, type: "supergroup", title: "Team" };

/** A bot on Telegram, and the calls that it makes. */
function telegramWorld(options: Partial<TelegramMessengerOptions>, more: WorldOptions = {}) {
  const calls: string[] = [];
  const world = createWorld({
    ...more,
    messengers: () => ({
      telegram: telegramMessenger({
        token,
        secretToken: "s3cret",
        userName: "support_bot",
        commandMenu: false,
        fetch: async (input, init) => {
          const url = input instanceof Request ? input.url : String(input);
          if (url.endsWith("/answerInlineQuery")) throw new Error(`lost on the way to ${url}`);
          calls.push(`${url.split("/").at(-1) ?? ""} ${init?.body as string}`);
          return Response.json({ ok: true, result: true });
        },
        ...options,
      }),
    }),
  });
  const post = async (update: object): Promise<number> => {
    const response = await world.fetch("/messengers/telegram/webhook", {
      method: "POST",
      headers: { "X-Telegram-Bot-Api-Secret-Token": "s3cret" },
      body: JSON.stringify(update),
    });
    await response.body?.cancel();
    return response.status;
  };
  return { world, calls, post };
}

function objectOf(world: World, threadId: string): ReturnType<World["child"]> {
  return testEnv.ScriptedBot.getByName(
    `${world.root}/thread:telegram:${encodeURIComponent(`telegram:${threadId}`)}`,
  );
}

const checkout = {
  update_id: 7,
  pre_checkout_query: { id: "q1", from: ada, currency: "EUR", total_amount: 1 },
};

describe("onUpdate", () => {
  it("gets a kind that is not handled, with the Bot API at hand, once", async () => {
    const kinds: unknown[] = [];
    const { calls, post } = telegramWorld({
      onUpdate: async ({ api, update }) => {
        kinds.push(Object.keys(update));
        if (update.pre_checkout_query) await api.answerPreCheckoutQuery(update.pre_checkout_query.id, true);
      },
    });
    expect([await post(checkout), await post(checkout)]).toEqual([200, 200]);
    await vi.waitFor(() =>
      expect(calls).toEqual(['answerPreCheckoutQuery {"pre_checkout_query_id":"q1","ok":true}']),
    );
    expect(await post({ update_id: 8, brand_new_thing: {} })).toBe(200);
    await vi.waitFor(() => expect(kinds).toHaveLength(2));
    expect(kinds).toEqual([
      ["update_id", "pre_checkout_query"],
      ["update_id", "brand_new_thing"],
    ]);
  });

  it("gets it again after the process died while it ran, and not when it had ended", async () => {
    const gate = createGate();
    let runs = 0;
    const { post, world } = telegramWorld({
      onUpdate: async () => {
        runs += 1;
        if (runs === 1) await gate.pass();
      },
    });
    await post(checkout);
    await untilReached(gate);
    const object = objectOf(world, "700001");
    const kill = () =>
      runInDurableObject(object, (_bot, state) => state.abort("killed by a test")).catch(() => undefined);
    await kill();
    await runDurableObjectAlarm(objectOf(world, "700001"));
    await vi.waitFor(() => expect(runs).toBe(2));
    await vi.waitFor(async () => expect(await hasEnded(world, "u:7")).toBe(true));
    await kill();
    await runDurableObjectAlarm(objectOf(world, "700001"));
    expect(await post(checkout)).toBe(200);
    expect(runs).toBe(2);
    gate.open();
  });

  it("gets errors that hold no token", async () => {
    const errors: unknown[] = [];
    const { post } = telegramWorld({
      onUpdate: async ({ api }) => {
        await api.answerInlineQuery("q", []).catch((error: unknown) => errors.push(error));
      },
    });
    await post({ update_id: 9, inline_query: { id: "q", from: ada, query: "", offset: "" } });
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(errors).toMatchObject([{ code: "connection-lost" }]);
    const [error] = errors as [Error];
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toContain("secret_part");
  });

  it("is not there by default: the update is counted", async () => {
    const { post, world } = telegramWorld({});
    expect(await post(checkout)).toBe(200);
    expect(await world.stub.ignoredUpdates()).toEqual({ "telegram:pre_checkout_query": 1 });
  });
});

describe("onReaction", () => {
  const reaction = {
    update_id: 20,
    message_reaction: {
      chat: group,
      message_id: 12,
      user: ada,
      date: 1_800_000_000,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    },
  };

  it("hears a reaction once, in the object of the chat, and asks no conversation function", async () => {
    const heard: MessengerContext[] = [];
    const resolved: string[] = [];
    const { post, world } = telegramWorld(
      {
        reactions: true,
        conversation: ({ kind }) => {
          resolved.push(kind);
          return { target: "self" };
        },
      },
      { settings: { onReaction: (event) => void heard.push(event) } },
    );
    expect([await post(reaction), await post(reaction)]).toEqual([200, 200]);
    await vi.waitFor(() => expect(heard).toHaveLength(1));
    expect(heard).toMatchObject([
      { author: { userId: "1001" }, reaction: { messageId: "12", current: ["👍"] } },
    ]);
    expect(resolved).toEqual([]);
    expect(await hasEnded(world, "u:20", "-100")).toBe(true);
    // The object of a chat is no conversation where a function chooses them.
    expect(await world.stub.listConversations()).toEqual([]);
  });

  it("does not hear it unless the messenger has reactions switched on", async () => {
    const heard: unknown[] = [];
    const { post, world } = telegramWorld(
      {},
      { settings: { onReaction: (event) => void heard.push(event) } },
    );
    expect(await post(reaction)).toBe(200);
    expect(await world.stub.ignoredUpdates()).toEqual({ "telegram:message_reaction": 1 });
    expect(heard).toEqual([]);
  });
});

describe("onChatMember", () => {
  const bot = { id: 700001, is_bot: true, first_name: "Bot" };
  const change = (id: number, chat: object, before: string, now: string) => ({
    update_id: id,
    my_chat_member: {
      chat,
      from: ada,
      date: 1_800_000_000,
      old_chat_member: { user: bot, status: before },
      new_chat_member: { user: bot, status: now },
    },
  });
  const joined = (id: number, ...people: readonly object[]) => ({
    update_id: id,
    message: { message_id: id, date: 1_800_000_000, chat: group, from: ada, new_chat_members: people },
  });
  const numbered = () => Promise.resolve(Response.json({ ok: true, result: { message_id: 5 } }));
  /** A bot that greets, and what it has sent. */
  const greeter = (onChatMember: NonNullable<NonNullable<WorldOptions["settings"]>["onChatMember"]>) => {
    const sent: string[] = [];
    const fetch = (input: unknown, init?: RequestInit) => {
      if (String(input).endsWith("/sendMessage")) sent.push(JSON.parse(init?.body as string).text as string);
      return numbered();
    };
    return {
      sent,
      ...telegramWorld({ fetch }, { settings: { onChatMember } }),
    };
  };

  it("greets a group that the bot was added to, once, however often the update comes", async () => {
    const heard: unknown[] = [];
    const { post, sent, world } = greeter(({ author, member }) => {
      heard.push([member, author?.userId]);
      return "**Hello**, I am new here.";
    });
    const added = change(31, group, "left", "member");
    expect([await post(added), await post(added)]).toEqual([200, 200]);
    await vi.waitFor(() => expect(sent).toEqual(["Hello, I am new here."]));
    await runInDurableObject(objectOf(world, "-100"), (_bot, state) => state.abort("killed")).catch(() => {});
    expect(await post(added)).toBe(200);
    expect(await hasEnded(world, "u:31", "-100")).toBe(true);
    expect(heard).toEqual([[{ change: "added", people: [] }, "1001"]]);
    expect(sent).toHaveLength(1);
  });

  it("greets people who join, but not itself", async () => {
    const { post, sent, world } = greeter(
      ({ member }) => `Welcome, ${member.people.map(({ fullName }) => fullName).join(" and ")}`,
    );
    expect(await post(joined(32, bot))).toBe(200);
    expect(await post(joined(33, ada, bot, { id: 5, is_bot: false, first_name: "Bob" }))).toBe(200);
    await vi.waitFor(() => expect(sent).toEqual(["Welcome, Ada and Bob"]));
    expect(await hasEnded(world, "m:-100:32", "-100")).toBe(true);
  });

  it("hears that the bot was removed or blocked, and then sends nothing", async () => {
    const heard: string[] = [];
    const { post, sent, world } = greeter(({ member }) => {
      heard.push(member.change);
      return "Good bye";
    });
    const me = { id: 1001, type: "private", first_name: "Ada" };
    await post(change(34, group, "member", "kicked"));
    await post(change(35, me, "member", "kicked"));
    await post(change(36, group, "member", "administrator"));
    await vi.waitFor(async () => expect(await hasEnded(world, "u:36", "-100")).toBe(true));
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(["blocked", "removed"]));
    await vi.waitFor(async () => expect(await hasEnded(world, "u:34", "-100")).toBe(true));
    await vi.waitFor(async () => expect(await hasEnded(world, "u:35", "1001")).toBe(true));
    expect(sent).toEqual([]);
  });

  it("sends one greeting also when the process dies while the bot's code runs", async () => {
    const gate = createGate();
    let runs = 0;
    const { post, sent, world } = greeter(async () => {
      runs += 1;
      if (runs === 1) await gate.pass();
      return "Welcome back";
    });
    await post(change(37, group, "left", "member"));
    await untilReached(gate);
    await runInDurableObject(objectOf(world, "-100"), (_bot, state) => state.abort("killed")).catch(() => {});
    await runDurableObjectAlarm(objectOf(world, "-100"));
    await vi.waitFor(() => expect(sent).toEqual(["Welcome back"]));
    gate.open();
    expect(await hasEnded(world, "u:37", "-100")).toBe(true);
    expect([runs, sent.length]).toEqual([2, 1]);
  });
});

function hasEnded(world: World, key: string, threadId = "700001"): Promise<boolean> {
  return runInDurableObject(
    objectOf(world, threadId),
    (_bot, { storage }) =>
      storage.sql.exec("SELECT 1 FROM inbox_v1 WHERE key = ? AND state = 'done'", `telegram|${key}`).toArray()
        .length === 1,
  );
}
