import fc from "fast-check";
import { expect, it } from "vitest";
import type { Amount } from "../../../src/core/text/amount.ts";
import { amountWords, isAmount, unitsOf } from "../../../src/core/text/amount.ts";
import { Approvals } from "../../../src/approvals/consent/approvals.ts";
import type { AllowanceClaim } from "../../../src/approvals/rules/allowance.ts";
import type { Approval, CallOutcome } from "../../../src/approvals/rules/approval.ts";
import { grantWords } from "../../../src/approvals/rules/grant-words.ts";
import { AllowanceStore } from "../../../src/approvals/stored/allowance-store.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../../test/support/virtual-clock.ts";
import { asked } from "./approvals-rig.ts";

/** What becomes of a call that a grant covers. `stopped`: it may or may not have had its effect. */
type End = "done" | "freed" | "stopped";
/** How the root hears of a claim. */
type Line = "good" | "away" | "answer lost" | "late";

const NEVER: CallOutcome = { output: { error: {} }, isFailure: true, hadNoEffect: true };

interface Limit {
  readonly calls?: number;
  readonly sum?: Amount;
  readonly budget?: string;
}

/** Several conversations of one bot, whose objects may die, and their root. */
class Rig {
  readonly clock = createVirtualClock();
  readonly root = new AllowanceStore(createNodeDatabase());
  /** Amounts of calls that have had, or may have had, their effect, by call. */
  readonly spent = new Map<string, number>();
  line: Line = "good";
  readonly late: AllowanceClaim[] = [];
  readonly conversations: Conversation[];

  constructor(count: number) {
    this.conversations = Array.from({ length: count }, (_, index) => new Conversation(this, index));
  }

  async claim(claim: AllowanceClaim): Promise<boolean> {
    await Promise.resolve();
    const { line } = this;
    if (line === "late") this.late.push(claim);
    const result = line === "good" || line === "answer lost" ? this.root.claim(claim) : undefined;
    if (line !== "good" || result === undefined) throw new Error("The root is away.");
    return result;
  }
}

class Conversation {
  toGo = Infinity;
  approvals: Approvals;
  readonly #rig: Rig;
  readonly #name: number;
  readonly #data = createNodeDatabase();
  /** What the ledger knows of calls. */
  readonly #ledger = new Map<string, "open" | "done">();
  #ids = 0;
  #life = 0;

  constructor(rig: Rig, name: number) {
    this.#rig = rig;
    this.#name = name;
    this.#data.run("CREATE TABLE news (seq INTEGER PRIMARY KEY, id TEXT NOT NULL)");
    this.approvals = this.#start();
  }

  restart(): void {
    this.toGo = Infinity;
    this.approvals = this.#start();
  }

  /** Somebody agrees to a call, and to more like it. */
  async give(limit: Limit): Promise<void> {
    const question = this.#question(`grant${(this.#ids += 1)}`, limit);
    const approval = this.approvals.asking.request(question);
    await this.approvals.decisions.decide(
      approval?.id ?? "",
      { kind: "approve", grant: "always" },
      { surface: "chat", person: { userId: "dana" } },
    );
    await this.approvals.work.run();
  }

  /** The model calls the action. Returns whether a grant covered it. */
  async call(name: string, amount: Amount, end: End): Promise<boolean> {
    const question = this.#question(name, {});
    const call = { ...question, isExplained: false, reason: undefined, successor: undefined };
    const use = await this.approvals.granted.use({ ...call, drawnState: undefined, isTold: false }, amount);
    if (use === undefined) return false;
    this.#ledger.set(name, "open");
    if (end === "freed") this.#ledger.delete(name);
    else this.#rig.spent.set(`${this.#name} ${name}`, unitsOf(amount));
    if (end === "done") this.#ledger.set(name, "done");
    const isFailure = end !== "done";
    const outcome = { output: isFailure ? { error: {} } : "paid", isFailure, hadNoEffect: end === "freed" };
    this.approvals.granted.end(question.requestId, question.toolCallId, outcome);
    return true;
  }

  /** People are asked about a call, change its amount, and approve it. A grant has nothing to do with it. */
  async edit(name: string): Promise<void> {
    const asked = this.approvals.asking.request(this.#question(`asked ${name}`, {}));
    if (asked === undefined) return;
    const by = { surface: "chat", person: { userId: "dana" } } as const;
    const form = { at: { kind: "summary" }, values: {}, skipped: [] } as const;
    const address = { messengerId: "m", chatId: "c", threadId: "c", isDirectMessage: true };
    const { edited } = this.approvals;
    edited.begin(asked.id, { by, address, form }, () => {});
    const call = { ...asked, input: { orderId: name, euros: 1 }, inputHash: `hash ${asked.id}` };
    const changed = edited.replace(asked.id, 1, call, () => {});
    await this.approvals.decisions.decide(changed?.id ?? "", { kind: "approve" }, by);
    await this.approvals.work.run();
  }

  /** Reports to the root what it does not know yet. */
  tell(): void {
    for (const { id, seq } of this.#data.all<{ seq: number; id: string }>(
      "SELECT * FROM news ORDER BY seq",
    )) {
      this.#rig.root.giveBack(id);
      this.#data.run("DELETE FROM news WHERE seq = ?", seq);
    }
  }

  #question(name: string, limit: Limit) {
    const offer = { scope: "all", words: "Refunds", ...limit };
    const origin = { messengerId: "m", chatId: "c", threadId: "c", isDirectMessage: true };
    return { ...asked(name), requestId: `turn ${name}`, rootRequest: `turn ${name}`, offer, origin };
  }

  #start(): Approvals {
    const born = (this.#life += 1);
    const write = (): void => {
      if (this.#life !== born) throw new Error("killed by a test");
      if (this.toGo === 0) {
        this.#life += 1;
        throw new Error("killed by a test");
      }
      this.toGo -= 1;
    };
    const database = this.#data.withHooks({ beforeWrite: write, afterWrite: write });
    const outcomeOf = ({ ledgerKey }: Approval): CallOutcome => {
      const known = this.#ledger.get(ledgerKey);
      if (known === undefined) return NEVER;
      return known === "done" ? { output: "paid", isFailure: false } : { ...NEVER, hadNoEffect: false };
    };
    return new Approvals({
      database,
      clock: this.#rig.clock,
      newId: () => `${this.#name}-${(this.#ids += 1)}`,
      isNobodyLeft: () => Promise.resolve(false),
      mayDecide: () => Promise.resolve(true),
      run: () => Promise.resolve({ output: "done", isFailure: false }),
      outcomeOf: (use) => Promise.resolve(outcomeOf(use)),
      claim: (claim) => this.#rig.claim(claim),
      noteUse: ({ id, isGivenBack }) => {
        if (isGivenBack === true) database.run("INSERT INTO news (id) VALUES (?)", id);
      },
      escalate: () => Promise.resolve({ places: [], unreached: [] }),
      remind: () => {},
      whyImpossible: () => undefined,
      draw: () => {},
      tell: () => {},
      onChange: () => {},
      onFailure: () => {},
    });
  }
}

const step = fc.record({
  where: fc.nat({ max: 2 }),
  /** The same call may come again, also in another life of the object. */
  call: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
  end: fc.constantFrom<End>("done", "done", "freed", "stopped"),
  /** Whether people change and approve another call meanwhile. */
  edits: fc.constantFrom(false, false, true),
  line: fc.constantFrom<Line>("good", "good", "good", "good", "away", "answer lost", "late"),
  killAt: fc.oneof(
    { weight: 3, arbitrary: fc.constant(Infinity) },
    { weight: 2, arbitrary: fc.nat({ max: 9 }) },
  ),
  tells: fc.boolean(),
});

const CENTS: Readonly<Record<string, number>> = {
  a: 10,
  b: 3_000,
  c: 3_333,
  d: 5_000,
  e: 10_000,
  f: 30,
  g: 4_999,
};
const euros = (cents: number): Amount => ({ value: cents / 100, currency: "EUR" });

it("never overdraws a sum or a number of calls, and gives back exactly what had no effect", async () => {
  let covered = 0;
  let refused = 0;
  let givenBack = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 4, maxLength: 24, size: "max" }),
      fc.constantFrom<Limit>(
        { sum: euros(10_000), budget: "november" },
        { calls: 3, budget: "november" },
        { calls: 4, sum: euros(9_999), budget: "november" },
      ),
      async (steps, limit) => {
        const rig = new Rig(3);
        for (const conversation of rig.conversations) await conversation.give(limit);
        const most = limit.sum === undefined ? Infinity : unitsOf(limit.sum);
        const check = (): number => {
          const spent = [...rig.spent.values()].reduce((sum, one) => sum + one, 0);
          expect(spent).toBeLessThanOrEqual(most);
          expect(rig.spent.size).toBeLessThanOrEqual(limit.calls ?? Infinity);
          return spent;
        };
        for (const { call, edits, end, killAt, line, tells, where } of steps) {
          const conversation = rig.conversations[where];
          if (conversation === undefined || rig.spent.has(`${where} ${call}`)) continue;
          rig.line = line;
          conversation.toGo = killAt;
          const both = async (): Promise<boolean> => {
            const [isCovered] = await Promise.all([
              conversation.call(call, euros(CENTS[call] ?? 0), end),
              edits ? conversation.edit(call) : undefined,
            ]);
            return isCovered;
          };
          const isCovered = await both().catch(() => undefined);
          if (isCovered === true) covered += 1;
          if (isCovered === false) refused += 1;
          if (isCovered === true && end === "freed") givenBack += 1;
          if (isCovered === undefined) conversation.restart();
          conversation.toGo = Infinity;
          if (tells) conversation.tell();
          for (const claim of rig.late.splice(0, tells ? 1 : 0)) rig.root.claim(claim);
          check();
        }
        for (const conversation of rig.conversations) {
          conversation.restart();
          await conversation.approvals.work.run();
          conversation.tell();
        }
        for (const claim of rig.late) rig.root.claim(claim);
        // At rest the root has counted what was spent, and nothing else.
        const spent = check();
        const probe = (id: string, rest: Partial<AllowanceClaim>): boolean =>
          rig.root.claim({ id, budget: JSON.stringify(["action", "refund", "november"]), ...rest });
        if (limit.sum !== undefined) {
          const money = (units: number) => ({ sum: { currency: "EUR", units, mostUnits: most } });
          expect(probe("too much", money(most - spent + 1))).toBe(false);
          expect(probe("the rest", money(most - spent))).toBe(true);
        } else {
          expect(probe("one more", { mostCalls: rig.spent.size })).toBe(false);
          expect(probe("one more", { mostCalls: rig.spent.size + 1 })).toBe(true);
        }
      },
    ),
    { numRuns: 60 },
  );
  expect(covered).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(50);
  expect(givenBack).toBeGreaterThan(10);
});

it("counts a grant without a budget for itself, and knows no other currency", async () => {
  const rig = new Rig(2);
  const [one, two] = rig.conversations;
  await one?.give({ sum: euros(5_000) });
  await two?.give({ sum: euros(5_000) });
  expect(await one?.call("a", euros(5_000), "done")).toBe(true);
  expect(await one?.call("b", euros(1), "done")).toBe(false);
  expect(await two?.call("a", { value: 1, currency: "USD" }, "done")).toBe(false);
  expect(await two?.call("b", euros(4_999), "done")).toBe(true);
});

it("says its limits in words, and knows an amount", () => {
  const offer = { words: "Refunds", sum: euros(10_000), calls: 5 };
  const rest = { requester: undefined };
  expect(grantWords(offer, rest)).toBe("Refunds, up to 100 € in all, 5 times, in this chat");
  expect(grantWords({ ...offer, calls: 1, budget: "november" }, rest)).toBe(
    "Refunds, up to 100 € in all, once, all chats together, in this chat",
  );
  expect(amountWords({ value: 9.5, currency: "CHF" })).toBe("9.50 CHF");
  for (const wrong of [-1, Number.NaN, Infinity, 1e300])
    expect(isAmount({ value: wrong, currency: "EUR" })).toBe(false);
  expect(isAmount({ value: 1, currency: "euro" })).toBe(false);
});
