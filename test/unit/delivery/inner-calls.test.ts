/* How often a conversation calls a gate in another object, for each call to the platform. */
import { expect, it } from "vitest";
import type { Pacing } from "../../../src/core/chat/surface.ts";
import { gateWith } from "../../support/chat-gates.ts";
import { createHarness } from "./engine-harness.ts";
import { inTopic } from "./gate-rig.ts";

const TELEGRAM: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_500 },
  global: { burst: 30, everyMs: 33 },
};

/** Streams a long answer in each of some topics of a forum, at the same time. */
async function stream(topics: number): Promise<{ readonly inner: number; readonly platform: number }> {
  let inner = 0;
  const { advance, delivery, start, surface } = createHarness({
    isOwnGate: false,
    surface: { probing: true, pacing: TELEGRAM },
    gate: (real) =>
      gateWith(real, {
        acquire: (request) => {
          inner += 1;
          return real.acquire(request);
        },
        report: (told) => {
          inner += 1;
          return real.report(told);
        },
      }),
  });
  await advance(60_000);
  const ids = Array.from({ length: topics }, (_, topic) => `r${topic}`);
  for (const [topic, id] of ids.entries()) {
    const address = { ...inTopic(topic + 1), isDirectMessage: false };
    delivery.open(start(id, { address, seenMessageId: "100" }));
    await advance(400);
  }
  for (let word = 0; word < 300; word += 1) {
    for (const id of ids) delivery.append(id, `word${word} `);
    await advance(200);
  }
  for (const id of ids) delivery.finish(id, "The end.");
  await advance(60_000);
  expect(surface.visible("7")).toEqual(ids.map(() => "The end."));
  return { inner, platform: surface.calls.length };
}

it.each([
  [1, 1.1],
  [3, 1.35],
])("makes about one for each while %d topics of a forum stream", async (topics, most) => {
  const { inner, platform } = await stream(topics);
  expect(platform).toBeGreaterThan(15);
  expect(inner / platform).toBeLessThanOrEqual(most);
});
