import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowedUpdates, allowedUpdatesFor } from "../../../providers/telegram/index.ts";
import { refusal } from "./fake-bot-api.ts";
import { createTelegramRig } from "./telegram-rig.ts";
import {
  ada,
  channel,
  exampleUpdate,
  examples,
  forum,
  message,
  privateChat,
  supergroup,
  update,
  updateKinds,
} from "./telegram-updates.ts";

const handled = new Map<string, string | RegExp>([
  ["message", "m:1001:45"],
  ["edited_message", /^e:1001:45:1800000060:u:\d+$/],
  ["channel_post", `m:${channel.id}:12`],
  ["edited_channel_post", new RegExp(`^e:${channel.id}:12:1800000005:u:\\d+$`)],
  ["callback_query", "c:4382bfdwdsb323b2d9"],
  ["stopped_message_generation", /^u:\d+$/],
  ["my_chat_member", /^u:\d+$/],
]);

describe("every kind of update", () => {
  it.each(updateKinds)("answers %s with 200, and either stores or counts it", async (kind) => {
    const rig = createTelegramRig();
    const { response, accepted, ignored } = await rig.post(exampleUpdate(kind));
    expect(response.status).toBe(200);
    const key = handled.get(kind);
    if (key === undefined) {
      expect(accepted).toEqual([]);
      expect(ignored).toEqual([kind]);
    } else {
      expect(accepted).toHaveLength(1);
      expect(accepted[0]?.key).toMatch(key instanceof RegExp ? key : new RegExp(`^${key}$`));
      expect(ignored).toEqual([]);
    }
  });

  it("asks a webhook for the kinds that it handles, and no others", () => {
    expect([...allowedUpdates].sort()).toEqual([...handled.keys()].sort());
  });

  it("counts a kind that a newer Bot API adds, without its name", async () => {
    const { response, ignored } = await createTelegramRig().post({
      update_id: 1,
      brand_new_thing: { id: 1 },
    });
    expect(response.status).toBe(200);
    expect(ignored).toEqual(["unknown"]);
  });
});

describe("a bot that wants more kinds", () => {
  const more = { reactions: true, onUpdate: () => undefined };

  it.each(updateKinds)("stores %s, as one of its chat or of the bot itself", async (kind) => {
    const rig = createTelegramRig(more);
    const example = exampleUpdate(kind);
    const { response, accepted, ignored } = await rig.post(example);
    expect(response.status).toBe(200);
    expect(ignored).toEqual([]);
    expect(accepted).toHaveLength(1);
    if (handled.has(kind)) return;
    const content = example[kind] as { readonly chat?: { readonly id: number } };
    expect(accepted[0]).toMatchObject({
      isOfChat: true,
      thread: { id: `telegram:${content.chat?.id ?? 700_001}` },
    });
    const event = await rig.event(example);
    expect(event.kind).toBe(kind === "message_reaction" ? "reaction" : "update");
    expect(event.raw).toEqual(example);
  });

  it("gets kinds of a newer Bot API, and presses that belong to no chat, which it has to answer itself", async () => {
    const rig = createTelegramRig(more);
    const newer = await rig.post({ update_id: 1, brand_new_thing: { id: 1 } });
    expect(newer.accepted).toMatchObject([{ key: "u:1", thread: { id: "telegram:700001" } }]);
    const press = { id: "c1", from: ada, chat_instance: "1", inline_message_id: "x", data: "d" };
    const { accepted } = await rig.post(update({ callback_query: press }));
    expect(accepted).toMatchObject([{ key: "c:c1", isOfChat: true }]);
    expect(rig.api.calls).toEqual([]);
    expect(await rig.event(update({ callback_query: press }))).toMatchObject({
      kind: "update",
      detail: "callback_query",
    });
  });

  it("asks a webhook for them", () => {
    expect(allowedUpdatesFor({})).toEqual(allowedUpdates);
    expect(allowedUpdatesFor({ reactions: true })).toHaveLength(allowedUpdates.length + 1);
    expect(allowedUpdatesFor({ reactions: true })).toContain("message_reaction");
    expect([...allowedUpdatesFor(more)].sort()).toEqual([...updateKinds].sort());
  });

  it("gets no reactions as events unless it asked for them, and no updates that it has no code for", async () => {
    const reaction = exampleUpdate("message_reaction");
    expect((await createTelegramRig({ reactions: true }).event(reaction)).kind).toBe("reaction");
    expect((await createTelegramRig({ onUpdate: () => undefined }).event(reaction)).kind).toBe("update");
    expect((await createTelegramRig({ reactions: true }).post(exampleUpdate("poll"))).ignored).toEqual([
      "poll",
    ]);
  });
});

describe("a press of a button that belongs to no chat", () => {
  const press = (more: object) =>
    update({ callback_query: { id: "c1", from: ada, chat_instance: "1", data: "d", ...more } });

  it.each([
    ["under an inline message", { inline_message_id: "x" }],
    ["without any message", {}],
    ["under a message that cannot be read", { message: { message_id: "x" } }],
  ])("answers one %s at once, stores nothing and counts it", async (_name, more) => {
    const rig = createTelegramRig();
    const { response, accepted, ignored } = await rig.post(press(more));
    expect(response.status).toBe(200);
    expect(rig.api.calls).toEqual([{ method: "answerCallbackQuery", payload: { callback_query_id: "c1" } }]);
    expect(accepted).toEqual([]);
    expect(ignored).toEqual(["callback_query:no-chat"]);
    expect(rig.log.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { event: "inbox.event", messenger: "bot", outcome: "ignored: callback_query:no-chat" },
    ]);
  });

  it("takes the same press again, and an answer that came too late, as done", async () => {
    const rig = createTelegramRig();
    await rig.post(press({ inline_message_id: "x" }));
    rig.api.answerNext("answerCallbackQuery", refusal(400, "Bad Request: query is too old"));
    const { response } = await rig.post(press({ inline_message_id: "x" }));
    expect(response.status).toBe(200);
    expect(rig.api.calls).toHaveLength(2);
  });

  it("tries again when the platform failed, and does not have the update come for ever", async () => {
    const rig = createTelegramRig();
    for (let failures = 0; failures < 3; failures += 1)
      rig.api.answerNext("answerCallbackQuery", refusal(502, "Bad Gateway"));
    const posting = rig.post(press({ inline_message_id: "x" }));
    for (const calls of [1, 2, 3]) {
      for (let ticks = 0; ticks < 10; ticks += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(rig.api.calls).toHaveLength(calls);
      rig.fireTimers();
    }
    expect((await posting).response.status).toBe(200);
    expect(rig.log.join()).toContain('"code":"server-error","attempts":3');
  });
});

describe("what is no update", () => {
  it.each([
    ["null", "null"],
    ["an array", "[]"],
    ["an array of updates", JSON.stringify([exampleUpdate("message")])],
    ["text", '"hello"'],
    ["a number", "42"],
    ["no JSON", "<html>"],
    ["nothing", ""],
    ["an object without update_id", JSON.stringify({ message: examples.message })],
    ["an update_id that is text", '{"update_id":"1"}'],
    ["an update_id that is no integer", '{"update_id":1.5}'],
  ])("answers %s with 400 and says why", async (_name, body) => {
    const { response, accepted } = await createTelegramRig().post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: { code: "not-an-update", message: expect.stringContaining("not a Bot API update") },
    });
    expect(accepted).toEqual([]);
  });
});

describe("durability (I1)", () => {
  it("answers only after the event is durable", async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => (store = resolve));
    let answered = false;
    const posting = createTelegramRig()
      .post(exampleUpdate("message"), () => stored)
      .then((result) => {
        answered = true;
        return result;
      });
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    store();
    expect((await posting).response.status).toBe(200);
  });

  it("answers 503 when the event cannot be stored, so that Telegram sends it again", async () => {
    const { response } = await createTelegramRig().post(exampleUpdate("message"), () =>
      Promise.reject(new Error("disk full")),
    );
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("disk full");
  });

  it("stores the update as it came", async () => {
    const sent = exampleUpdate("message");
    const { accepted } = await createTelegramRig().post(sent);
    expect(accepted[0]?.raw).toEqual(sent);
  });
});

describe("threads and keys", () => {
  it.each([
    ["a private chat", message({ text: "a" }), "telegram:1001", undefined, true],
    ["a supergroup", message({ text: "a" }, supergroup), `telegram:${supergroup.id}`, undefined, false],
    [
      "a forum topic",
      message({ text: "a", message_thread_id: 7, is_topic_message: true }, forum),
      `telegram:${forum.id}:7`,
      "7",
      false,
    ],
    [
      "a topic of a private chat",
      message({ text: "a", message_thread_id: 9, is_topic_message: true }, privateChat),
      "telegram:1001:9",
      "9",
      true,
    ],
    ["the General topic, unnamed", message({ text: "a" }, forum), `telegram:${forum.id}`, undefined, false],
    [
      "the General topic, named",
      message({ text: "a", message_thread_id: 1, is_topic_message: true }, forum),
      `telegram:${forum.id}`,
      undefined,
      false,
    ],
    [
      "a chain of replies in an ordinary supergroup",
      message({ text: "a", message_thread_id: 31 }, supergroup),
      `telegram:${supergroup.id}`,
      undefined,
      false,
    ],
  ])("routes %s", async (_name, sent, id, topicId, isDirectMessage) => {
    const { accepted } = await createTelegramRig().post(update({ message: sent }));
    const thread = accepted[0]?.thread;
    expect(thread?.id).toBe(id);
    expect(thread?.topicId).toBe(topicId);
    expect(thread?.isDirectMessage).toBe(isDirectMessage);
    expect(thread?.chatId).toBe(String(sent.chat.id));
  });

  it("gives a redelivered message the same key, and its edits keys of their own", async () => {
    const rig = createTelegramRig();
    const keyOf = async (sent: object) => (await rig.post(sent)).accepted[0]?.key;
    const first = await keyOf(update({ message: message({ text: "a" }) }));
    expect(await keyOf(update({ message: message({ text: "a" }) }))).toBe(first);
    const edits = [
      await keyOf(update({ edited_message: message({ text: "b", edit_date: 5 }) })),
      await keyOf(update({ edited_message: message({ text: "c", edit_date: 6 }) })),
    ];
    expect(new Set([first, ...edits]).size).toBe(3);
    expect(await keyOf(update({ message: message({ text: "a" }, supergroup) }))).not.toBe(first);
  });

  it("says of both messages about an upgraded group which chat has become which, and of no others", async () => {
    const group = { id: -5, type: "group", title: "Team" } as const;
    const rig = createTelegramRig();
    const moveOf = async (fields: object, chat: typeof group | typeof supergroup) =>
      (await rig.post(update({ message: message(fields, chat as typeof supergroup) }))).accepted[0]?.move;
    const move = {
      from: { chatId: "-5", threadId: "telegram:-5" },
      to: { chatId: String(supergroup.id), threadId: `telegram:${supergroup.id}` },
    };
    expect(await moveOf({ migrate_to_chat_id: supergroup.id }, group)).toEqual(move);
    expect(await moveOf({ migrate_from_chat_id: group.id }, supergroup)).toEqual(move);
    expect(await moveOf({ text: "migrate_to_chat_id: -7" }, group)).toBeUndefined();
    expect(await moveOf({ migrate_to_chat_id: "-7" }, group)).toBeUndefined();
  });

  it("does not take two messages for one that the platform has not numbered yet", async () => {
    const rig = createTelegramRig();
    const first = await rig.post(update({ message: message({ message_id: 0, text: "a" }) }));
    const second = await rig.post(update({ message: message({ message_id: 0, text: "b" }) }));
    expect(first.accepted[0]?.key).not.toBe(second.accepted[0]?.key);
  });

  it("routes a press of a button in a topic to that topic", async () => {
    const { accepted } = await createTelegramRig().post(
      update({
        callback_query: {
          ...examples.callback_query,
          message: message({ message_thread_id: 7, is_topic_message: true, text: "?" }, forum),
        },
      }),
    );
    expect(accepted[0]?.thread.id).toBe(`telegram:${forum.id}:7`);
  });
});

/** Any JSON value put anywhere into an example. */
const mutated = fc
  .tuple(
    fc.constantFrom(...updateKinds),
    fc.array(fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 }),
  )
  .map(([kind, changes]) => {
    const base = JSON.parse(JSON.stringify(exampleUpdate(kind))) as Record<string, unknown>;
    for (const [pick, value] of changes) mutate(base, pick, value);
    return base;
  });

function mutate(target: Record<string, unknown>, pick: number, value: unknown): void {
  const paths: [Record<string, unknown>, string][] = [];
  const collect = (node: unknown) => {
    if (typeof node !== "object" || node === null) return;
    for (const key of Object.keys(node)) {
      paths.push([node as Record<string, unknown>, key]);
      collect((node as Record<string, unknown>)[key]);
    }
  };
  collect(target);
  const [node, key] = paths[pick % paths.length] ?? [target, "extra"];
  node[key] = value;
}

describe("broken updates", () => {
  it("leads to 200 or 400 and to a readable event, whatever is changed", async () => {
    const rig = createTelegramRig();
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated, fc.jsonValue()), async (body) => {
        const { response, accepted } = await rig.post(JSON.stringify(body));
        expect([200, 400]).toContain(response.status);
        for (const incoming of accepted) {
          const event = await rig.platform.parse(incoming, rig.context);
          expect(event.key).toBe(incoming.key);
          expect(() => JSON.stringify(event)).not.toThrow();
        }
      }),
      { numRuns: 400 },
    );
  });
});
