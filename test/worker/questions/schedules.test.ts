import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { action } from "../../../src/index.ts";
import type { ActionContext, PromptTask, ThinkActions } from "../../../src/index.ts";
import { z } from "zod";
import { askingScript, expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { MONTHLY, to, untilEnded } from "../support/scheduled-world.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

beforeEach(() => void captureLog());

/** Ends the process of the chat's conversation, which wakes for its alarm. */
async function kill(world: World): Promise<void> {
  await runInDurableObject(world.thread("c1"), async (_bot, state) => {
    await state.storage.sync();
    state.abort("killed by a test");
  }).catch(() => undefined);
  await runDurableObjectAlarm(world.thread("c1"));
}

const ADA = { messenger: "fake", userId: "ada" } as const;

async function start(
  task: Pick<PromptTask, "asksOwner" | "fanOut">,
  ask: (ctx: ActionContext) => unknown,
  {
    actions = {},
    script = askingScript,
  }: { readonly actions?: ThinkActions; readonly script?: ModelScript } = {},
): Promise<World> {
  const act = action({
    description: "Does something with an order.",
    inputSchema: z.object({ order: z.string() }),
    execute: (_input, ctx) => ask(ctx),
  });
  const world = createWorld({
    script,
    getActions: () => ({ act, ...actions }),
    scheduledTasks: () => ({
      report: { ...MONTHLY, prompt: "Do A7", deliverTo: to("g1"), owner: ADA, ...task },
    }),
  });
  await world.write("c1", "Hello");
  await expectShown(world, "Heard: Hello");
  await world.write("g1", "Hello", { isGroup: true, mentions: true });
  await expectShown(world, "Hello", "g1");
  await world.stub.schedules.run("report");
  return world;
}

describe("a question of a scheduled run", () => {
  it.each(["once", "each"] as const)(
    "goes to the owner if the task allows it, and its answer to the task's chat (%s)",
    async (fanOut) => {
      const elicitation: unknown[] = [];
      const world = await start({ asksOwner: true, fanOut }, async (ctx) => {
        elicitation.push(ctx.caller.capabilities.elicitation);
        const isSent = await ctx.confirm({ message: "Send it?" });
        const { value } = await ctx.elicit({ message: "To whom?", schema: z.string() });
        return { isSent, value };
      });
      await world.press("c1", "Yes");
      const card = await expectShown(world, "To whom?");
      await world.write("c1", "to all", { quotes: card.id, sentAt: Date.now() });
      await expectShown(world, 'Told: {"isSent":true,"value":"to all"}', "g1");
      const [occurrence] = await untilEnded(world, "report");
      expect(occurrence).toMatchObject({ state: "delivered" });
      expect(elicitation.every((can) => can === true)).toBe(true);
      expect(world.chats.visible("c1").join()).not.toContain("Told:");
    },
  );

  it("is answered with `nobody` at once, unless the task allows it", async () => {
    const world = await start({}, async (ctx) => ctx.elicit({ message: "To whom?", schema: z.string() }));
    await expectShown(world, '"why":"nobody"', "g1");
    expect(world.chats.visible("c1").join()).not.toContain("To whom?");
  });

  it("goes on without an answer if the owner does not want to answer", async () => {
    const world = await start({ asksOwner: true }, async (ctx) => ctx.confirm({ message: "Send it?" }));
    await world.press("c1", "Not now");
    await vi.waitFor(() => expect(world.chats.visible("g1").join()).toContain("Told: false"), 8000);
  });

  it("shows the outcome of an action that needs consent after it in the task's chat", async () => {
    const script: ModelScript = ({ prompt, said }) => {
      if (prompt.at(-1)?.role === "tool") return [say("I have asked.")];
      if (said.includes('"paid"')) return [say("It is paid.")];
      if (said.includes("Result:")) return [callTool("pay")];
      return said.includes("Do A7") ? [callTool("act", { order: "A7" })] : [say(`Heard: ${said}`)];
    };
    const pay = action({
      description: "Pays.",
      inputSchema: z.object({}),
      approval: true,
      approvers: ["ada"],
      approvalSummary: () => "Pay",
      execute: () => "paid",
    });
    const world = await start({ asksOwner: true }, async (ctx) => ctx.confirm({ message: "Send it?" }), {
      script,
      actions: { pay },
    });
    await world.press("c1", "Yes");
    await world.press("c1", "Approve");
    await expectShown(world, "It is paid.", "g1");
    expect(await untilEnded(world, "report")).toMatchObject([{ state: "delivered" }]);
  });
});

describe("a question of a schedule that somebody made in a chat", () => {
  const GROUP = { isGroup: true, mentions: true } as const;
  const script: ModelScript = (request) => {
    const { prompt, said } = request;
    const digest = { text: "Do A7", when: "every day at 09:00", timezone: "UTC" };
    if (prompt.at(-1)?.role !== "tool" && said.includes("Plan it"))
      return [callTool("schedule_digest", digest)];
    return askingScript(request);
  };

  async function plan(
    ask: (ctx: ActionContext) => unknown,
    settings: { readonly chatSchedules: true | { readonly asksMaker: boolean } },
    {
      isGroup = false,
      isAnonymous = false,
    }: { readonly isGroup?: boolean; readonly isAnonymous?: boolean } = {},
  ): Promise<World> {
    const act = action({
      description: "Does something with an order.",
      inputSchema: z.object({ order: z.string() }),
      execute: (_input, ctx) => ask(ctx),
    });
    const world = createWorld({ script, getActions: () => ({ act }), settings });
    await world.write("c1", "Plan it", { user: "ada", isAnonymous, ...(isGroup && GROUP) });
    await expectShown(world, "Next:");
    await world.thread("c1").schedules.run("#1");
    return world;
  }

  it("is for the next message of that person in a private chat", async () => {
    const world = await plan((ctx) => ctx.elicit({ message: "To whom?", schema: z.string() }), {
      chatSchedules: true,
    });
    await expectShown(world, "To whom?");
    await world.write("c1", "to all", { user: "ada", sentAt: Date.now() });
    await expectShown(world, 'Told: {"value":"to all"}');
    const occurrences = await world.thread("c1").schedules.occurrences();
    expect(occurrences).toMatchObject([{ taskId: "#1" }]);
  });

  it("counts only the press and the quote of that person in a group", async () => {
    const world = await plan(
      async (ctx) => {
        const isSent = await ctx.confirm({ message: "Send it?" });
        const { value } = await ctx.elicit({ message: "To whom?", schema: z.string() });
        return { isSent, value };
      },
      { chatSchedules: true },
      { isGroup: true },
    );
    await expectShown(world, "Send it?");
    expect(await world.press("c1", "Yes", { user: "bob" })).toContain("somebody else");
    expect(await world.press("c1", "Yes", { user: "ada" })).toBeUndefined();
    const card = await expectShown(world, "To whom?");
    const quoting = { quotes: card.id, sentAt: Date.now(), ...GROUP };
    await world.write("c1", "to bob", { user: "bob", ...quoting });
    await world.write("c1", "loosely", { user: "ada", ...GROUP });
    await expectShown(world, "loosely");
    await world.write("c1", "to all", { user: "ada", ...quoting });
    await expectShown(world, 'Told: {"isSent":true,"value":"to all"}');
  });

  it("asks for a secret in the private chat of that person", async () => {
    const ask = (ctx: ActionContext): unknown =>
      ctx.elicit({ message: "The code?", schema: z.string(), sensitive: true });
    const world = await plan(ask, { chatSchedules: true }, { isGroup: true });
    await expectShown(world, '"why":"nobody"');
    await world.write("dm", "Hello", { user: "ada" });
    await expectShown(world, "Hello", "dm");
    await world.thread("c1").schedules.run("#1");
    await expectShown(world, "The code?", "dm");
    expect(world.chats.visible("c1").join()).not.toContain("The code?");
  });

  it.each(["/stop", "/new"])(
    "goes on without an answer after %s of that person, in a group too",
    async (command) => {
      for (const isGroup of [false, true]) {
        const world = await plan(
          (ctx) => ctx.elicit({ message: "To whom?", schema: z.string() }),
          { chatSchedules: true },
          { isGroup },
        );
        await expectShown(world, "To whom?");
        const how = isGroup ? GROUP : {};
        if (isGroup && command === "/stop") {
          await world.write("c1", command, { user: "bob", sentAt: Date.now(), ...how });
          await world.write("c1", "Still there?", { user: "bob", ...how });
          await expectShown(world, "Still there?");
          expect(world.chats.visible("c1").join()).not.toContain("Not answered.");
        }
        await world.write("c1", command, { user: "ada", sentAt: Date.now(), ...how });
        await expectShown(world, "Not answered.");
        await expectShown(world, 'Told: {"why":"declined"}');
        expect(world.chats.button("c1", "Not now")).toBeUndefined();
      }
    },
  );

  it("is asked once and answered once if the process dies while it waits", async () => {
    const steps: string[] = [];
    const world = await plan(
      async (ctx) => {
        await ctx.step("hold", () => void steps.push("hold"));
        return ctx.elicit({ message: "To whom?", schema: z.string() });
      },
      { chatSchedules: true },
    );
    await expectShown(world, "To whom?");
    await kill(world);
    await world.write("c1", "to all", { user: "ada", sentAt: Date.now() });
    await expectShown(world, 'Told: {"value":"to all"}');
    expect(world.chats.visible("c1").filter((text) => text.includes("To whom?"))).toHaveLength(1);
    expect(world.chats.visible("c1").filter((text) => text.includes("Told:"))).toHaveLength(1);
    expect(steps).toEqual(["hold"]);
  });

  it("is answered with `nobody` if an anonymous administrator has made the schedule", async () => {
    const world = await plan(
      (ctx) => ctx.elicit({ message: "To whom?", schema: z.string() }),
      { chatSchedules: true },
      { isGroup: true, isAnonymous: true },
    );
    await expectShown(world, '"why":"nobody"');
    expect(world.chats.visible("c1").join()).not.toContain("To whom?");
  });

  it("is answered with `nobody` at once if the bot does not allow it", async () => {
    const world = await plan((ctx) => ctx.elicit({ message: "To whom?", schema: z.string() }), {
      chatSchedules: { asksMaker: false },
    });
    await expectShown(world, '"why":"nobody"');
    expect(world.chats.visible("c1").join()).not.toContain("To whom?");
  });
});
