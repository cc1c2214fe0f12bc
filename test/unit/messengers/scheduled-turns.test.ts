import { expect, it, vi } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import type { Prompt } from "../../../src/inbox/prompt-store.ts";
import type { ScheduledRun } from "../../../src/core/turn/scheduled-run.ts";
import { nudgeKeeper } from "../../../src/scheduled-runs/nudge-keeper.ts";
import { ScheduledTurns } from "../../../src/scheduled-runs/scheduled-turns.ts";
import type { ScheduledTurnsHost } from "../../../src/scheduled-runs/scheduled-turns.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const RUN: ScheduledRun = {
  schedule: { keeper: "task:digest", taskId: "digest", revision: "1" },
  occurrenceKey: "digest@1",
};

/** Turns of a conversation with one prompt, which has ended so, and whose reply is delivered so far. */
function turnsWith(
  prompt: Pick<Prompt, "state" | "error">,
  receipt: { readonly state: DeliveryReceipt["state"]; readonly ids: readonly string[] } | undefined,
  {
    settled = () => Promise.resolve(),
    to = () => ({}),
  }: { settled?: () => Promise<void>; to?: (group: unknown, keeper: string) => object } = {},
): ScheduledTurns {
  const own = {
    prompts: {
      get: (id: string) => ({ ...prompt, id, answerTo: [{ chatId: "1" }] }),
      byKey: () => undefined,
      untilEnded: () => Promise.resolve("completed"),
    },
  };
  const delivery = {
    settled,
    receipt: () =>
      receipt && {
        state: receipt.state,
        messages: receipt.ids.map((messageId) => ({ state: "sent", messageId })),
      },
  };
  return new ScheduledTurns({
    thread: { own, delivery, memory: { session: () => "s" } },
    engine: { events: new TurnEvents(createVirtualClock()) },
    features: { runQuestions: undefined },
    objects: { to },
    log: recordLog().log,
    database: createNodeDatabase(),
    deps: { clock: createVirtualClock() },
    stored: () => Promise.resolve(),
  } as unknown as ScheduledTurnsHost);
}

it("reports a failed turn as open until it is known what people see of its text", async () => {
  const failed = { state: "error", error: "model-failed" } as const;
  for (const state of ["streaming", "final"] as const)
    expect(await turnsWith(failed, { state, ids: [] }).report("t")).toEqual({ state: "open" });
  const seen = await turnsWith(failed, { state: "delivered", ids: ["7"] }).report("t");
  expect(seen).toMatchObject({ state: "failed", code: "model-failed", messageIds: ["7"] });
  const unseen = await turnsWith(failed, { state: "gone", ids: [] }).report("t");
  expect(unseen).toMatchObject({ state: "failed", code: "model-failed", messageIds: [] });
  const empty = await turnsWith(failed, undefined).report("t");
  expect(empty).toMatchObject({ state: "failed", code: "model-failed", messageIds: [] });
});

it("reports a stopped turn as open until it is known what people see of its text", async () => {
  const stopped = { state: "aborted", error: undefined } as const;
  expect(await turnsWith(stopped, { state: "final", ids: [] }).report("t")).toEqual({ state: "open" });
  const seen = await turnsWith(stopped, { state: "delivered", ids: ["7"] }).report("t");
  expect(seen).toMatchObject({ state: "failed", code: "stopped", messageIds: ["7"] });
});

it("tells the keeper how a run stands when a turn of it has ended, once its answer is visible", async () => {
  const told: unknown[] = [];
  let show = (): void => {};
  const shown = new Promise<void>((resolve) => (show = resolve));
  const turns = turnsWith(
    { state: "completed", error: undefined },
    { state: "delivered", ids: ["7"] },
    {
      settled: () => shown,
      to: (_group, keeper) => ({
        nudgeOccurrence: async (...news: readonly unknown[]) => void told.push([keeper, ...news]),
      }),
    },
  );
  turns.promptEnded("other");
  turns.runs.prepare();
  turns.runs.add("t", { ...RUN, shownIn: undefined }, 0);
  turns.promptEnded("t");
  await Promise.resolve();
  expect(told).toEqual([]);
  show();
  const report = { state: "completed", messageIds: ["7"], usage: undefined };
  await vi.waitFor(() => expect(told).toEqual([["task:digest", "digest@1", { id: "t", report }]]));
});

it("tells the root of a delivery to many chats, or else the keeper, that a run goes on", async () => {
  const told: string[] = [];
  const to = (_group: unknown, conversation: string): never =>
    ({
      nudgeOccurrence: async (key: string) => void told.push(`${conversation}: ${key}`),
      nudgeBroadcast: async (id: string, target: string) =>
        void told.push(`${conversation}: ${id} ${target}`),
    }) as never;
  const objects = { to, root: (group: unknown) => to(group, "") };
  await nudgeKeeper(objects, RUN, recordLog().log);
  await nudgeKeeper(objects, { ...RUN, broadcast: { id: "b1", target: "fake:c2" } }, recordLog().log);
  expect(told).toEqual(["task:digest: digest@1", ": b1 fake:c2"]);
});
