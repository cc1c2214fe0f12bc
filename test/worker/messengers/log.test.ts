import { runInDurableObject } from "cloudflare:test";
import { subscribe } from "agents/observability";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { sha256Now } from "../../../src/core/bytes/sha256.ts";
import { captureLog } from "../support/log-lines.ts";
import type { LogLine } from "../support/log-lines.ts";
import { failWith, holdAt, say } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import { ScriptedBot } from "../worker.ts";

let log: readonly LogLine[];
beforeEach(() => {
  log = captureLog();
});

const outcomes = (): unknown[] =>
  log.filter(({ event }) => event === "inbox.event").map(({ outcome }) => outcome);

describe("the log", () => {
  it("has one line for each event that says what became of it, without its text (I10)", async () => {
    const world = createWorld({ script: () => [failWith(new Error("secret words"))] });
    await world.write("g1", "psst", { isGroup: true, id: "1" });
    await world.write("c1", "Hello", { id: "2" });
    await world.write("c1", "/help", { id: "3" });
    await world.post({ kind: "edit", id: "9", chat: "c1", user: "ada", text: "changed" });
    await world.post({ kind: "member", id: "4", chat: "c1", user: "ada" });
    await vi.waitFor(() => expect(log.some(({ event }) => event === "turn.ended")).toBe(true), 8000);
    await vi.waitFor(() => expect(outcomes()).toHaveLength(5));
    expect(
      Object.fromEntries(
        log.filter(({ event }) => event === "inbox.event").map(({ key, outcome }) => [key, outcome]),
      ),
    ).toEqual({
      "message:g1:1": "ignored: no mention",
      "message:c1:2": "queued",
      "message:c1:3": "command: help",
      [`edit:c1:9:${sha256Now("changed")}`]: "ignored: edit of a message that is not waiting",
      "member:c1:4": "membership: changed",
    });
    const text = JSON.stringify(log.filter(({ event }) => event !== "inbox.event"));
    expect(text).not.toMatch(/psst|Hello|secret words/);
  });

  it("is published as events of agents/observability, without anything that somebody wrote", async () => {
    const world = createWorld();
    const events: { readonly type: string; readonly agent?: string; readonly name?: string }[] = [];
    const take = (event: (typeof events)[number]): void => {
      if (event.name?.startsWith(`${world.root}/`) === true) events.push(event);
    };
    const ends = [subscribe("chat", take), subscribe("message", take)];
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    await vi.waitFor(() =>
      expect(events.map(({ type }) => type)).toEqual([
        "message:request",
        "chat:turn:start",
        "chat:turn:finish",
        "message:response",
      ]),
    );
    for (const end of ends) end();
    expect(events[1]).toMatchObject({
      agent: "ScriptedBot",
      name: `${world.root}/thread:fake:fake%3Ac1`,
      payload: { requestId: expect.any(String) as string, trigger: "message" },
      timestamp: expect.any(Number) as number,
    });
    expect(JSON.stringify(events)).not.toContain("Hello");
  });

  it("names an event the same way when it comes again", async () => {
    const world = createWorld();
    for (let time = 0; time < 2; time += 1) await world.write("c1", "Hello", { id: "1" });
    await world.shows("c1", "You said: Hello");
    const names = log
      .filter(({ event }) => event === "inbox.event")
      .map(({ messenger, key, thread }) => ({ messenger, key, thread }));
    const name = { messenger: "fake", key: "message:c1:1", thread: "fake:c1" };
    expect(names).toEqual([name, name]);
  });

  it("ends every turn that has begun, whatever ended it", async () => {
    const world = createWorld();
    const gate = createGate();
    world.script(({ said }) => [say(`You said: ${said}`), holdAt(gate)]);
    await world.write("c1", "Hello");
    await world.shows("c1", "You said: Hello");
    await world.write("c1", "/stop");
    await vi.waitFor(() => expect(log.some(({ event }) => event === "turn.ended")).toBe(true));
    const turns = log.filter(({ event }) => event.startsWith("turn."));
    expect(turns.map(({ event, outcome }) => [event, outcome])).toEqual([
      ["turn.begun", undefined],
      ["turn.ended", "stopped"],
    ]);
    expect(new Set(turns.map(({ turn }) => turn)).size).toBe(1);
  });
});

it("warns of methods that nothing reads, in the log and /health", async () => {
  const names = ["truncationStep", "getScheduledTask"];
  for (const name of names)
    Object.defineProperty(ScriptedBot.prototype, name, { value: () => 8, configurable: true });
  const world = createWorld();
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  const warnings = await runInDurableObject(world.stub, (bot) => bot.inner("bot.healthWarnings", []));
  for (const name of names) Reflect.deleteProperty(ScriptedBot.prototype, name);
  const told = log.filter(({ event }) => event === "bot.member-unused");
  expect(told.map(({ level, member }) => [level, member])).toEqual(names.map((name) => ["warn", name]));
  expect(JSON.stringify(warnings)).toContain('Is \\"getScheduledTasks\\" meant?');
});
