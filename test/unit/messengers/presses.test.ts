import { expect, it } from "vitest";
import type { CardContent } from "../../../src/core/message/content.ts";
import { cardToken } from "../../../src/core/chat/card-token.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { createPressRig, DIRECT, GROUP, MENU, pressOf, pressWith, TOPIC } from "./press-rig.ts";
import type { PressRig } from "./press-rig.ts";

async function withMenu(rig: PressRig, thread = DIRECT, content = MENU): Promise<string> {
  const id = rig.post(thread, content);
  await rig.advance(500);
  return id;
}

it("hands a press with its payload to the bot, and shows what it returns", async () => {
  const rig = createPressRig({ onAction: ({ label }) => ({ text: `${label} it is.`, alert: true }) });
  const cardId = await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  expect(rig.presses).toMatchObject([
    {
      press: {
        cardId,
        payload: { dish: "soup", price: 5 },
        label: "Soup",
        person: { userId: "7" },
        chat: { chatId: "1" },
        isTyped: false,
      },
    },
  ]);
  expect(rig.answers()).toEqual([["query-c:9", "Soup it is."]]);
});

it("sends nothing of a payload to the platform, and tokens of at most 64 bytes", async () => {
  const rig = createPressRig();
  await withMenu(rig);
  const buttons = rig.surface.messages("1")[0]?.buttons?.flat() ?? [];
  expect(buttons.map((button) => Object.keys(button))).toEqual([
    ["kind", "label", "token"],
    ["kind", "label", "token"],
  ]);
  expect(JSON.stringify(buttons)).not.toContain("price");
  const long = cardToken({ key: "k".repeat(22), button: "b".repeat(10) });
  expect(new TextEncoder().encode(long).length).toBeLessThanOrEqual(64);
});

it("answers a press with nothing when the bot returns nothing", async () => {
  const rig = createPressRig();
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  expect(rig.answers()).toEqual([["query-c:9", undefined]]);
});

it("handles a press once, also when the platform sends it again", async () => {
  const rig = createPressRig({ onAction: () => "Ordered." });
  await withMenu(rig);
  const press = pressOf(rig, DIRECT, "Soup");
  await rig.receive(DIRECT, press);
  await rig.receive(DIRECT, press);
  rig.kill(DIRECT);
  await rig.receive(DIRECT, press);
  expect(rig.presses.length).toBe(1);
  expect(rig.answers().length).toBe(1);
});

it("does not handle a press again after the process died under its handler, and says so", async () => {
  const rig = createPressRig({ onAction: () => new Promise<never>(() => {}) });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  expect(rig.presses.length).toBe(1);
  rig.kill(DIRECT);
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  expect(rig.presses.length).toBe(1);
  const text = "I was interrupted. Please check whether it worked before you try again.";
  expect(rig.answers()).toEqual([["query-c:9", text]]);
});

it.each([
  ["handles a press again that had no effect when the process died", false, 2],
  ["says nothing of a press that had its effect when the process died", true, 1],
])("%s, if both are stored together", async (_what, hasEffect, handled) => {
  let life = 1;
  const rig = createPressRig({
    storesPresses: true,
    onAction: (press) => {
      if (life === 1 && !hasEffect) return new Promise<never>(() => {});
      press.handled();
      return life === 1 ? new Promise<never>(() => {}) : undefined;
    },
  });
  await withMenu(rig);
  const press = pressOf(rig, DIRECT, "Soup", { key: "c:9" });
  await rig.receive(DIRECT, press);
  rig.kill(DIRECT);
  life = 2;
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  await rig.receive(DIRECT, press);
  expect(rig.presses.length).toBe(handled);
  expect(rig.answers()).toEqual([["query-c:9", undefined]]);
});

it("says so in a later life if the process died again while it was saying it", async () => {
  const rig = createPressRig({ onAction: () => new Promise<never>(() => {}) });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  rig.kill(DIRECT);
  rig.surface.fault("answer", { kind: "hang" });
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  rig.kill(DIRECT);
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  const text = "I was interrupted. Please check whether it worked before you try again.";
  expect(rig.surface.calls.filter(({ method }) => method === "answer")).toMatchObject([
    { messageId: "query-c:9", text, outcome: "pending" },
    { messageId: "query-c:9", text, outcome: "done" },
  ]);
  // It has ended: nobody hears of it again.
  rig.kill(DIRECT);
  await rig.object(DIRECT).drive();
  await rig.advance(20_000);
  expect(rig.answers().length).toBe(2);
});

it.each([
  ["the card's button is gone", (): string => cardToken({ key: "forged", button: "x" })],
  ["the button is the bot's own", (): string => "own:1"],
])("answers a press again if the process died while it did: %s", async (_what, data) => {
  const rig = createPressRig();
  await withMenu(rig);
  rig.surface.fault("answer", { kind: "hang" });
  await rig.receive(DIRECT, pressWith(DIRECT, data(), { key: "c:9" }));
  rig.kill(DIRECT);
  await rig.object(DIRECT).drive();
  await rig.advance(1_000);
  const answers = rig.surface.calls.filter(({ method }) => method === "answer");
  expect(answers.map(({ outcome }) => outcome)).toEqual(["pending", "done"]);
});

it("handles a press once and answers it when its end cannot be stored", async () => {
  let isFull = false;
  const rig = createPressRig({
    onAction: () => {
      isFull = true;
      return "Ordered.";
    },
    beforeWrite: () => {
      if (isFull) throw new Error("disk is full");
    },
  });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
  await rig.advance(60_000);
  // It is tried again after a while, not at once.
  expect(rig.lines.filter((line) => line.includes("inbox.unreadable")).length).toBe(1);
  isFull = false;
  await rig.object(DIRECT).drive();
  await rig.advance(60_000);
  expect(rig.presses.length).toBe(1);
  expect(rig.answers().map(([, text]) => text)).toEqual(["Ordered."]);
  expect(rig.lines.filter((line) => line.includes("press: handled")).length).toBe(1);
});

it("acknowledges a press after 10 s when its handler is slow", async () => {
  let finish = (_text: string): void => {};
  const slow = new Promise<string>((resolve) => (finish = resolve));
  const rig = createPressRig({ onAction: () => slow });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  await rig.advance(9_000);
  expect(rig.answers()).toEqual([]);
  await rig.advance(1_000);
  expect(rig.answers()).toEqual([["query-c:9", undefined]]);
  finish("Done.");
  await rig.advance(1_000);
  expect(rig.answers().length).toBe(1);
  expect(rig.lines.some((line) => line.includes("press.answer-too-late"))).toBe(true);
});

it("acknowledges a press after 10 s when it takes longer to find out whether the person may press", async () => {
  let decide = (_mayUse: boolean): void => {};
  const slow = new Promise<boolean>((resolve) => (decide = resolve));
  const rig = createPressRig({ definition: { allow: () => slow }, onAction: () => "Ordered." });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  await rig.advance(9_500);
  expect(rig.answers()).toEqual([["query-c:9", undefined]]);
  decide(true);
  await rig.advance(1_000);
  expect(rig.presses.length).toBe(1);
  expect(rig.answers().length).toBe(1);
});

it("acknowledges a press once when the function that decides about people fails each time", async () => {
  const failing = (): Promise<boolean> => Promise.reject(new Error("The list cannot be read."));
  const rig = createPressRig({ definition: { allow: failing } });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup", { key: "c:9" }));
  await rig.advance(9_500);
  expect(rig.answers()).toEqual([["query-c:9", undefined]]);
  await rig.advance(10 * 60_000);
  expect(rig.answers().length).toBe(1);
  expect(rig.presses).toEqual([]);
});

it("handles other events while a handler is slow", async () => {
  const rig = createPressRig({
    onAction: ({ label }) => (label === "Soup" ? new Promise<never>(() => {}) : "Cake it is."),
  });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Cake", { key: "c:cake" }));
  expect(rig.answers()).toEqual([["query-c:cake", "Cake it is."]]);
});

it("shows a safe text when the handler throws, and logs the kind of error without its words", async () => {
  const rig = createPressRig({
    onAction: () => {
      throw new RangeError("secret words");
    },
  });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
  const [[, text] = []] = rig.answers();
  expect(text).toMatch(/^Sorry, something went wrong/);
  const lines = rig.lines.filter((line) => line.includes("bot.failed"));
  expect(lines.length).toBe(1);
  expect(lines[0]).toMatch(/onAction.*RangeError/);
  expect(rig.lines.join()).not.toContain("secret words");
});

it("says privately that a button has no use any more: its card is revised, removed or unknown", async () => {
  const rig = createPressRig();
  const id = await withMenu(rig);
  const { cards } = rig.object(DIRECT);
  const soup = pressOf(rig, DIRECT, "Soup");
  const cake = pressOf(rig, DIRECT, "Cake");
  cards.revise(id, { kind: "card", text: "No more soup", buttons: [MENU.buttons?.[0]?.slice(1) ?? []] });
  await rig.advance(500);
  await rig.receive(DIRECT, soup);
  const stale = "This button is no longer in use.";
  expect(rig.answers().map(([, text]) => text)).toEqual([stale]);
  // The button that stayed has kept its token.
  await rig.receive(DIRECT, cake);
  expect(rig.presses.map(({ press }) => press.label)).toEqual(["Cake"]);
  cards.remove(id);
  await rig.advance(500);
  await rig.receive(DIRECT, {
    ...cake,
    key: "c:again",
    action: { id: "again", data: cake.action?.data ?? "" },
  });
  await rig.receive(
    DIRECT,
    pressWith(DIRECT, cardToken({ key: "forged", button: "x" }), { key: "c:forged" }),
  );
  expect(rig.presses.length).toBe(1);
  expect(rig.answers().map(([, text]) => text)).toEqual([stale, undefined, stale, stale]);
});

it("takes no press of a card that comes from another chat", async () => {
  const rig = createPressRig();
  await withMenu(rig);
  const { action } = pressOf(rig, DIRECT, "Soup");
  await rig.receive(GROUP, pressWith(GROUP, action?.data ?? "", { key: "c:elsewhere" }));
  expect(rig.presses).toEqual([]);
  expect(rig.answers().map(([, text]) => text)).toEqual(["This button is no longer in use."]);
});

it("refuses a person who may not use the bot, privately", async () => {
  const rig = createPressRig({ definition: { allow: ["8"] } });
  await withMenu(rig);
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
  expect(rig.presses).toEqual([]);
  expect(rig.answers().map(([, text]) => text)).toEqual([
    "Sorry, this bot is private, so I can't help you here.",
  ]);
});

it("hands a press from the gate of its chat to the conversation that posted the card", async () => {
  const rig = createPressRig({ onAction: () => "Here." });
  await withMenu(rig, TOPIC);
  await rig.receive(GROUP, pressOf(rig, TOPIC, "Soup"));
  await rig.advance(500);
  expect(rig.presses.map(({ object }) => object)).toEqual(["default/thread:telegram:telegram%3A-5%3A7"]);
  expect(rig.answers().map(([, text]) => text)).toEqual(["Here."]);
});

it("hands a press over once, when the gate dies around it and the platform sends it again", async () => {
  const rig = createPressRig({ onAction: () => "Here." });
  await withMenu(rig, TOPIC);
  const press = pressOf(rig, TOPIC, "Soup");
  await rig.receive(GROUP, press);
  rig.kill(GROUP);
  await rig.receive(GROUP, press);
  rig.kill(TOPIC);
  await rig.receive(GROUP, press);
  await rig.object(TOPIC).drive();
  await rig.advance(1_000);
  expect(rig.presses.length).toBe(1);
  expect(rig.answers().length).toBe(1);
});

it("treats a press that no card of ours claims as before", async () => {
  const rig = createPressRig();
  await rig.receive(DIRECT, pressWith(DIRECT, "own:1", { key: "c:own" }));
  expect(rig.presses).toEqual([]);
  expect(rig.answers()).toEqual([["query-c:own", undefined]]);
});

function numberFrom(rig: PressRig, text: string, thread = DIRECT, id = rig.surface.numberForOther()) {
  const kind = thread.isDirectMessage ? "direct-message" : "message";
  return messageEvent({ key: `m:${id}`, kind, thread, message: { id, text, sentAt: rig.clock.now() } });
}

const NUMBERED: CardContent = { ...MENU, numbered: true };

it("takes a bare number as a press of the newest numbered card, and answers with a message", async () => {
  const rig = createPressRig({ onAction: ({ label }) => `${label} it is.` });
  const early = rig.surface.numberForOther();
  await withMenu(rig, DIRECT, NUMBERED);
  expect(rig.surface.visible("1")).toEqual(["Menu\n\n1. Soup\n2. Cake"]);
  await rig.receive(DIRECT, numberFrom(rig, "2"));
  expect(rig.presses).toMatchObject([{ press: { label: "Cake", isTyped: true } }]);
  expect(rig.surface.visible("1").at(-1)).toBe("Cake it is.");
  // Sent before the card, out of range, or no bare number.
  await rig.receive(DIRECT, numberFrom(rig, "1", DIRECT, early));
  await rig.receive(DIRECT, numberFrom(rig, "3"));
  await rig.receive(DIRECT, numberFrom(rig, "1 please"));
  expect(rig.presses.length).toBe(1);
});

it("listens to numbers only for the newest open card", async () => {
  const rig = createPressRig();
  const first = await withMenu(rig, DIRECT, NUMBERED);
  const second = await withMenu(rig, DIRECT, { ...NUMBERED, text: "Drinks" });
  await rig.receive(DIRECT, numberFrom(rig, "1"));
  expect(rig.presses.map(({ press }) => press.cardId)).toEqual([second]);
  rig.object(DIRECT).cards.revise(second, "Thank you.");
  await rig.advance(500);
  await rig.receive(DIRECT, numberFrom(rig, "1"));
  expect(rig.presses.map(({ press }) => press.cardId)).toEqual([second, first]);
});

it("takes a number in a topic for the card of that topic, and hands it to the card's conversation", async () => {
  const rig = createPressRig();
  const id = rig.post(DIRECT, NUMBERED, TOPIC);
  await rig.advance(500);
  await rig.receive(TOPIC, numberFrom(rig, "1", TOPIC));
  await rig.advance(500);
  expect(rig.presses).toMatchObject([
    { object: "default/thread:telegram:telegram%3A1", press: { cardId: id } },
  ]);
  // The thread without a topic has no such card.
  await rig.receive(GROUP, numberFrom(rig, "1", GROUP));
  expect(rig.presses.length).toBe(1);
});

it("hands a number on once more if it has not heard of it, also if the card asks for no number by then", async () => {
  let handedOver = 0;
  const rig = createPressRig({
    onHandOver: async () => {
      if ((handedOver += 1) > 1) return;
      rig.post(DIRECT, NUMBERED, TOPIC);
      throw new Error("The answer is lost.");
    },
  });
  const id = rig.post(DIRECT, NUMBERED, TOPIC);
  await rig.advance(500);
  await rig.receive(TOPIC, numberFrom(rig, "1", TOPIC));
  await rig.advance(20_000);
  rig.object(TOPIC).poke();
  await rig.advance(500);
  expect(handedOver).toBe(2);
  expect(rig.presses).toMatchObject([{ press: { cardId: id } }]);
  expect(rig.lines.join()).not.toContain('"queued"');
});

it("hands a message that quotes a card to the conversation of the card, and only there", async () => {
  const rig = createPressRig();
  rig.post(DIRECT, MENU, TOPIC);
  await rig.advance(500);
  const quotedId = rig.surface.messages("-5").at(-1)?.id ?? "";
  const quoted = { id: quotedId, text: "Menu", isFromBot: true, attachments: [] };
  const id = rig.surface.numberForOther();
  const reply = messageEvent({
    key: "m:quote",
    kind: "mention",
    thread: TOPIC,
    message: { id, text: "Without onions?", quoted },
  });
  await rig.receive(TOPIC, reply);
  await rig.advance(500);
  const outcomes = rig.lines.filter((line) => line.includes("inbox.event") && line.includes("-5"));
  expect(outcomes.filter((line) => line.includes("passed on to the conversation of its card")).length).toBe(
    1,
  );
  expect(outcomes.filter((line) => line.includes("queued")).length).toBe(1);
});

it("keeps a message that quotes a card of the root where it is, and hands on presses and numbers (I11)", async () => {
  const rig = createPressRig();
  rig.broadcast(NUMBERED, GROUP);
  await rig.advance(500);
  const quotedId = rig.surface.messages("-5").at(-1)?.id ?? "";
  const quoted = { id: quotedId, text: "Menu", isFromBot: true, attachments: [] };
  const question = numberFrom(rig, "What have the others ordered?", GROUP);
  const reply = messageEvent({ ...question, kind: "mention", message: { ...question.message, quoted } });
  await rig.receive(GROUP, reply);
  const outcomes = rig.lines.filter((line) => line.includes("inbox.event"));
  expect(outcomes.length).toBe(1);
  expect(outcomes[0]).toContain('"queued"');
  await rig.receive(GROUP, pressOf(rig, GROUP, "Soup"));
  await rig.receive(GROUP, numberFrom(rig, "2", GROUP));
  await rig.advance(500);
  expect(rig.presses).toMatchObject([
    { object: "default", press: { label: "Soup" } },
    { object: "default", press: { label: "Cake" } },
  ]);
});

it("takes no number that was sent before the card was revised, because it may mean something else now", async () => {
  const rig = createPressRig();
  const id = await withMenu(rig, DIRECT, NUMBERED);
  await rig.advance(5_000);
  const late = numberFrom(rig, "2");
  const quotedId = rig.surface.messages("1").at(-1)?.id ?? "";
  const quoted = { id: quotedId, text: "Menu", isFromBot: true, attachments: [] };
  const lateReply = numberFrom(rig, "2");
  await rig.advance(2_000);
  const [[soup] = []] = MENU.buttons ?? [];
  if (soup === undefined) throw new Error("The menu has buttons.");
  const pay = { kind: "callback", label: "Pay for all", payload: "pay" } as const;
  rig.object(DIRECT).cards.revise(id, { ...NUMBERED, buttons: [[soup, pay]] });
  await rig.advance(2_000);
  await rig.receive(DIRECT, late);
  await rig.receive(DIRECT, messageEvent({ ...lateReply, message: { ...lateReply.message, quoted } }));
  expect(rig.presses).toEqual([]);
  await rig.receive(DIRECT, numberFrom(rig, "2"));
  expect(rig.presses).toMatchObject([{ press: { label: "Pay for all" } }]);
});

it("takes the caption of a file for no number, so that the file is not lost", async () => {
  const rig = createPressRig();
  await withMenu(rig, DIRECT, NUMBERED);
  const picture = numberFrom(rig, "2");
  const attachments = [{ kind: "image", reference: { fileId: "photo" } }] as const;
  await rig.receive(DIRECT, messageEvent({ ...picture, message: { ...picture.message, attachments } }));
  expect(rig.presses).toEqual([]);
  expect(rig.lines.some((line) => line.includes('"queued"'))).toBe(true);
});

it("says nothing in a group to people who may not use the bot and write numbers", async () => {
  const rig = createPressRig({ definition: { allow: ["7"] } });
  await withMenu(rig, GROUP, NUMBERED);
  const author = { userId: "8", fullName: "Mallory" };
  for (const number of ["1", "2", "1"])
    await rig.receive(GROUP, { ...numberFrom(rig, number, GROUP), author });
  await rig.advance(5_000);
  expect(rig.presses).toEqual([]);
  expect(rig.surface.visible("-5")).toEqual(["Menu\n\n1. Soup\n2. Cake"]);
  await rig.receive(GROUP, numberFrom(rig, "1", GROUP));
  expect(rig.presses.length).toBe(1);
});
