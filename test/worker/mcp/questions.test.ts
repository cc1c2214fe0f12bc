import { evictDurableObject } from "cloudflare:test";
import { isCreateTaskResultV2, isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { conversationOfToken } from "../../../src/mcp/mcp-calls.ts";
import { action } from "../../../src/index.ts";
import type { ActionContext } from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld, RawCall } from "../support/mcp-world.ts";
import { expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";

beforeEach(() => void captureLog());
afterEach(dropMcpServer);

const ADA = { messenger: "fake", userId: "ada" } as const;
const DANA = { messenger: "fake", userId: "dana" } as const;
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const CAN_ASK = { elicitation: { form: {} } };

type Ask = (ctx: ActionContext, done: string[]) => unknown;

interface AskingTool {
  readonly mcp: McpWorld;
  readonly done: string[];
}

/** A bot whose one tool asks people. Ada and Dana have written to it. */
async function start(ask: Ask, owner?: typeof DANA, permissions?: readonly string[]): Promise<AskingTool> {
  const done: string[] = [];
  const act = action({
    description: "Does something with an order.",
    inputSchema: z.object({ order: z.string() }),
    ...(permissions !== undefined && { permissions }),
    execute: (_input, ctx) => ask(ctx, done),
  });
  const mcp = createMcpWorld({ getActions: () => ({ act }) }, owner === undefined ? {} : { owner });
  for (const user of ["ada", "dana"]) {
    await mcp.world.write(user, "Hi", { user });
    await expectShown(mcp.world, "You said: Hi", user);
  }
  return { mcp, done };
}

function act(mcp: McpWorld, token: string, call: RawCall = {}): Promise<Record<string, unknown>> {
  return mcp.call(token, "shop__act", { order: "7" }, call);
}

function task(mcp: McpWorld, token: string, taskId: unknown, method = "tasks/get") {
  return mcp.ask(token, method, { taskId }, { id: `${method}-${crypto.randomUUID()}`, capabilities: TASKS });
}

const answer = (asked: Record<string, unknown>, action: string, content?: object): RawCall["params"] => ({
  requestState: asked["requestState"],
  inputResponses: { answer: { action, ...(content !== undefined && { content }) } },
});

const schemaOf = (asked: Record<string, unknown>): unknown =>
  (asked["inputRequests"] as { answer: { params: unknown } }).answer.params;

const twoQuestions: Ask = async (ctx, done) => {
  await ctx.step("hold", () => void done.push("hold"));
  const isWanted = await ctx.confirm({ message: "Really?" });
  const { value } = await ctx.elicit({
    message: "How many?",
    schema: z.object({
      boxes: z.int().min(1).max(9),
      to: z.enum(["shop", "home"]),
      note: z.string().optional(),
    }),
  });
  done.push("end");
  return { isWanted, value };
};

describe("a client that can ask its person", () => {
  it("is asked one question after the other, and each answer counts once, also if it is sent again", async () => {
    const { done, mcp } = await start(twoQuestions);
    const { record, token } = await mcp.token({ person: ADA });
    const meta = { idempotencyKey: "order-7" };
    const first = await act(mcp, token, { capabilities: CAN_ASK, meta });
    expect(first["resultType"]).toBe("input_required");
    expect(schemaOf(first)).toMatchObject({
      message: "Really?",
      requestedSchema: { properties: { value: { type: "boolean" } }, required: ["value"] },
    });
    // The same request finds the same question.
    expect(await act(mcp, token, { id: 2, capabilities: CAN_ASK, meta })).toEqual(first);
    const yes = answer(first, "accept", { value: true });
    const second = await act(mcp, token, { id: 2, capabilities: CAN_ASK, params: yes });
    expect(schemaOf(second)).toMatchObject({
      message: "How many?",
      requestedSchema: {
        properties: {
          boxes: { type: "integer", minimum: 1, maximum: 9 },
          to: { type: "string", oneOf: [{ const: "shop" }, { const: "home" }] },
        },
        required: ["boxes", "to"],
      },
    });
    // An earlier answer that is sent again, and one that does not fit, change nothing.
    for (const params of [yes, answer(second, "accept", { boxes: 99, to: "home" })])
      expect(await act(mcp, token, { id: 3, capabilities: CAN_ASK, params })).toEqual(second);
    await evictDurableObject(mcp.world.child(conversationOfToken(record.id)));
    const params = answer(second, "accept", { boxes: 3, to: "home" });
    const result = { isWanted: true, value: { boxes: 3, to: "home" } };
    for (const id of [4, 4, 5])
      expect(await act(mcp, token, { id, capabilities: CAN_ASK, params })).toMatchObject({
        structuredContent: result,
      });
    expect(done).toEqual(["hold", "end"]);
    // Nobody was asked in a chat, and no turn tells of it.
    expect(mcp.world.chats.visible("ada")).toEqual(["You said: Hi"]);
    expect(mcp.world.requests).toHaveLength(2);
  });

  it.each(["decline", "cancel"])("goes on without an answer after %s", async (kind) => {
    const { mcp } = await start(async (ctx) => ctx.elicit({ message: "Well?", schema: z.string() }));
    const { token } = await mcp.token({ person: ADA });
    const asked = await act(mcp, token, { capabilities: CAN_ASK });
    const params = answer(asked, kind);
    expect(await act(mcp, token, { id: 2, capabilities: CAN_ASK, params })).toMatchObject({
      structuredContent: { why: "declined" },
    });
  });

  it("is asked again with the problem that the schema has", async () => {
    const code = z.string().refine((text) => text.startsWith("R"), { message: "It begins with R" });
    const { mcp } = await start(async (ctx) => ctx.elicit({ message: "Code?", schema: code }));
    const { token } = await mcp.token();
    const asked = await act(mcp, token, { capabilities: CAN_ASK });
    const wrong = answer(asked, "accept", { value: "X1" });
    const again = await act(mcp, token, { id: 2, capabilities: CAN_ASK, params: wrong });
    expect(schemaOf(again)).toMatchObject({
      message: expect.stringContaining("It begins with R") as unknown,
    });
    const params = answer(again, "accept", { value: "R1" });
    expect(await act(mcp, token, { id: 3, capabilities: CAN_ASK, params })).toMatchObject({
      structuredContent: { value: "R1" },
    });
  });

  it("is not asked for secrets and files, or for somebody else: the chats are", async () => {
    const { mcp } = await start(async (ctx) => {
      const { value } = await ctx.elicit({ message: "PIN?", schema: z.string(), sensitive: true });
      const isFine = await ctx.confirm({ message: "Fine?", of: { person: "dana" } });
      return { length: value?.length, isFine };
    });
    const { token } = await mcp.token({ person: ADA });
    const made = await act(mcp, token, { capabilities: { ...CAN_ASK, ...TASKS } });
    expect(made).toMatchObject({ resultType: "task", status: "working" });
    const card = await expectShown(mcp.world, "PIN?", "ada");
    await mcp.world.write("ada", "4711", { quotes: card.id, sentAt: Date.now() });
    await mcp.world.press("dana", "Yes", { user: "dana" });
    await vi.waitFor(
      async () =>
        expect(await task(mcp, token, made["taskId"])).toMatchObject({
          status: "completed",
          result: { structuredContent: { length: 4, isFine: true } },
        }),
      8000,
    );
  });

  it("is the official one, which asks by its handler", async () => {
    const { done, mcp } = await start(twoQuestions);
    const { token } = await mcp.token({ person: ADA });
    const client = await mcp.connect(token, { options: { capabilities: { elicitation: { form: {} } } } });
    const answers: Record<string, Record<string, string | number | boolean>> = {
      "Really?": { value: false },
      "How many?": { boxes: 1, to: "shop" },
    };
    client.setRequestHandler("elicitation/create", async ({ params }) => ({
      action: "accept",
      content: answers[params.message],
    }));
    const result = await client.callTool({ name: "shop__act", arguments: { order: "7" } });
    expect(result.structuredContent).toEqual({ isWanted: false, value: { boxes: 1, to: "shop" } });
    expect(done).toEqual(["hold", "end"]);
    await client.close();
  });
});

describe("a client that cannot ask", () => {
  it("gets a task, whose question is in the private chat of the token's person", async () => {
    const { done, mcp } = await start(async (ctx, effects) => {
      const isWanted = await ctx.confirm({ message: "Really?" });
      effects.push("end");
      return { isWanted, elicitation: ctx.caller.capabilities.elicitation, client: ctx.client.kind };
    });
    const { token } = await mcp.token({ person: ADA });
    const meta = { idempotencyKey: "order-7" };
    const made = await act(mcp, token, { capabilities: TASKS, meta });
    expect(isCreateTaskResultV2(made)).toBe(true);
    await expectShown(mcp.world, "Really?", "ada");
    const working = await task(mcp, token, made["taskId"]);
    expect(working).toMatchObject({
      status: "working",
      statusMessage: expect.stringContaining("waits for the answer") as unknown,
    });
    expect(isDetailedTaskV2(working)).toBe(true);
    // The same request finds the same question.
    expect(await act(mcp, token, { id: 2, capabilities: TASKS, meta })).toMatchObject({
      taskId: made["taskId"],
    });
    await mcp.world.press("ada", "Yes");
    await vi.waitFor(
      async () =>
        expect(await task(mcp, token, made["taskId"])).toMatchObject({
          status: "completed",
          result: { structuredContent: { isWanted: true, elicitation: true, client: "mcp" } },
        }),
      8000,
    );
    expect(done).toEqual(["end"]);
    expect(mcp.world.requests).toHaveLength(2);
  });

  it("has its owner asked if no person calls, and nobody without an owner", async () => {
    for (const owner of [DANA, undefined]) {
      const { mcp } = await start(async (ctx) => ctx.elicit({ message: "Well?", schema: z.string() }), owner);
      const { token } = await mcp.token();
      const made = await act(mcp, token, { capabilities: TASKS });
      if (owner === undefined) expect(made).toMatchObject({ structuredContent: { why: "nobody" } });
      else {
        const card = await expectShown(mcp.world, "Well?", "dana");
        await mcp.world.write("dana", "well", { user: "dana", quotes: card.id, sentAt: Date.now() });
        await vi.waitFor(
          async () =>
            expect(await task(mcp, token, made["taskId"])).toMatchObject({
              result: { structuredContent: { value: "well" } },
            }),
          8000,
        );
      }
      dropMcpServer();
    }
  });

  it("can give up: the action goes on without an answer", async () => {
    const { mcp } = await start(async (ctx) => ctx.elicit({ message: "Well?", schema: z.string() }));
    const { token } = await mcp.token({ person: ADA });
    const { taskId } = await act(mcp, token, { capabilities: TASKS });
    await expectShown(mcp.world, "Well?", "ada");
    await task(mcp, token, taskId, "tasks/cancel");
    await vi.waitFor(
      async () =>
        expect(await task(mcp, token, taskId)).toMatchObject({
          result: { structuredContent: { why: "declined" } },
        }),
      8000,
    );
  });
});

it("runs again with the scopes of its token, and no more", async () => {
  const { mcp } = await start(
    async (ctx) => ctx.elicit({ message: "Well?", schema: z.string() }),
    undefined,
    ["orders"],
  );
  const { token } = await mcp.token({ person: ADA, scopes: ["orders"] });
  const asked = await act(mcp, token, { capabilities: CAN_ASK });
  const params = answer(asked, "accept", { value: "well" });
  expect(await act(mcp, token, { id: 2, capabilities: CAN_ASK, params })).toMatchObject({
    structuredContent: { value: "well" },
  });
});

it("runs nothing for an answer to a question that nobody knows", async () => {
  const { done, mcp } = await start(twoQuestions);
  const { token } = await mcp.token({ person: ADA });
  const asked = await act(mcp, token, { capabilities: CAN_ASK });
  const params = answer(asked, "accept", { value: true });
  for (const requestState of [
    "{}",
    '{"callId":"made-up"}',
    "7",
    JSON.stringify({ callId: "a", questionId: "b" }),
  ])
    expect(
      await act(mcp, token, { id: 2, capabilities: CAN_ASK, params: { ...params, requestState } }),
    ).toMatchObject({ isError: true, structuredContent: { name: "QuestionGone" } });
  expect(done).toEqual(["hold"]);
});

describe("progress of a run that a person has let go on", () => {
  it.each([
    ["its question was answered", false, undefined],
    ["it was approved", true, undefined],
    ["it was approved by the owner", true, DANA],
  ])("is a line in the chat of that person, and in the task, after %s", async (_name, approval, owner) => {
    const [first, second] = [createGate(), createGate()];
    const callers: string[] = [];
    const act = action({
      description: "Exports.",
      inputSchema: z.object({ order: z.string() }),
      approval,
      execute: async (_input, ctx) => {
        if (approval) {
          ctx.progress({ message: "Looking" });
          await first.pass();
        }
        const isWanted = await ctx.confirm({ message: "Really?" });
        callers.push(ctx.caller.name, ctx.client.kind);
        ctx.progress({ message: "Writing", fraction: 0.5 });
        await second.pass();
        return { isWanted };
      },
    });
    const mcp = createMcpWorld({ getActions: () => ({ act }) }, owner === undefined ? {} : { owner });
    const chat = owner === undefined ? "ada" : "dana";
    await mcp.world.write(chat, "Hi", { user: chat });
    await expectShown(mcp.world, "You said: Hi", chat);
    const { token } = await mcp.token({ name: "billing-agent", ...(owner === undefined && { person: ADA }) });
    const { taskId } = await mcp.call(token, "shop__act", { order: "7" }, { capabilities: TASKS });
    const message = async (): Promise<unknown> => (await task(mcp, token, taskId))["statusMessage"];
    if (approval) {
      await mcp.world.press(chat, "Approve", { user: chat });
      await expectShown(mcp.world, "⏳ Looking", chat);
      expect(await message()).toContain("⏳ Looking");
      first.open();
    }
    await expectShown(mcp.world, "Really?", chat);
    await expectGone(mcp, chat);
    await mcp.world.press(chat, "Yes", { user: chat });
    await expectShown(mcp.world, "⏳ Writing 50 %", chat);
    expect(await message()).toContain("⏳ Writing 50 %");
    second.open();
    await vi.waitFor(
      async () => expect(await task(mcp, token, taskId)).toMatchObject({ status: "completed" }),
      8000,
    );
    await expectGone(mcp, chat);
    expect(callers).toEqual(["billing-agent", "mcp"]);
  });
});

async function expectGone({ world }: McpWorld, chat: string): Promise<void> {
  await expect.poll(() => world.chats.visible(chat).join("\n"), { timeout: 8000 }).not.toContain("⏳");
}
