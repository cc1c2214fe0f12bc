import type { Part } from "../../../delivery/text/split/index.ts";
import type { DeliveryReceipt } from "../../../src/core/delivery.ts";
import type { RichText, TextEntity } from "../../../src/core/rich-text.ts";
import type { SaidReply } from "./contract.ts";
import { findMessage } from "./end-state.ts";
import type { EndFigures, EndState, Thread } from "./end-state.ts";
import { partsOf } from "./mode-rules.ts";
import type { Oracle } from "./oracle.ts";
import type { RichServer } from "../plan/plan.ts";
import type { Platform } from "../platform/platform.ts";
import { isMarked, stripMark } from "./visible-text.ts";

/** What became of one reply: it has ended, and shows all of its text (I5, I12). */
export function checkReply(
  { oracle, plan, platform }: EndState,
  thread: Thread,
  reply: SaidReply,
  receipt: DeliveryReceipt,
  figures: EndFigures,
): void {
  figures.replies += 1;
  const rows = receipt.messages.filter(({ part }) => part >= 0);
  switch (receipt.state) {
    case "streaming":
    case "final":
      oracle.fail("I5", `${reply.id} never ended: it is ${receipt.state}`);
      return;
    case "withdrawn":
      if (platform.kind !== "fixed") checkWithdrawn(oracle, platform, thread, reply, rows);
      return;
    case "gone":
      figures.gone += 1;
      if (!thread.wasBlocked) oracle.fail("I5", `${reply.id} is gone, though nobody blocked the bot`);
      return;
    case "failed": {
      figures.failed += 1;
      // Whoever leaves what may have been sent does not try twice.
      const isLost =
        rows.some((row) => row.state === "unknown") || oracle.posts.hasLost(thread.threadId, reply.id);
      const isLeft = plan.policy.onUnknown === "leave" && isLost;
      // Telegram tells what became of a post, so that one is given up only where the policy wants no second one.
      const isGivenUp = platform.kind !== "telegram" || plan.policy.onUnknown !== "resend-marked";
      const isExplained = isLeft || (isGivenUp && rows.some(({ attempts }) => attempts >= 2));
      if (!isExplained) oracle.fail("I5", `${reply.id} has failed without a reason`);
      return;
    }
    case "delivered":
      break;
    default:
      receipt.state satisfies never;
  }
  figures.delivered += 1;
  const shownIds = new Set(
    rows.flatMap((row) => (row.state === "sent" || isTakenAway(platform, thread, row) ? row.messageId : [])),
  );
  const isRich = platform.messages.some(
    ({ id, threadId, blocks }) =>
      threadId === thread.threadId && shownIds.has(String(id)) && blocks !== undefined,
  );
  // A message that a person took away may have shown blocks that were refused later, or none that were still to come:
  // what the reply was planned with is then told by the number of its messages.
  const count = rows.some((row) => isTakenAway(platform, thread, row)) ? shownIds.size : undefined;
  const expected = expectedParts(platform, plan.policy.rich, reply.text, isRich, count);
  for (const part of expected) {
    const row = rows.find((candidate) => candidate.part === part.index);
    if (isTakenAway(platform, thread, row)) continue;
    if (row?.state !== "sent" || row.messageId === undefined) {
      oracle.fail(
        "I12",
        `part ${part.index} of ${reply.id} counts as delivered and is ${row?.state ?? "unknown"}`,
      );
      return;
    }
    const message = findMessage(platform, thread.threadId, row.messageId);
    if (message === undefined) {
      oracle.fail(
        "I12",
        `part ${part.index} of ${reply.id} has the id ${row.messageId}, which does not exist`,
      );
      return;
    }
    figures.parts += 1;
    if (isMarked(message.text)) figures.marked += 1;
    const shown = stripMark(message.text);
    if (shown !== part.content.text) {
      oracle.fail(
        "I5",
        `part ${part.index} of ${reply.id} reads ${JSON.stringify(shown)} instead of ${JSON.stringify(part.content.text)}`,
      );
    }
    const shift = message.text.length - shown.length;
    const entities = part.content.entities.map((entity) => ({ ...entity, offset: entity.offset + shift }));
    if (!thread.lostFormatting && lookOf(message.entities) !== lookOf(entities)) {
      oracle.fail("I5", `part ${part.index} of ${reply.id} has lost its formatting`);
    }
    const blocks = isMarked(message.text) ? message.blocks?.slice(1) : message.blocks;
    if (JSON.stringify(blocks) !== JSON.stringify(part.content.blocks)) {
      oracle.fail("I5", `part ${part.index} of ${reply.id} has other blocks`);
    }
    if (message.isStreaming) oracle.fail("I5", `part ${part.index} of ${reply.id} is still being streamed`);
  }
  for (const row of rows) {
    if (row.state === "sent" && !expected.some(({ index }) => index === row.part)) {
      oracle.fail("I5", `${reply.id} still shows the surplus part ${row.part}`);
    }
  }
}

/**
 * The messages that a whole text makes. Where the server takes blocks, they are blocks as long as these show more; where
 * it may have refused them, either all of the reply is planned with blocks, or nothing.
 */
function expectedParts(
  { kind }: Platform,
  server: RichServer | undefined,
  text: string,
  isRich: boolean,
  count: number | undefined,
): readonly Part<RichText>[] {
  const planned = (withBlocks: boolean): readonly Part<RichText>[] =>
    partsOf(text, kind, true, withBlocks).filter(({ content }) => content.text.trim() !== "");
  const likely = planned(isRich || server?.kind === "knows");
  if (server === undefined || count === undefined || likely.length === count) return likely;
  const other = planned(!isRich);
  return other.length === count ? other : likely;
}

/** What a reply has shown belongs to the one that took it over. */
function checkWithdrawn(
  oracle: Oracle,
  platform: Platform,
  thread: Thread,
  reply: SaidReply,
  rows: DeliveryReceipt["messages"],
): void {
  const next = [...oracle.replies.values()].find(
    ({ threadId, takesOver }) => threadId === reply.threadId && takesOver === reply.id,
  );
  if (next === undefined || thread.wasBlocked) return;
  for (const { part, state, messageId } of rows) {
    if (
      state !== "sent" ||
      messageId === undefined ||
      findMessage(platform, thread.threadId, messageId) === undefined
    )
      continue;
    oracle.fail(
      "I5",
      `part ${part} of ${reply.id} is still visible beside ${next.id}, which takes its place`,
    );
  }
}

/** A person has deleted it. The bot finds out only when it has something to change there. */
function isTakenAway(
  platform: Platform,
  { threadId }: Thread,
  row: DeliveryReceipt["messages"][number] | undefined,
): boolean {
  if (row?.messageId === undefined || (row.state !== "sent" && row.state !== "removed")) return false;
  return platform.isDeletedByPerson(threadId, row.messageId);
}

/** Formatting as it looks: what two entities of a kind do side by side, one does. */
function lookOf(entities: RichText["entities"]): string {
  const joined: TextEntity[] = [];
  for (const entity of entities.toSorted((left, right) => left.offset - right.offset)) {
    const at = joined.findIndex(
      ({ offset, length, type, url, language }) =>
        offset + length === entity.offset &&
        type === entity.type &&
        url === entity.url &&
        language === entity.language,
    );
    const before = joined[at];
    if (before === undefined) joined.push(entity);
    else joined[at] = { ...before, length: before.length + entity.length };
  }
  const keys = joined.map(({ type, offset, length, url = "", language = "" }) =>
    [offset, length, type, url, language].join(),
  );
  return keys.toSorted().join(" ");
}
