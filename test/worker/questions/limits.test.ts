import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { BOT } from "../../../src/agent/bot-root.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { callsOver } from "../../../src/core/chat/inner-calls.ts";
import { action } from "../../../src/index.ts";
import { askingScript, createAskingBot, expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { MONTHLY, to } from "../support/scheduled-world.ts";
import { createWorld } from "../support/world.ts";

let lines: ReturnType<typeof captureLog>;
beforeEach(() => void (lines = captureLog()));

/** A Standard Schema of a library that cannot describe it as JSON Schema. */
const UNDESCRIBED = {
  "~standard": { version: 1, vendor: "tiny", validate: (value: unknown) => ({ value }) },
} as const;

describe("a question that no form can ask", () => {
  it("is answered at once, and nobody sees it", async () => {
    const schemas = {
      list: z.array(z.string()),
      listInside: z.object({ name: z.string(), tags: z.array(z.string()) }),
      objectInside: z.object({ address: z.object({ street: z.string() }) }),
      map: z.record(z.string(), z.string()),
      either: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      anything: z.unknown(),
      day: z.date(),
      nothing: z.object({}),
    };
    const { world } = createAskingBot(async (ctx) => {
      const answers: Record<string, unknown> = {};
      for (const [name, schema] of Object.entries(schemas))
        answers[name] = await ctx.elicit<z.ZodType>({ message: `A ${name}?`, schema });
      return Object.entries(answers).map(([name, answer]) => `${name} ${JSON.stringify(answer)}`);
    });
    await world.write("c1", "Do A7");
    const { texts } = await expectShown(world, "Tool: ");
    const said = texts.at(-1)?.replaceAll("\\", "");
    for (const name of Object.keys(schemas)) expect(said).toContain(`${name} {"why":"unsupported"}`);
    expect(world.chats.visible("c1")).toHaveLength(1);
  });

  it("is refused when the bot starts if its schema is declared and has no JSON Schema", async () => {
    const world = createWorld({ settings: { getQuestions: () => ({ size: UNDESCRIBED as never }) } });
    const root = callsOver(BOT, () => world.stub, systemDeps.clock);
    expect(await root.healthProblem()).toMatchObject({ code: "schema-undescribed" });
    expect(() =>
      action({ description: "Acts.", inputSchema: UNDESCRIBED as never, execute: () => "" }),
    ).toThrow(/The schema of the action "Acts\." is one of "tiny", which does not describe itself/);
  });

  it("fails its call, with the fix in the log, if its schema has no JSON Schema and comes at run time", async () => {
    const { world } = createAskingBot(async (ctx) =>
      ctx.elicit({ message: "Well?", schema: UNDESCRIBED as never }),
    );
    await world.write("c1", "Do A7");
    await expectShown(world, "ActionFailed");
    expect(world.chats.visible("c1").join()).not.toContain("tiny");
    expect(JSON.stringify(lines)).toContain("schema-undescribed");
  });
});

describe("ctx.client", () => {
  it("says through what an action runs: a chat, a schedule or code of the bot", async () => {
    const seen: unknown[] = [];
    const act = action({
      description: "Does something with an order.",
      inputSchema: z.object({ order: z.string() }),
      execute: ({ order }, { client }) => void seen.push([order, client]),
    });
    const world = createWorld({
      script: askingScript,
      getActions: () => ({ act }),
      scheduledTasks: () => ({ report: { ...MONTHLY, prompt: "Do B8", deliverTo: to("c1") } }),
    });
    await world.write("c1", "Do A7");
    await vi.waitFor(() => expect(seen).toHaveLength(1), 8000);
    await world.stub.schedules.run("report");
    await vi.waitFor(() => expect(seen).toHaveLength(2), 8000);
    await world.thread("c1").submitMessages("Do C9");
    await vi.waitFor(() => expect(seen).toHaveLength(3), 8000);
    expect(seen).toMatchObject([
      ["A7", { kind: "chat", messengerId: "fake" }],
      ["B8", { kind: "schedule" }],
      ["C9", { kind: "code" }],
    ]);
  });
});

describe("the memory of an action", () => {
  it("reaches the model only as far as the action returns it", async () => {
    const world = createWorld({
      script: askingScript,
      getActions: () => ({
        act: action({
          description: "Does something with an order.",
          inputSchema: z.object({ order: z.string() }),
          memory: { schema: z.object({ note: z.string() }) },
          execute: async ({ order }, { memory }) => {
            const before = await memory.get();
            await memory.set({ note: `kept-for-${order}` });
            return order === "C9" ? before : "done";
          },
        }),
      }),
    });
    for (const [index, order] of ["A7", "B8"].entries()) {
      await world.write("c1", `Do ${order}`);
      await vi.waitFor(
        () => expect(world.chats.visible("c1").join().split("done")).toHaveLength(index + 2),
        8000,
      );
    }
    await world.write("c1", "Hello");
    await expectShown(world, "Heard: Hello");
    expect(JSON.stringify(world.requests)).not.toContain("kept-for-");
    await world.write("c1", "Do C9");
    await expectShown(world, "kept-for-B8");
  });
});

/** A Standard Schema of a library that is not zod, and describes itself. */
function ofTinyLibrary<Value>(json: object, isValid: (value: unknown) => boolean) {
  const described = () => json;
  return {
    "~standard": {
      version: 1,
      vendor: "tiny",
      validate: (value: unknown) =>
        isValid(value)
          ? { value: value as Value }
          : { issues: [{ message: "Not what tiny wants", path: [] }] },
      jsonSchema: { input: described, output: described },
    },
  } as const;
}

describe("a Standard Schema of another library than zod", () => {
  it("offers an action, checks its input, and asks people", async () => {
    const inputSchema = ofTinyLibrary<{ order: string }>(
      { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
      (value) => /^[A-Z]\d$/.test((value as { readonly order: string }).order),
    );
    const colour = ofTinyLibrary<string>({ type: "string" }, (value) => value === "blue");
    const { done, world } = createAskingBot(
      async (ctx, order, seen) => {
        seen.push(order);
        return ctx.elicit({ message: "Which colour?", schema: colour as never });
      },
      {},
      { inputSchema: inputSchema as never },
    );
    await world.write("c1", "Do nothing");
    await expectShown(world, "Not what tiny wants");
    expect(done).toEqual([]);
    expect(world.requests[0]?.tools).toContain("act");
    await world.write("c1", "Do A7");
    await expectShown(world, "Which colour?");
    await world.write("c1", "red", { sentAt: Date.now() });
    await expectShown(world, "⚠️ Not what tiny wants");
    await world.write("c1", "blue", { sentAt: Date.now() });
    await expectShown(world, 'Told: {"value":"blue"}');
  });
});
