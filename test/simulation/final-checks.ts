import type { Delivery, DeliveryReceipt } from "../../src/core/delivery.ts";
import type { RichText, TextEntity } from "../../src/core/rich-text.ts";
import type { OperationStore } from "./model-engine.ts";
import { STOPPED } from "./oracle.ts";
import type { Oracle, SaidReply } from "./oracle.ts";
import { partsOf } from "./mode-rules.ts";
import type { Platform, PlatformMessage } from "./platform.ts";
import { isMarked, stripMark, turnWordsOf } from "./visible-text.ts";

/** A message that somebody wrote to the bot, as the bot should see it. */
export interface Written {
  readonly token: string;
  readonly threadId: string;
  readonly kind: "message" | "command";
}

export interface EndState {
  readonly oracle: Oracle;
  readonly platform: Platform;
  readonly written: readonly Written[];
  readonly threads: readonly {
    readonly threadId: string;
    readonly delivery: Delivery;
    readonly operations: OperationStore;
    /** A person has blocked the bot at some time: what was said then may be gone. */
    readonly wasBlocked: boolean;
    /** Formatting was refused at some time. */
    readonly lostFormatting: boolean;
  }[];
}

/** What became of everything, for the statistics of many runs. */
export interface EndFigures {
  replies: number;
  parts: number;
  delivered: number;
  marked: number;
  /** Drafts of posts without an answer that stay visible beside their marked twin. */
  leftovers: number;
  /** Replies that policy gave up: twice in doubt, or refused content. */
  failed: number;
  gone: number;
}

type Thread = EndState["threads"][number];

export function checkEnd(state: EndState): EndFigures {
  const figures: EndFigures = {
    replies: 0,
    parts: 0,
    delivered: 0,
    marked: 0,
    leftovers: 0,
    failed: 0,
    gone: 0,
  };
  for (const thread of state.threads) {
    checkEveryMessageAnswered(state, thread);
    const replies = [...state.oracle.replies.values()].filter(({ threadId }) => threadId === thread.threadId);
    const owned = new Set<string>();
    const receipts = new Map<string, DeliveryReceipt>();
    for (const reply of replies) {
      const receipt = thread.delivery.receipt(reply.id);
      // Never stored: the process died within the transaction that said it.
      if (receipt === undefined) continue;
      receipts.set(reply.id, receipt);
      for (const { messageId, state: rowState, part } of receipt.messages) {
        if (messageId === undefined) continue;
        owned.add(messageId);
        if (rowState === "removed" && find(state.platform, thread.threadId, messageId) !== undefined) {
          state.oracle.fail("I5", `part ${part} of ${reply.id} counts as removed and is visible`);
        }
      }
      checkReply(state, thread, reply, receipt, figures);
    }
    checkOrder(state, thread, replies, receipts);
    checkNothingTwice(state, thread, owned, receipts, figures);
  }
  return figures;
}

/** Each message is part of exactly one turn that was not withdrawn, and its turn has a reply (I2). */
function checkEveryMessageAnswered({ oracle, written }: EndState, thread: Thread): void {
  for (const { token, threadId, kind } of written) {
    if (threadId !== thread.threadId || kind !== "message") continue;
    const turns = [...thread.operations.values()].filter(({ questions }) => questions.includes(token));
    const kept = turns.filter(
      ({ id, status }) =>
        status !== "aborted" && !turns.some((later) => oracle.replaces(threadId, later.id, id)),
    );
    if (kept.length > 1) oracle.fail("I2", `${token} was answered by ${kept.length} turns`);
    if (kept.length > 0 || thread.wasBlocked) continue;
    // `/stop` ends a turn, also before its operation has begun.
    const isStopped = [...oracle.replies.values()].some(
      (reply) => reply.threadId === threadId && reply.text.includes(STOPPED),
    );
    if (!isStopped) oracle.fail("I5", `${token} was never answered`);
  }
}

function checkReply(
  { oracle, platform }: EndState,
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
      return;
    case "gone":
      figures.gone += 1;
      if (!thread.wasBlocked) oracle.fail("I5", `${reply.id} is gone, though nobody blocked the bot`);
      return;
    case "failed": {
      figures.failed += 1;
      const isExplained = rows.some(({ attempts }) => attempts >= 2);
      if (!isExplained) oracle.fail("I5", `${reply.id} has failed without a reason`);
      return;
    }
    case "delivered":
      break;
    default:
      receipt.state satisfies never;
  }
  figures.delivered += 1;
  const expected = partsOf(reply.text, platform.kind, true).filter(
    ({ content }) => content.text.trim() !== "",
  );
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
    const message = find(platform, thread.threadId, row.messageId);
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
    if (message.isStreaming) oracle.fail("I5", `part ${part.index} of ${reply.id} is still being streamed`);
  }
  for (const row of rows) {
    if (row.state === "sent" && !expected.some(({ index }) => index === row.part)) {
      oracle.fail("I5", `${reply.id} still shows the surplus part ${row.part}`);
    }
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

/** The parts of a reply, and the replies of the turns, stand in the order in which they were said. */
function checkOrder(
  { oracle, platform }: EndState,
  thread: Thread,
  replies: readonly SaidReply[],
  receipts: ReadonlyMap<string, DeliveryReceipt>,
): void {
  let last = 0;
  for (const reply of replies.toSorted((left, right) => left.order - right.order)) {
    const receipt = receipts.get(reply.id);
    if (reply.isNotice || receipt?.state !== "delivered") continue;
    // What a person deleted before it was whole is posted anew, where it stands then.
    if (platform.hasDeletions(thread.threadId)) continue;
    const shown = receipt.messages.filter(({ part, state }) => part >= 0 && state === "sent");
    for (const { messageId, part } of shown.toSorted((left, right) => left.part - right.part)) {
      const id = Number(messageId);
      if (id <= last) {
        oracle.fail(
          "I5",
          `part ${part} of ${reply.id} in ${thread.threadId} stands before what was said earlier`,
        );
      }
      last = id;
    }
  }
}

/** Whatever no row owns is the draft of a post without an answer, and says so in its twin (I6). */
function checkNothingTwice(
  { oracle, platform }: EndState,
  thread: Thread,
  owned: ReadonlySet<string>,
  receipts: ReadonlyMap<string, DeliveryReceipt>,
  figures: EndFigures,
): void {
  const visible = platform.visible(thread.threadId);
  const orphans = visible.filter(({ id }) => !owned.has(String(id)));
  figures.leftovers += orphans.length;
  const unresolved = [...receipts.values()].flatMap((receipt) =>
    receipt.messages.filter(({ state, attempts }) => {
      if (state === "unknown" || state === "failed") return true;
      // The search for an earlier message ends with the chat.
      if (state === "sent" && receipt.state === "gone") return attempts > 1;
      if (state !== "sending") return false;
      // What was under way when its process died stays so when the chat is gone, and with a withdrawn reply where
      // nothing can be taken over.
      return receipt.state === "gone" || (receipt.state === "withdrawn" && platform.kind === "fixed");
    }),
  ).length;
  const marked = oracle.marks.get(thread.threadId) ?? 0;
  if (orphans.length > unresolved + marked) {
    oracle.fail(
      "I6",
      `${orphans.length} messages in ${thread.threadId} are nobody's: ${orphans.map(describe).join("; ")}`,
    );
  }
  // A draft may hold words that the final cut gave to the next part, so only what the bot knows of is compared.
  const shownBy = new Map<string, PlatformMessage>();
  for (const message of visible.filter(({ id }) => owned.has(String(id)))) {
    for (const word of turnWordsOf(message.text)) {
      const other = shownBy.get(word);
      if (other !== undefined && other !== message && !isMarked(other.text) && !isMarked(message.text)) {
        oracle.fail(
          "I6",
          `${word} is visible twice, in ${describe(other)} and ${describe(message)}, and not marked`,
        );
      }
      shownBy.set(word, message);
    }
  }
}

function find(platform: Platform, threadId: string, messageId: string): PlatformMessage | undefined {
  return platform.visible(threadId).find((message) => String(message.id) === messageId);
}

function describe({ id, text }: PlatformMessage): string {
  return `${id} ${JSON.stringify(text.slice(0, 40))}`;
}
