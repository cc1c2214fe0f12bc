import { describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import { routeUpdate } from "../../../providers/telegram/routing.ts";
import { telegramMessenger } from "../../../providers/telegram/index.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { Address, Probing } from "../../../src/core/chat/surface.ts";
import { refusal } from "./fake-bot-api.ts";
import { createPlatformContext } from "./platform-context.ts";
import { createTelegramRig } from "./telegram-rig.ts";

const chat = (chatId: string): Address => ({
  messengerId: "bot",
  threadId: `telegram:${chatId}`,
  chatId,
  isDirectMessage: !chatId.startsWith("-"),
});
const never = () => ({ signal: new AbortController().signal });

function probingOf({ surface }: ReturnType<typeof createTelegramRig>): Probing {
  if (surface.probing === undefined) throw new Error("Telegram can be probed.");
  return surface.probing;
}

it("knows one box for private chats and basic groups, and one for each supergroup", () => {
  const probing = probingOf(createTelegramRig());
  const box = (address: Address): string => probing.box(address);
  expect([box(chat("7")), box(chat("-4501")), box(chat("-999999999999"))]).toEqual([
    "common",
    "common",
    "common",
  ]);
  expect(box(chat("-1001234567890"))).toBe("-1001234567890");
  expect(box(chat("-1009876543210"))).not.toBe(box(chat("-1001234567890")));
});

const ANSWERS: readonly [string, "own" | "other"][] = [
  ["Bad Request: message is not modified: specified new message content is exactly the same", "own"],
  ["Bad Request: message to edit not found", "other"],
  ["Bad Request: message can't be edited", "other"],
  ["Bad Request: MESSAGE_ID_INVALID", "other"],
];

it("takes the message itself for an answer: it had a keyboard", async () => {
  const rig = createTelegramRig();
  rig.api.answerNext("editMessageReplyMarkup", Response.json({ ok: true, result: { message_id: 42 } }));
  expect(await probingOf(rig).probe(chat("7"), "42", never())).toBe("own");
});

it("asks with the keyboard of the lost message, so that it keeps it", async () => {
  const rig = createTelegramRig();
  rig.api.answerNext("editMessageReplyMarkup", refusal(400, "Bad Request: message is not modified"));
  const buttons = [[{ kind: "callback", label: "Yes", token: "t1" }]] as const;
  const intended = { text: "Menu", entities: [], buttons };
  expect(await probingOf(rig).probe(chat("7"), "42", { ...never(), intended, buttons })).toBe("own");
  expect(rig.api.calls).toMatchObject([
    { payload: { reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "t1" }]] } } },
  ]);
});

it.each(ANSWERS)("understands %s", async (description, expected) => {
  const rig = createTelegramRig();
  rig.api.answerNext("editMessageReplyMarkup", refusal(400, description));
  expect(await probingOf(rig).probe(chat("7"), "42", never())).toBe(expected);
  // No keyboard, no text: nothing that could change the message.
  expect(rig.api.calls).toEqual([
    { method: "editMessageReplyMarkup", payload: { chat_id: 7, message_id: 42 } },
  ]);
});

it("tells in a supergroup whether there is such a message at all", async () => {
  const rig = createTelegramRig();
  const asked = async (description: string): Promise<string> => {
    rig.api.answerNext("editMessageReplyMarkup", refusal(400, description));
    return probingOf(rig).probe(chat("-1001234567890"), "42", never());
  };
  expect(await asked("Bad Request: message to edit not found")).toBe("none");
  expect(await asked("Bad Request: message can't be edited")).toBe("other");
  expect(await asked("Bad Request: message is not modified")).toBe("own");
});

it.each([
  [refusal(429, "Too Many Requests: retry after 7", { retry_after: 7 }), "retry-after"],
  [refusal(403, "Forbidden: bot was blocked by the user"), "gone"],
  [refusal(400, "Bad Request: something new"), "rejected"],
  [refusal(401, "Unauthorized"), "misconfigured"],
  [refusal(404, "Not Found"), "rejected"],
  [refusal(500, "Internal Server Error"), "transient"],
  [Response.json({ ok: true, result: true }), "rejected"],
  [Response.json({ ok: true, result: { message_id: 43 } }), "rejected"],
])("says nothing about the message when the call itself fails (%#)", async (answer, kind) => {
  const rig = createTelegramRig();
  rig.api.answerNext("editMessageReplyMarkup", answer);
  const error = await probingOf(rig)
    .probe(chat("7"), "42", never())
    .catch((reason: unknown) => reason);
  expect(rig.surface.classifyError(error).kind).toBe(kind);
});

describe("a server that cannot edit keyboards", () => {
  const intended = { text: "**not markup**", entities: [] };
  const notFound = () => refusal(404, "Not Found");

  /** The first question finds out that there is no such method; the engine asks again. */
  async function asked(...answers: Response[]) {
    const rig = createTelegramRig();
    const probing = probingOf(rig);
    rig.api.answerNext("editMessageReplyMarkup", notFound());
    const error = await probing
      .probe(chat("7"), "42", { ...never(), intended })
      .catch((reason: unknown) => reason);
    expect(rig.surface.classifyError(error)).toEqual({ kind: "transient", code: "method-missing" });
    for (const answer of answers) rig.api.answerNext("editMessageText", answer);
    const ask = () => probing.probe(chat("7"), "42", { ...never(), intended });
    return { ...rig, ask };
  }

  it.each([
    [refusal(400, "Bad Request: message is not modified"), "own"],
    [Response.json({ ok: true, result: { message_id: 42 } }), "own"],
    [refusal(400, "Bad Request: message to edit not found"), "other"],
    [refusal(400, "Bad Request: message can't be edited"), "other"],
  ] as const)("is asked by what the lost message should say (%#)", async (answer, expected) => {
    const { ask, api } = await asked(answer);
    expect(await ask()).toBe(expected);
    expect(api.calls.at(-1)).toMatchObject({
      method: "editMessageText",
      payload: { chat_id: 7, message_id: 42, text: intended.text },
    });
  });

  it("is not asked where nothing is known of what the message should say", async () => {
    const rig = createTelegramRig();
    rig.api.answerNext("editMessageReplyMarkup", notFound());
    const error = await probingOf(rig)
      .probe(chat("7"), "42", never())
      .catch((reason: unknown) => reason);
    expect(rig.surface.classifyError(error).kind).toBe("rejected");
  });

  it("says nothing when it knows no edits at all", async () => {
    const { ask, surface } = await asked(notFound());
    const error = await ask().catch((reason: unknown) => reason);
    expect(surface.classifyError(error)).toEqual({ kind: "rejected", code: "method-missing" });
  });
});

it("tells the bot's messages from all others, and changes none, with the Bot API's rules", async () => {
  await using simulator = await simulated();
  const { bot, surface } = simulator;
  const ada = bot.addUser({ first_name: "Ada" });
  const grace = bot.addUser({ first_name: "Grace" });
  const [here, there] = [bot.privateChat(ada), bot.privateChat(grace)];
  const address = chat(String(here.id));
  bot.sendText(here, ada, "hello");
  const own = await surface.post(address, { text: "Mine.", entities: [] }, never());
  const foreign = await surface.post(chat(String(there.id)), { text: "Elsewhere.", entities: [] }, never());
  const before = JSON.stringify(bot.messages(here));
  const ask = (id: string | number) => surface.probing?.probe(address, String(id), never());
  expect(await ask(own.messageId)).toBe("own");
  expect(await ask(Number(own.messageId) - 1)).toBe("other");
  expect(await ask(foreign.messageId)).toBe("other");
  expect(await ask(Number(foreign.messageId) + 1)).toBe("other");
  expect(Number(foreign.messageId)).toBe(Number(own.messageId) + 1);
  expect(JSON.stringify(bot.messages(here))).toBe(before);
});

it("passes on the ids of new messages, and of nothing else", () => {
  const message = { message_id: 45, date: 1_800_000_000, chat: { id: 7, type: "private" }, text: "Hi" };
  const routed = (update: object) => {
    const result = routeUpdate({ update_id: 1, ...update });
    return result.kind === "routed" ? result.event.messageId : result.kind;
  };
  expect(routed({ message })).toBe("45");
  expect(routed({ edited_message: { ...message, edit_date: 1_800_000_001 } })).toBeUndefined();
  expect(routed({ callback_query: { id: "1", from: { id: 7 }, message, data: "x" } })).toBeUndefined();
});

async function simulated() {
  const bot = await startSimulator({ bot: { username: "support_bot" } });
  const { platform } = telegramMessenger({
    token: bot.token,
    secretToken: "s3cret",
    apiBaseUrl: bot.url,
    fetch: (input, init) => systemDeps.fetch(input, init),
  });
  const { context } = createPlatformContext({ identity: async () => ({ userId: String(bot.bot.id) }) });
  return { bot, surface: platform.surface(context), [Symbol.asyncDispose]: () => bot.close() };
}
