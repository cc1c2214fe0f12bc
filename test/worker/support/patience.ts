import { vi } from "vitest";

/** A busy machine may need long for work of milliseconds. Only a test that fails waits so long. */
const PATIENCE_MS = 60_000;
const OFTEN_MS = 10;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, {
    interval: OFTEN_MS,
    ...(typeof options === "object" && options),
    timeout: PATIENCE_MS,
  });
