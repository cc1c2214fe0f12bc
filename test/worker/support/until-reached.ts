import { vi } from "vitest";
import type { Gate } from "../../../lab/support/gate.ts";

/**
 * Resolves when an object has come to a gate. Asked from the test's own time: code that awaits what an object resolves
 * goes on within that object, and dies with it when the test kills it.
 */
export async function untilReached(gate: Gate): Promise<void> {
  let isReached = false;
  void gate.reached.then(() => {
    isReached = true;
  });
  await vi.waitFor(
    () => {
      if (!isReached) throw new Error("Nobody has come to the gate");
    },
    { timeout: 8000, interval: 5 },
  );
}
