import { describe, expect, it } from "vitest";
import { LocalLedger } from "../../../src/actions/ledger/ledger.ts";
import type { Claim, ClaimRequest, RunEnd } from "../../../src/actions/ledger/ledger.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const DAY_MS = 24 * 60 * 60_000;

function createLedger() {
  const clock = createVirtualClock();
  const database = createNodeDatabase();
  let ids = 0;
  const ledger = new LocalLedger(database, { clock, newId: () => `run-${(ids += 1)}` });
  const claim = (key: string, asked: Partial<ClaimRequest> = {}): Claim =>
    ledger.claim({
      key,
      action: "refund",
      inputHash: "hash",
      claimant: "c1",
      process: "life-1",
      canRepeat: true,
      canVerify: false,
      leaseMs: 300_000,
      ...asked,
    });
  return {
    clock,
    claim,
    rows: () => database.all<{ key: string }>("SELECT key FROM action_v1 ORDER BY key").map(({ key }) => key),
    run: (key: string, end: RunEnd | undefined) => {
      const begun = claim(key);
      if (begun.kind === "run" && end !== undefined) ledger.end(key, begun.runId, end);
    },
  };
}

describe("the ledger", () => {
  it("keeps a result for 30 days, and a run without a known end for 90", async () => {
    const { claim, clock, rows, run } = createLedger();
    run("settled", { kind: "settled", output: '"refunded"' });
    run("unknown", { kind: "unknown" });
    run("pending", undefined);
    await clock.advance(30 * DAY_MS - 1);
    expect(claim("settled")).toEqual({ kind: "settled", output: '"refunded"' });
    // It sweeps once an hour.
    await clock.advance(60 * 60_000);
    expect(claim("settled")).toMatchObject({ kind: "run", attempt: 1 });
    await clock.advance(60 * DAY_MS - 2 * 60 * 60_000);
    expect(claim("unknown")).toEqual({ kind: "unknown" });
    expect(claim("pending", { process: "life-2" })).toMatchObject({ kind: "interrupted", attempt: 2 });
    await clock.advance(2 * 60 * 60_000);
    expect(claim("unknown")).toMatchObject({ kind: "run", attempt: 1 });
    expect(rows()).toEqual(["pending", "settled", "unknown"]);
  });

  it("deletes at most 500 at once", async () => {
    const { claim, clock, rows, run } = createLedger();
    for (let index = 0; index < 700; index += 1) run(`key ${index}`, { kind: "settled", output: "1" });
    await clock.advance(31 * DAY_MS);
    claim("new");
    expect(rows()).toHaveLength(201);
    await clock.advance(60 * 60_000);
    claim("newer");
    expect(rows()).toEqual(["new", "newer"]);
  });

  it("takes a run of another object for interrupted after its lease, and not before", async () => {
    const { claim, clock } = createLedger();
    const other = { claimant: "c2", process: "life-9" } as const;
    claim("7");
    await clock.advance(299_999);
    expect(claim("7", other)).toEqual({ kind: "pending", mayEnd: true });
    await clock.advance(1);
    expect(claim("7", { ...other, canRepeat: false })).toEqual({ kind: "pending", mayEnd: false });
    expect(claim("7", other)).toMatchObject({ kind: "interrupted", attempt: 2 });
    expect(claim("7")).toEqual({ kind: "pending", mayEnd: true });
  });
});
