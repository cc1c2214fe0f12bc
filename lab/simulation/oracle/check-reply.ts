import type { Part } from "../../../delivery/text/split/index.ts";
import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import type { RichText, TextEntity } from "../../../src/core/message/rich-text.ts";
import type { SaidReply } from "./contract.ts";
import { findMessage } from "./end-state.ts";
import type { EndFigures, EndState, Thread } from "./end-state.ts";
import { partsOf } from "./mode-rules.ts";
import type { Oracle } from "./oracle.ts";
import { canSearch } from "../plan/plan.ts";
import type { RichServer } from "../plan/plan.ts";
import type { Platform } from "../platform/platform.ts";
import { isMarked, stripMark } from "./visible-text.ts";

/** Checks that a reply has ended and shows its whole text (I5, I12). */
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
      if (thread.isBack && !reply.isNotice && rows.some(({ state }) => state === "sent"))
        oracle.fail("I5", `${reply.id} was cut, and is not completed though its chat is back`);
      return;
    case "failed": {
      figures.failed += 1;
      // With the policy `leave` a post is never tried twice.
      const isLost =
        rows.some((row) => row.state === "unknown") || oracle.posts.hasLost(thread.threadId, reply.id);
      const isLeft = plan.policy.onUnknown === "leave" && isLost;
      // Where a search finds the outcome of a post, so only a policy against a second post gives one up.
      const isGivenUp = !canSearch(plan) || plan.policy.onUnknown !== "resend-marked";
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
  const isVisiblyRich = platform
    .visible(thread.threadId)
    .some(({ id, blocks }) => shownIds.has(String(id)) && blocks !== undefined);
  // A message that a person deleted may have shown blocks that were refused later, or the other way round. The number
  // of messages then tells which plan the reply had, unless a visible one tells it.
  const isUnknown = !isVisiblyRich && rows.some((row) => isTakenAway(platform, thread, row));
  const count = isUnknown ? shownIds.size : undefined;
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
 * Returns the messages of a whole text. If the server accepts blocks, parts are blocks where these show more. If the
 * server may have refused blocks, either the whole reply is planned with blocks, or nothing of it.
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
  const isCertain = server === undefined || server.kind === "knows" || count === undefined;
  if (isCertain || likely.length === count) return likely;
  const other = planned(!isRich);
  return other.length === count ? other : likely;
}

/** Checks a withdrawn reply: its messages belong to the reply that took them over. */
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

/** Whether a person has deleted the message. The bot finds out only when it changes the message. */
function isTakenAway(
  platform: Platform,
  { threadId }: Thread,
  row: DeliveryReceipt["messages"][number] | undefined,
): boolean {
  if (row?.messageId === undefined || (row.state !== "sent" && row.state !== "removed")) return false;
  return platform.isDeletedByPerson(threadId, row.messageId);
}

/** Returns formatting as it looks: adjacent entities of a kind are joined. */
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
