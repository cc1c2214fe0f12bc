import { expect, it } from "vitest";
import { createHarness } from "./engine-harness.ts";

const TEXT = "One two three four five.";

// An open defect, described in docs/reliability.md: nobody looks again after the time limit and two seconds.
it.fails.each([18_000, 40_000])(
  "takes away what landed %d ms after its post had begun, with a time limit of 15 s",
  async (landsAfterMs) => {
    const { surface, delivery, start, visible, advance } = createHarness({
      surface: { probing: true, capabilities: { typing: false } },
      policy: { callTimeoutMs: 15_000 },
    });
    surface.fault("post", { kind: "hang" });
    delivery.send(start("r1", { seenMessageId: "100" }), TEXT);
    await advance(landsAfterMs);
    surface.postForeign("7", TEXT);
    await advance(10 * 60_000);
    expect(visible()).toEqual([TEXT]);
  },
);
