import type { Address, Pacing } from "../../../src/core/chat/surface.ts";
import { createObjects } from "./objects-harness.ts";
import { createRandom } from "../../../lab/support/random.ts";
import type { Random } from "../../../lab/support/random.ts";

/** Chats of which Telegram numbers the messages of all private chats and basic groups together. */
export const CHAT_KINDS = ["private chat", "basic group", "supergroup"] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

/**
 * How the answer of a post is lost.
 * - `cut`: the connection is cut
 * - `hang`: nothing is ever heard; the call ends at its time limit
 * - `death`: the process is killed under the call, and starts again
 */
export const LOSSES = ["cut", "hang", "death"] as const;
export type Loss = (typeof LOSSES)[number];

export interface LostPostCase {
  readonly chat: ChatKind;
  readonly loss: Loss;
  /** Whether the platform made the message. */
  readonly isMade: boolean;
}

/** What the Telegram provider declares. */
const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_500 },
  global: { burst: 30, everyMs: 34 },
};
const CALL_TIMEOUT_MS = 6_000;
const LONGEST_MS = 120_000;
const STEP_MS = 10;
const TEXT = "The whole answer.";

/**
 * One lost post, on a virtual clock with the real delivery, gate and root: milliseconds from its beginning until the
 * whole answer is visible, and known to be. Other chats of the bot write meanwhile.
 */
export async function lostPostTime({ chat, loss, isMade }: LostPostCase, seed: number): Promise<number> {
  const random = createRandom(`lost post/${chat}/${loss}/${isMade}/${seed}`);
  const address: Address = {
    messengerId: "telegram",
    threadId: "telegram:7",
    chatId: "7",
    isDirectMessage: chat === "private chat",
  };
  const others = [8, 9].map((id) => ({
    messengerId: "telegram",
    threadId: `telegram:${id}`,
    chatId: `${id}`,
    isDirectMessage: true,
  }));
  const objects = createObjects({
    conversations: Object.fromEntries(
      [address, ...others].map((one) => [one.threadId, { address: one, gate: one.threadId }]),
    ),
    policy: { callTimeoutMs: CALL_TIMEOUT_MS },
    surface: {
      pacing: PACING,
      latencyMs: random.int(30, 120),
      probing: chat === "supergroup" ? "own-box" : true,
      capabilities: { typing: true },
    },
  });
  const { advance, clock, root, speaking, surface } = objects;
  await advance(60_000);

  const write = (): void => {
    const id = Number(surface.numberForOther());
    root().noteIncoming("telegram", chat === "supergroup" ? "7" : "common", chat !== "supergroup", [id]);
  };
  write();
  const { delivery, start } = speaking(address.threadId);
  delivery.open(start("r1", { seenMessageId: "101" }));
  // The model thinks for a moment, under a typing indicator.
  await advance(random.int(200, 2_500));
  surface.fault("post", loss === "cut" ? { kind: "lose", done: isMade } : { kind: "hang" });
  const begunAt = clock.now();
  delivery.append("r1", TEXT);
  delivery.finish("r1", TEXT);
  // The post leaves when the root has lent its call.
  await advance(random.int(15, 120));
  if (loss !== "cut" && isMade) surface.postForeign("7", TEXT);
  if (loss === "death") objects.restart(address.threadId);
  for (const moment of momentsOf(random)) {
    clock.setTimeout(write, moment);
    if (chat === "supergroup") continue;
    const other = random.pick(["telegram:8", "telegram:9"]);
    clock.setTimeout(() => {
      const speaker = speaking(other);
      speaker.delivery.send(speaker.start(`o${moment}`), "Something else.");
    }, moment + 400);
  }
  const isShown = (): boolean => speaking(address.threadId).delivery.receipt("r1")?.state === "delivered";
  while (!isShown() && clock.now() - begunAt < LONGEST_MS) await advance(STEP_MS);
  const visible = surface.visible("7");
  if (visible.length !== 1 || visible[0] !== TEXT) {
    throw new Error(
      `The chat shows ${JSON.stringify(visible)} (${chat}, ${loss}, made: ${isMade}, ${seed}).`,
    );
  }
  return clock.now() - begunAt;
}

/** When people write in other chats of the bot: in half of all cases nobody does. */
function momentsOf(random: Random): readonly number[] {
  const count = random.chance(0.5) ? 0 : random.int(1, 6);
  return Array.from({ length: count }, () => random.int(0, 10_000));
}
