import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ChangeSignal } from "../../../playground/telegram/webhook/change-signal.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("ends a wait for something that changes elsewhere", async () => {
  let isSo = false;
  const waited = new ChangeSignal().waitFor(
    () => isSo,
    60_000,
    () => "",
  );
  isSo = true;
  await vi.advanceTimersByTimeAsync(1000);
  await expect(waited).resolves.toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});
