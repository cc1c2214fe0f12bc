import { wait } from "../../src/core/base/deps.ts";
import type { PlatformContext } from "../../src/core/chat/messenger.ts";
import { callError, type TelegramClient } from "./client.ts";

const timeoutMs = 5000;
const maxAttempts = 3;
const restMs = 500;

/**
 * Answers the press of a button that belongs to no chat, so that the button stops waiting. This happens where the
 * webhook arrives, because there is no conversation for it. Answering twice does no harm, so a redelivery needs no
 * memory. Never throws.
 */
export async function answerPress(
  queryId: string,
  client: TelegramClient,
  { deps: { clock }, log }: PlatformContext,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(), timeoutMs);
    try {
      await client.call("answerCallbackQuery", { callback_query_id: queryId }, limit.signal);
      return;
    } catch (error) {
      const { kind, code } = callError("answerCallbackQuery", error).failure;
      const isWorthRepeating = kind === "transient" || kind === "unknown";
      if (!isWorthRepeating || limit.signal.aborted || attempt === maxAttempts) {
        log.warn("telegram.press-not-answered", { code, attempts: attempt });
        return;
      }
    } finally {
      clock.clearTimeout(timer);
    }
    await wait(clock, restMs);
  }
}
