import { describe, expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import type { FakeMethod, FakeSurface } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess } from "./crash-world.ts";
import { createHarness, expectedMessages, MARK } from "./engine-harness.ts";

const OLD = { messengerId: "telegram", threadId: "telegram:-5", chatId: "-5", isDirectMessage: false };
const FROM = { chatId: "-5", threadId: "telegram:-5" };
const TO = { chatId: "-1005", threadId: "telegram:-1005" };
const MOVE = { from: FROM, to: TO };
const MOVED: CallFailure = { kind: "moved", code: "chat-upgraded", to: TO };
const FAST = { burst: 1_000, everyMs: 1 };
const PACING = { direct: FAST, group: FAST, global: FAST };

/** From here on the platform refuses every call to the old chat, and says where it has gone. */
function upgrade(surface: FakeSurface): void {
  for (const method of ["post", "edit", "remove", "typing", "probe"] satisfies FakeMethod[])
    surface.faultAlways(method, { kind: "fail", failure: MOVED }, ({ chatId }) => chatId === OLD.chatId);
}

const both = (surface: FakeSurface) => [surface.visible(OLD.chatId), surface.visible(TO.chatId)];

function harness(more: Parameters<typeof createHarness>[0] = {}) {
  const created = createHarness({ ...more, surface: { pacing: PACING, ...more.surface } });
  const start = (id: string, rest = {}) => created.start(id, { address: OLD, ...rest });
  return { ...created, start };
}

describe("a chat that continues under another id", () => {
  it("gets the post that the old one refused, without the quote", async () => {
    const { advance, delivery, start, surface, gone } = harness();
    upgrade(surface);
    delivery.send(start("r1", { replyTo: "17", seenMessageId: "17" }), "Here is your answer.");
    await advance(5_000);
    expect(both(surface)).toEqual([[], ["Here is your answer."]]);
    expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", threadId: TO.threadId });
    expect(surface.calls.map(({ chatId, replyTo }) => [chatId, replyTo])).toEqual([
      [OLD.chatId, "17"],
      [TO.chatId, undefined],
    ]);
    expect(gone).toEqual([]);
  });

  it("keeps the parts that are whole in the old one, and gets only the others", async () => {
    const limits = { maxLength: 120, maxEntities: 100 };
    const text = Array.from({ length: 4 }, (_, index) => `Paragraph ${index} says something.`)
      .join("\n\n")
      .repeat(3);
    const parts = expectedMessages(text, limits);
    const { advance, delivery, start, surface } = harness({ surface: { limits } });
    surface.fault("post", undefined, undefined, { kind: "fail", failure: MOVED });
    delivery.send(start("r1"), text);
    await advance(10_000);
    expect(both(surface)).toEqual([parts.slice(0, 2), parts.slice(2)]);
    expect(delivery.receipt("r1")?.messages.map(({ state }) => state)).toEqual(parts.map(() => "sent"));
  });

  it("gets an incomplete message again, and the old one is never touched", async () => {
    const { advance, delivery, start, surface } = harness({ policy: { editEveryMs: 100 } });
    delivery.open(start("r1"));
    delivery.append("r1", "The first half");
    await advance(1_000);
    upgrade(surface);
    delivery.append("r1", " and the second");
    await advance(1_000);
    delivery.finish("r1", "The first half and the second, and the end.");
    await advance(5_000);
    expect(both(surface)).toEqual([["The first half"], ["The first half and the second, and the end."]]);
    const [kept] = surface.messages(OLD.chatId);
    const [shown] = surface.messages(TO.chatId);
    const inNew = surface.calls.filter(({ chatId }) => chatId === TO.chatId);
    expect(inNew.flatMap(({ messageId }) => messageId ?? [])).not.toContain(kept?.id);
    expect(new Set(inNew.flatMap(({ messageId }) => messageId ?? []))).toEqual(new Set([shown?.id]));
  });

  it("is told by an event as well as by a refusal, in whatever order, and once", async () => {
    const { advance, delivery, start, surface } = harness();
    expect(delivery.move("telegram", MOVE)).toBe(true);
    expect(delivery.move("telegram", MOVE)).toBe(false);
    upgrade(surface);
    delivery.send(start("r1"), "For the old chat");
    delivery.send({ ...start("r2"), address: { ...OLD, ...TO } }, "For the new chat");
    await advance(5_000);
    expect(both(surface)).toEqual([[], ["For the old chat", "For the new chat"]]);
    expect(surface.calls.every(({ chatId }) => chatId === TO.chatId)).toBe(true);
    expect(delivery.movedTo("telegram", OLD.chatId)).toEqual(TO);
    expect(delivery.movedTo("slack", OLD.chatId)).toBeUndefined();
  });

  it("gets all that waits in its order, and what comes later behind it", async () => {
    const { advance, delivery, start, surface, ended } = harness();
    surface.fault("post", { kind: "fail", failure: { kind: "transient", code: "busy" } });
    for (const id of ["r1", "r2", "r3"]) delivery.send(start(id), `Text of ${id}`);
    await advance(100);
    delivery.move("telegram", MOVE);
    delivery.send({ ...start("r4"), address: { ...OLD, ...TO } }, "Text of r4");
    await advance(5_000);
    const texts = ["r1", "r2", "r3", "r4"].map((id) => `Text of ${id}`);
    expect(both(surface)).toEqual([[], texts]);
    expect(ended.map(([id, state]) => `${id} ${state}`)).toEqual(
      ["r1", "r2", "r3", "r4"].map((id) => `${id} delivered`),
    );
    expect(delivery.nextWakeAt()).toBeUndefined();
  });

  it("counts a message that was posted to the old one while it moved", async () => {
    const { advance, delivery, start, surface, clock } = harness();
    delivery.send(start("r1"), "On its way");
    await clock.advance(20);
    delivery.move("telegram", MOVE);
    upgrade(surface);
    await advance(5_000);
    expect(both(surface)).toEqual([["On its way"], []]);
    expect(delivery.receipt("r1")).toMatchObject({ state: "delivered", messages: [{ state: "sent" }] });
  });

  it("does not wait for a penalty of the old one", async () => {
    const { advance, delivery, start, surface } = harness();
    const hours = { kind: "retry-after", code: "429", retryAfterMs: 3_600_000 } as const;
    surface.fault("post", { kind: "fail", failure: hours });
    delivery.send(start("r1"), "Patience");
    await advance(1_000);
    delivery.move("telegram", MOVE);
    await advance(5_000);
    expect(both(surface)).toEqual([[], ["Patience"]]);
  });

  it("gets a lost post of the old one again, marked: nobody can look for it there", async () => {
    const { advance, delivery, start, surface } = harness({ surface: { probing: "own-box" } });
    surface.fault("post", { kind: "lose", done: false });
    delivery.send(start("r1", { seenMessageId: "10" }), "Was it sent?");
    await advance(100);
    upgrade(surface);
    delivery.move("telegram", MOVE);
    await advance(60_000);
    expect(both(surface)).toEqual([[], [`${MARK}\nWas it sent?`]]);
    expect(surface.calls.filter(({ chatId, method }) => chatId === TO.chatId && method === "probe")).toEqual(
      [],
    );
  });

  it("ends as gone when it moves in a circle", async () => {
    const { advance, delivery, start, surface, gone } = harness();
    upgrade(surface);
    const back = { kind: "fail", failure: { ...MOVED, to: FROM } } as const;
    delivery.send(start("r1"), "Round and round");
    surface.fault("post", { kind: "fail", failure: MOVED }, back);
    surface.faultAlways("post", undefined);
    await advance(5_000);
    expect(delivery.receipt("r1")?.state).toBe("gone");
    expect(gone).toEqual([[TO.chatId, "chat-upgraded"]]);
  });
});

describe("a process that dies while a chat moves", () => {
  const limits = { maxLength: 90, maxEntities: 100 };
  const text = Array.from({ length: 12 }, (_, at) => `The lamp of room ${at} went out. `).join("");
  const parts = expectedMessages(text, limits);

  async function turn(process: CrashProcess, platform: FakeSurface): Promise<void> {
    const { delivery, advance, isDead } = process;
    delivery.open(startOf("r1", { address: OLD }));
    for (let at = 0; at < text.length && !isDead(); at += 25) {
      if (at >= 125) upgrade(platform);
      delivery.append("r1", text.slice(at, at + 25));
      await advance(200);
    }
    if (!isDead()) delivery.finish("r1", text);
    await advance(2_000);
  }

  /** Dies at this boundary, and is started again until all is done. Returns how many boundaries there were. */
  async function live(crashAt: number): Promise<number> {
    const world = createCrashWorld({ limits, pacing: PACING });
    const { platform } = world;
    try {
      await turn(world.boot(crashAt), platform);
    } catch (error) {
      ignoreCrash(error);
    }
    await world.clock.settle();
    upgrade(platform);
    const second = world.boot(Infinity);
    void second.delivery.run();
    if (second.delivery.receipt("r1") === undefined) second.delivery.open(startOf("r1", { address: OLD }));
    second.delivery.finish("r1", text);
    // What the old chat says of itself may come after it all.
    await second.advance(2_000);
    second.delivery.move("telegram", MOVE);
    await second.advance(120_000);
    const [old = [], current = []] = both(platform);
    // A post that was lost with its process is made again with the mark.
    const unmarked = current.filter((message) => parts.includes(message));
    const shown = new Set([...old, ...current.map((message) => message.replace(`${MARK}\n`, ""))]);
    const where = `crash at ${crashAt}: ${world.boundaries()[crashAt - 1] ?? "none"}`;
    const touched = platform.calls.filter(
      ({ chatId, outcome }) => chatId === TO.chatId && outcome === "missing",
    );
    expect({
      where,
      state: second.delivery.receipt("r1")?.state,
      lost: parts.filter((part) => !shown.has(part)),
      unmarked,
      touched,
    }).toEqual({
      where,
      state: "delivered",
      lost: [],
      unmarked: parts.filter((part) => unmarked.includes(part)),
      touched: [],
    });
    return world.boundaries().length;
  }

  it("loses no part, shows none twice in the new chat, and touches no message of it by an old id", async () => {
    const boundaries = await live(Infinity);
    expect(boundaries).toBeGreaterThan(40);
    for (let crashAt = 1; crashAt <= boundaries; crashAt += 1) await live(crashAt);
  });
});
