import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import type { ApprovalRequest } from "../../../src/approvals/rules/approval-request.ts";
import type { Approval, Decider } from "../../../src/approvals/rules/approval.ts";
import { ApprovalsRig, asked } from "./approvals-rig.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ANNA = { surface: "chat", person: { userId: "1", fullName: "Anna" } } as const satisfies Decider;
const BORIS = { surface: "chat", person: { userId: "2" } } as const satisfies Decider;
const STRANGER = { surface: "chat", person: { userId: "99" } } as const satisfies Decider;

describe("an approval (I9)", () => {
  it("runs the action once, with the input that was asked for, and tells the outcome", async () => {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    expect(await rig.decide(id, { kind: "approve" }, BORIS)).toMatchObject({
      kind: "decided",
    });
    await rig.approvals.work.run();
    expect(rig.runs).toEqual([id]);
    expect(rig.inputs).toEqual([{ orderId: "7" }]);
    expect(rig.drawn).toEqual(["waiting", "running", "done"]);
    expect(rig.told).toEqual([`${id}:done`]);
    expect(rig.approvals.get(id)).toMatchObject({ state: "done", decidedBy: BORIS, outcome: "done" });
    expect(rig.approvals.work.nextWakeAt()).toBeUndefined();
  });

  it("rests after a run that could not begin, however often the object wakes", async () => {
    const rig = new ApprovalsRig();
    let tries = 0;
    rig.work = () => {
      tries += 1;
      return Promise.reject(new Error("The bot's actions cannot be read."));
    };
    const { id } = rig.ask(asked("7"));
    await rig.decide(id, { kind: "approve" }, BORIS);
    for (let wakes = 0; wakes < 5; wakes += 1) await rig.approvals.work.run();
    expect(tries).toBe(1);
    expect(rig.approvals.work.nextWakeAt()).toBe(rig.clock.now() + 2_500);
    await rig.clock.advance(2_500);
    await rig.approvals.work.run();
    expect(tries).toBe(2);
  });

  it("is over at once if nobody may decide: the chat sees it once, and no turn tells it again", async () => {
    const rig = new ApprovalsRig();
    rig.approvals.asking.refuse(asked("7"), "approvers-missing");
    rig.approvals.asking.refuse({ ...asked("7"), toolCallId: "again" }, "approvers-missing");
    expect(rig.approvals.list()).toMatchObject([
      { state: "void", reason: "approvers-missing", endedAt: rig.clock.now() },
    ]);
    await rig.approvals.work.run();
    expect(rig.drawn).toEqual(["void"]);
    expect(rig.told).toEqual([]);
    expect(rig.runs).toEqual([]);
    expect(rig.approvals.work.nextWakeAt()).toBeUndefined();
    // Another input is another request.
    rig.approvals.asking.refuse(asked("8"), "approvers-missing");
    expect(rig.approvals.list()).toHaveLength(2);
  });

  it("is stored once if nobody may decide, wherever a crash comes before the turn repeats the call", () => {
    for (let writes = 0; writes < 8; writes += 1) {
      const rig = new ApprovalsRig();
      rig.toGo = writes;
      try {
        rig.approvals.asking.refuse(asked("7"), "approvers-missing");
      } catch {
        // The process has died.
      }
      rig.toGo = Infinity;
      rig.start();
      rig.approvals.asking.refuse(asked("7"), "approvers-missing");
      expect(rig.approvals.list()).toMatchObject([{ state: "void", drawnState: "void", isTold: true }]);
    }
  });

  it("counts the first of two decisions, and says so to the second", async () => {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    const both = await Promise.all([
      rig.decide(id, { kind: "reject", reason: "Not today" }, ANNA),
      rig.decide(id, { kind: "approve" }, BORIS),
    ]);
    expect(both.map(({ kind }) => kind)).toEqual(["decided", "late"]);
    await rig.approvals.work.run();
    expect(rig.runs).toEqual([]);
    expect(rig.approvals.get(id)).toMatchObject({ state: "rejected", reason: "Not today" });
    expect(rig.told).toEqual([`${id}:rejected`]);
  });

  it("refuses a person who may not decide, and changes nothing", async () => {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    expect(await rig.decide(id, { kind: "approve" }, STRANGER)).toMatchObject({
      kind: "not-allowed",
    });
    expect(rig.approvals.get(id)?.state).toBe("waiting");
  });

  it("can be withdrawn by the person who asked, and by nobody else", async () => {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    expect(await rig.decide(id, { kind: "withdraw" }, BORIS)).toMatchObject({
      kind: "not-allowed",
    });
    expect(await rig.decide(id, { kind: "withdraw" }, ANNA)).toMatchObject({
      kind: "decided",
    });
    expect(rig.approvals.get(id)?.state).toBe("withdrawn");
  });

  it("expires, also when the press comes in the very millisecond", async () => {
    const rig = new ApprovalsRig();
    const { id, expiresAt } = rig.ask(asked("7"));
    expect(rig.approvals.work.nextWakeAt()).toBe(expiresAt);
    await rig.clock.advance(expiresAt - rig.clock.now());
    expect(await rig.decide(id, { kind: "approve" }, BORIS)).toMatchObject({
      kind: "expired",
    });
    expect(rig.approvals.get(id)?.state).toBe("expired");
    expect(rig.runs).toEqual([]);
    expect(rig.told).toEqual([`${id}:expired`]);
  });

  it("reminds once, unless it is decided or has expired by then", async () => {
    const rig = new ApprovalsRig();
    const remindAt = Date.UTC(2026, 0, 1) + DAY_MS;
    const { id } = rig.ask({ ...asked("7"), remindAt });
    const other = rig.ask({ ...asked("8"), remindAt });
    await rig.approvals.work.run();
    expect(rig.approvals.work.nextWakeAt()).toBe(remindAt);
    await rig.decide(other.id, { kind: "reject" }, BORIS);
    await rig.clock.advance(remindAt - rig.clock.now());
    await rig.approvals.work.run();
    rig.start();
    await rig.approvals.work.run();
    expect(rig.told).toEqual([`${other.id}:rejected`, `${id}:reminder`]);
    expect(rig.approvals.work.nextWakeAt()).toBe(Date.UTC(2026, 0, 1) + 7 * DAY_MS);
  });

  it("is kept for a year after its end, or as long as the bot says; one that waits is kept longer", async () => {
    for (const keepDays of [undefined, 10]) {
      const rig = new ApprovalsRig();
      rig.keepMs = keepDays === undefined ? undefined : () => keepDays * DAY_MS;
      rig.start();
      const { id } = rig.ask(asked("7"));
      const waiting = rig.ask({ ...asked("8"), expiresAt: rig.clock.now() + 1_000 * DAY_MS });
      await rig.clock.advance(2 * DAY_MS);
      await rig.decide(id, { kind: "approve" }, BORIS);
      await rig.approvals.work.run();
      await rig.clock.advance((keepDays ?? 365) * DAY_MS);
      await rig.approvals.work.run();
      expect(rig.approvals.get(id)).toMatchObject({ state: "done" });
      await rig.clock.advance(DAY_MS);
      await rig.approvals.work.run();
      expect([rig.approvals.get(id), rig.approvals.get(waiting.id)?.state]).toEqual([undefined, "waiting"]);
    }
  });

  it("is asked once for the same input while it is open, and again after it was decided", async () => {
    const rig = new ApprovalsRig();
    const first = rig.ask(asked("7"));
    expect(rig.ask(asked("7")).id).toBe(first.id);
    expect(rig.drawn).toEqual(["waiting"]);
    await rig.decide(first.id, { kind: "reject" }, BORIS);
    expect(rig.ask({ ...asked("7"), toolCallId: "later" }).id).not.toBe(first.id);
  });

  it("is pointed at when a later turn asks for the same while it waits, and only then", async () => {
    const rig = new ApprovalsRig();
    const again = { ...asked("7"), toolCallId: "later", requestId: "turn-2", rootRequest: "turn-2" };
    const first = rig.ask(asked("7"));
    rig.ask({ ...asked("7"), toolCallId: "twice in its turn" });
    rig.ask({ ...again, rootRequest: first.rootRequest });
    expect(rig.pointedAt).toEqual([]);
    expect(rig.ask(again).id).toBe(first.id);
    expect(rig.pointedAt).toEqual([[first.id, "turn-2"]]);
    await rig.decide(first.id, { kind: "approve" }, BORIS);
    rig.ask({ ...again, requestId: "turn-3" });
    expect(rig.pointedAt).toHaveLength(1);
  });

  it("is asked once for each call, also when the call is made again after the decision", async () => {
    const rig = new ApprovalsRig();
    const first = rig.ask(asked("7"));
    await rig.decide(first.id, { kind: "reject" }, BORIS);
    expect(rig.ask(asked("7")).id).toBe(first.id);
    expect(rig.ask({ ...asked("7"), toolCallId: "later" }).id).not.toBe(first.id);
  });

  it("replaces a waiting question of the same person for the same thing, without telling", () => {
    const rig = new ApprovalsRig();
    const first = rig.ask(asked("7"));
    const other = { ...asked("7"), toolCallId: "later", inputHash: "other" };
    expect(rig.approvals.asking.request({ ...other, requester: { userId: "2" } })).toBeUndefined();
    expect(rig.ask(other).id).not.toBe(first.id);
    expect(rig.approvals.get(first.id)?.state).toBe("replaced");
    expect(rig.drawn).toEqual(["waiting", "replaced", "waiting"]);
    expect(rig.told).toEqual([]);
  });

  it("is decided in any order among several", async () => {
    const rig = new ApprovalsRig();
    const one = rig.ask(asked("1"));
    const two = rig.ask(asked("2"));
    await rig.decide(two.id, { kind: "approve" }, BORIS);
    await rig.approvals.work.run();
    await rig.decide(one.id, { kind: "approve" }, BORIS);
    await rig.approvals.work.run();
    expect(rig.runs).toEqual([two.id, one.id]);
  });

  it("ends when it can never run any more", async () => {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    rig.approvals.questions.cancel(({ action }) => (action === "refund" ? "action-removed" : undefined));
    await rig.approvals.work.run();
    expect(rig.approvals.get(id)).toMatchObject({ state: "void", reason: "action-removed" });
    expect(await rig.decide(id, { kind: "approve" }, BORIS)).toMatchObject({
      kind: "late",
    });
  });

  it("is looked at once by every process, and ends if the new version cannot run it", async () => {
    const rig = new ApprovalsRig();
    const { id } = rig.ask(asked("7"));
    await rig.approvals.work.run();
    rig.why = "messenger-undeclared";
    await rig.approvals.work.run();
    expect(rig.approvals.get(id)?.state).toBe("waiting");
    rig.start();
    await rig.approvals.work.run();
    expect(rig.approvals.get(id)).toMatchObject({ state: "void", reason: "messenger-undeclared" });
    expect(rig.drawn.at(-1)).toBe("void");
    expect(rig.told).toEqual([`${id}:void`]);
  });

  it("lists the newest first, by state and person", async () => {
    const rig = new ApprovalsRig();
    const one = rig.ask(asked("1"));
    const two = rig.ask(asked("2"));
    await rig.decide(one.id, { kind: "reject" }, BORIS);
    const ids = (list: readonly Approval[]) => list.map(({ id }) => id);
    expect(ids(rig.approvals.list())).toEqual([two.id, one.id]);
    expect(ids(rig.approvals.list({ state: "rejected" }))).toEqual([one.id]);
    expect(ids(rig.approvals.list({ person: "2" }))).toEqual([one.id]);
  });
});

it("is decided, run and told once, whatever crashes and presses come (I9)", async () => {
  const press = fc.record({
    by: fc.constantFrom(ANNA, BORIS, STRANGER),
    kind: fc.constantFrom("approve", "reject", "change", "withdraw", "explain", "drop"),
    killAt: fc.option(fc.nat({ max: 14 }), { nil: Infinity }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(press, { minLength: 1, maxLength: 6 }), async (presses) => {
      const rig = new ApprovalsRig();
      const { id } = rig.ask(asked("7"));
      const decided: string[] = [];
      for (const { by, kind, killAt } of presses) {
        rig.toGo = killAt;
        try {
          if (kind === "explain") rig.approvals.decisions.explain(id, by.person, "Because");
          else if (kind === "drop") rig.approvals.questions.drop("turn", "withdrawn");
          else {
            const result = await rig.decide(id, { kind }, by);
            if (result.kind === "decided") decided.push(kind);
          }
          await rig.approvals.work.run();
        } catch {
          // The process has died under the press.
        }
        rig.toGo = Infinity;
        rig.start();
        await rig.approvals.work.run();
      }
      const { state = "gone", decidedBy, isExplained } = rig.approvals.get(id) ?? {};
      expect(decided.length).toBeLessThanOrEqual(1);
      expect(rig.runs.length).toBe(state === "done" ? 1 : 0);
      expect(["approved", "running"]).not.toContain(state);
      // A reason that comes later is told once more, unless nothing was told before it.
      expect(new Set(rig.told)).toEqual(new Set(state === "waiting" ? [] : [`${id}:${state}`]));
      expect(rig.told.length).toBeLessThanOrEqual(isExplained === true ? 2 : 1);
      if (state !== "waiting") expect(decidedBy).not.toEqual(STRANGER);
    }),
    { numRuns: 300 },
  );
});

describe("a question of a schedule", () => {
  const night = { keeper: "", taskId: "night", revision: "1" };
  const ofRun = (run: number, order: string): ApprovalRequest => ({
    ...asked(order),
    requestId: `run ${run}`,
    rootRequest: `run ${run}`,
    schedule: night,
  });

  it("takes over the card of the waiting one of an earlier run, and leaves those of other schedules alone", async () => {
    const rig = new ApprovalsRig();
    const other = rig.ask({ ...ofRun(0, "other"), schedule: { ...night, taskId: "day" } });
    const first = rig.ask(ofRun(1, "1"));
    const second = rig.ask(ofRun(2, "2"));
    const third = rig.ask(ofRun(3, "3"));
    await rig.approvals.work.run();
    expect(rig.approvals.get(other.id)?.state).toBe("waiting");
    expect([second.cardOf, third.cardOf]).toEqual([first.id, first.id]);
    expect(rig.approvals.onCard(first.id).map(({ id, state }) => [id, state])).toEqual([
      [first.id, "replaced"],
      [second.id, "replaced"],
      [third.id, "waiting"],
    ]);
    expect(rig.told).toEqual([]);
    expect(await rig.decide(first.id, { kind: "approve" }, BORIS)).toMatchObject({
      kind: "late",
    });
    expect(rig.runs).toEqual([]);
  });

  it("gets cards of its own if somebody had asked for a card of the earlier one, who may not see this one", async () => {
    const rig = new ApprovalsRig();
    const dm = { messengerId: "any", threadId: "any:2", chatId: "2", isDirectMessage: true };
    const first = rig.ask({ ...ofRun(1, "1"), approvers: { kind: "people", userIds: ["2"] } });
    expect(rig.approvals.questions.show(first.id, dm)).toBe(true);
    const second = rig.ask({ ...ofRun(2, "2"), approvers: { kind: "people", userIds: ["3"] } });
    expect([second.broughtTo ?? [], second.cardOf]).toEqual([[], undefined]);
    // All cards of the first one say that it was replaced.
    expect(rig.approvals.get(first.id)).toMatchObject({ state: "replaced", isCardTaken: false });
    await rig.approvals.work.run();
    expect(rig.drawn).toEqual(expect.arrayContaining(["replaced"]));
  });

  it("leaves one alone that somebody has decided, and does not join it", async () => {
    const rig = new ApprovalsRig();
    const first = rig.ask(ofRun(1, "1"));
    let release = (): void => {};
    rig.work = () => new Promise((resolve) => (release = resolve));
    await rig.decide(first.id, { kind: "approve" }, BORIS);
    expect(rig.approvals.asking.request(ofRun(2, "1"))).toBeUndefined();
    release();
    await rig.approvals.work.run();
    expect(rig.approvals.get(first.id)?.state).toBe("done");
  });

  it("waits once, runs once and is never lost, whatever crashes, presses and later runs come (I9)", async () => {
    const step = fc.record({
      kind: fc.constantFrom("ask", "ask", "approve", "reject"),
      order: fc.constantFrom("1", "2"),
      killAt: fc.option(fc.nat({ max: 12 }), { nil: Infinity }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const rig = new ApprovalsRig();
        let approved = 0;
        const ids: string[] = [];
        for (const [run, { kind, killAt, order }] of steps.entries()) {
          rig.toGo = killAt;
          const question = ofRun(run, `${order} of ${run}`);
          const waiting = rig.approvals.waiting().at(-1);
          for (let tries = 0; tries < 2; tries += 1) {
            try {
              // After a crash the turn makes its call again.
              if (kind === "ask") ids.push(rig.ask(question).id);
              else if (waiting !== undefined && tries === 0) {
                const result = await rig.decide(waiting.id, { kind }, BORIS);
                if (result.kind === "decided" && kind === "approve") approved += 1;
              }
              await rig.approvals.work.run();
            } catch {
              // The process has died under it.
            }
            rig.toGo = Infinity;
            rig.start();
            await rig.approvals.work.run();
          }
          expect(rig.approvals.waiting().length).toBeLessThanOrEqual(1);
          if (kind === "ask") {
            const newest = rig.approvals.ofTurn(`run ${run}`);
            expect(newest.map(({ state }) => state)).toEqual(["waiting"]);
            // The card of every earlier one leads to it.
            for (const id of new Set(ids)) {
              const ended = rig.approvals.get(id);
              if (ended?.isCardTaken === true)
                expect(rig.approvals.onCard(ended.cardOf ?? id).length).toBeGreaterThan(1);
            }
          }
        }
        expect(new Set(rig.runs).size).toBe(rig.runs.length);
        expect(rig.runs.length).toBeGreaterThanOrEqual(approved);
        for (const { isTold, state } of rig.approvals.list()) {
          expect(["approved", "running"]).not.toContain(state);
          if (state !== "waiting") expect(isTold).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });
});

it("refuses an action that gives people longer than its card can be changed", () => {
  const defined = (expiresAfterMs: number): unknown =>
    defineAction({ description: "Refund", inputSchema: z.object({}), expiresAfterMs, execute: () => null });
  expect(() => defined(89 * DAY_MS + 1)).toThrow(
    expect.objectContaining({ code: "action-expiry", name: "ConfigurationError" }),
  );
  expect(() => defined(Infinity)).toThrow("must be at most");
  expect(defined(89 * DAY_MS)).toMatchObject({ expiresAfterMs: 89 * DAY_MS });
});
