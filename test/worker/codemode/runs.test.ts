import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createQuickJSExecutor } from "../../../src/codemode/index.ts";
import type { Executor } from "../../../src/codemode/index.ts";
import { expectShown } from "../support/asking-bot.ts";
import { createCodeBot, useCodemode } from "../support/code-bot.ts";
import type { CodeBot } from "../support/code-bot.ts";
import { captureLog } from "../support/log-lines.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(() => void (log = captureLog()));
let end: () => void;
beforeAll(() => void (end = useCodemode()));
afterAll(() => end());

const TWO =
  "run async () => { const a = await mail.tag({ to: 'ann' }); const b = await mail.send({ to: 'bob' }); const c = await mail.send({ to: 'cid' }); return [a.number, b.number, c.number]; }";

async function paused(bot: CodeBot): Promise<string> {
  return vi.waitFor(async () => {
    const [pending] = await bot.runtime((runtime) => runtime.pending());
    if (pending === undefined) throw new Error("Nothing waits");
    return pending.executionId;
  }, 8000);
}

describe("code of the model", () => {
  it("calls several tools in one run, and gives the model the result", async () => {
    const bot = createCodeBot();
    await bot.world.write(
      "c1",
      "run async () => { const all = await mail.list(); for (const to of all) await mail.tag({ to }); return all.length; }",
    );
    await expectShown(bot.world, '"result":2');
    expect(bot.done).toEqual(["tag ann", "tag bob"]);
    const [run] = await bot.runtime((runtime) => runtime.executions());
    expect(run?.status).toBe("completed");
    expect(run?.log.map(({ method, state }) => `${method} ${state}`)).toEqual([
      "list applied",
      "tag applied",
      "tag applied",
    ]);
  });

  it("tells the model the tools in TypeScript, and offers none of them itself", async () => {
    const bot = createCodeBot();
    await bot.world.write("c1", "hello");
    await expectShown(bot.world, "Heard: hello");
    expect(bot.world.requests[0]?.tools).toEqual(["codemode"]);
  });

  it("asks with the card of actions, and goes on to the next card and to the end", async () => {
    const bot = createCodeBot();
    await bot.world.write("c1", TWO);
    const card = await expectShown(bot.world, "Sends a mail to a person");
    expect(card.texts.at(-1)).toContain("bob");
    expect(card.texts.at(-1)).toContain("Done before it in this run: Tags a person");
    expect(bot.done).toEqual(["tag ann"]);
    expect(await bot.world.thread("c1").pendingApprovals()).toMatchObject([
      { source: "codemode", descriptor: { action: "mail.send", input: { to: "bob" } } },
    ]);
    const id = await paused(bot);
    expect(await bot.runtime((runtime) => runtime.pending())).toEqual([
      { executionId: id, seq: 1, connector: "mail", method: "send", args: { to: "bob" } },
    ]);
    await bot.world.press("c1", "Approve");
    await vi.waitFor(() => expect(bot.world.chats.visible("c1").join()).toContain("cid"), 8000);
    expect(bot.done).toEqual(["tag ann", "send bob"]);
    await bot.world.press("c1", "Approve");
    await expectShown(bot.world, '"result":[1,2,3]');
    expect(bot.done).toEqual(["tag ann", "send bob", "send cid"]);
    const told = bot.world.chats.visible("c1").filter((text) => text.startsWith("Told:"));
    expect(told).toEqual(['Told: {"status":"completed","result":[1,2,3]}']);
  });

  it("shows the code under More", async () => {
    const bot = createCodeBot();
    await bot.world.write("c1", TWO);
    await expectShown(bot.world, "Sends a mail to a person");
    await bot.world.press("c1", "More");
    await expectShown(bot.world, "const a = await mail.tag");
  });

  it("ends when a person says no, and undoes nothing", async () => {
    const bot = createCodeBot();
    await bot.world.write("c1", TWO);
    const id = await paused(bot);
    await expectShown(bot.world, "Sends a mail to a person");
    await bot.world.press("c1", "Reject");
    await expectShown(bot.world, "Told:");
    expect(bot.done).toEqual(["tag ann"]);
    const [run] = await bot.runtime((runtime) => runtime.executions());
    expect(run).toMatchObject({ id, status: "rejected" });
    expect(await bot.runtime((runtime) => runtime.approve({ executionId: id }))).toMatchObject({
      status: "error",
      error: expect.stringContaining("is not paused") as string,
    });
    expect(bot.done).toEqual(["tag ann"]);
  });

  it("is approved, refused and rolled back by the bot's own code", async () => {
    const bot = createCodeBot();
    await bot.world.write("c1", TWO);
    const executionId = await paused(bot);
    const next = await bot.runtime((runtime) => runtime.approve({ executionId }));
    expect(next).toMatchObject({ status: "paused", pending: [{ seq: 2, args: { to: "cid" } }] });
    expect(await bot.runtime((runtime) => runtime.reject({ seq: 1, executionId }))).toBe(false);
    expect(await bot.runtime((runtime) => runtime.reject({ seq: 2, executionId }))).toBe(true);
    expect(await bot.runtime((runtime) => runtime.reject({ seq: 2, executionId }))).toBe(false);
    expect(bot.done).toEqual(["tag ann", "send bob"]);
    const undone = await bot.runtime((runtime) => runtime.rollback({ executionId }));
    expect(undone.map(({ method, outcome }) => `${method} ${outcome}`)).toEqual([
      "send reverted",
      "tag reverted",
    ]);
    expect(bot.done).toEqual(["tag ann", "send bob", "unsend bob", "untag ann"]);
    expect(await bot.runtime((runtime) => runtime.rollback({ executionId }))).toEqual([]);
    const [run] = await bot.runtime((runtime) => runtime.executions());
    expect(run?.status).toBe("rolled_back");
  });

  it("says item by item what could not be undone", async () => {
    const bot = createCodeBot(
      {},
      {
        fixed: { execute: () => "fixed" },
        stuck: {
          execute: () => "stuck",
          revert: () => {
            throw new Error("a secret reason");
          },
        },
      },
    );
    await bot.world.write(
      "c1",
      "run async () => { await mail.tag({ to: 'ann' }); await mail.fixed(); await mail.stuck(); return 1; }",
    );
    await expectShown(bot.world, '"result":1');
    const [run] = await bot.runtime((runtime) => runtime.executions());
    const undone = await bot.runtime((runtime) => runtime.rollback({ executionId: run?.id ?? "" }));
    expect(undone).toMatchObject([
      { method: "stuck", outcome: "failed" },
      { method: "fixed", outcome: "kept" },
      { method: "tag", outcome: "reverted" },
    ]);
    expect(JSON.stringify(undone)).not.toContain("secret");
  });

  it("gives code the failure of a call, and errors as values", async () => {
    const bot = createCodeBot(
      {},
      {
        fail: {
          execute: () => {
            throw new Error("a secret");
          },
        },
      },
    );
    await bot.world.write(
      "c1",
      "run async () => { try { await mail.fail(); } catch (error) { return error.message; } }",
    );
    await expectShown(bot.world, "The action failed");
    await bot.world.write("c1", "run async () => { throw new Error('my own'); }");
    await expectShown(bot.world, '"status":"error"');
    expect(bot.world.chats.visible("c1").join()).not.toContain("a secret");
  });

  it("lets both calls wait that code makes side by side", async () => {
    const bot = createCodeBot();
    await bot.world.write(
      "c1",
      "run async () => { await Promise.all([mail.send({ to: 'ann' }), mail.send({ to: 'bob' })]); return 'both'; }",
    );
    await vi.waitFor(
      async () => expect(await bot.runtime((runtime) => runtime.pending())).toHaveLength(2),
      8000,
    );
    const executionId = await paused(bot);
    expect(await bot.runtime((runtime) => runtime.approve({ executionId }))).toMatchObject({
      status: "completed",
      result: "both",
    });
    expect(bot.done.toSorted()).toEqual(["send ann", "send bob"]);
  });

  it("ends with an error that names the call when the replay differs", async () => {
    let rounds = 0;
    const bot = createCodeBot({}, { round: { replay: "reexecute", execute: () => (rounds += 1) } });
    await bot.world.write(
      "c1",
      "run async () => { const n = await mail.round(); await mail.tag({ to: 'p' + n }); await mail.send({ to: 'bob' }); return 1; }",
    );
    const executionId = await paused(bot);
    const end = await bot.runtime((runtime) => runtime.approve({ executionId }));
    expect(end).toMatchObject({
      status: "error",
      error: expect.stringContaining('mail.tag({"to":"p2"})') as string,
    });
    expect(bot.done).toEqual(["tag p1", "send bob"]);
  });

  it("drops code that waits for a slow tool, and runs it again with the result", async () => {
    const gate = { isOpen: false };
    let passes = 0;
    let calls = 0;
    const slow = async (): Promise<string> => {
      calls += 1;
      while (!gate.isOpen) await new Promise((resolve) => setTimeout(resolve, 5));
      return "late";
    };
    const pass = { replay: "reexecute", execute: () => (passes += 1) } as const;
    const bot = createCodeBot({}, { pass, slow: { execute: slow } });
    await bot.world.write("c1", "run async () => { await mail.pass(); return mail.slow(); }");
    // Another run gets the place meanwhile.
    await bot.world.write("c2", "run async () => 'quick'");
    await expectShown(bot.world, '"result":"quick"', "c2");
    await vi.waitFor(() => expect(passes).toBe(1), 8000);
    await vi.waitFor(() => expect(calls).toBe(1), 8000);
    const slots = ["c3", "c4", "c5"];
    for (const chat of slots) await bot.world.write(chat, "run async () => 'quick'");
    for (const chat of slots) await expectShown(bot.world, '"result":"quick"', chat);
    gate.isOpen = true;
    await expectShown(bot.world, '"result":"late"');
    expect({ calls, hasRepeated: passes > 1 }).toEqual({ calls: 1, hasRepeated: true });
  });

  it("answers /stop, the next message and other chats while code waits for a slow tool", async () => {
    const tool = Promise.withResolvers<string>();
    const quick = createQuickJSExecutor();
    let drops = 0;
    const executor: Executor = {
      execute: (code, providers, options) => {
        options?.signal?.addEventListener("abort", () => void (drops += 1), { once: true });
        return quick.execute(code, providers, options);
      },
    };
    const bot = createCodeBot({}, { slow: { execute: () => tool.promise } }, executor);
    await bot.world.write("c1", "run async () => mail.slow()");
    await vi.waitFor(() => expect(drops).toBe(1), 8000);
    await bot.world.write("c2", "still there?");
    await expectShown(bot.world, "Heard: still there?", "c2");
    await bot.world.write("c1", "and then?");
    await bot.world.write("c1", "/stop");
    await expectShown(bot.world, "(stopped)");
    await expectShown(bot.world, "Heard: and then?");
    tool.resolve("late");
    expect(bot.world.chats.visible("c1").join()).not.toContain("late");
  });

  it("goes on and tells its end if somebody agrees to a call that asks while its turn is stopped", async () => {
    const rights = Promise.withResolvers<boolean>();
    let asked = 0;
    const bot = createCodeBot({
      authorizeAction: () => {
        asked += 1;
        return rights.promise;
      },
    });
    const code =
      "async () => { await mail.send({ to: 'bob' }); await mail.note({ to: 'ann' }); return 'whole'; }";
    await bot.world.write("c1", `run ${code}`);
    await vi.waitFor(() => expect(asked).toBe(1), 8000);
    await bot.world.write("c1", "/stop");
    await expectShown(bot.world, "(stopped)");
    rights.resolve(true);
    await vi.waitFor(() => expect(bot.world.chats.button("c1", "Approve")).toBeDefined(), 8000);
    await bot.world.press("c1", "Approve");
    await expectShown(bot.world, '"result":"whole"');
    expect(bot.done).toEqual(["send bob", "note ann"]);
  });

  it("tells the model which limit has ended its code, and the log, too", async () => {
    const limits = { calls: 3, outputBytes: 5_000, timeoutMs: 3_000 };
    const silent = { execute: () => new Promise(() => {}) };
    const bot = createCodeBot({}, { silent }, createQuickJSExecutor({ limits }), 60_000);
    const codes = {
      ticks: "for (;;) {}",
      memoryBytes: "return new Uint8Array(1e9).length",
      stackBytes: "const f = () => f(); f()",
      calls: "for (;;) await mail.list()",
      outputBytes: "return 'x'.repeat(6_000)",
      timeoutMs: "await mail.silent()",
    };
    const words = new Set<unknown>();
    for (const [limit, code] of Object.entries(codes)) {
      await bot.world.write("c1", `run async () => { ${code}; }`);
      await vi.waitFor(() => {
        expect(log.findLast(({ event }) => event === "code.ended")).toMatchObject({
          state: "error",
          limit,
        });
      }, 8000);
      const [run] = await bot.runtime((runtime) => runtime.executions());
      await expectShown(bot.world, `"error":${JSON.stringify(run?.error)}`);
      words.add(run?.error);
    }
    expect(words.size).toBe(6);
  });

  it("keeps other chats answered while code attacks", async () => {
    const bot = createCodeBot();
    await bot.world.write("c1", "run async () => { for (;;) {} }");
    await bot.world.write("c2", "still there?");
    await expectShown(bot.world, "Heard: still there?", "c2");
    await expectShown(bot.world, "computed for too long");
  });
});
