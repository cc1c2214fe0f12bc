import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import type * as AskConsent from "../../../src/actions/runs/ask-consent.ts";
import { canonicalJson } from "../../../src/core/json/canonical-json.ts";
import type * as ApprovalStore from "../../../src/approvals/stored/approval-store.ts";
import type * as Decisions from "../../../src/approvals/consent/decisions.ts";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import type * as DecisionWord from "../../../src/core/action/decision-word.ts";
import type * as Grant from "../../../src/approvals/rules/grant.ts";
import type * as GrantedRuns from "../../../src/approvals/consent/granted-runs.ts";
import type { Database } from "../../../src/core/store/database.ts";
import type * as OutcomeFacts from "../../../src/approvals/chat/outcome-facts.ts";
import type { Planted } from "./planted.ts";

vi.setConfig({ testTimeout: 60_000 });

/*
 * Defects of consent, each of which the stories of `consent.test.ts` must find. Those that sit inside of a part replace
 * its module.
 */

const MOCKED = [
  "../../../src/actions/runs/ask-consent.ts",
  "../../../src/approvals/stored/approval-store.ts",
  "../../../src/core/action/decision-word.ts",
  "../../../src/approvals/consent/granted-runs.ts",
  "../../../src/approvals/consent/decisions.ts",
  "../../../src/approvals/rules/grant.ts",
  "../../../src/approvals/chat/outcome-facts.ts",
];

afterEach(() => {
  for (const path of MOCKED) vi.doUnmock(path);
  vi.resetModules();
});

/** A press counts that must not, or the action runs after it. */
const UNALLOWED = /decides ".*" without being allowed to|without a valid decision/;

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Returns the first thing that must never happen, in the first story in which it does. The stories of the seed show the
 * defect soon.
 */
async function firstFinding(
  seed: number,
  planted: Planted = {},
  which: "stories" | "grantStories" = "stories",
): Promise<string> {
  vi.resetModules();
  const { Judge, ...all } = await import("./consent-story.ts");
  const played = await fc.check(
    fc.asyncProperty(all[which], async (story) => void (await new Judge(planted).play(story))),
    { seed, numRuns: 500, endOnFailure: true },
  );
  const error = played.errorInstance;
  return error instanceof Error ? error.message : "nothing";
}

it("finds a second decision that is not compared with the first", async () => {
  const deciding = new AsyncLocalStorage<{ readonly before: Approval | undefined; reads: number }>();
  vi.doMock("../../../src/approvals/stored/approval-store.ts", async (original) => {
    const real = await original<typeof ApprovalStore>();
    return {
      ...real,
      ApprovalStore: class extends real.ApprovalStore {
        override get(id: string): Approval | undefined {
          const scope = deciding.getStore();
          if (scope === undefined) return super.get(id);
          scope.reads += 1;
          return scope.reads === 2 ? scope.before : super.get(id);
        }
      },
    };
  });
  vi.doMock("../../../src/approvals/consent/decisions.ts", async (original) => {
    const real = await original<typeof Decisions>();
    return {
      ...real,
      Decisions: class extends real.Decisions {
        readonly #store: ApprovalStore.ApprovalStore;

        constructor(options: Decisions.DecisionsOptions) {
          super(options);
          this.#store = options.stored.store;
        }

        override decide(...asked: Parameters<InstanceType<typeof real.Decisions>["decide"]>) {
          return deciding.run({ before: this.#store.get(asked[0]), reads: 0 }, () => super.decide(...asked));
        }
      },
    };
  });
  expect(await firstFinding(22)).toBe("two people are told that they have decided");
});

it("finds an input that changes after the decision", async () => {
  type Row = Record<string, string | number | null>;
  const changed = (row: Row): Row => {
    if (row["state"] !== "approved" && row["state"] !== "running") return row;
    const { amount, order } = JSON.parse(String(row["input"])) as { amount: number; order: string };
    const input = { amount: amount + 1_000, order };
    return { ...row, input: JSON.stringify(input), input_hash: hashOf(canonicalJson(input)) };
  };
  const database = (real: Database): Database => ({
    all: (statement, ...bindings) => {
      const rows = real.all(statement, ...bindings);
      return statement.includes("FROM approval_v1")
        ? rows.map((row) => changed(row as Row) as never)
        : (rows as never);
    },
    run: (...asked) => real.run(...asked),
    transaction: (body) => real.transaction(body),
  });
  expect(await firstFinding(2, { database })).toBe("something is paid back that nobody has asked for");
});

it("finds an action that begins before its claim is stored", async () => {
  const database = (real: Database): Database => {
    let store = (): void => {};
    const flush = (): void => {
      const claim = store;
      store = () => {};
      claim();
    };
    return {
      // The end of the run reads its claim.
      all: (statement, ...bindings) => {
        if (statement.includes("FROM action_v1")) flush();
        return real.all(statement, ...bindings);
      },
      run: (statement, ...bindings) => {
        const isClaim = statement.includes("INTO action_v1") && bindings.includes("pending");
        if (!isClaim) return real.run(statement, ...bindings);
        store = () => void real.run(statement, ...bindings);
        return 1;
      },
      transaction: (body) => real.transaction(body),
    };
  };
  expect(await firstFinding(1, { database })).toBe("an order is paid back twice");
});

it("finds an outcome that is told twice", async () => {
  expect(await firstFinding(8, { tellsOutside: true })).toBe("an outcome is not told exactly once");
});

it("finds a card that shows a decision before it is stored", async () => {
  expect(await firstFinding(1, { drawsFirst: true })).toBe("a card shows a decision that is not stored");
});

it("finds a press of a forwarded card that counts", async () => {
  expect(await firstFinding(7, { findsAnywhere: true })).toMatch(UNALLOWED);
});

it("finds a press that counts after the time to decide", async () => {
  const planted = { pressedBeforeMs: 30 * 60_000 };
  expect(await firstFinding(2, planted)).toMatch(UNALLOWED);
});

it("finds a waiting request that runs when it is asked again later", async () => {
  vi.doMock("../../../src/actions/runs/ask-consent.ts", async (original) => {
    const real = await original<typeof AskConsent>();
    const askedAt = new Map<string, number>();
    return {
      ...real,
      askConsent: async (...asked: Parameters<typeof real.askConsent>) => {
        const [{ clock }, { requestId, toolCallId }] = asked;
        const call = `${requestId} ${toolCallId}`;
        const firstAt = askedAt.get(call) ?? clock.now();
        askedAt.set(call, firstAt);
        if (clock.now() > firstAt) return { kind: "granted", approver: undefined } as const;
        return real.askConsent(...asked);
      },
    };
  });
  expect(await firstFinding(2)).toBe("money is paid back without a valid decision over exactly this call");
});

it("finds an action that runs with the rights of the person who agreed", async () => {
  vi.doMock("../../../src/approvals/chat/outcome-facts.ts", async (original) => {
    const real = await original<typeof OutcomeFacts>();
    return {
      ...real,
      factsOfApproval: (approval: Approval) => {
        const presser = approval.decidedBy?.person;
        return { ...real.factsOfApproval(approval), people: presser === undefined ? [] : [presser] };
      },
    };
  });
  expect(await firstFinding(7)).toBe("money is paid back with somebody else's rights");
});

it("finds a grant that outlives its terms", async () => {
  vi.doMock("../../../src/approvals/rules/grant.ts", async (original) => {
    const real = await original<typeof Grant>();
    return {
      ...real,
      covers: (...[grant, question, now]: Parameters<typeof real.covers>) =>
        real.covers({ ...grant, until: undefined, revokedAt: undefined }, question, now),
    };
  });
  expect(await firstFinding(1, {}, "grantStories")).toBe(
    "money is paid back without a valid decision over exactly this call",
  );
});

it("finds a word of consent that counts without a quote", async () => {
  expect(await firstFinding(7, { decidesUnquoted: true })).toMatch(UNALLOWED);
});

it("finds a reply that counts although it says more than yes", async () => {
  vi.doMock("../../../src/core/action/decision-word.ts", async (original) => {
    const real = await original<typeof DecisionWord>();
    return {
      ...real,
      decisionOf: (text: string, words: DecisionWord.ApprovalWords) =>
        real.decisionOf(text.startsWith("yes") ? "yes" : text, words),
    };
  });
  expect(await firstFinding(13)).toMatch(UNALLOWED);
});

it("finds a reminder that is sent twice", async () => {
  expect(await firstFinding(7, { remindsOutside: true })).toBe("people are reminded twice");
});

it("finds a card in another chat that is not kept up to date", async () => {
  expect(await firstFinding(7, { drawsHereOnly: true })).toBe("a card does not show the end of its request");
});

it("finds a new session that takes back what waits", async () => {
  expect(await firstFinding(2, { withdrawsAtNew: true })).toBe("a new session takes back what waits");
});

it("finds a use of a grant whose outcome a crash has lost", async () => {
  vi.doMock("../../../src/approvals/consent/granted-runs.ts", async (original) => {
    const real = await original<typeof GrantedRuns>();
    return {
      ...real,
      GrantedRuns: class extends real.GrantedRuns {
        override hasLost(): boolean {
          return false;
        }
      },
    };
  });
  expect(await firstFinding(7)).toBe("a use of a grant has no outcome in the end");
});
