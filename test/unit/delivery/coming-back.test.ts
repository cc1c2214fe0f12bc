import { expect, it } from "vitest";
import type { Delivery } from "../../../src/core/chat/delivery.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const GONE = { kind: "fail", failure: { kind: "gone", code: "blocked" } } as const;
const CLOSED = { kind: "fail", failure: { kind: "gone", code: "topic-closed", scope: "thread" } } as const;
const { chatId, messengerId, threadId } = ADDRESS;
const CHAT = { messengerId, chatId };
const DAY_MS = 24 * 60 * 60 * 1000;

function comesBack({ delivery }: Pick<Harness, "delivery">): void {
  delivery.revive(chatId);
  delivery.resume(CHAT);
}

const posts = ({ surface }: Harness) => surface.calls.filter(({ method }) => method === "post");

/** A chat that is found to be gone with the first post of `r0`. */
async function goneChat(): Promise<Harness> {
  const harness = createHarness();
  harness.surface.fault("post", GONE);
  harness.delivery.send(harness.start("r0"), "Refused.");
  await harness.advance(1_000);
  return harness;
}

it("keeps what somebody waits for, and nothing else, until the chat is back", async () => {
  const harness = await goneChat();
  const { advance, delivery, start, visible } = harness;
  delivery.send(start("notice"), "Not awaited.");
  delivery.send(start("answer", { isAwaited: true }), "Awaited.");
  await advance(40 * DAY_MS);
  expect(posts(harness)).toHaveLength(1);
  expect(delivery.receipt("answer")).toMatchObject({ state: "gone", code: "blocked" });
  comesBack(harness);
  await advance(1_000);
  expect(visible()).toEqual(["Awaited."]);
  expect(delivery.receipt("answer")).toMatchObject({ state: "delivered" });
  comesBack(harness);
  await advance(1_000);
  expect(posts(harness)).toHaveLength(2);
});

it("shows it before a later answer that has begun and shows nothing yet", async () => {
  const harness = await goneChat();
  const { advance, delivery, start, visible } = harness;
  delivery.send(start("answer", { isAwaited: true }), "Awaited.");
  await advance(1_000);
  // A digest is written for the chat before the bot knows that somebody reads it.
  delivery.revive(chatId);
  delivery.open(start("digest"));
  comesBack(harness);
  delivery.finish("digest", "Later.");
  await advance(10_000);
  expect(visible()).toEqual(["Awaited.", "Later."]);
});

it("forgets it with its receipt", async () => {
  const harness = await goneChat();
  const { advance, delivery, start, visible } = harness;
  delivery.send(start("answer", { isAwaited: true }), "Awaited.");
  await advance(40 * DAY_MS);
  await delivery.run();
  expect(delivery.receipt("answer")).toBeUndefined();
  comesBack(harness);
  await advance(1_000);
  expect(visible()).toEqual([]);
});

it.each(["before", "after"] as const)(
  "completes an answer whose text becomes whole %s the chat is back",
  async (when) => {
    const harness = await goneChat();
    const { advance, delivery, start, visible } = harness;
    delivery.open(start("answer", { isAwaited: true }));
    delivery.append("answer", "Half of");
    await advance(1_000);
    if (when === "after") comesBack(harness);
    await advance(1_000);
    expect(visible()).toEqual([]);
    delivery.finish("answer", "Half of it, and the rest.");
    if (when === "before") comesBack(harness);
    await advance(1_000);
    expect(visible()).toEqual(["Half of it, and the rest."]);
  },
);

it("completes a message that was visible in part, though nobody waits for it", async () => {
  const harness = createHarness();
  const { advance, delivery, start, surface, visible } = harness;
  surface.fault("edit", GONE);
  delivery.open(start("prompt"));
  delivery.append("prompt", "Half of");
  await advance(1_000);
  expect(visible()).toEqual(["Half of"]);
  delivery.append("prompt", " it");
  await advance(5_000);
  expect(delivery.receipt("prompt")?.state).toBe("gone");
  delivery.finish("prompt", "Half of it, and the rest.");
  comesBack(harness);
  await advance(1_000);
  expect(visible()).toEqual(["Half of it, and the rest."]);
  expect(posts(harness)).toHaveLength(1);
});

it("tries a closed topic again only when its own place is back, and stays patient", async () => {
  const harness = createHarness();
  const { advance, delivery, start, surface, visible } = harness;
  surface.fault("post", CLOSED, CLOSED);
  delivery.send(start("answer", { isAwaited: true }), "Awaited.");
  await advance(1_000);
  delivery.resume({ ...CHAT, threadId: "telegram:7:other" });
  await advance(1_000);
  expect(posts(harness)).toHaveLength(1);
  for (const tries of [2, 3]) {
    delivery.resume({ ...CHAT, threadId });
    await advance(1_000);
    expect(posts(harness)).toHaveLength(tries);
  }
  expect(visible()).toEqual(["Awaited."]);
  expect(harness.gone.map(([, code]) => code)).toEqual(["topic-closed", "topic-closed"]);
});

it("gives its messages to the answer that replaces it, and never continues itself", async () => {
  const harness = createHarness();
  const { advance, delivery, start, surface, visible } = harness;
  surface.fault("edit", GONE);
  delivery.open(start("r1", { isAwaited: true }));
  delivery.append("r1", "Half of");
  await advance(1_000);
  delivery.finish("r1", "Half of it, and no more.");
  await advance(1_000);
  expect(delivery.receipt("r1")?.state).toBe("gone");
  const replace = (by: Delivery): void => {
    by.withdraw("r1");
    by.open(start("r2", { takesOver: "r1", isAwaited: true }));
    by.finish("r2", "Another answer.");
  };
  replace(delivery);
  comesBack(harness);
  await advance(1_000);
  expect(visible()).toEqual(["Another answer."]);
  expect(delivery.receipt("r1")?.state).toBe("withdrawn");
  expect(posts(harness)).toHaveLength(1);
});

it("follows a group that has become another chat in the meantime", async () => {
  const harness = await goneChat();
  const { advance, delivery, start, surface } = harness;
  delivery.send(start("answer", { isAwaited: true }), "Awaited.");
  const to = { chatId: "8", threadId: "telegram:8" };
  delivery.move(messengerId, { from: { chatId, threadId }, to });
  delivery.resume({ messengerId, chatId: "8", threadId: "telegram:8" });
  await advance(1_000);
  expect(surface.visible("8")).toEqual(["Awaited."]);
});
