import { expect, it } from "vitest";
import type { CardNews, ClaimQuestion } from "../../../src/core/chat/gate.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { ADDRESS } from "./engine-harness.ts";
import { gateRig, OTHER, TOPIC } from "./gate-rig.ts";
import type { GateRig } from "./gate-rig.ts";

const card = (key: string, message: number, more: Partial<CardNews> = {}): CardNews => ({
  key,
  revision: 1,
  options: 0,
  messageIds: [`${message}`],
  sentAt: message * 1_000,
  asksForWord: true,
  ...more,
});

/** Another conversation shows a card. */
async function show({ gate }: GateRig, news: CardNews, address: Address = ADDRESS): Promise<void> {
  await gate.noteCard({ address, speaker: OTHER, card: news });
}

/** Returns the card that a word is about, if there is one. */
async function meant(
  { gate }: GateRig,
  message: number,
  { address = ADDRESS, ...more }: Partial<ClaimQuestion> & { readonly address?: Address } = {},
): Promise<string | undefined> {
  const { chatId, messengerId, threadId } = address;
  const question = { messengerId, chatId, threadId, messageId: `${message}`, sentAt: message * 1_000 };
  const claim = await gate.claimMessage({ ...question, isNumbered: true, wordSince: 0, ...more });
  if (claim !== undefined) expect(claim).toEqual({ key: claim.key, speaker: OTHER, isBareWord: true });
  return claim?.key;
}

it("finds the newest card that asked before the word, also after a restart", async () => {
  const rig = gateRig();
  await show(rig, card("first", 10));
  await show(rig, card("second", 20));
  await show(rig, card("menu", 22, { asksForWord: false }));
  await show(rig, card("unsent", 23, { messageIds: [], sentAt: undefined as never }));
  expect([await meant(rig, 9), await meant(rig, 15), await meant(rig, 25)]).toEqual([
    undefined,
    "first",
    "second",
  ]);
  const restarted = rig.restart();
  expect(await meant(restarted, 15)).toBe("first");
});

it("finds no card that the bot has spoken after, and none that is decided", async () => {
  const rig = gateRig();
  await show(rig, card("first", 10));
  await show(rig, card("second", 20));
  expect(await meant(rig, 25, { wordSince: 19_000 })).toBe("second");
  expect(await meant(rig, 25, { wordSince: 20_000 })).toBeUndefined();
  await show(rig, card("second", 20, { revision: 2, asksForWord: false }));
  expect(await meant(rig, 25)).toBe("first");
  // A report that was overtaken changes nothing.
  await show(rig, card("second", 20));
  expect(await meant(rig, 25)).toBe("first");
});

it("finds cards of the same topic and chat only", async () => {
  const rig = gateRig();
  await show(rig, card("topic", 10), TOPIC);
  expect(await meant(rig, 15)).toBeUndefined();
  expect(await meant(rig, 15, { address: { ...TOPIC, chatId: "8" } })).toBeUndefined();
  expect(await meant(rig, 15, { address: TOPIC })).toBe("topic");
});

it("has nothing to do with numbers", async () => {
  const rig = gateRig();
  await show(rig, card("asks", 10));
  expect(await meant(rig, 15, { wordSince: undefined as never, number: 1 })).toBeUndefined();
});

it("reads the cards that an earlier release has stored", async () => {
  const database = createNodeDatabase();
  database.run(`CREATE TABLE gate_card_v1 (card_key TEXT PRIMARY KEY, messenger_id TEXT NOT NULL,
    chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, speaker TEXT NOT NULL, options INTEGER NOT NULL,
    message_ids TEXT NOT NULL, sent_at INTEGER, revision INTEGER NOT NULL, noted_at INTEGER NOT NULL) WITHOUT ROWID`);
  const { chatId, messengerId, threadId } = ADDRESS;
  const old = ["old", messengerId, chatId, threadId, OTHER, 0, '["10"]', 10_000, 1, 0] as const;
  database.run("INSERT INTO gate_card_v1 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", ...old);
  const rig = gateRig({ database });
  expect(await meant(rig, 15)).toBeUndefined();
  expect(await rig.gate.findCard({ messengerId, chatId, key: "old" })).toEqual({ speaker: OTHER });
  await show(rig, card("new", 12));
  expect(await meant(rig, 15)).toBe("new");
});

it("gives any message that came after a card to it while it asks for one, also after a restart", async () => {
  const rig = gateRig();
  const heard = async ({ gate }: GateRig, message: number, more: Partial<ClaimQuestion> = {}) => {
    const { chatId, messengerId, threadId } = ADDRESS;
    const asked = { messengerId, chatId, threadId, messageId: `${message}`, sentAt: message * 1_000 };
    return (await gate.claimMessage({ ...asked, isNumbered: true, ...more }))?.key;
  };
  await show(rig, card("plain", 5, { asksForWord: false }));
  expect(await heard(rig, 30)).toBeUndefined();
  await show(rig, card("secret", 10, { asksForWord: false, asksForMessage: true }));
  await show(rig, card("topic", 20, { asksForWord: false, asksForMessage: true }), TOPIC);
  const restarted = rig.restart();
  expect([await heard(restarted, 9), await heard(restarted, 30)]).toEqual([undefined, "secret"]);
  expect(await heard(restarted, 30, { number: 7 })).toBe("secret");
  expect(await heard(restarted, 30, { quotedId: "29" })).toBe("secret");
  expect(await heard(restarted, 30, { quotedId: "5" })).toBe("plain");
  expect(await heard(restarted, 30, { chatId: "8" })).toBeUndefined();
  await show(restarted, card("secret", 10, { asksForWord: false, revision: 2 }));
  expect(await heard(restarted, 30)).toBeUndefined();
  // Its post has no answer, so a person may see it. After a while it counts as lost.
  const {
    messageIds: _ids,
    sentAt: _at,
    ...unsent
  } = card("lost", 40, { asksForWord: false, asksForMessage: true });
  await show(restarted, { ...unsent, messageIds: [] });
  expect(await heard(restarted, 31)).toBe("lost");
  await restarted.clock.advance(11 * 60_000);
  expect(await heard(restarted, 31)).toBeUndefined();
});

it("gives a message to a card that is posted again and still asks, wherever its newest message stands", async () => {
  const rig = gateRig();
  const asks = { asksForWord: false, asksForMessage: true };
  await show(rig, card("secret", 10, asks));
  await show(rig, card("secret", 40, { ...asks, revision: 2 }));
  const { chatId, messengerId, threadId } = ADDRESS;
  const asked = { messengerId, chatId, threadId, messageId: "30", isNumbered: true };
  const heard = await rig.gate.claimMessage({ ...asked, sentAt: rig.clock.now() });
  expect(heard?.key).toBe("secret");
  expect(await rig.gate.claimMessage({ ...asked, sentAt: rig.clock.now() - 60_000 })).toBeUndefined();
});
