import { describe, expect, it } from "vitest";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { createIntakeRig } from "./intake-rig.ts";
import type { IntakeRig } from "./intake-rig.ts";

const updateEvent = (key = "u:1"): MessengerEvent => {
  const { message: _message, ...event } = messageEvent({ key, kind: "update", detail: "poll" });
  return { ...event, raw: { update_id: 1 } };
};

const reactionEvent = (key = "u:1"): MessengerEvent => {
  const { message: _message, ...event } = messageEvent({ key, kind: "reaction" });
  return { ...event, reaction: { messageId: "5", current: ["👍"], added: ["👍"], removed: [] } };
};

function store({ clock, inbox, intake }: IntakeRig, event: MessengerEvent): boolean {
  const row = inbox.insert("telegram", { key: event.key, thread: event.thread, raw: event }, clock.now());
  if (row !== undefined) intake.add(row);
  return row !== undefined;
}

describe("an event for the bot's own code", () => {
  it("is handed over once, also when it is delivered again", async () => {
    const heard: unknown[] = [];
    const handlers = {
      onReaction: (event: MessengerEvent) => void heard.push(event.reaction?.added),
      onUpdate: (event: MessengerEvent) => void heard.push(event.raw),
    };
    const rig = createIntakeRig({ handlers });
    store(rig, updateEvent());
    store(rig, reactionEvent("u:2"));
    await rig.intake.run();
    await rig.clock.settle();
    expect(store(rig, updateEvent())).toBe(false);
    const restarted = rig.restart();
    expect(store(restarted, updateEvent())).toBe(false);
    await restarted.intake.run();
    await restarted.clock.settle();
    expect(heard).toEqual([{ update_id: 1 }, ["👍"]]);
    expect(rig.outcomes()).toEqual(["handed to onUpdate", "handed to onReaction"]);
    expect(rig.inbox.inState("received")).toEqual([]);
  });

  it("is handed over again when the process dies while the code runs, and not afterwards", async () => {
    const gate = createGate();
    let runs = 0;
    const handlers = {
      onUpdate: async () => {
        runs += 1;
        if (runs === 1) await gate.pass();
      },
    };
    const rig = createIntakeRig({ handlers });
    store(rig, updateEvent());
    await rig.intake.run();
    await rig.clock.settle();
    expect(runs).toBe(1);
    const restarted = rig.restart();
    await restarted.intake.run();
    await restarted.clock.settle();
    expect(runs).toBe(2);
    await restarted.restart().intake.run();
    expect(runs).toBe(2);
  });

  it("holds up nothing: messages and /stop go on while the code runs", async () => {
    const rig = createIntakeRig({ handlers: { onUpdate: () => new Promise<void>(() => undefined) } });
    store(rig, updateEvent());
    rig.receive("Hello");
    await rig.intake.run();
    expect(rig.waiting()).toEqual(["Hello"]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("psst"))],
    ["takes longer than 30 seconds", () => new Promise<void>(() => undefined)],
  ])("is done when the code %s; the log says so without its words (I10)", async (_name, onUpdate) => {
    const rig = createIntakeRig({ handlers: { onUpdate } });
    store(rig, updateEvent());
    await rig.intake.run();
    await rig.clock.advance(30_000);
    expect(rig.outcomes()).toEqual(["handed to onUpdate, which failed"]);
    expect(rig.log.filter(({ event }) => event === "bot.failed")).toMatchObject([
      { fields: { method: "onUpdate" } },
    ]);
    expect(JSON.stringify(rig.log)).not.toContain("psst");
    await rig.restart().intake.run();
    expect(rig.inbox.inState("received")).toEqual([]);
  });

  it("is ignored where the bot has no such code", async () => {
    const rig = createIntakeRig();
    store(rig, updateEvent());
    store(rig, reactionEvent("u:2"));
    await rig.intake.run();
    expect(rig.outcomes()).toEqual(["ignored: poll", "ignored: reaction"]);
  });

  it("is not one of a bot or of somebody who may not use the bot, if it is a reaction", async () => {
    let heard = 0;
    const handlers = { onReaction: () => void (heard += 1) };
    const rig = createIntakeRig({ handlers, definition: { allow: ["8"] } });
    store(rig, reactionEvent());
    store(rig, { ...reactionEvent("u:2"), author: { userId: "8", isBot: true } });
    store(rig, { ...reactionEvent("u:3"), author: { userId: "8" } });
    await rig.intake.run();
    await rig.clock.settle();
    expect(heard).toBe(1);
  });
});
