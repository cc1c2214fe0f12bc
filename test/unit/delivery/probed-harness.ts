import { createHarness } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

export const TEXT = "One two three four five.";
const SEEN = "100";

export interface Probed extends Harness {
  readonly probes: () => readonly (string | undefined)[];
}

/** On a platform whose messages can be asked about. */
export function probed(options: HarnessOptions = {}): Probed {
  const harness = createHarness({
    ...options,
    surface: { probing: true, capabilities: { typing: false }, ...options.surface },
    policy: { callTimeoutMs: 1_000, ...options.policy },
  });
  const { start } = harness;
  return {
    ...harness,
    start: (id, more) => start(id, { seenMessageId: SEEN, ...more }),
    probes: () =>
      harness.surface.calls.filter(({ method }) => method === "probe").map(({ messageId }) => messageId),
  };
}
