import { expect, it } from "vitest";
import type { HandOver } from "../../../src/core/turn/broadcast.ts";
import { takeBroadcast } from "../../../src/broadcasts/take-broadcast.ts";
import type { LegReport } from "../../../src/scheduled-runs/leg.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { chatAddress } from "../broadcasts/broadcast-world.ts";

const request = (notAfter: number): HandOver => ({
  broadcastId: "digest",
  target: "c1",
  address: chatAddress("c1"),
  work: {
    kind: "prompt",
    messages: [{ id: "q", role: "user", parts: [{ type: "text", text: "Write it." }] }],
    run: { schedule: { keeper: "", taskId: "digest", revision: "1" }, occurrenceKey: "digest@1" },
  },
  notAfter,
  waitMs: 0,
});

/** A conversation that keeps its scheduled turns in a map. */
function conversation(report: LegReport) {
  const clock = createVirtualClock(1_000);
  const turns = new Map<string, string>();
  const host = {
    deps: { clock },
    messengers: { isDeclared: () => true },
    thread: {
      delivery: { settled: () => Promise.resolve("delivered") },
      own: {
        prompts: {
          isKnown: (id: string | undefined) => id !== undefined && turns.has(id),
          untilEnded: () => Promise.resolve(),
        },
      },
    },
    runs: {
      submit: async ({ id, prompt }: { id: string; prompt: string }) => void turns.set(id, prompt),
      report: async () => report,
      settled: async () => undefined,
    },
  };
  const take = async (notAfter: number): ReturnType<typeof takeBroadcast> => {
    const taken = takeBroadcast(host as never, request(notAfter), () => {});
    await clock.advance(10);
    return taken;
  };
  return { clock, take, turns };
}

it("still tells the outcome of a scheduled run whose broadcast has ended while somebody decides", async () => {
  const report: LegReport = { state: "waiting" };
  const { clock, take, turns } = conversation(report);
  expect(await take(clock.now())).toEqual({ state: "waiting", isDeciding: true });
  expect([...turns.values()]).toEqual(["Write it."]);
  expect(await take(0), "nothing may begin any more").toEqual({
    state: "waiting",
    isDeciding: true,
  });
});

it("begins no scheduled run after the end of its broadcast", async () => {
  const { take, turns } = conversation({ state: "waiting" });
  expect(await take(0)).toEqual({ state: "skipped", code: "expired" });
  expect(turns.size).toBe(0);
});
