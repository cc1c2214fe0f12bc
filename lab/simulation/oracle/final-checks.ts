import type { DeliveryReceipt } from "../../../src/core/chat/delivery.ts";
import type { SaidReply } from "./contract.ts";
import { STOPPED } from "./contract.ts";
import { checkAlbums } from "./check-albums.ts";
import { checkApprovals } from "./check-approvals.ts";
import { checkAttached } from "./check-attached.ts";
import { checkCards } from "./check-cards.ts";
import { checkChildren, checkCosts } from "./check-children.ts";
import { checkCode } from "./check-code.ts";
import { checkCommands } from "./check-commands.ts";
import { checkPrompts } from "./check-prompts.ts";
import { checkQuestions, isAnswer } from "./check-questions.ts";
import { checkSchedules } from "./check-schedules.ts";
import { checkReply } from "./check-reply.ts";
import { checkWords } from "./check-words.ts";
import { describeMessage, findMessage } from "./end-state.ts";
import type { EndFigures, EndState, Thread } from "./end-state.ts";
import type { Oracle } from "./oracle.ts";
import type { PlatformMessage } from "../platform/platform.ts";
import { isMarked, turnWordsOf } from "./visible-text.ts";

/** Commands and buttons that end a running turn. */
const ENDING: ReadonlySet<string> = new Set(["stop", "new", "stop-button"]);

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
  checkQuestions(state);
  checkCosts(state);
  if (state.schedules !== undefined) checkSchedules(state, state.schedules);
  for (const thread of state.threads) {
    const isEnded = (token: string): boolean =>
      mayHaveEnded(state, thread.threadId, token) || isAnswer(thread.outcomeOf(token));
    checkEveryMessageAnswered(state, thread, isEnded);
    const operations = [...thread.operations.values()];
    const { threadId } = thread;
    const isOfConversation = (one: { readonly threadId: string }): boolean =>
      thread.siblings.includes(one.threadId);
    const isNew = state.written.some((one) => isOfConversation(one) && one.name === "new");
    const newest = operations.at(-1)?.id;
    const hasActed = newest !== undefined && thread.hasActed(newest);
    // A turn that ended before its operation began was the newest one. Earlier answers do not start over.
    const isPassed = state.written.some(
      (one) =>
        isOfConversation(one) &&
        one.kind === "message" &&
        mayHaveEnded(state, one.threadId, one.token) &&
        !operations.some(({ questions }) => questions.includes(one.token)),
    );
    const isRerunning = state.plan.policy.rerunOnEdit && !isNew && !hasActed && !isPassed;
    if (!thread.wasBlocked) state.oracle.inbox.checkThread(threadId, operations, isRerunning, isEnded);
    state.oracle.presses.checkThread(thread.threadId);
    const replies = [...state.oracle.replies.values()].filter(({ threadId }) => threadId === thread.threadId);
    const owned = new Set<string>();
    const receipts = new Map<string, DeliveryReceipt>();
    for (const reply of replies) {
      // The conversation of a card answers a number in the thread of the card, which may belong to another one.
      const isOwn = reply.conversation === thread.conversation;
      const delivery = isOwn ? thread.delivery : state.oracle.said.delivery(reply.conversation);
      const receipt = delivery?.receipt(reply.id);
      // Never stored: the process died within the transaction.
      if (receipt === undefined) continue;
      receipts.set(isOwn ? reply.id : `${reply.conversation}|${reply.id}`, receipt);
      for (const { messageId, state: rowState, part } of receipt.messages) {
        if (messageId === undefined) continue;
        owned.add(messageId);
        if (rowState === "removed" && findMessage(state.platform, thread.threadId, messageId) !== undefined) {
          state.oracle.fail("I5", `part ${part} of ${reply.id} counts as removed and is visible`);
        }
      }
      checkReply(state, thread, reply, receipt, figures);
      checkWords(state, thread, reply, receipt);
      state.oracle.lateness.check(reply, receipt);
    }
    checkCommands(state, thread, receipts);
    checkPrompts(state, thread);
    checkCards(state, thread);
    checkAlbums(state, thread);
    checkApprovals(state, thread);
    checkAttached(state, thread);
    checkCode(state, thread);
    checkChildren(state, thread);
    const { albums, approvals, cards } = state.oracle;
    const others = [cards, albums, approvals].flatMap((watch) => watch.receiptsIn(thread.threadId));
    for (const { messageId, messageIds } of others.flatMap(({ messages }) => messages)) {
      for (const id of messageIds ?? [messageId]) if (id !== undefined) owned.add(id);
    }
    checkOrder(state, thread, replies, receipts);
    checkNothingTwice(state, thread, owned, receipts, figures);
  }
  return figures;
}

/**
 * Whether the turn of a message may have been ended, even before its operation began. An ending command was written
 * later, and its reply says that something was stopped.
 */
function mayHaveEnded({ oracle, plan, written }: EndState, threadId: string, token: string): boolean {
  const at = written.findIndex((one) => one.token === token);
  const isFollowed = written.some(
    ({ kind, name, threadId: of }, index) =>
      index > at &&
      of === threadId &&
      (kind === "message" ? plan.whenBusy === "interrupt" : name !== undefined && ENDING.has(name)),
  );
  return (
    isFollowed &&
    [...oracle.replies.values()].some((reply) => reply.threadId === threadId && reply.text.includes(STOPPED))
  );
}

/** Checks that each message is part of exactly one turn that was not withdrawn, and that its turn has a reply (I2). */
function checkEveryMessageAnswered(
  { oracle, plan, written }: EndState,
  thread: Thread,
  isEnded: (token: string) => boolean,
): void {
  for (const { token, threadId, kind } of written) {
    if (threadId !== thread.threadId || kind !== "message") continue;
    const turns = [...thread.operations.values()].filter(({ questions }) => questions.includes(token));
    const kept = turns.filter(
      ({ failures, id, isParked, status }) =>
        (status !== "aborted" ||
          (isParked && madeWay(oracle, threadId, id)) ||
          // A turn whose call had failed makes way for a message in every mode.
          ((plan.whenBusy === "steer" || failures > 0) && madeWay(oracle, threadId, id))) &&
        !turns.some((later) => oracle.said.replaces(threadId, later.id, id)),
    );
    for (const { id } of kept) {
      if (thread.wasBlocked || isEnded(token) || hasEnded(thread.delivery.receipt(id)?.state)) continue;
      oracle.fail("I5", `${token} has no reply, though ${id} is over`);
    }
    if (kept.length > 1) oracle.fail("I2", `${token} was answered by ${kept.length} turns`);
    if (kept.length > 0 || thread.wasBlocked || oracle.inbox.isTakenBack(token)) continue;
    if (!isEnded(token)) oracle.fail("I5", `${token} was never answered`);
  }
}

function hasEnded(state: DeliveryReceipt["state"] | undefined): boolean {
  return state === "delivered" || state === "failed" || state === "gone";
}

/** Whether a turn ended between two steps for a later message. Its text so far is its answer. */
function madeWay(oracle: Oracle, threadId: string, id: string): boolean {
  const reply = oracle.said.reply(threadId, id);
  return reply?.isFinal === true && !reply.text.includes(STOPPED);
}

/** Checks that parts of a reply, and replies of turns, are in the order in which they were said. */
function checkOrder(
  { oracle, plan, platform }: EndState,
  thread: Thread,
  replies: readonly SaidReply[],
  receipts: ReadonlyMap<string, DeliveryReceipt>,
): void {
  let last = 0;
  for (const reply of replies.toSorted((left, right) => left.order - right.order)) {
    const receipt = receipts.get(reply.id);
    if (reply.isNotice || receipt?.state !== "delivered") continue;
    // An incomplete message that a person deleted is posted again, in a later position.
    if (platform.hasDeletions(thread.threadId)) continue;
    // The server may be replaced by an older one while the outcome of an edit is unknown. The reply, which was one
    // message, then becomes several, after later messages.
    if (plan.policy.rich?.kind === "until" && oracle.posts.unsupportedIn.has(thread.threadId)) continue;
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

/**
 * Checks that every message without a row is the leftover of a post without an answer, and that its second copy is
 * marked (I6).
 */
function checkNothingTwice(
  { oracle, plan, platform }: EndState,
  thread: Thread,
  owned: ReadonlySet<string>,
  receipts: ReadonlyMap<string, DeliveryReceipt>,
  figures: EndFigures,
): void {
  const visible = platform.visible(thread.threadId);
  const orphans = visible.filter(({ id }) => !owned.has(String(id)));
  figures.leftovers += orphans.length;
  const cards = oracle.cards.receiptsIn(thread.threadId);
  const albums = oracle.albums.receiptsIn(thread.threadId);
  const questions = oracle.approvals.receiptsIn(thread.threadId);
  const unresolved = [...receipts.values(), ...cards, ...albums, ...questions].flatMap((receipt) =>
    receipt.messages.filter(({ state, attempts }) => {
      if (state === "unknown" || state === "failed") return true;
      // The search for an earlier message ends with the chat.
      if ((state === "sent" || state === "planned") && receipt.state === "gone") return attempts > 1;
      if (state !== "sending") return false;
      // A call under way when its process died stays open if the chat is gone, or if the reply was withdrawn and
      // nothing can be taken over.
      return receipt.state === "gone" || (receipt.state === "withdrawn" && platform.kind === "fixed");
    }),
  ).length;
  const stranger = orphans.find(({ call }) => !oracle.posts.isLost(call));
  if (stranger !== undefined)
    oracle.fail("I6", `${describeMessage(stranger)} is nobody's, and its post was answered`);
  // Without a mark, nothing tells repeated messages from those that are left because several may be the lost one.
  const isMarking = plan.policy.onUnknown === "resend-marked";
  const marked = isMarking ? (oracle.marks.get(thread.threadId) ?? 0) : orphans.length;
  // If a person deletes the one file of a lost album that a search has found, the album is posted again.
  const isOfDeletedAlbum = ({ call }: PlatformMessage): boolean =>
    platform.messages.some((one) => one.call === call && one.deletedBy === "person");
  // An album is several messages of one post.
  const posts = new Set(orphans.filter((one) => !isOfDeletedAlbum(one)).map(({ call }) => call)).size;
  if (posts > unresolved + marked) {
    oracle.fail(
      "I6",
      `${orphans.length} messages in ${thread.threadId} are nobody's: ${orphans.map(describeMessage).join("; ")}`,
    );
  }
  // A leftover may have words that the final cut gave to the next part, so only known messages are compared.
  const shownBy = new Map<string, PlatformMessage>();
  // Where messages cannot be removed, those of an earlier attempt stay above the new ones.
  const superseded = new Set(
    [...receipts.values()].flatMap(({ messages }) =>
      messages.flatMap(({ part, messageId }) => (part < 0 && messageId !== undefined ? messageId : [])),
    ),
  );
  // A message that the policy leaves alone stays incomplete, even if its outcome is learned later.
  const isLeft = ({ call }: PlatformMessage): boolean =>
    plan.policy.onUnknown === "leave" && oracle.posts.isLost(call);
  // The card of an approval repeats the words with which the model asks.
  const isCounted = (message: PlatformMessage): boolean =>
    owned.has(String(message.id)) &&
    !oracle.approvals.isCard(message, thread.threadId) &&
    !isLeft(message) &&
    !(platform.kind === "fixed" && superseded.has(String(message.id)));
  for (const message of visible.filter(isCounted)) {
    for (const word of turnWordsOf(message.text)) {
      const other = shownBy.get(word);
      if (other !== undefined && other !== message && !isMarked(other.text) && !isMarked(message.text)) {
        oracle.fail(
          "I6",
          `${word} is visible twice, in ${describeMessage(other)} and ${describeMessage(message)}, and not marked`,
        );
      }
      shownBy.set(word, message);
    }
  }
}
