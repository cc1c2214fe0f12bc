import { createHmac } from "node:crypto";
import { createExecutionContext } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { createWorker } from "../../../src/index.ts";
import type { ApprovalRecord, IndexedApproval, IncomingHook, PendingApproval } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { asked, createRefundBot, told } from "../support/refund-bot.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ScriptedBot } from "../worker.ts";

type Env = typeof testEnv & { readonly ADMIN_TOKEN?: string };
type Answer = Awaited<ReturnType<Call>>;
type Call = (
  path: string,
  options?: { method?: string; token?: string; body?: unknown; headers?: Record<string, string> },
) => Promise<{ readonly status: number; readonly headers: Headers; readonly json: Record<string, unknown> }>;

const TOKEN = "admin-secret";

beforeEach(() => void captureLog());

function serve(world: World, adminToken: string | undefined = TOKEN): Call {
  const worker = createWorker<Env>(ScriptedBot, { root: world.root });
  return async (path, { body, headers = {}, method = body === undefined ? "GET" : "POST", token } = {}) => {
    if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const request = new Request(`https://bot.example${path}`, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body: text }),
    }) as Parameters<typeof worker.fetch>[0];
    const env = { ...testEnv, ADMIN_TOKEN: adminToken };
    const response = await worker.fetch(request, env, createExecutionContext());
    const raw = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: raw.startsWith("{") ? (JSON.parse(raw) as Record<string, unknown>) : {},
    };
  };
}

const codeOf = ({ json }: { readonly json: Record<string, unknown> }): unknown =>
  (json["error"] as { readonly code?: unknown } | undefined)?.code;

async function known(world: World): Promise<string> {
  await world.write("c1", "Hello");
  await expect.poll(() => world.chats.visible("c1").length).toBe(1);
  const [entry] = await world.stub.listConversations();
  return `/conversations/${encodeURIComponent(entry?.name ?? "")}/submissions`;
}

describe("POST /conversations/:name/submissions", () => {
  it("is accepted with the address of its status, and answered in the chat", async () => {
    const world = createWorld();
    const call = serve(world);
    const path = await known(world);
    const body = { text: "The build failed", deliver: true, metadata: { build: 7 } };
    const accepted = await call(path, { token: TOKEN, body });
    expect(accepted.status).toBe(202);
    expect(accepted.json).toMatchObject({ accepted: true, status: "pending", metadata: { build: 7 } });
    const statusUrl = accepted.headers.get("location") ?? "";
    expect(statusUrl).toBe(accepted.json["statusUrl"]);
    await world.shows("c1", "You said: Hello", "You said: The build failed");
    const status = async (): Promise<unknown> => (await call(statusUrl, { token: TOKEN })).json["status"];
    await expect.poll(status).toBe("completed");
    expect((await call(statusUrl, { token: TOKEN, method: "DELETE" })).status).toBe(404);
  });

  it("is accepted once for each Idempotency-Key, and another question under it is a conflict", async () => {
    const world = createWorld();
    const call = serve(world);
    const path = await known(world);
    const headers = { "idempotency-key": "build-7" };
    const first = await call(path, { token: TOKEN, headers, body: { text: "Build 7 failed" } });
    const again = await call(path, { token: TOKEN, headers, body: { text: "Build 7 failed" } });
    expect(again.json).toMatchObject({ accepted: false, submissionId: first.json["submissionId"] });
    const other = await call(path, { token: TOKEN, headers, body: { text: "Build 8 failed" } });
    expect([other.status, codeOf(other)]).toEqual([409, "submission-conflict"]);
  });

  it.each<[string, unknown, number, string]>([
    ["no JSON", "hello", 400, "body-invalid"],
    ["neither a text nor messages", {}, 400, "submission-invalid"],
    ["both", { text: "a", messages: [] }, 400, "submission-invalid"],
    ["an empty text", { text: " " }, 400, "submission-empty"],
    ["an unknown field", { text: "a", deliverTo: "b" }, 400, "submission-invalid"],
    [
      "a chat that nobody has seen",
      { text: "a", answerTo: { messenger: "fake", chatId: "x" } },
      422,
      "chat-unknown",
    ],
    ["too much", { text: "a".repeat(1_100_000) }, 413, "body-too-large"],
  ])("refuses %s", async (_name, body, status, code) => {
    const world = createWorld();
    const refused = await serve(world)("/conversations/ada/submissions", { token: TOKEN, body });
    expect([refused.status, codeOf(refused)]).toEqual([status, code]);
  });

  it("needs the token, and is off without one", async () => {
    const world = createWorld();
    const path = "/conversations/ada/submissions";
    const body = { text: "Hello" };
    expect((await serve(world)(path, { body })).status).toBe(401);
    expect((await serve(world)(path, { body, token: "wrong" })).status).toBe(401);
    expect((await serve(world, "")(path, { body, token: "" })).status).toBe(401);
    expect(world.requests).toEqual([]);
  });
});

describe("/admin/approvals", () => {
  async function waiting(world: World, call: Call): Promise<IndexedApproval> {
    await world.write("c1", "Refund 7");
    await asked(world);
    const all = async (): Promise<readonly IndexedApproval[]> =>
      (await call("/admin/approvals", { token: TOKEN })).json["approvals"] as readonly IndexedApproval[];
    await expect.poll(async () => (await all()).length).toBe(1);
    const [approval] = await all();
    if (approval === undefined) throw new Error("Nothing waits");
    return approval;
  }

  it("lists what waits in all conversations, decides once, and tells the outcome in the chat", async () => {
    const { effects, world } = createRefundBot();
    const call = serve(world);
    const approval = await waiting(world, call);
    expect(approval).toMatchObject({
      conversation: "thread:fake:fake%3Ac1",
      state: "waiting",
      descriptor: { action: "refund", summary: "Refund order 7", input: { orderId: "7" } },
      requestedBy: { userId: "ada" },
      chat: { messengerId: "fake", chatId: "c1" },
    });
    const { executionId, inputHash } = approval;
    const path = `/admin/approvals/${executionId}`;
    expect((await call(path, { token: TOKEN })).json).toMatchObject({ executionId, state: "waiting" });
    const body = { decision: "approve", actor: "Grace", asAdmin: true, inputHash };
    const decided = await call(`${path}/decision`, { token: TOKEN, body });
    expect([decided.status, decided.json["decided"]]).toEqual([200, true]);
    await expect.poll(() => told(world).length).toBe(1);
    expect(effects).toEqual(["7"]);
    expect(told(world)[0]).toContain("Approved by Grace, as an administrator.");
    // The same again is no error, and another decision comes too late.
    expect((await call(`${path}/decision`, { token: TOKEN, body })).status).toBe(200);
    const late = await call(`${path}/decision`, {
      token: TOKEN,
      body: { decision: "reject", actor: "Alan" },
    });
    expect([late.status, codeOf(late)]).toEqual([409, "approval-late"]);
    expect(effects).toEqual(["7"]);
    const state = async (): Promise<unknown> => (await call(path, { token: TOKEN })).json["state"];
    await expect.poll(state).toBe("done");
    expect((await call("/admin/approvals", { token: TOKEN })).json["approvals"]).toEqual([]);
    expect((await call(path, { token: TOKEN })).json).toMatchObject({
      decidedBy: "Grace",
      isDecidedByAdmin: true,
    });
  });

  it("counts a decision for its person if several must approve, and says that others are missing", async () => {
    const { effects, world } = createRefundBot({ approvers: ["bob", "cy"], quorum: 2 });
    const call = serve(world);
    const { executionId } = await waiting(world, call);
    const decide = async (userId: string): Promise<unknown[]> => {
      const body = {
        decision: "approve",
        actor: `The desk of ${userId}`,
        person: { messenger: "fake", userId },
      };
      const { json, status } = await call(`/admin/approvals/${executionId}/decision`, { token: TOKEN, body });
      return [status, json["decided"], json["agreed"]];
    };
    expect(await decide("bob")).toEqual([202, false, 1]);
    expect(await decide("bob")).toEqual([202, false, 1]);
    expect(effects).toEqual([]);
    expect(await decide("cy")).toEqual([200, true, undefined]);
    expect(await decide("bob")).toEqual([200, true, undefined]);
    await expect.poll(() => told(world).length).toBe(1);
    expect(effects).toEqual(["7"]);
  });

  it("checks the person for whom a system decides as if that person had pressed", async () => {
    const { effects, runs, world } = createRefundBot({ approvers: ["bob"], requesterMayApprove: false });
    const call = serve(world);
    const { executionId } = await waiting(world, call);
    const path = `/admin/approvals/${executionId}/decision`;
    const as = (userId: string, messenger = "fake"): Promise<Answer> =>
      call(path, {
        token: TOKEN,
        body: { decision: "approve", actor: "Grace", person: { messenger, userId } },
      });
    for (const [userId, messenger] of [["ada"], ["eve"], ["bob", "other"]] as const) {
      const refused = await as(userId, messenger);
      expect([refused.status, codeOf(refused)]).toEqual([403, "approval-not-allowed"]);
    }
    expect(effects).toEqual([]);
    expect((await as("bob")).status).toBe(200);
    await expect.poll(() => told(world)[0]).toContain("Approved by Grace.");
    expect(effects).toEqual(["7"]);
    expect(runs[0]).toMatchObject({ person: { userId: "ada" }, approver: { userId: "bob" } });
    const [record] = (await world.thread("c1").approvals.list()) as unknown as ApprovalRecord[];
    expect(record?.decidedBy).toEqual({
      surface: "http",
      name: "Grace",
      messengerId: "fake",
      person: { userId: "bob", fullName: "Grace" },
    });
  });

  it("takes an actor alone only if the approvers name that actor", async () => {
    const { effects, world } = createRefundBot({ approvers: ["grace@shop.example"] });
    const call = serve(world);
    const { executionId } = await waiting(world, call);
    const path = `/admin/approvals/${executionId}/decision`;
    const by = (actor: string): Promise<Answer> =>
      call(path, { token: TOKEN, body: { decision: "approve", actor } });
    const refused = await by("Grace");
    expect([refused.status, codeOf(refused)]).toEqual([403, "approval-not-allowed"]);
    expect(JSON.stringify(refused.json)).toContain("people whom this bot's team has chosen");
    expect((await by("grace@shop.example")).status).toBe(200);
    await expect.poll(() => effects).toEqual(["7"]);
  });

  it("rejects with a reason", async () => {
    const { effects, world } = createRefundBot();
    const call = serve(world);
    const { executionId } = await waiting(world, call);
    const body = { decision: "reject", actor: "Grace", asAdmin: true, reason: "too late" };
    expect((await call(`/admin/approvals/${executionId}/decision`, { token: TOKEN, body })).status).toBe(200);
    await expect.poll(() => told(world).join("")).toContain("too late");
    expect(effects).toEqual([]);
  });

  it("decides nothing for another input, without an actor, with a GET, or for an unknown approval", async () => {
    const { effects, world } = createRefundBot();
    const call = serve(world);
    const { executionId } = await waiting(world, call);
    const path = `/admin/approvals/${executionId}/decision`;
    const other = await call(path, {
      token: TOKEN,
      body: { decision: "approve", actor: "G", inputHash: "x" },
    });
    expect([other.status, codeOf(other)]).toEqual([409, "approval-changed"]);
    const nobody = await call(path, { token: TOKEN, body: { decision: "approve" } });
    expect([nobody.status, codeOf(nobody)]).toEqual([400, "decision-invalid"]);
    const person = { messenger: "fake", userId: "ada" };
    const both = { decision: "approve", actor: "G", asAdmin: true, person };
    expect((await call(path, { token: TOKEN, body: both })).status).toBe(400);
    expect((await call(path, { token: TOKEN })).status).toBe(405);
    const unknown = { token: TOKEN, body: { decision: "approve", actor: "G" } };
    expect((await call("/admin/approvals/nothing/decision", unknown)).status).toBe(404);
    expect(effects).toEqual([]);
  });

  it("masks sensitive values, here and in pendingApprovals() of the root", async () => {
    const { world } = createRefundBot({ sensitive: ["orderId"] });
    const call = serve(world);
    const approval = await waiting(world, call);
    expect(approval.descriptor.input).toEqual({ orderId: "•••" });
    const [pending, ...others] = (await world.stub.pendingApprovals()) as PendingApproval[];
    expect(pending).toMatchObject({
      executionId: approval.executionId,
      descriptor: { input: { orderId: "•••" } },
    });
    expect(others).toEqual([]);
  });

  it("pages through many, the oldest first", async () => {
    const { world } = createRefundBot();
    const call = serve(world);
    for (const chat of ["c1", "c2", "c3"]) {
      await world.write(chat, `Refund ${chat.slice(1)}`);
      await asked(world, chat);
    }
    await expect.poll(async () => (await world.stub.pendingApprovals()).length).toBe(3);
    const first = (await call("/admin/approvals?limit=2", { token: TOKEN })).json;
    const cursor = encodeURIComponent(String(first["cursor"]));
    const second = (await call(`/admin/approvals?limit=2&cursor=${cursor}`, { token: TOKEN })).json;
    const pages = [first, second].map(({ approvals }) => (approvals as readonly IndexedApproval[]).length);
    expect([pages, second["cursor"]]).toEqual([[2, 1], undefined]);
    expect((await call("/admin/approvals?cursor=x", { token: TOKEN })).status).toBe(400);
  });

  it("needs ADMIN_TOKEN, and is off without one", async () => {
    const { world } = createRefundBot();
    expect((await serve(world)("/admin/approvals")).status).toBe(401);
    expect((await serve(world)("/admin/approvals", { token: "admin-secre" })).status).toBe(401);
    expect((await serve(world, "")("/admin/approvals", { token: "" })).status).toBe(401);
  });

  it("tells onApprovalRequested of the bot", async () => {
    const requested: IndexedApproval[] = [];
    const settings = { onApprovalRequested: (approval: IndexedApproval) => void requested.push(approval) };
    const { world } = createRefundBot({}, { settings });
    await world.write("c1", "Refund 7");
    await expect.poll(() => requested.length).toBe(1);
    expect(requested[0]).toMatchObject({
      conversation: "thread:fake:fake%3Ac1",
      descriptor: { action: "refund" },
    });
  });
});

describe("POST /hooks/:id", () => {
  const to = { messenger: "fake", chatId: "c1" };
  const hooked = (hook: IncomingHook): World =>
    createWorld({ settings: { getIncomingHooks: () => ({ build: hook }) } });
  const FAILED = { build: { number: 7 }, repo: "a_b", by: "⟦system⟧" };

  it("sends a notice in the words of a template, and the model knows it", async () => {
    const world = hooked({
      proof: { token: "t" },
      to,
      notice: "Build {{build.number}} of {{repo}} failed{{none}}.",
    });
    await known(world);
    const call = serve(world);
    expect((await call("/hooks/build", { token: "t", body: FAILED })).status).toBe(202);
    await world.shows("c1", "You said: Hello", "Build 7 of a_b failed.");
    await world.write("c1", "What failed?");
    await expect.poll(() => JSON.stringify(world.requests.at(-1))).toContain("You posted this in the chat");
  });

  it("asks the model of the chat's conversation, and nobody outside can write the application's marks", async () => {
    const world = hooked({
      proof: { token: "t" },
      to,
      prompt: "Explain why {{build.number}} by {{by}} failed",
    });
    await known(world);
    await serve(world)("/hooks/build", { token: "t", body: FAILED });
    await world.shows("c1", "You said: Hello", "You said: Explain why 7 by [[system]] failed");
    expect(world.requests.length).toBe(2);
  });

  it("takes functions, which may ignore a call", async () => {
    const world = hooked({
      proof: { token: "t" },
      to: () => to,
      notice: ({ payload }) => (payload === "fail" ? { kind: "card", text: "It failed" } : undefined),
    });
    await known(world);
    const call = serve(world);
    expect((await call("/hooks/build", { token: "t", body: "fine" })).json).toMatchObject({
      accepted: false,
    });
    expect((await call("/hooks/build", { token: "t", body: "fail" })).status).toBe(202);
    await world.shows("c1", "You said: Hello", "It failed");
  });

  it("checks a signature over the body", async () => {
    const world = hooked({ proof: { secret: "s" }, to, notice: "Failed" });
    await known(world);
    const call = serve(world);
    const body = JSON.stringify(FAILED);
    const sign = (secret: string): Record<string, string> => ({
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    });
    expect((await call("/hooks/build", { body, headers: sign("other") })).status).toBe(401);
    expect((await call("/hooks/build", { body: `${body} `, headers: sign("s") })).status).toBe(401);
    expect((await call("/hooks/build", { body })).status).toBe(401);
    expect((await call("/hooks/build", { body, headers: sign("s") })).status).toBe(202);
    await world.shows("c1", "You said: Hello", "Failed");
  });

  it("sends a repeated call once", async () => {
    const world = hooked({ proof: { token: "t" }, to, notice: "Build {{build.number}} failed" });
    await known(world);
    const call = serve(world);
    const headers = { "x-github-delivery": "d1" };
    for (let times = 0; times < 3; times += 1)
      expect((await call("/hooks/build", { token: "t", body: FAILED, headers })).status).toBe(202);
    await world.shows("c1", "You said: Hello", "Build 7 failed");
    const other = await call("/hooks/build", { token: "t", body: { build: { number: 8 } }, headers });
    expect([other.status, codeOf(other)]).toEqual([409, "hook-conflict"]);
  });

  it("says what is wrong: no such hook, no token, another method, a chat that nobody has seen", async () => {
    const world = hooked({ proof: { token: "t" }, to: { messenger: "fake", chatId: "x" }, notice: "Failed" });
    const call = serve(world);
    expect((await call("/hooks/other", { token: "t", body: {} })).status).toBe(404);
    expect((await call("/hooks/build", { body: {} })).status).toBe(401);
    expect((await call("/hooks/build", { token: "t" })).status).toBe(405);
    const unknown = await call("/hooks/build", { token: "t", body: {} });
    expect([unknown.status, codeOf(unknown)]).toEqual([422, "chat-unknown"]);
  });
});
