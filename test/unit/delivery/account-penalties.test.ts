import { describe, expect, it } from "vitest";
import type { Address, CallFailure } from "../../../src/core/chat/surface.ts";
import { ADDRESS } from "./engine-harness.ts";
import { createObjects } from "./objects-harness.ts";
import type { Objects } from "./objects-harness.ts";

const CHATS = 6;
const WAIT_MS = 60 * 60_000;
const limit: CallFailure = { kind: "retry-after", code: "too-many-requests", retryAfterMs: WAIT_MS };

const addressOf = (chat: number) => ({
  ...ADDRESS,
  chatId: `issue${chat}`,
  threadId: `github:issue${chat}`,
  isDirectMessage: false,
});

/** Issues of a platform that limits accounts: an object each, which is its own gate, and one root. */
async function bot(accountOf: (address: Address) => Promise<string> = async () => ""): Promise<Objects> {
  const objects = createObjects({
    conversations: Object.fromEntries(
      Array.from({ length: CHATS }, (_, chat) => [
        `issue${chat}`,
        { address: addressOf(chat), gate: `issue${chat}` },
      ]),
    ),
    surface: {
      probing: false,
      pacing: {
        direct: { burst: 5, everyMs: 1000 },
        group: { burst: 5, everyMs: 1000 },
        global: { burst: 5, everyMs: 1000 },
      },
      defaults: { accountOf },
    },
  });
  await objects.advance(60_000);
  return objects;
}

function say({ speaking }: Objects, chat: number, id = "r"): void {
  const { delivery, start } = speaking(`issue${chat}`);
  delivery.send(start(`${id}${chat}`), `Text ${id} of issue ${chat}.`);
}

/** The first issue is refused, and the time until the platform takes calls again begins. */
async function limited(objects: Objects, failure = limit, id = "r"): Promise<number> {
  objects.surface.fault("post", { kind: "fail", failure });
  say(objects, 0, id);
  await objects.advance(1000);
  const refused = objects.surface.calls.find(({ outcome }) => outcome === "retry-after");
  expect(refused).toBeDefined();
  return (refused?.at ?? 0) + WAIT_MS;
}

const callsTo = ({ surface }: Objects, chat: number): number =>
  surface.calls.filter(({ chatId }) => chatId === `issue${chat}`).length;

describe("a refusal for pacing, on a platform that limits accounts", () => {
  it("stops the calls to all chats until the time that the platform names (I8)", async () => {
    const objects = await bot();
    const until = await limited(objects);
    for (let chat = 1; chat < CHATS; chat += 1) say(objects, chat);
    await objects.advance(until - objects.clock.now() - 100);
    expect(objects.surface.calls).toHaveLength(1);
    await objects.advance(2 * 60_000);
    for (let chat = 0; chat < CHATS; chat += 1) {
      expect(objects.surface.visible(`issue${chat}`)).toEqual([`Text r of issue ${chat}.`]);
    }
    const after = objects.surface.calls.slice(1).map(({ at }) => at);
    expect(Math.min(...after)).toBeGreaterThanOrEqual(until);
    // The rate of the account holds again, too: five at once, then one a second.
    expect(after.filter((at) => at < until + 900).length).toBeLessThanOrEqual(5);
  });

  it("does so after restarts of the root and of a chat's object", async () => {
    const objects = await bot();
    const until = await limited(objects);
    objects.restartRoot();
    objects.restart("issue1");
    say(objects, 1);
    await objects.advance(until - objects.clock.now() - 100);
    expect(callsTo(objects, 1)).toBe(0);
    await objects.advance(60_000);
    expect(objects.surface.visible("issue1")).toEqual(["Text r of issue 1."]);
  });

  it("does so although the root could not be reached at first", async () => {
    const objects = await bot();
    objects.surface.fault("post", { kind: "fail", failure: limit });
    say(objects, 0);
    // The call was granted, and its answer is under way.
    while (objects.surface.calls.length === 0) await objects.advance(5);
    objects.setReachable("root", false);
    await objects.advance(3000);
    objects.setReachable("root", true);
    await objects.advance(3000);
    say(objects, 1);
    await objects.advance(10 * 60_000);
    expect(callsTo(objects, 1)).toBe(0);
  });

  it("leaves the chats of other accounts alone", async () => {
    const objects = await bot(async ({ chatId }) => (chatId === "issue2" ? "other" : "account"));
    await limited(objects);
    say(objects, 1);
    say(objects, 2);
    await objects.advance(60_000);
    expect(callsTo(objects, 1)).toBe(0);
    expect(objects.surface.visible("issue2")).toEqual(["Text r of issue 2."]);
  });

  it("leaves no lent calls that are made during the penalty", async () => {
    const objects = await bot();
    // The root may lend a busy chat more calls than it asks for.
    say(objects, 1, "a");
    await objects.advance(200);
    const until = await limited(objects);
    say(objects, 1, "b");
    await objects.advance(2500);
    expect(callsTo(objects, 1)).toBe(1);
    expect(objects.clock.now()).toBeLessThan(until);
  });
});

describe("a refusal for pacing, where chats have limits of their own", () => {
  const chats = (): Objects =>
    createObjects({
      conversations: {
        issue0: { address: addressOf(0), gate: "issue0" },
        issue1: { address: addressOf(1), gate: "issue1" },
      },
      surface: { probing: false },
    });

  it("concerns one chat alone", async () => {
    const objects = chats();
    await limited(objects);
    say(objects, 1);
    await objects.advance(60_000);
    expect(objects.surface.visible("issue1")).toEqual(["Text r of issue 1."]);
  });

  it("stops the calls to all chats if it is one of the whole bot, also after restarts", async () => {
    const objects = chats();
    const until = await limited(objects, { ...limit, isOfAccount: true });
    objects.restartRoot();
    say(objects, 1);
    await objects.advance(until - objects.clock.now() - 100);
    expect(callsTo(objects, 1)).toBe(0);
    await objects.advance(60_000);
    for (const chat of [0, 1])
      expect(objects.surface.visible(`issue${chat}`)).toEqual([`Text r of issue ${chat}.`]);
    // The next refusal is one of its chat again.
    await limited(objects, limit, "b");
    say(objects, 1, "b");
    await objects.advance(60_000);
    expect(objects.surface.visible("issue1")).toHaveLength(2);
  });
});
