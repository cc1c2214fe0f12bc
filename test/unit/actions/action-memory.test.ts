import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { StoredMemory } from "../../../src/actions/runs/action-memory.ts";
import type { ActionMemory, MemoryOptions } from "../../../src/actions/declare/memory-options.ts";
import { LocalStates } from "../../../src/actions/memory/action-states.ts";
import type { ActionStates } from "../../../src/actions/memory/action-states.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createActionRig, inputSchema } from "./action-rig.ts";

const schema = z.object({ visits: z.number() });
const ada = { userId: "ada" };
const eve = { userId: "eve" };

function openStates() {
  let ids = 0;
  const database = createNodeDatabase();
  const deps = { clock: createVirtualClock(), newId: () => `id-${(ids += 1)}` };
  return { database, states: new LocalStates(database, deps) };
}

/** The memory of an action, as one of its calls gets it. */
function memoryIn(
  states: Readonly<Record<"conversation" | "bot", ActionStates>>,
  options: MemoryOptions | undefined,
  person: { readonly userId: string } | undefined = ada,
): ActionMemory<unknown> {
  const execute = (): string => "done";
  const action = defineAction({
    description: "Count.",
    inputSchema,
    execute,
    ...(options && { memory: options }),
  });
  const client = { kind: "chat", messengerId: "fake" } as const;
  return new StoredMemory(
    { states: (scope) => states[scope] },
    { action, name: "count" },
    { client, person },
  );
}

describe("the memory of an action", () => {
  it("keeps a value of the schema, and nothing else", async () => {
    const { states } = openStates();
    const memory = memoryIn({ conversation: states, bot: states }, { schema });
    expect(await memory.get()).toBeUndefined();
    await memory.set({ visits: 1, more: "dropped" });
    expect(await memory.get()).toEqual({ visits: 1 });
    await expect(memory.set({ visits: "many" })).rejects.toMatchObject({
      code: "memory-invalid",
      message: expect.not.stringContaining("many"),
    });
    await memory.delete();
    expect(await memory.get()).toBeUndefined();
  });

  it("makes no table before its first value", async () => {
    const { database, states } = openStates();
    await memoryIn({ conversation: states, bot: states }, { schema }).get();
    expect(states.contexts().size).toBe(0);
    expect(database.all("SELECT name FROM sqlite_master WHERE type = 'table'")).toEqual([]);
  });

  it("belongs to a conversation, a person or the bot", async () => {
    const bot = openStates().states;
    const one = { conversation: openStates().states, bot };
    const other = { conversation: openStates().states, bot };
    for (const scope of ["conversation", "person", "bot"] as const)
      await memoryIn(one, { schema, scope }).set({ visits: 1 });
    const seen = async (states: typeof one, scope: MemoryOptions["scope"], person = ada): Promise<boolean> =>
      (await memoryIn(states, { schema, scope: scope ?? "conversation" }, person).get()) !== undefined;
    expect([await seen(one, "conversation"), await seen(other, "conversation")]).toEqual([true, false]);
    expect([await seen(other, "person"), await seen(one, "person", eve)]).toEqual([true, false]);
    expect(await seen(other, "bot", eve)).toBe(true);
  });

  it("says what is missing: a person, or the memory itself", async () => {
    const states = { conversation: openStates().states, bot: openStates().states };
    const action = defineAction({
      description: "Count.",
      inputSchema,
      execute: () => 1,
      memory: { schema, scope: "person" },
    });
    const nobody = new StoredMemory(
      { states: (scope) => states[scope] },
      { action, name: "count" },
      { client: { kind: "code" }, person: undefined },
    );
    await expect(nobody.get()).rejects.toMatchObject({ code: "memory-person" });
    await expect(memoryIn(states, undefined).get()).rejects.toMatchObject({ code: "memory-missing" });
  });

  it("migrates an older value, and refuses one that it does not understand", async () => {
    const { states } = openStates();
    const both = { conversation: states, bot: states };
    await memoryIn(both, { schema: z.number() }).set(3);
    await expect(memoryIn(both, { schema, version: 2 }).get()).rejects.toMatchObject({
      code: "memory-version",
    });
    const migrate: MemoryOptions["migrate"] = ({ value, version }) => ({ visits: Number(value) * version });
    const second = memoryIn(both, { schema, version: 2, migrate });
    expect(await second.get()).toEqual({ visits: 3 });
    expect(await second.update(() => ({ visits: 4 }))).toEqual({ visits: 4 });
    await expect(memoryIn(both, { schema: z.number() }).get()).rejects.toMatchObject({
      code: "memory-newer",
    });
    const wrong = memoryIn(both, { schema, version: 3, migrate: () => "nonsense" });
    await expect(wrong.get()).rejects.toMatchObject({ code: "memory-invalid" });
  });

  it("refuses a value that is too large", async () => {
    const { states } = openStates();
    const memory = memoryIn({ conversation: states, bot: states }, { schema: z.string() });
    await expect(memory.set("a".repeat(70_000))).rejects.toMatchObject({ code: "memory-too-large" });
  });

  it("loses no update, in whatever order the calls take place", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 8 }), async (scheduler, count) => {
        const { states } = openStates();
        // The root, called from other objects: each answer takes its time.
        const remote: ActionStates = {
          read: (key) => scheduler.schedule(Promise.resolve(states.read(key))),
          write: (...change) => scheduler.schedule(Promise.resolve()).then(() => states.write(...change)),
        };
        const updates = Array.from({ length: count }, async () =>
          memoryIn({ conversation: remote, bot: remote }, { schema }).update((value) => ({
            visits: (schema.optional().parse(value)?.visits ?? 0) + 1,
          })),
        );
        await scheduler.waitFor(Promise.all(updates));
        expect(await memoryIn({ conversation: states, bot: states }, { schema }).get()).toEqual({
          visits: count,
        });
      }),
    );
  });
});

describe("an action with a memory", () => {
  const counting = (key?: string) =>
    defineAction({
      description: "Count.",
      inputSchema,
      memory: { schema },
      ...(key !== undefined && { idempotencyKey: key }),
      execute: async (_input, { memory }) => {
        const { visits } = await memory.update((before) => ({ visits: (before?.visits ?? 0) + 1 }));
        return visits;
      },
    });

  it("has the old or the new value after a crash, and goes on with it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 12 }), async (point) => {
        const rig = createActionRig();
        expect(await rig.call(counting())).toBe(1);
        rig.killAtWrite(point);
        await rig.call(counting(), undefined, { toolCallId: "b" });
        rig.restart();
        expect([2, 3]).toContain(await rig.call(counting(), undefined, { toolCallId: "c" }));
      }),
    );
  });

  it("does not change it for a replayed result", async () => {
    const rig = createActionRig();
    expect(await rig.call(counting("once"))).toBe(1);
    expect(await rig.call(counting("once"), undefined, { toolCallId: "b" })).toBe(1);
    expect(await rig.call(counting(), undefined, { toolCallId: "c" })).toBe(2);
  });
});

describe("the contexts of a conversation", () => {
  it("are those that were activated last, whatever was done before", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom("a", "b", "context:", "ü"), fc.boolean())), (changes) => {
        const { states } = openStates();
        const expected = new Set<string>();
        for (const [name, isActive] of changes) {
          states.setContext(name, isActive);
          if (isActive) expected.add(name);
          else expected.delete(name);
        }
        expect([...states.contexts()].toSorted()).toEqual([...expected].toSorted());
      }),
    );
  });

  it.each(["", "a".repeat(65)])("have names of 1 to 64 characters: %j", (name) => {
    expect(() => openStates().states.setContext(name, true)).toThrow(
      expect.objectContaining({ code: "context-name" }),
    );
  });
});

describe("the short-term memory of a conversation", () => {
  it("keeps values for a day, and takes back what is set to undefined", async () => {
    const clock = createVirtualClock();
    let ids = 0;
    const states = new LocalStates(createNodeDatabase(), { clock, newId: () => `id-${(ids += 1)}` });
    states.shortTerm.set("cart", { id: "c_1" });
    await clock.advance(23 * 3_600_000);
    states.shortTerm.set("order", 7);
    states.shortTerm.set("gone", 1);
    states.shortTerm.set("gone", undefined);
    expect(states.notes()).toEqual({ cart: { id: "c_1" }, order: 7 });
    await clock.advance(3_600_000);
    expect(states.notes()).toEqual({ order: 7 });
    expect(states.shortTerm.get("constructor")).toBeUndefined();
  });

  it.each([
    ["a b", 1],
    ["", 1],
    ["long", "a".repeat(20_001)],
  ])("refuses %j", (name, value) => {
    expect(() => openStates().states.shortTerm.set(name, value)).toThrow(
      expect.objectContaining({ code: "note-invalid" }),
    );
  });
});
