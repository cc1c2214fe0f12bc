import { expect, it } from "vitest";
import { CHAT_KINDS, LOSSES, lostPostTime } from "./lost-post-times.ts";

/** Telegram's time limit of a call, and how much later a post may still be made. */
const LIMIT_MS = 6_000;
const LANDS_LATE_MS = 2_000;
const SOON_MS = 1_500;

const CASES = CHAT_KINDS.flatMap((chat) =>
  LOSSES.flatMap((loss) => [true, false].map((isMade) => ({ chat, loss, isMade }))),
);

it.each(CASES)(
  "shows an answer soon after it is certain what became of its post ($chat, $loss, made: $isMade)",
  async (lost) => {
    // It is looked at once the call has ended; one that was not made has to settle.
    const endsMs = lost.loss === "hang" ? LIMIT_MS : 0;
    const certainMs = lost.isMade ? endsMs : LIMIT_MS + LANDS_LATE_MS;
    for (let seed = 1; seed <= 5; seed += 1) {
      const tookMs = await lostPostTime(lost, seed);
      expect(tookMs, `seed ${seed}`).toBeGreaterThanOrEqual(certainMs);
      expect(tookMs, `seed ${seed}`).toBeLessThanOrEqual(certainMs + SOON_MS);
    }
  },
);
