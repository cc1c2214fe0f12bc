import { expect, it } from "vitest";
import { createBudget } from "../../../delivery/index.ts";
import type { AskSpeaker } from "../../../delivery/message-boxes.ts";
import type { Budget } from "../../../src/core/budget.ts";
import { createNodeDatabase } from "../../support/node-database.ts";
import { ADDRESS, createHarness, depsOn, MARK } from "./engine-harness.ts";
import type { Harness } from "./engine-harness.ts";

const TEXT = "One two three four five.";
const NORTH = { ...ADDRESS, threadId: "telegram:7:5", topicId: "5", isDirectMessage: false };
const SOUTH = { ...NORTH, threadId: "telegram:7:6", topicId: "6" };

interface Forum {
  readonly harness: Harness;
  /** The root begins anew, with what it has stored. */
  readonly restartRoot: () => void;
}

/** North is a real object; South has posted, and answers as it is told. */
async function forum(south: AskSpeaker): Promise<Forum> {
  const database = createNodeDatabase();
  let root: Budget | undefined;
  const harness = createHarness({
    surface: { probing: true, capabilities: { typing: false } },
    policy: { callTimeoutMs: 1_000 },
    budget: () => ({
      acquire: (...call) => current().acquire(...call),
      penalize: (...call) => current().penalize(...call),
      boxes: {
        observe: async (...told) => current().boxes?.observe(...told),
        unseen: async (...asked) => {
          const { boxes } = current();
          if (boxes === undefined) throw new Error("A root knows boxes.");
          return boxes.unseen(...asked);
        },
      },
    }),
  });
  const current = (): Budget => {
    root ??= createBudget({ database, deps: depsOn(harness.clock), askSpeaker: south });
    return root;
  };
  const news = { box: "common", isPost: true, sentIds: [] };
  await current().acquire(SOUTH, "post", harness.surface.pacing, { news });
  await harness.advance(1_000);
  return { harness, restartRoot: () => (root = undefined) };
}

it("finds a lost post in a topic after a restart, because the other topic says what is its own", async () => {
  const asked: string[] = [];
  const { harness, restartRoot } = await forum((speaker, { chatId, afterId }) => {
    asked.push(`${speaker} ${chatId} ${afterId}`);
    return Promise.resolve({ ids: [101], hasOpenPost: false });
  });
  const { surface, delivery, start, visible, advance } = harness;
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(20);
  surface.postForeign("7", "Of the other topic.");
  restartRoot();
  await advance(30_000);
  expect(visible()).toEqual(["Of the other topic.", TEXT]);
  expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ attempts: 1 }] });
  expect(asked[0]).toBe(`${SOUTH.threadId} 7 100`);
});

const UNCERTAIN: readonly [string, AskSpeaker][] = [
  ["has a lost post too", () => Promise.resolve({ ids: [], hasOpenPost: true })],
  ["cannot be reached", () => Promise.reject(new Error("down"))],
  ["does not answer", () => new Promise(() => {})],
];

it.each(UNCERTAIN)("leaves it to the policy when the other topic %s", async (_name, south) => {
  const { harness, restartRoot } = await forum(south);
  const { surface, delivery, start, visible, advance } = harness;
  surface.fault("post", { kind: "lose", done: true });
  delivery.send(start("r1", { address: NORTH, seenMessageId: "100" }), TEXT);
  await advance(20);
  restartRoot();
  await advance(120_000);
  expect(visible()).toEqual([TEXT, `${MARK}\n${TEXT}`]);
});

it("tells what it has sent into a chat, and whether a post of its own is open", async () => {
  const { surface, delivery, start, advance, clock } = createHarness({ surface: { probing: true } });
  const question = { messengerId: "telegram", chatId: "7", afterId: 101, sinceAt: clock.now() };
  delivery.send(start("r1", { address: NORTH }), "One.");
  delivery.send(start("r2", { address: NORTH }), "Two.");
  delivery.send(start("r3", { address: { ...NORTH, chatId: "8", threadId: "telegram:8" } }), "Elsewhere.");
  await advance(1_000);
  expect(surface.messages("7").map(({ id }) => id)).toContain("101");
  const own = delivery.ownMessages(question);
  const here = surface.messages("7").map(({ id }) => Number(id));
  expect(own).toEqual({ ids: here.filter((id) => id > 101), hasOpenPost: false });
  surface.fault("post", { kind: "hang" });
  delivery.send(start("r4", { address: NORTH }), "Three.");
  await advance(100);
  expect(delivery.ownMessages(question).hasOpenPost).toBe(true);
  expect(delivery.ownMessages({ ...question, chatId: "8" }).hasOpenPost).toBe(false);
});
