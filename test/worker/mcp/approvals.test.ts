import { evictDurableObject } from "cloudflare:test";
import { isCreateTaskResultV2, isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { conversationOfToken } from "../../../src/mcp/mcp-calls.ts";
import { action, roles } from "../../../src/index.ts";
import type { ActionContext } from "../../../src/index.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld, RawCall } from "../support/mcp-world.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, shown } from "../support/refund-bot.ts";
import type { WorldOptions } from "../support/world.ts";

beforeEach(() => void captureLog());
afterEach(dropMcpServer);

const ADA = { messenger: "fake", userId: "ada" } as const;
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const CAN_ASK = { elicitation: { form: {} } };

interface Refunds {
  readonly mcp: McpWorld;
  readonly effects: string[];
  readonly contexts: ActionContext[];
}

interface RefundOptions {
  readonly requesterMayApprove?: boolean;
  readonly approvers?: readonly string[];
  readonly permissions?: () => readonly string[];
}

function createRefunds(
  options: RefundOptions = {},
  world: WorldOptions = {},
  server: { readonly owner?: typeof ADA } = {},
): Refunds {
  const effects: string[] = [];
  const contexts: ActionContext[] = [];
  const refund = action({
    description: "Pays money back.",
    inputSchema: z.object({ orderId: z.string() }),
    approval: true,
    approvalSummary: ({ input }) => `Refund order ${input.orderId}`,
    ...options,
    execute: ({ orderId }, ctx) => {
      effects.push(orderId);
      contexts.push(ctx);
      return { refunded: orderId };
    },
  });
  return { mcp: createMcpWorld({ getActions: () => ({ refund }), ...world }, server), effects, contexts };
}

/** Ada writes to the bot, so that it can reach her. */
async function meet(mcp: McpWorld, person = "ada"): Promise<void> {
  await mcp.world.write(person, "Hi", { user: person });
  await shown(mcp.world, "You said: Hi", person);
}

function refund(mcp: McpWorld, token: string, call: RawCall = {}): Promise<Record<string, unknown>> {
  return mcp.call(token, "shop__refund", { orderId: "7" }, call);
}

function task(mcp: McpWorld, token: string, taskId: unknown, method = "tasks/get") {
  return mcp.ask(token, method, { taskId }, { id: `${method}-${crypto.randomUUID()}`, capabilities: TASKS });
}

const answer = (requestState: unknown, action: string, content?: object) => ({
  requestState,
  inputResponses: { consent: { action, ...(content !== undefined && { content }) } },
});

describe("a client that can ask its person", () => {
  it("is asked, and the action runs once when the answer comes, also if that is sent again", async () => {
    const { contexts, effects, mcp } = createRefunds();
    await meet(mcp);
    const { record, token } = await mcp.token({ person: ADA });
    const question = await refund(mcp, token, { capabilities: CAN_ASK });
    expect(question).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        consent: {
          method: "elicitation/create",
          params: { message: expect.stringContaining("Refund order 7") as unknown },
        },
      },
    });
    expect(effects).toEqual([]);
    const params = answer(question["requestState"], "accept", { approve: true });
    const first = await refund(mcp, token, { id: 2, capabilities: CAN_ASK, params });
    expect(first).toMatchObject({ structuredContent: { refunded: "7" } });
    await evictDurableObject(mcp.world.child(conversationOfToken(record.id)));
    const again = await refund(mcp, token, { id: 2, capabilities: CAN_ASK, params });
    expect(again["structuredContent"]).toEqual(first["structuredContent"]);
    expect(effects).toEqual(["7"]);
    expect(contexts[0]).toMatchObject({ person: { userId: "ada" }, approver: { userId: "ada" } });
    // Nobody was asked in a chat, and no turn tells of it.
    expect(mcp.world.chats.visible("ada")).toEqual(["You said: Hi"]);
    expect(mcp.world.requests).toHaveLength(1);
  });

  it.each([
    ["accept", { approve: false }, "ActionConsentError"],
    ["accept", { approve: "yes" }, "ActionConsentError"],
    ["decline", undefined, "ActionConsentError"],
    ["cancel", undefined, "ActionConsentError"],
  ])("runs nothing after %s %j", async (kind, content, name) => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const { requestState } = await refund(mcp, token, { capabilities: CAN_ASK });
    const params = answer(requestState, kind, content);
    const result = await refund(mcp, token, { id: 2, capabilities: CAN_ASK, params });
    expect(result).toMatchObject({ isError: true, structuredContent: { code: -32005, name } });
    const late = answer(requestState, "accept", { approve: true });
    expect(await refund(mcp, token, { id: 3, capabilities: CAN_ASK, params: late })).toMatchObject({
      isError: true,
    });
    expect(effects).toEqual([]);
  });

  it("cannot answer for another input, for another token, or a question of nobody", async () => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const other = await mcp.token({ person: ADA });
    const { requestState } = await refund(mcp, token, { capabilities: CAN_ASK });
    const params = answer(requestState, "accept", { approve: true });
    const call = { id: 2, capabilities: CAN_ASK, params };
    const gone = { isError: true, structuredContent: { name: "QuestionGone" } };
    expect(await mcp.call(token, "shop__refund", { orderId: "8" }, call)).toMatchObject(gone);
    expect(await refund(mcp, other.token, call)).toMatchObject(gone);
    const made = { ...call, params: { ...params, requestState: "made-up" } };
    expect(await refund(mcp, token, made)).toMatchObject(gone);
    expect(effects).toEqual([]);
  });

  it("is not asked if its person may not decide: the approver's chat is", async () => {
    const { effects, mcp } = createRefunds({ requesterMayApprove: false, approvers: ["dana"] });
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const call = { capabilities: { ...CAN_ASK, ...TASKS } };
    const answered = await refund(mcp, token, call);
    expect(answered).toMatchObject({ resultType: "task", status: "working" });
    // The client claims an answer all the same.
    const params = answer(answered["taskId"], "accept", { approve: true });
    expect(await refund(mcp, token, { id: 2, ...call, params })).toMatchObject({ status: "working" });
    expect(effects).toEqual([]);
    expect(await mcp.world.press("ada", "Approve")).not.toBe("Approved.");
    await mcp.world.press("ada", "Approve", { user: "dana" });
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  });

  it("is the official one, which asks by its handler", async () => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const client = await mcp.connect(token, { options: { capabilities: { elicitation: { form: {} } } } });
    const questions: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      questions.push(params.message);
      return { action: "accept", content: { approve: true } };
    });
    const result = await client.callTool({ name: "shop__refund", arguments: { orderId: "7" } });
    expect(result.structuredContent).toEqual({ refunded: "7" });
    expect(questions).toEqual([expect.stringContaining("Refund order 7")]);
    expect(effects).toEqual(["7"]);
    await client.close();
  });
});

describe("a client that cannot ask", () => {
  it("gets a task, whose question is in the private chat of the token's person", async () => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const made = await refund(mcp, token, { capabilities: TASKS });
    expect(isCreateTaskResultV2(made)).toBe(true);
    const { taskId } = made;
    await asked(mcp.world, "ada");
    const working = await task(mcp, token, taskId);
    expect(working).toMatchObject({ status: "working", pollIntervalMs: 2000 });
    expect(isDetailedTaskV2(working)).toBe(true);
    // The same request finds the same question.
    expect(await refund(mcp, token, { id: 9, capabilities: TASKS })).toMatchObject({ status: "working" });
    expect(await mcp.world.press("ada", "Approve")).toBe("Approved.");
    await vi.waitFor(
      async () =>
        expect(await task(mcp, token, taskId)).toMatchObject({
          status: "completed",
          result: { structuredContent: { refunded: "7" } },
        }),
      8000,
    );
    expect(isDetailedTaskV2(await task(mcp, token, taskId))).toBe(true);
    expect(effects).toEqual(["7"]);
    await shown(mcp.world, "Done", "ada");
    // The agent reads the outcome, and no model is told.
    expect(mcp.world.requests).toHaveLength(1);
    const other = await mcp.token({ person: ADA });
    expect(await task(mcp, other.token, taskId)).toMatchObject({ error: { message: "Task not found" } });
  });

  it("of 2025 looks with a tool", async () => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const client = await mcp.connect(token, { mode: "legacy" });
    const waiting = await client.callTool({ name: "shop__refund", arguments: { orderId: "7" } });
    expect(waiting.isError).not.toBe(true);
    expect(waiting.structuredContent).toMatchObject({ status: "working" });
    const { taskId } = waiting.structuredContent as { readonly taskId: string };
    const look = () => client.callTool({ name: "shop__task", arguments: { taskId } });
    expect((await look()).structuredContent).toMatchObject({ status: "working" });
    await mcp.world.press("ada", "Approve");
    await vi.waitFor(async () => expect((await look()).structuredContent).toEqual({ refunded: "7" }), 8000);
    expect(effects).toEqual(["7"]);
    const wrong = await client.callTool({ name: "shop__task", arguments: { taskId: "nothing" } });
    expect(wrong.isError).toBe(true);
    await client.close();
  });

  it("takes back a question that nobody has decided", async () => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { token } = await mcp.token({ person: ADA });
    const { taskId } = await refund(mcp, token, { capabilities: TASKS });
    await asked(mcp.world, "ada");
    await task(mcp, token, taskId, "tasks/cancel");
    expect(await task(mcp, token, taskId)).toMatchObject({ status: "cancelled" });
    await shown(mcp.world, "Taken back", "ada");
    expect(effects).toEqual([]);
  });

  it("has its question taken back when its token is revoked", async () => {
    const { effects, mcp } = createRefunds();
    await meet(mcp);
    const { record, token } = await mcp.token({ name: "billing-agent", person: ADA });
    await refund(mcp, token, { capabilities: TASKS });
    await asked(mcp.world, "ada");
    await mcp.operate(`/switchboard/tokens/${record.id}`, { method: "DELETE" });
    await shown(mcp.world, "Decided by: billing-agent", "ada");
    expect(mcp.world.chats.button("ada", "Approve")).toBeUndefined();
    expect(effects).toEqual([]);
  });

  it("is told at once if the person of the token cannot be reached", async () => {
    const { effects, mcp } = createRefunds();
    const { token } = await mcp.token({ person: { messenger: "fake", userId: "stranger" } });
    expect(await refund(mcp, token, { capabilities: TASKS })).toMatchObject({ isError: true });
    expect(effects).toEqual([]);
  });
});

it("asks the owner about a call that no person makes", async () => {
  const { contexts, effects, mcp } = createRefunds({}, {}, { owner: ADA });
  await meet(mcp);
  const { token } = await mcp.token();
  const { taskId } = await refund(mcp, token, { capabilities: { ...CAN_ASK, ...TASKS } });
  await asked(mcp.world, "ada");
  expect(await mcp.world.press("ada", "Approve")).toBe("Approved.");
  await vi.waitFor(
    async () => expect(await task(mcp, token, taskId)).toMatchObject({ status: "completed" }),
    8000,
  );
  expect(effects).toEqual(["7"]);
  expect(contexts[0]).toMatchObject({ person: undefined, approver: { userId: "ada" } });
});

it("keeps the scopes of the token when an approved call runs (I13)", async () => {
  const needed = { permission: "refunds" };
  const rolesOf = roles({ refunds: ["ada"], payouts: ["ada"] });
  const { effects, mcp } = createRefunds(
    { permissions: () => [needed.permission] },
    { authorizeTurn: ({ person }) => ({ allowed: true, grantedPermissions: rolesOf(person) }) },
  );
  await meet(mcp);
  const { token } = await mcp.token({ person: ADA, scopes: ["refunds"] });
  const { taskId } = await refund(mcp, token, { capabilities: TASKS });
  await asked(mcp.world, "ada");
  needed.permission = "payouts";
  await mcp.world.press("ada", "Approve");
  await vi.waitFor(
    async () =>
      expect(await task(mcp, token, taskId)).toMatchObject({
        status: "completed",
        result: { isError: true, structuredContent: { name: "ActionAuthorizationError" } },
      }),
    8000,
  );
  expect(effects).toEqual([]);
});
