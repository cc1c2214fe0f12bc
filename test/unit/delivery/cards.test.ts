import { expect, it } from "vitest";
import { cardOf, PHOTO } from "./card-harness.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import { probed } from "./probed-harness.ts";

const LIMITS = { maxLength: 100, maxEntities: 100 };
const CHAT = ADDRESS.chatId;
const IMAGES = { capabilities: { images: true } } as const;

it("posts a card with its buttons, and shows fields below the text", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  const card = cardOf("**Menu**", ["Soup", "Cake"], {
    fields: [
      { label: "Today", value: "*fresh*" },
      { label: "Price", value: "5 €" },
    ],
  });
  delivery.sendCard(start("c1"), card);
  await advance(1_000);
  expect(visible()).toEqual(["Menu\n\nToday: *fresh*\nPrice: 5 €"]);
  expect(surface.keyboards(CHAT)).toEqual([[["Soup", "Cake"]]]);
  expect(delivery.receipt("c1")).toMatchObject({ state: "delivered", messages: [{ messageId: "101" }] });
});

it("puts the buttons on the last message of a long card", async () => {
  const { advance, delivery, start, surface } = createHarness({ surface: { limits: LIMITS } });
  delivery.sendCard(start("c1"), cardOf("One two three four five six. ".repeat(5), ["Yes"]));
  await advance(1_000);
  const keyboards = surface.keyboards(CHAT);
  expect(keyboards.length).toBeGreaterThan(1);
  expect(keyboards.at(-1)).toEqual([["Yes"]]);
  expect(keyboards.slice(0, -1).every((keyboard) => keyboard === undefined)).toBe(true);
});

it("edits a delivered card in place, and keeps its keyboard when only the text changes", async () => {
  const { advance, delivery, ended, start, surface, visible } = createHarness();
  delivery.sendCard(start("c1"), cardOf("Waiting", ["Approve", "Reject"]));
  await advance(1_000);
  expect(delivery.revise("c1", cardOf("Still waiting", ["Approve", "Reject"]))).toBe(true);
  expect(delivery.receipt("c1")?.state).toBe("final");
  await advance(1_000);
  expect(visible()).toEqual(["Still waiting"]);
  expect(surface.keyboards(CHAT)).toEqual([[["Approve", "Reject"]]]);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "edit"]);
  expect(ended).toEqual([
    ["c1", "delivered"],
    ["c1", "delivered"],
  ]);
});

it("edits a card of which only the buttons change, and takes them away", async () => {
  const { advance, delivery, start, surface } = createHarness();
  delivery.sendCard(start("c1"), cardOf("Menu", ["Soup"]));
  await advance(1_000);
  delivery.revise("c1", cardOf("Menu", ["Cake"]));
  await advance(1_000);
  expect(surface.keyboards(CHAT)).toEqual([[["Cake"]]]);
  delivery.revise("c1", cardOf("Menu"));
  await advance(1_000);
  expect(surface.keyboards(CHAT)).toEqual([undefined]);
});

it("edits a card once for each of two revisions that follow one another", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  delivery.sendCard(start("c1"), cardOf("One"));
  await advance(1_000);
  delivery.revise("c1", cardOf("Two"));
  await advance(1_000);
  delivery.revise("c1", cardOf("Three"));
  await advance(1_000);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
  await advance(60_000);
  expect(visible()).toEqual(["Three"]);
  expect(surface.calls.map(({ method }) => method)).toEqual(["post", "edit", "edit"]);
});

it("shows a revision again if the edit of the one before may still land", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ policy: { callTimeoutMs: 1_000 } });
  delivery.sendCard(start("c1"), cardOf("One"));
  await advance(1_000);
  surface.fault("edit", { kind: "hang", answerAfterMs: 3_500 });
  delivery.revise("c1", cardOf("Two"));
  await advance(2_500);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
  delivery.revise("c1", cardOf("Three"));
  await advance(30_000);
  expect(visible()).toEqual(["Three"]);
});

it("shows the later of two revisions, also when the edit of the earlier one hangs", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ policy: { callTimeoutMs: 1_000 } });
  delivery.sendCard(start("c1"), cardOf("One"));
  await advance(1_000);
  surface.fault("edit", { kind: "hang", answerAfterMs: 1_500 });
  delivery.revise("c1", cardOf("Two"));
  await advance(100);
  delivery.revise("c1", cardOf("Three"));
  await advance(30_000);
  expect(visible()).toEqual(["Three"]);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("posts the newest revision when the first post was refused for pacing", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  surface.fault("post", { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 5_000 } });
  delivery.sendCard(start("c1"), cardOf("One", ["Yes"]));
  await advance(1_000);
  delivery.revise("c1", cardOf("Two", ["No"]));
  await advance(10_000);
  expect(visible()).toEqual(["Two"]);
  expect(surface.keyboards(CHAT)).toEqual([[["No"]]]);
  expect(surface.penaltyBreaches).toEqual([]);
});

it("waits with a revision until a penalty is over", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  delivery.sendCard(start("c1"), cardOf("One", ["Yes"]));
  await advance(1_000);
  surface.fault("edit", { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 9_000 } });
  delivery.revise("c1", cardOf("Two", ["Yes"]));
  await advance(5_000);
  expect(visible()).toEqual(["One"]);
  await advance(10_000);
  expect(visible()).toEqual(["Two"]);
  expect(surface.keyboards(CHAT)).toEqual([[["Yes"]]]);
  expect(surface.penaltyBreaches).toEqual([]);
});

it("removes a card, and does nothing for one that is not there", async () => {
  const { advance, delivery, start, visible } = createHarness();
  delivery.sendCard(start("c1"), cardOf("Menu", ["Soup"]));
  delivery.send(start("r1"), "A notice.");
  await advance(1_000);
  expect(delivery.remove("c1", "key-1", "(removed)")).toBe(true);
  expect(delivery.remove("r1", "key-1", "(removed)")).toBe(false);
  expect(delivery.revise("r1", cardOf("Menu"))).toBe(false);
  expect(delivery.revise("c9", cardOf("Menu"))).toBe(false);
  await advance(1_000);
  expect(visible()).toEqual(["A notice."]);
});

it("never posts a card that is removed before its post was made", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  surface.fault("post", { kind: "fail", failure: { kind: "transient", code: "busy" } });
  delivery.sendCard(start("c1"), cardOf("Menu", ["Soup"]));
  await advance(100);
  delivery.remove("c1", "key-1", "(removed)");
  await advance(10_000);
  expect(visible()).toEqual([]);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("edits a card that the platform does not remove any more, in all its messages", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: { limits: LIMITS } });
  delivery.sendCard(start("c1"), cardOf("One two three four five six. ".repeat(4), ["Yes"]));
  await advance(1_000);
  const count = visible().length;
  surface.lockMessages(CHAT);
  delivery.remove("c1", "key-1", "(removed)");
  await advance(5_000);
  expect(visible()).toEqual(Array.from({ length: count }, () => "(removed)"));
  expect(surface.keyboards(CHAT).every((keyboard) => keyboard === undefined)).toBe(true);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("shows no old text of a card that became shorter when the platform keeps its messages", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: { limits: LIMITS } });
  delivery.sendCard(start("c1"), cardOf("One two three four five six. ".repeat(6), ["Yes"]));
  await advance(1_000);
  expect(visible()).toHaveLength(3);
  surface.lockMessages(CHAT);
  delivery.revise("c1", cardOf("Done.", ["Again"]));
  await advance(5_000);
  expect(visible()).toEqual(["Done.", "(removed)", "(removed)"]);
  expect(surface.keyboards(CHAT)).toEqual([[["Again"]], undefined, undefined]);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("shows a card that grows again in the messages that the platform kept, in order", async () => {
  const harness = createHarness({ surface: { limits: LIMITS } });
  const { advance, delivery, start, surface, visible } = harness;
  const long = cardOf("One two three four five six. ".repeat(6), ["Yes"]);
  delivery.sendCard(start("c1"), long);
  await advance(1_000);
  const whole = visible();
  surface.lockMessages(CHAT);
  delivery.revise("c1", cardOf("Done."));
  await advance(5_000);
  delivery.revise("c1", long);
  await advance(5_000);
  expect(visible()).toEqual(whole);
  expect(surface.keyboards(CHAT)).toEqual([undefined, undefined, [["Yes"]]]);
  expect(surface.calls.filter(({ method }) => method === "post")).toHaveLength(3);
});

it("shows all of a card that grows again after a removal without an answer", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: { limits: LIMITS } });
  const long = cardOf("One two three four five six. ".repeat(6), ["Yes"]);
  delivery.sendCard(start("c1"), long);
  await advance(1_000);
  const whole = visible();
  surface.fault("remove", { kind: "lose", done: true });
  delivery.revise("c1", cardOf("Done."));
  await advance(120);
  expect(visible()).toHaveLength(2);
  delivery.revise("c1", long);
  await advance(20_000);
  expect(visible()).toEqual(whole);
  expect(surface.keyboards(CHAT)).toEqual([undefined, undefined, [["Yes"]]]);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("says below an old picture that it is no longer part of its card when the platform keeps it", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: IMAGES });
  delivery.sendCard(start("c1"), cardOf("A lamp", ["Buy"], { image: PHOTO }));
  await advance(1_000);
  surface.lockMessages(CHAT);
  delivery.revise("c1", cardOf("Sold out"));
  await advance(5_000);
  expect(visible()).toEqual(["(removed)", "Sold out"]);
  expect(surface.messages(CHAT)[0]).toMatchObject({ image: PHOTO, buttons: undefined });
});

it("posts nothing instead of an old message that the platform neither removes nor edits", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: { limits: LIMITS } });
  delivery.sendCard(start("c1"), cardOf("One two three four five six. ".repeat(4), ["Yes"]));
  await advance(1_000);
  const [, second] = visible();
  surface.lockMessages(CHAT);
  const refused = { kind: "missing", code: "message-locked", isLocked: true } as const;
  surface.fault("edit", undefined, { kind: "fail", failure: refused });
  delivery.revise("c1", cardOf("Done."), "post");
  await advance(5_000);
  expect(visible()).toEqual(["Done.", second]);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("says below its picture that a card is removed when the platform keeps the message", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: IMAGES });
  delivery.sendCard(start("c1"), cardOf("A lamp", ["Buy"], { image: PHOTO }));
  await advance(1_000);
  surface.lockMessages(CHAT);
  delivery.remove("c1", "key-1", "(removed)");
  await advance(5_000);
  expect(visible()).toEqual(["(removed)"]);
  expect(surface.messages(CHAT)[0]).toMatchObject({ image: PHOTO, buttons: undefined });
});

it("leaves a card deleted that a person has deleted, unless it is asked to post it again", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  delivery.sendCard(start("c1"), cardOf("One", ["Yes"]));
  await advance(1_000);
  surface.deleteMessage(CHAT, "101");
  delivery.revise("c1", cardOf("Two", ["Yes"]));
  await advance(1_000);
  expect(visible()).toEqual([]);
  delivery.revise("c1", cardOf("Three", ["Yes"]));
  await advance(1_000);
  expect(visible()).toEqual([]);
  delivery.revise("c1", cardOf("Four", ["Yes"]), "post");
  await advance(1_000);
  expect(visible()).toEqual(["Four"]);
  surface.deleteMessage(CHAT, "102");
  delivery.revise("c1", cardOf("Five", ["Yes"]), "post");
  await advance(5_000);
  expect(visible()).toEqual(["Five"]);
  expect(surface.keyboards(CHAT)).toEqual([[["Yes"]]]);
});

it("posts a card again when a picture comes or goes, and removes the old message", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({ surface: IMAGES });
  delivery.sendCard(start("c1"), cardOf("A lamp", ["Buy"]));
  await advance(1_000);
  delivery.revise("c1", cardOf("A lamp", ["Buy"], { image: PHOTO }));
  await advance(2_000);
  expect(visible()).toEqual(["A lamp"]);
  expect(surface.messages(CHAT)).toMatchObject([{ id: "102", image: PHOTO }]);
  delivery.revise("c1", cardOf("The last lamp", ["Buy"], { image: PHOTO }));
  await advance(2_000);
  expect(surface.messages(CHAT)).toMatchObject([{ id: "102", text: "The last lamp" }]);
  delivery.revise("c1", cardOf("Sold"));
  await advance(2_000);
  expect(surface.messages(CHAT)).toMatchObject([{ id: "103", text: "Sold", image: undefined }]);
});

it("tries a refused card again with its next revision", async () => {
  const { advance, delivery, start, surface, visible } = createHarness();
  surface.fault("post", { kind: "fail", failure: { kind: "rejected", code: "bad-button" } });
  delivery.sendCard(start("c1"), cardOf("One", ["Yes"]));
  await advance(1_000);
  expect(delivery.receipt("c1")?.state).toBe("failed");
  delivery.revise("c1", cardOf("Two", ["Yes"]));
  await advance(1_000);
  expect(visible()).toEqual(["Two"]);
  expect(delivery.receipt("c1")?.state).toBe("delivered");
});

it("sends silently and protected when that is asked for", async () => {
  const { advance, delivery, start, surface } = createHarness();
  delivery.sendCard(start("c1", { replyTo: "17" }), cardOf("One"), { silent: true, protect: true });
  delivery.send(start("r1"), "Two", { silent: true });
  await advance(1_000);
  expect(surface.calls).toMatchObject([
    { method: "post", silent: true, protect: true, replyTo: "17" },
    { method: "post", silent: true },
  ]);
});

it.each([true, false])(
  "finds a lost card with its keyboard, or posts it once more: made %s",
  async (done) => {
    const { advance, delivery, probes, start, surface, visible } = probed();
    surface.fault("post", { kind: "lose", done });
    delivery.sendCard(start("c1"), cardOf("Menu", ["Soup"]));
    await advance(30_000);
    expect(visible()).toEqual(["Menu"]);
    expect(surface.keyboards(CHAT)).toEqual([[["Soup"]]]);
    expect(probes().length).toBeGreaterThan(0);
    expect(delivery.receipt("c1")?.state).toBe("delivered");
  },
);

it("keeps the keyboard of a known card while a lost post is searched", async () => {
  const { advance, delivery, start, surface, visible } = probed();
  delivery.sendCard(start("c1"), cardOf("Menu", ["Soup"]));
  await advance(1_000);
  surface.numberForOther();
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), "A notice.");
  await advance(30_000);
  expect(visible()).toEqual(["Menu", "A notice."]);
  expect(surface.keyboards(CHAT)).toEqual([[["Soup"]], undefined]);
});

it("revises a lost card only once it is known where it is", async () => {
  const { advance, delivery, start, surface, visible } = probed();
  surface.fault("post", { kind: "lose", done: true });
  surface.fault("probe", { kind: "lose", done: false });
  delivery.sendCard(start("c1"), cardOf("One", ["Yes"]));
  await advance(200);
  delivery.revise("c1", cardOf("Two", ["No"]));
  await advance(30_000);
  expect(visible()).toEqual(["Two"]);
  expect(surface.keyboards(CHAT)).toEqual([[["No"]]]);
});

it("keeps the rows of a card for 90 days, and revises it until then", async () => {
  const { advance, delivery, start } = createHarness();
  const day = 86_400_000;
  delivery.sendCard(start("c1"), cardOf("Menu", ["Soup"]));
  delivery.send(start("r1"), "A notice.");
  await advance(1_000);
  await advance(89 * day);
  await delivery.run();
  expect(delivery.receipt("r1")).toBeUndefined();
  expect(delivery.revise("c1", cardOf("Menu", ["Cake"]))).toBe(true);
  await advance(2 * day);
  await delivery.run();
  expect(delivery.receipt("c1")).toBeUndefined();
  expect(delivery.revise("c1", cardOf("Menu"))).toBe(false);
});

it("keeps nothing of what a card said once it is visible", async () => {
  const { advance, database, delivery, start } = createHarness();
  delivery.sendCard(start("c1"), cardOf("A secret", ["Tell"]));
  await advance(1_000);
  const rows = JSON.stringify([
    database.all("SELECT * FROM reply_v1"),
    database.all("SELECT * FROM outbox_v1"),
    database.all("SELECT * FROM gate_card_v1"),
  ]);
  expect(rows).toContain("key-1");
  expect(rows).not.toMatch(/secret|Tell/);
});

it("refuses to revise a card in a chat that takes nothing any more", async () => {
  const { advance, delivery, start, surface } = createHarness();
  delivery.sendCard(start("c1"), cardOf("Menu"));
  await advance(1_000);
  surface.fault("post", { kind: "fail", failure: { kind: "gone", code: "blocked" } });
  delivery.send(start("r1"), "Still there?");
  await advance(1_000);
  expect(delivery.revise("c1", cardOf("Cake"))).toBe(false);
  delivery.revive(CHAT);
  expect(delivery.revise("c1", cardOf("Cake"))).toBe(true);
});
