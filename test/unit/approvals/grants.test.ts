import fc from "fast-check";
import { expect, it } from "vitest";
import type { CallOutcome } from "../../../src/approvals/rules/approval.ts";
import { Approvals } from "../../../src/approvals/consent/approvals.ts";
import type { ApprovalRequest } from "../../../src/approvals/rules/approval-request.ts";
import type { GrantLength } from "../../../src/approvals/rules/grant-length.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";

const MINUTE_MS = 60_000;

/** The terms of a call or a grant, as far as a test varies them. */
interface Terms {
  readonly person: string;
  readonly thread: string;
  readonly scope: string;
  readonly request: string;
}

function questionOf({ person, request, scope, thread }: Terms, index: number, now: number): ApprovalRequest {
  return {
    action: "refund",
    toolCallId: `call ${index}`,
    requestId: `${request}.${index}`,
    rootRequest: request,
    offer: { scope, words: scope },
    ledgerKey: `key ${index}`,
    input: { index },
    inputHash: `hash ${index}`,
    summary: "Refund an order",
    risk: undefined,
    permissions: [],
    kind: "approval-gated",
    sensitive: [],
    isTool: false,
    modelWords: undefined,
    preview: undefined,
    people: [{ userId: person }],
    requester: { userId: person },
    origin: { messengerId: "m", chatId: thread, threadId: thread, isDirectMessage: true },
    approvers: { kind: "anyone" },
    requesterMayApprove: true,
    messageId: undefined,
    askedIn: [],
    unreached: [],
    remindAt: undefined,
    expiresAt: now + 7 * 24 * 60 * MINUTE_MS,
  };
}

function createRig() {
  const clock = createVirtualClock();
  const data = createNodeDatabase();
  let ids = 0;
  const rig = {
    clock,
    /** People who may decide now. */
    deciders: new Set(["dana", "eli"]),
    toGo: Infinity,
    /** What became of calls of earlier lives. Undefined while their turn runs. */
    outcome: undefined as CallOutcome | undefined,
    /** The states of uses that were reported. */
    noted: new Map<string, string[]>(),
    /** Called when the bot is asked who may decide. */
    onAsk: (): void => {},
    approvals: undefined as unknown as Approvals,
    start(): void {
      let isDead = false;
      const write = (): void => {
        if (isDead || rig.toGo === 0) {
          isDead = true;
          throw new Error("killed by a test");
        }
        rig.toGo -= 1;
      };
      rig.approvals = new Approvals({
        database: data.withHooks({ beforeWrite: write, afterWrite: write }),
        clock,
        newId: () => `id${(ids += 1)}`,
        isNobodyLeft: () => Promise.resolve(false),
        mayDecide: (_approval, { person }) => {
          rig.onAsk();
          return Promise.resolve(rig.deciders.has(person?.userId ?? ""));
        },
        run: () => Promise.resolve({ output: "done", isFailure: false }),
        outcomeOf: () => Promise.resolve(rig.outcome),
        remind: () => {},
        whyImpossible: () => undefined,
        draw: () => {},
        tell: () => {},
        escalate: () => Promise.resolve({ places: [], unreached: [] }),
        claim: () => Promise.reject(new Error("No grant is limited.")),
        noteUse: ({ id, state }) => {
          const states = rig.noted.get(id) ?? [];
          if (!isDead) rig.noted.set(id, [...states, state]);
        },
        onChange: () => {},
        onFailure: () => {},
      });
    },
  };
  rig.start();
  return rig;
}

const terms: fc.Arbitrary<Terms> = fc.record({
  person: fc.constantFrom("anna", "anna", "anna", "boris"),
  thread: fc.constantFrom("c1", "c1", "c1", "c2"),
  scope: fc.constantFrom("small", "small", "small", "large"),
  request: fc.constantFrom("r1", "r2"),
});

const killAt = fc.oneof(
  { weight: 4, arbitrary: fc.constant(Infinity) },
  { weight: 1, arbitrary: fc.nat({ max: 8 }) },
);

const give = fc.record({
  kind: fc.constant("give" as const),
  terms,
  by: fc.constantFrom("dana", "dana", "eli", "mallory"),
  length: fc.constantFrom<GrantLength>("request", "hour", "always"),
  killAt,
});
const use = fc.record({ kind: fc.constant("use" as const), terms, killAt });
const revoke = fc.record({ kind: fc.constant("revoke" as const), nth: fc.nat({ max: 4 }), killAt });
const pass = fc.record({
  kind: fc.constant("pass" as const),
  minutes: fc.constantFrom(1, 29, 30, 59, 60, 24 * 60),
});
const demote = fc.record({ kind: fc.constant("demote" as const), who: fc.constantFrom("dana", "eli") });

const step = fc.oneof(
  { weight: 4, arbitrary: give },
  { weight: 6, arbitrary: use },
  { weight: 1, arbitrary: revoke },
  { weight: 2, arbitrary: pass },
  { weight: 1, arbitrary: demote },
);

it("never outlives or exceeds its terms, and covers what they say, whatever crashes come", async () => {
  let covered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
      const rig = createRig();
      /** The terms as they were when each grant was given. */
      const given = new Map<string, Terms & { by: string; length: GrantLength; at: number; over: boolean }>();
      const allows = (wanted: Terms): string[] =>
        [...given].flatMap(([id, grant]) => {
          const lastsMs = {
            request: 24 * 60 * MINUTE_MS,
            hour: 60 * MINUTE_MS,
            always: Infinity,
            schedule: Infinity,
          }[grant.length];
          const isSame =
            grant.person === wanted.person && grant.thread === wanted.thread && grant.scope === wanted.scope;
          const isInRequest = grant.length !== "request" || grant.request === wanted.request;
          const isInTime = rig.clock.now() - grant.at < lastsMs && !grant.over;
          return isSame && isInRequest && isInTime && rig.deciders.has(grant.by) ? [id] : [];
        });
      for (const [index, one] of steps.entries()) {
        const now = rig.clock.now();
        rig.toGo = "killAt" in one ? one.killAt : Infinity;
        try {
          if (one.kind === "pass") await rig.clock.advance(one.minutes * MINUTE_MS);
          if (one.kind === "demote") rig.deciders.delete(one.who);
          if (one.kind === "revoke") {
            const id = [...given.keys()][one.nth];
            if (id !== undefined) rig.approvals.grants.revoke(id, { surface: "api" });
          }
          if (one.kind === "give") {
            const approval = rig.approvals.asking.request(questionOf(one.terms, index, now));
            const by = { surface: "chat", person: { userId: one.by } } as const;
            await rig.approvals.decisions.decide(
              approval?.id ?? "",
              { kind: "approve", grant: one.length },
              by,
            );
            await rig.approvals.work.run();
          }
          if (one.kind === "use") {
            const before = allows(one.terms);
            const call = questionOf(one.terms, index, now);
            const rest = { isExplained: false, reason: undefined, successor: undefined } as const;
            const used = await rig.approvals.granted.use({
              ...call,
              ...rest,
              drawnState: undefined,
              isTold: false,
            });
            if (used === undefined) expect(before).toEqual([]);
            else expect(before).toContain(used.decidedBy?.grantId);
            if (used !== undefined) covered += 1;
          }
        } catch (error) {
          if (!(error instanceof Error) || error.message !== "killed by a test") throw error;
        }
        if (rig.toGo === 0 || "killAt" in one) {
          rig.toGo = Infinity;
          rig.start();
          await rig.approvals.work.run();
        }
        // What is stored is what counts: a step that a crash cut off may have been stored or not.
        for (const grant of rig.approvals.grants.list(100)) {
          const { givenBy, id, length, person, revokedAt, rootRequest, scope, threadId } = grant;
          expect(givenBy.person?.userId).not.toBe("mallory");
          const known = given.get(id);
          given.set(id, {
            person: person.userId,
            thread: threadId,
            scope,
            request: rootRequest ?? "",
            by: givenBy.person?.userId ?? "",
            length,
            at: known?.at ?? now,
            over: revokedAt !== undefined,
          });
        }
      }
      // Every use is in the audit, with the id of its grant.
      const uses = rig.approvals
        .list({ limit: 1_000 })
        .filter(({ decidedBy }) => decidedBy?.surface === "grant");
      for (const [id] of given) {
        const counted = rig.approvals.grants.get(id)?.uses;
        expect(counted).toBe(uses.filter(({ decidedBy }) => decidedBy?.grantId === id).length);
      }
    }),
    { numRuns: 100 },
  );
  // The property would also hold if nothing was ever covered.
  expect(covered).toBeGreaterThan(10);
});

it("counts a call once that a crash repeats, and stores its outcome", async () => {
  const rig = createRig();
  const wanted: Terms = { person: "anna", thread: "c1", scope: "small", request: "r1" };
  const approval = rig.approvals.asking.request(questionOf(wanted, 0, rig.clock.now()));
  const by = { surface: "chat", person: { userId: "dana" } } as const;
  await rig.approvals.decisions.decide(approval?.id ?? "", { kind: "approve", grant: "hour" }, by);
  const rest = { isExplained: false, reason: undefined, successor: undefined, isTold: false } as const;
  const call = { ...questionOf(wanted, 1, rig.clock.now()), ...rest, drawnState: undefined };
  const first = await rig.approvals.granted.use(call);
  rig.start();
  expect((await rig.approvals.granted.use(call))?.id).toBe(first?.id);
  expect(rig.approvals.grants.inForce()[0]?.uses).toBe(1);
  rig.approvals.granted.end(call.requestId, call.toolCallId, {
    output: { refund: 1 },
    isFailure: false,
  });
  expect(rig.approvals.get(first?.id ?? "")).toMatchObject({ state: "done", outcome: { refund: 1 } });
  expect([...rig.noted]).toEqual([[first?.id, ["approved", "done"]]]);
  await rig.approvals.work.run();
  expect(rig.approvals.work.nextWakeAt()).toBeUndefined();
  // The same call after the grant is over is asked about.
  await rig.clock.advance(60 * MINUTE_MS);
  expect(await rig.approvals.granted.use(call)).toBeUndefined();
});

it("covers nothing if it ends while the bot is asked about the person who gave it", async () => {
  const rig = createRig();
  const wanted: Terms = { person: "anna", thread: "c1", scope: "small", request: "r1" };
  const approval = rig.approvals.asking.request(questionOf(wanted, 0, rig.clock.now()));
  const by = { surface: "chat", person: { userId: "dana" } } as const;
  await rig.approvals.decisions.decide(approval?.id ?? "", { kind: "approve", grant: "always" }, by);
  const [grant] = rig.approvals.grants.inForce();
  rig.onAsk = () => {
    expect(rig.approvals.grants.revoke(grant?.id ?? "", { surface: "api" })).toBe(true);
  };
  const rest = { isExplained: false, reason: undefined, successor: undefined, isTold: false } as const;
  const call = { ...questionOf(wanted, 1, rig.clock.now()), ...rest, drawnState: undefined };
  expect(await rig.approvals.granted.use(call)).toBeUndefined();
  expect(rig.approvals.list().map(({ decidedBy }) => decidedBy?.surface)).toEqual(["chat"]);
});

const DANA = { surface: "chat", person: { userId: "dana" } } as const;
const NOTHING_SAID = { isExplained: false, reason: undefined, successor: undefined, isTold: false } as const;
const ASKED: Terms = { person: "anna", thread: "c1", scope: "small", request: "r1" };

it("never runs a call about which people have decided, when a crash repeats it", async () => {
  const rig = createRig();
  const [refused, other] = [0, 1].map((index) =>
    rig.approvals.asking.request(questionOf(ASKED, index, rig.clock.now())),
  );
  await rig.approvals.decisions.decide(refused?.id ?? "", { kind: "reject" }, DANA);
  await rig.approvals.decisions.decide(other?.id ?? "", { kind: "approve", grant: "hour" }, DANA);
  rig.start();
  const again = { ...questionOf(ASKED, 0, rig.clock.now()), ...NOTHING_SAID, drawnState: undefined };
  expect(await rig.approvals.granted.use(again)).toBeUndefined();
  const later = { ...questionOf(ASKED, 2, rig.clock.now()), ...NOTHING_SAID, drawnState: undefined };
  expect(await rig.approvals.granted.use(later)).toMatchObject({ state: "approved" });
});

it("decides what waits and is covered once, wherever a crash comes between", async () => {
  let isCut = true;
  let point = 0;
  for (; isCut; point += 1) {
    const rig = createRig();
    const [given, ...waiting] = [0, 1].map((index) =>
      rig.approvals.asking.request(questionOf(ASKED, index, rig.clock.now())),
    );
    await rig.approvals.work.run();
    rig.toGo = point;
    isCut = false;
    await rig.approvals.decisions
      .decide(given?.id ?? "", { kind: "approve", grant: "hour" }, DANA)
      .then(() => rig.approvals.work.run())
      .catch(() => (isCut = true));
    // Work in the background may be cut, too.
    isCut ||= rig.toGo === 0;
    rig.toGo = Infinity;
    rig.start();
    await rig.approvals.work.run();
    await rig.approvals.work.run();
    const isGiven = rig.approvals.get(given?.id ?? "")?.state === "done";
    expect(rig.approvals.grants.inForce().map(({ uses }) => uses)).toEqual(isGiven ? [1] : []);
    for (const one of waiting)
      expect(rig.approvals.get(one?.id ?? "")).toMatchObject(
        isGiven
          ? { state: "done", decidedBy: { surface: "grant", grantId: expect.any(String) as string } }
          : { state: "waiting", decidedBy: undefined },
      );
    if (isGiven) expect(rig.approvals.work.nextWakeAt()).toBeUndefined();
  }
  expect(point).toBeGreaterThan(10);
});

it("finds the outcome of a use that a crash has lost, when its turn has ended", async () => {
  for (const [outcome, state] of [
    [{ output: { refund: 1 }, isFailure: false }, "done"],
    [{ output: { error: { name: "ActionUnknownError", message: "?" } }, isFailure: true }, "failed"],
  ] as const) {
    const rig = createRig();
    const approval = rig.approvals.asking.request(questionOf(ASKED, 0, rig.clock.now()));
    await rig.approvals.decisions.decide(approval?.id ?? "", { kind: "approve", grant: "hour" }, DANA);
    const call = { ...questionOf(ASKED, 1, rig.clock.now()), ...NOTHING_SAID, drawnState: undefined };
    const use = await rig.approvals.granted.use(call);
    // Its own process knows the outcome later.
    await rig.approvals.work.run();
    expect(rig.approvals.get(use?.id ?? "")?.state).toBe("approved");
    rig.start();
    await rig.approvals.work.run();
    expect(rig.approvals.get(use?.id ?? "")?.state).toBe("approved");
    expect(rig.approvals.work.nextWakeAt()).toBe(rig.clock.now() + 2_500);
    rig.outcome = outcome;
    await rig.approvals.work.run();
    expect(rig.approvals.get(use?.id ?? "")).toMatchObject({ state, outcome: outcome.output });
    expect([...rig.noted]).toEqual([[use?.id, ["approved", state]]]);
    expect(rig.approvals.work.nextWakeAt()).toBeUndefined();
  }
});
