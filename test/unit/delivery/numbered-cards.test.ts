import { expect, it } from "vitest";
import type { CardNews, ClaimQuestion } from "../../../src/core/chat/gate.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { ADDRESS } from "./engine-harness.ts";
import { gateRig, OTHER, TOPIC } from "./gate-rig.ts";
import type { GateRig } from "./gate-rig.ts";

/** Another conversation shows a card with two numbered options. */
async function show(
  { gate }: GateRig,
  key: string,
  sentAt: number,
  more: Partial<CardNews> & { readonly address?: Address } = {},
): Promise<void> {
  const { address = ADDRESS, ...news } = more;
  const card = { key, revision: 1, options: 2, messageIds: [key], sentAt, ...news };
  await gate.noteCard({ address, speaker: OTHER, card });
}

/** Returns the card that a number answers, on a platform whose ids tell nothing. */
async function answered(
  { gate }: GateRig,
  sentAt: number,
  { address = ADDRESS, ...more }: Partial<ClaimQuestion> & { readonly address?: Address } = {},
): Promise<string | undefined> {
  const { chatId, messengerId, threadId } = address;
  const question = { messengerId, chatId, threadId, messageId: "m", sentAt, isNumbered: false, number: 1 };
  const claim = await gate.claimMessage({ ...question, ...more });
  if (claim !== undefined) expect(claim).toEqual({ key: claim.key, speaker: OTHER, option: 1 });
  return claim?.key;
}

it("answers the newest card of a chat by a number that begins a thread", async () => {
  const rig = gateRig();
  await show(rig, "first", 10_000, { address: TOPIC });
  const address = { ...ADDRESS, threadId: `${ADDRESS.threadId}:new` };
  expect(await answered(rig, 20_500, { address })).toBeUndefined();
  expect(await answered(rig, 20_500, { address, beginsThread: true })).toBe("first");
  await show(rig, "second", 30_000);
  expect(await answered(rig, 40_500, { address, beginsThread: true })).toBe("second");
  // It was sent before the newest one.
  expect(await answered(rig, 20_500, { address, beginsThread: true })).toBeUndefined();
  expect(
    await answered(rig, 40_500, { address: { ...address, chatId: "8" }, beginsThread: true }),
  ).toBeUndefined();
  await show(rig, "second", 30_000, { options: 0, revision: 2 });
  expect(await answered(rig, 40_500, { address, beginsThread: true })).toBe("first");
});

it("tells by the ids of a thread that a number was sent after a card, within the same second", async () => {
  const rig = gateRig();
  await show(rig, "card", 10_700, { messageIds: ["101", "102"] });
  const numbered = { isNumberedInThread: true };
  // The platform tells whole seconds.
  expect(await answered(rig, 10_000, { messageId: "103" })).toBeUndefined();
  expect(await answered(rig, 10_000, { messageId: "103", ...numbered })).toBe("card");
  expect(await answered(rig, 10_000, { messageId: "102", ...numbered })).toBeUndefined();
  expect(await answered(rig, 99_000, { messageId: "100", ...numbered })).toBeUndefined();
  // The ids of another thread, or of another form, are not comparable.
  const address = { ...ADDRESS, threadId: `${ADDRESS.threadId}:review` };
  expect(
    await answered(rig, 10_000, { address, beginsThread: true, messageId: "103", ...numbered }),
  ).toBeUndefined();
  expect(await answered(rig, 20_000, { address, beginsThread: true, messageId: "7", ...numbered })).toBe(
    "card",
  );
  expect(await answered(rig, 10_000, { messageId: "m", ...numbered })).toBeUndefined();
  expect(await answered(rig, 20_000, { messageId: "m", ...numbered })).toBe("card");
});
