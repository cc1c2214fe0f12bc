import { describe, expect, it } from "vitest";
import type { CallPurpose } from "../../../src/core/chat/gate.ts";
import { createTestGate } from "../../support/chat-gates.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createTelegramRig } from "./telegram-rig.ts";

/** Everything that a group's topics are granted in ten minutes in which they always want more. */
async function callsOfBusyGroup(options: Parameters<typeof createTelegramRig>[0] = {}): Promise<number[]> {
  const { pacing } = createTelegramRig(options).surface;
  const clock = createVirtualClock();
  const deps = { clock, newId: () => "id", random: () => 0.5, fetch };
  const { gate } = createTestGate({
    rootDatabase: createNodeDatabase(),
    gateDatabase: createNodeDatabase(),
    deps,
    name: "gate",
  });
  await clock.advance(600_000);
  const calls: number[] = [];
  const purposes: readonly CallPurpose[] = ["typing", "post", "edit", "final"];
  for (let step = 0; step < 6_000; step += 1) {
    const topicId = String(step % 3);
    const address = {
      messengerId: "telegram",
      threadId: `telegram:-1009:${topicId}`,
      chatId: "-1009",
      topicId,
      isDirectMessage: false,
    };
    const purpose = purposes[step % 4] ?? "edit";
    const grant = await gate.acquire({ address, purpose, pacing, speaker: `topic-${topicId}` });
    if (grant.kind === "granted") calls.push(clock.now());
    await clock.advance(100);
  }
  return calls;
}

function mostInMinute(calls: readonly number[]): number {
  return Math.max(...calls.map((from) => calls.filter((at) => at >= from && at < from + 60_000).length));
}

describe("pacing", () => {
  it("makes at most 20 calls in any minute to a group whose topics always have more to say", async () => {
    const calls = await callsOfBusyGroup();
    expect(mostInMinute(calls)).toBe(20);
    expect(calls.length).toBeGreaterThan(165);
  });

  it("is what the owner has set, and Telegram's where nothing is set", async () => {
    const { surface } = createTelegramRig({ pacing: { group: { burst: 1, everyMs: 10_000 } } });
    expect(surface.pacing.group).toEqual({ burst: 1, everyMs: 10_000 });
    expect(surface.pacing.direct).toEqual({ burst: 3, everyMs: 1_000 });
    const calls = await callsOfBusyGroup({ pacing: { group: { burst: 1, everyMs: 10_000 } } });
    expect(mostInMinute(calls)).toBe(6);
  });
});
