import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { FeatureHost } from "../../../src/feature/feature-host.ts";
import { UndoFeature } from "../../../src/undo/undo-feature.ts";
import { UndoStore } from "../../../src/undo/undo-store.ts";

const NOW = 1_000_000;
const UNDO_FOR_MS = 60_000;

/** Undo of one call of a run of code, and what the feature posts. */
function undoOfCode({ messengers = ["telegram"] }: { readonly messengers?: readonly string[] } = {}) {
  const database = createNodeDatabase();
  const posted = new Set<string>();
  const world = { isCodeOpen: true, now: NOW };
  new UndoStore(database).add({
    id: "call",
    card: "undo:code:run",
    action: "send",
    summary: "Mail to ann",
    input: {},
    inputHash: "",
    requestId: "request",
    messengerId: "telegram",
    requester: "1",
    approver: undefined,
    facts: { people: [], address: { messengerId: "telegram", threadId: "t", chatId: "c" } },
    state: "open",
    failure: undefined,
    createdAt: NOW,
  });
  const host = {
    database,
    deps: { clock: { now: () => world.now } },
    features: { isCodeOpen: () => world.isCodeOpen },
    messengers: {
      find: (id: string) => (messengers.includes(id) ? {} : undefined),
      isDeclared: (id: string) => messengers.includes(id),
    },
    thread: {
      cards: {
        store: { read: (id: string) => (posted.has(id) ? {} : undefined) },
        post: ({ id }: { readonly id: string }) => posted.add(id),
        revise: () => true,
      },
    },
    wakeSoon: () => undefined,
  } as unknown as FeatureHost<unknown>;
  return { feature: new UndoFeature(host, { undoForMs: UNDO_FOR_MS }), posted, world };
}

describe("undo of a run of code", () => {
  it("wakes its object at the end of the run, and then when its time is over", () => {
    const { feature, posted, world } = undoOfCode();
    feature.work();
    expect(feature.nextWakeAt()).toBeUndefined();
    world.now += 5000;
    world.isCodeOpen = false;
    expect(feature.nextWakeAt()).toBe(world.now);
    feature.work();
    expect([...posted]).toEqual(["undo:code:run"]);
    expect(feature.nextWakeAt()).toBe(world.now + UNDO_FOR_MS);
    world.now += UNDO_FOR_MS;
    feature.work();
    expect(feature.nextWakeAt()).toBeUndefined();
  });

  it("waits for its end alone where the messenger is declared no more", () => {
    const { feature, posted, world } = undoOfCode({ messengers: [] });
    world.isCodeOpen = false;
    expect(feature.nextWakeAt()).toBe(NOW + UNDO_FOR_MS);
    world.now += UNDO_FOR_MS;
    feature.work();
    expect(posted.size).toBe(0);
    expect(feature.nextWakeAt()).toBeUndefined();
  });
});
