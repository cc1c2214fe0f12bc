import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ActionError, roles } from "../../../src/index.ts";
import type { ApprovalFilter, ApprovalRecord, IndexedApproval } from "../../../src/index.ts";
import { captureLog } from "../support/log-lines.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { asked, createRefundBot, found, more, shown, told } from "../support/refund-bot.ts";
import type { RefundOptions } from "../support/refund-bot.ts";
import { textOf } from "../support/scripted-model.ts";
import type { World, WorldOptions } from "../support/world.ts";
import type { ScriptedBot } from "../worker.ts";

beforeEach(() => void captureLog());

const GROUP = { isGroup: true, mentions: true } as const;

/** The newest text of the chat's newest card. */
function card(world: World, chat = "c1"): string {
  return world.chats.visible(chat).findLast((text) => text.includes("Refund order")) ?? "";
}

async function kill(stub: DurableObjectStub<ScriptedBot>): Promise<void> {
  await runInDurableObject(stub, async (_bot, state) => {
    await state.storage.sync();
    state.abort("killed by a test");
  }).catch(() => undefined);
}

describe("an action that needs consent", () => {
  it("waits with a card, and runs once somebody approves; its outcome is told", async () => {
    const { effects, runs, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    expect(world.chats.visible("c1")[0]).toBe("I'll ask.");
    expect(card(world)).toContain("Refund order 7");
    // Ada asks and decides, and the question says which order.
    expect(card(world)).toBe("Refund order 7?");
    await more(world);
    expect(card(world)).toContain("The bot's own words: “I'll ask.”");
    expect(card(world)).toContain("Until: ");
    expect(card(world)).not.toContain("ada");
    expect(effects).toEqual([]);
    // The turn has parked: people go on talking.
    await world.write("c1", "Hello?");
    await shown(world, "Hm?");
    expect(await world.press("c1", "Approve")).toBe("Approved.");
    await shown(
      world,
      'Told: Approved by ada. It has run. Tell the person the result. Do not call the action again. → {"refunded":"7"}',
    );
    expect(card(world)).toContain("Done");
    expect(card(world)).toBe("Done\n\nRefund order 7\n\nResult: refunded: 7");
    expect(effects).toEqual(["7"]);
    expect(runs[0]).toMatchObject({
      approver: { userId: "ada" },
      person: { userId: "ada" },
      chat: { chatId: "c1" },
      attempt: 1,
    });
    expect(runs[0]?.messages.length).toBeGreaterThan(2);
  });

  it.each([
    ["Reject", "Rejected.", "Rejected by ada"],
    ["Take back", "Taken back.", "Taken back by ada"],
    ["Ask for changes", "OK. Reply to the card with what should change.", "Changes wanted by ada"],
  ])("does not run after %s", async (button, word, outcome) => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    if (button !== "Reject") await more(world);
    expect(await world.press("c1", button)).toBe(word);
    await shown(world, `Told: ${outcome}`);
    expect(effects).toEqual([]);
    expect(world.chats.messages("c1").flatMap(({ buttons }) => buttons)).toEqual([]);
  });

  it("gives wrong, late and repeated presses a private word, and changes nothing", async () => {
    const { effects, world } = createRefundBot();
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Refund order 7?", "g1");
    const token = world.chats.button("g1", "Reject") ?? "";
    const bob = { ...GROUP, user: "bob" };
    expect(await world.press("g1", "Approve", bob)).toBe("You can't decide this. It's up to ada.");
    await more(world, "g1", bob);
    expect(await world.press("g1", "Take back", bob)).toBe("Only the person who asked can take this back.");
    expect(card(world, "g1")).toContain("Refund order 7?");
    const both = await Promise.all([
      world.press("g1", "Approve", GROUP),
      world.press("g1", "Approve", GROUP),
    ]);
    expect(both.toSorted()[0]).toBe("Approved.");
    await shown(world, "Told: Approved", "g1");
    const late = "This was decided before by ada: approved, and it is done.";
    expect(await world.pressToken("g1", token, GROUP)).toBe(late);
    expect(await world.pressToken("g1", token, bob)).toBe(late);
    expect(effects).toEqual(["7"]);
    expect(told(world, "g1")).toHaveLength(1);
  });

  it("does not hand presses of its card to the bot's own handler", async () => {
    const { world } = createRefundBot();
    const seen: unknown[] = [];
    await world.write("c1", "Hello");
    await shown(world, "Hm?");
    await runInDurableObject(world.thread("c1"), (bot) => {
      bot.onAction = (press) => void seen.push(press);
    });
    await world.write("c1", "Refund 7");
    await world.press("c1", "Reject");
    await shown(world, "Told: Rejected");
    expect(seen).toEqual([]);
  });

  it("is asked once for the same input while it waits, and runs with the input that was shown", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    await world.write("c1", "Refund 7");
    await shown(world, "I've asked about this before, and it still waits for a decision.");
    expect(found(world, "I've asked about this before").replyTo).toBe(await asked(world));
    expect(world.chats.visible("c1").filter((text) => text.includes("Refund order 7?"))).toHaveLength(1);
    expect(world.chats.visible("c1")).toHaveLength(4);
    await world.press("c1", "Approve");
    await shown(world, "Told: Approved");
    await world.write("c1", "Refund 7");
    // The ledger knows the result: nobody is asked again.
    await shown(world, "Somebody has to decide.");
    expect(effects).toEqual(["7"]);
  });

  it("has numbered options where the platform has no buttons", async () => {
    const { effects, world } = createRefundBot(
      { grantable: true },
      {
        messengers: ({ chats }) => ({
          fake: {
            platform: fakePlatform(chats, { buttons: false }),
            burstMs: 0,
            delivery: { editEveryMs: 0 },
          },
        }),
      },
    );
    await world.write("c1", "Refund 7");
    await shown(world, "1. Approve");
    await shown(world, "2. Reject");
    await shown(world, "3. More");
    // There is no fourth option on this face, so the model gets the number.
    await world.write("c1", "4", { sentAt: Date.now() + 2_000 });
    await shown(world, "Hm?");
    await world.write("c1", "3", { sentAt: Date.now() + 2_000 });
    await shown(world, "7. Allow for an hour");
    await world.write("c1", "2", { sentAt: Date.now() + 6_000 });
    await shown(world, "Told: Rejected by ada");
    await world.write("c1", "Refund 8");
    await asked(world);
    await world.write("c1", "1", { sentAt: Date.now() + 2_000 });
    await shown(world, "Told: Approved by ada");
    expect(effects).toEqual(["8"]);
  });

  it("asks only for the inputs that the action says", async () => {
    const { effects, world } = createRefundBot({ approval: ({ input }) => input.orderId !== "1" });
    await world.write("c1", "Refund 1");
    await vi.waitFor(() => expect(effects).toEqual(["1"]), 8000);
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    expect(effects).toEqual(["1"]);
  });

  it("says on the card and to the model that it failed", async () => {
    const { world } = createRefundBot({
      execute: () => {
        throw new ActionError("The shop is closed.");
      },
    });
    await world.write("c1", "Refund 7");
    await world.press("c1", "Approve");
    await shown(world, "Told: Approved by ada. It did not work.");
    expect(card(world)).toContain("Approved, but it failed");
    expect(card(world)).toContain("The shop is closed.");
  });

  it("says what changes against today, or that it could not find out", async () => {
    const { world } = createRefundBot({
      preview: ({ input: { orderId } }) => {
        if (orderId === "8") throw new Error("no such order");
        return [{ label: "status", from: "paid", to: "refunded" }];
      },
    });
    await world.write("c1", "Refund 7");
    await shown(world, "Status: paid → refunded");
    await world.write("c1", "Refund 8");
    await shown(world, "What changes: I couldn't find out what this changes.");
    expect(await world.thread("c1").pendingApprovals()).toHaveLength(2);
  });

  it("hides sensitive values on the card, and gives them to the action", async () => {
    const { effects, world } = createRefundBot({ sensitive: ["orderId"], approvalSummary: "Refund order" });
    await world.write("c1", "Refund 7654321");
    await asked(world);
    expect(card(world)).not.toContain("7654321");
    await world.press("c1", "Approve");
    await vi.waitFor(() => expect(effects).toEqual(["7654321"]), 8000);
  });
});

describe("who decides", () => {
  const bob = { ...GROUP, user: "bob" };
  const eve = { ...GROUP, user: "eve" };

  it.each<[string, RefundOptions]>([
    ["listed people", { approvers: ["bob"] }],
    ["a function", { approvers: ({ userId }) => userId === "bob" }],
    ["those who have a role", { approvers: { role: "billing" } }],
    ["anyone but the requester", { approvers: "anyone", requesterMayApprove: false }],
  ])("are %s", async (_who, options) => {
    const billing = roles({ billing: ["bob"] });
    const { effects, runs, world } = createRefundBot(options, {
      authorizeTurn: ({ person }) => ({ allowed: true, grantedPermissions: billing(person) }),
    });
    await world.write("g1", "Refund 7", GROUP);
    expect(await world.press("g1", "Approve", GROUP)).toMatch(/^You can't decide this/);
    expect(effects).toEqual([]);
    expect(await world.press("g1", "Approve", bob)).toBe("Approved.");
    await shown(world, "Told: Approved by bob", "g1");
    expect(runs[0]).toMatchObject({ person: { userId: "ada" }, approver: { userId: "bob" } });
  });

  it("are in a group those who have the permission by a list", async () => {
    const rolesOf = roles({ billing: ["ada", "bob"] });
    const { effects, world } = createRefundBot(
      { permissions: ["billing:refund"] },
      { authorizeTurn: ({ person }) => ({ allowed: true, grantedPermissions: rolesOf(person) }) },
    );
    await world.write("g1", "Refund 7", GROUP);
    expect(await world.press("g1", "Approve", eve)).toMatch(/billing:refund/);
    await world.press("g1", "Approve", bob);
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
  });

  it("does not give rights: authority that was lost while it waited counts", async () => {
    const people = new Set(["ada", "bob"]);
    const { effects, world } = createRefundBot(
      { permissions: ["billing"], approvers: ["bob"] },
      { authorizeTurn: ({ person }) => people.has(person?.userId ?? "") },
    );
    await world.write("g1", "Refund 7", GROUP);
    await shown(world, "Refund order 7?", "g1");
    people.delete("ada");
    await world.press("g1", "Approve", bob);
    await shown(world, "Told: Approved by bob. It did not work.", "g1");
    expect(effects).toEqual([]);
    expect(card(world, "g1")).toContain("not allowed to do this any more");
  });
});

describe("a request about which nobody may decide", () => {
  const onlyAda = roles({ billing: ["ada"] });
  const nobody = roles({ billing: [] });
  const holding = (granted: typeof onlyAda): WorldOptions => ({
    authorizeTurn: ({ person }) => ({
      allowed: true,
      grantedPermissions: granted(person),
      people: granted.people,
    }),
  });
  const billing = { approvers: { role: "billing" } } as const;

  it.each<[string, RefundOptions, WorldOptions, { isGroup?: boolean; mentions?: boolean }]>([
    [
      "only the person who asks has the role",
      { ...billing, requesterMayApprove: false },
      holding(onlyAda),
      GROUP,
    ],
    ["nobody has the role", billing, holding(nobody), GROUP],
    ["the list has only the person who asks", { approvers: ["ada"], requesterMayApprove: false }, {}, GROUP],
    ["the list is empty", { approvers: [] }, {}, GROUP],
    ["nobody else is in the chat", { approvers: "anyone", requesterMayApprove: false }, {}, {}],
  ])("is not asked, and the chat and the model hear it at once: %s", async (_why, options, rest, how) => {
    const lines = captureLog();
    const { effects, world } = createRefundBot(options, rest);
    await world.write("c1", "Refund 7", how);
    await shown(world, "Not done: nobody may decide about this");
    await shown(world, "Somebody has to decide.");
    const read = JSON.stringify(world.requests.at(-1)?.prompt.at(-1));
    expect(read).toContain("ActionConsentError");
    expect(read).toContain("Nobody was asked.");
    expect(world.chats.messages("c1").flatMap(({ buttons }) => buttons)).toEqual([]);
    const bot = world.thread("c1");
    expect(await bot.pendingApprovals()).toEqual([]);
    expect(await bot.approvals.list()).toMatchObject([{ state: "void", reason: "approvers-missing" }]);
    expect(lines).toContainEqual(
      expect.objectContaining({ event: "approval.changed", state: "void", code: "approvers-missing" }),
    );
    expect(told(world)).toEqual([]);
    expect(effects).toEqual([]);
  });

  it.each<[string, RefundOptions, WorldOptions]>([
    ["the person who asks is the only one who may", billing, holding(onlyAda)],
    [
      "the bot does not say who has the role",
      { ...billing, requesterMayApprove: false },
      { authorizeTurn: ({ person }) => ({ allowed: true, grantedPermissions: onlyAda(person) }) },
    ],
    ["only the bot's code knows who may", { approvers: () => false }, {}],
  ])("is asked if somebody may or could: %s", async (_why, options, rest) => {
    const { world } = createRefundBot(options, rest);
    await world.write("c1", "Refund 7", GROUP);
    await asked(world);
    expect(await world.thread("c1").pendingApprovals()).toHaveLength(1);
  });
});

describe("the bot's own code", () => {
  it("lists, approves and rejects, each once", async () => {
    const { effects, world } = createRefundBot({
      approvalRisk: "high",
      kind: "durable-pause",
      approval: undefined,
    });
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    await world.write("c1", "Refund 8");
    const stub = world.thread("c1");
    await vi.waitFor(async () => expect(await stub.pendingApprovals()).toHaveLength(2), 8000);
    const [first, second] = await stub.pendingApprovals();
    expect(first).toMatchObject({
      source: "action",
      descriptor: { action: "refund", input: { orderId: "7" }, risk: "high", kind: "durable-pause" },
    });
    const id = first?.executionId ?? "";
    expect(await stub.pendingApprovals(id)).toHaveLength(1);
    expect((await stub.approveExecution(id)).kind).toBe("decided");
    expect((await stub.approveExecution(id)).kind).toBe("late");
    expect((await stub.rejectExecution(second?.executionId ?? "", "Not this week")).kind).toBe("decided");
    expect((await stub.rejectExecution("none")).kind).toBe("unknown");
    await shown(world, "Told: Approved by the bot's team");
    await shown(world, 'Told: Rejected by the bot\'s team. Their words: "Not this week".');
    expect(effects).toEqual(["7"]);
    expect(await stub.pendingApprovals()).toEqual([]);
    expect((await stub.approvals.list()).map(({ state }) => state)).toEqual(["rejected", "done"]);
    expect(await stub.approvals.list({ state: "rejected" })).toHaveLength(1);
  });

  it("lists and decides at the root about calls of all conversations, also of the root itself", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await world.write("c2", "Refund 8");
    await world.stub.submitMessages("Refund 9");
    const pending = async (): Promise<readonly IndexedApproval[]> =>
      (await world.stub.pendingApprovals()) as unknown as IndexedApproval[];
    await vi.waitFor(async () => expect(await pending()).toHaveLength(3), 8000);
    const idOf = async (order: string): Promise<string> =>
      (await pending()).find(({ descriptor }) => descriptor.summary.endsWith(order))?.executionId ?? "";
    const [first, second, own] = [await idOf("7"), await idOf("8"), await idOf("9")];
    const decided = await world.stub.approveExecution(first);
    expect(decided).toMatchObject({ kind: "decided", approval: { id: first, input: { orderId: "7" } } });
    expect((await world.stub.approveExecution(first)).kind).toBe("late");
    expect((await world.stub.rejectExecution(second, "Not this week")).kind).toBe("decided");
    expect((await world.stub.approveExecution(own)).kind).toBe("decided");
    expect((await world.stub.approveExecution("none")).kind).toBe("unknown");
    await shown(world, "Told: Approved by the bot's team");
    await shown(world, 'Their words: "Not this week".', "c2");
    await vi.waitFor(() => expect(effects.toSorted()).toEqual(["7", "9"]), 8000);
    await vi.waitFor(async () => expect(await pending()).toEqual([]), 8000);
  });

  it("lists at the root what was asked in all conversations, also what has ended, in pages", async () => {
    const { world } = createRefundBot({ approvers: "anyone" });
    const listed = (filter?: ApprovalFilter): Promise<readonly ApprovalRecord[]> =>
      world.stub.approvals.list(filter);
    const inputs = async (filter?: ApprovalFilter): Promise<unknown[]> =>
      (await listed(filter)).map(({ input }) => (input as { orderId: string }).orderId);
    const until = (count: number, filter?: ApprovalFilter): Promise<void> =>
      vi.waitFor(async () => expect(await inputs(filter)).toHaveLength(count), 8000);
    await world.write("c1", "Refund 1");
    await until(1);
    await world.write("g1", "Refund 2", { ...GROUP, user: "bob" });
    await until(2);
    await world.stub.submitMessages("Refund 3");
    await until(3);
    await world.press("c1", "Reject");
    await world.press("g1", "Approve", { ...GROUP, user: "eve" });
    await until(1, { state: "waiting" });
    await until(1, { state: "done" });
    expect(await inputs()).toEqual(["3", "2", "1"]);
    const [own, second, first] = await listed();
    expect(first).toMatchObject({
      state: "rejected",
      conversation: "thread:fake:fake%3Ac1",
      decidedBy: { surface: "chat", person: { userId: "ada" } },
    });
    expect(own?.conversation).toBe("");
    expect(await inputs({ person: "ada" })).toEqual(["1"]);
    expect(await inputs({ person: "bob" })).toEqual(["2"]);
    expect(await inputs({ person: "eve" })).toEqual(["2"]);
    expect(await inputs({ since: second?.createdAt ?? 0 })).toEqual(["3", "2"]);
    expect(await inputs({ limit: 2 })).toEqual(["3", "2"]);
    expect(await inputs({ limit: 2, before: second?.id ?? "" })).toEqual(["1"]);
    expect(await inputs({ before: first?.id ?? "" })).toEqual([]);
    expect(await inputs({ before: "none" })).toEqual([]);
    // A conversation lists its own.
    expect(await world.thread("c1").approvals.list({ before: first?.id ?? "" })).toEqual([]);
    expect(await world.thread("c1").approvals.list()).toHaveLength(1);
  });

  it("rejects without a word of the model, if it says so", async () => {
    const { world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    const stub = world.thread("c1");
    const [waiting] = await stub.pendingApprovals();
    await stub.rejectExecution(waiting?.executionId ?? "", "Not now", { autoContinue: false });
    await shown(world, "Why: Not now");
    await world.write("c1", "Hello?");
    await shown(world, "Hm?");
    expect(told(world)).toEqual([]);
  });

  it("decides about calls that no chat sees", async () => {
    const { effects, world } = createRefundBot();
    const stub = world.child("dashboard");
    await stub.submitMessages("Refund 7");
    await vi.waitFor(async () => expect(await stub.pendingApprovals()).toHaveLength(1), 8000);
    const [waiting] = await stub.pendingApprovals();
    await stub.approveExecution(waiting?.executionId ?? "");
    await vi.waitFor(() => expect(world.requests.at(-1)?.said).toContain("Result: {"), 8000);
    expect(effects).toEqual(["7"]);
  });
});

describe("an approval whose object dies", () => {
  it("still waits, and can be decided", async () => {
    const { effects, world } = createRefundBot();
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    await kill(world.thread("c1"));
    expect(await world.press("c1", "Approve")).toBe("Approved.");
    await shown(world, "Told: Approved");
    expect(effects).toEqual(["7"]);
  });

  it("has its effect once when it dies while the action runs, and tells once", async () => {
    const effects: string[] = [];
    const { world } = createRefundBot({
      verify: ({ input: { orderId } }) =>
        effects.includes(orderId) ? { done: true, output: { refunded: orderId } } : { done: false },
      execute: async ({ orderId }, { agent }) => {
        effects.push(orderId);
        const { ctx } = agent as unknown as { readonly ctx: DurableObjectState };
        await ctx.storage.sync();
        ctx.abort("killed by a test");
        return new Promise(() => {});
      },
    });
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    const token = world.chats.button("c1", "Approve") ?? "";
    await world.post({ kind: "press", id: "press", chat: "c1", user: "ada", text: token }).catch(() => 0);
    await vi.waitFor(() => expect(effects).toEqual(["7"]), 8000);
    await runDurableObjectAlarm(world.thread("c1")).catch(() => undefined);
    await shown(world, "Told: Approved");
    await shown(world, "Done");
    expect(effects).toEqual(["7"]);
    expect(told(world)).toHaveLength(1);
  });

  it("expires by its alarm, and says so", async () => {
    const { effects, world } = createRefundBot({ expiresAfterMs: 1500 });
    await world.write("c1", "Refund 7");
    await shown(world, "Refund order 7?");
    const token = world.chats.button("c1", "Approve") ?? "";
    await vi.waitFor(async () => {
      const at = await runInDurableObject(world.thread("c1"), (_bot, { storage }) => storage.getAlarm());
      expect(at).not.toBeNull();
    }, 8000);
    await shown(world, "Told: Nobody decided in time.");
    expect(card(world)).toContain("Nobody decided in time");
    expect(await world.pressToken("c1", token)).toBeDefined();
    expect(effects).toEqual([]);
  });
});

it("is told to the model as a message that stands alone", async () => {
  const { world } = createRefundBot();
  await world.write("c1", "Refund 7");
  await world.press("c1", "Reject");
  await shown(world, "Told: Rejected");
  const outcome = textOf(world.requests.at(-1)?.prompt.at(-1));
  expect(outcome.split("\n")).toEqual([
    "⟦Outcome of an action. The application says this, no person wrote it.⟧",
    "Action: refund",
    'Input: {"orderId":"7"}',
    expect.stringMatching(/^Decision: Rejected by ada\. It did not run\./),
    'Result: "The action did not run."',
  ]);
});
