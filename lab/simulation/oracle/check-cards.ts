import { canSearch } from "../plan/plan.ts";
import { CardWatch, labelsOf, REMOVED } from "./card-watch.ts";
import type { CardChange, SaidCard } from "./card-watch.ts";
import { findMessage } from "./end-state.ts";
import type { EndState, Thread } from "./end-state.ts";
import type { PlatformMessage } from "../platform/platform.ts";
import { stripMark, wordsOf } from "./visible-text.ts";

/** Each card shows in the end what it was told last, with all its buttons, or is gone (I5, I12). */
export function checkCards(state: EndState, thread: Thread): void {
  const { oracle, platform } = state;
  for (const card of oracle.cards.cards.values()) {
    if (card.threadId !== thread.threadId) continue;
    const receipt = oracle.cards.receiptOf(card);
    const last = CardWatch.lastOf(card);
    if (receipt === undefined) {
      if (last.length > 0) oracle.fail("I4", `${card.token} was accepted, and nothing is stored of it`);
      continue;
    }
    // Deleted cards, and cards to a person who had blocked the bot, prove nothing.
    if (thread.wasBlocked || platform.hasDeletions(thread.threadId)) continue;
    if (receipt.state === "failed") {
      // Only where nobody can find out what became of a post, or nobody wants to, it is given up.
      const isGivenUp = !canSearch(state.plan) || state.plan.policy.onUnknown !== "resend-marked";
      const isLost =
        oracle.posts.hasLostIn(card.chatId) ||
        receipt.messages.some(({ attempts, state: row }) => row === "unknown" || attempts >= 2);
      if (!isGivenUp || !isLost) {
        oracle.fail("I5", `${card.token} has failed without a reason`);
      }
      continue;
    }
    if (receipt.state !== "delivered") {
      oracle.fail("I5", `${card.token} is ${receipt.state} in the end`);
      continue;
    }
    for (const { code, messageId, state: row } of receipt.messages) {
      const isVisible = row === "removed" && code === undefined && messageId !== undefined;
      if (isVisible && findMessage(platform, thread.threadId, messageId) !== undefined) {
        oracle.fail("I5", `message ${messageId} of ${card.token} counts as removed, and is visible`);
      }
    }
    const rows = receipt.messages.filter(({ state: row }) => row === "sent");
    const shown = rows
      .toSorted((left, right) => left.part - right.part)
      .map(({ messageId }) => platform.visible(thread.threadId).find(({ id }) => String(id) === messageId));
    if (shown.includes(undefined)) {
      oracle.fail("I12", `${card.token} counts as shown, and is not visible`);
      continue;
    }
    const messages = shown.filter((message) => message !== undefined);
    if (!last.some((change) => isShown(change, messages))) {
      oracle.fail("I5", `${card.token} shows ${describe(messages)} instead of ${wanted(card)}`);
    }
  }
}

function isShown({ shows }: CardChange, all: readonly PlatformMessage[]): boolean {
  if (shows === undefined) {
    return all.every(({ buttons, text }) => stripMark(text) === REMOVED && buttons === undefined);
  }
  // Messages that the platform does not remove say that they are no longer part of the card.
  const messages = all.filter(({ buttons, text }) => stripMark(text) !== REMOVED || buttons !== undefined);
  const words = messages.flatMap(({ text }) => wordsOf(text));
  const buttons = messages.flatMap((message, index) =>
    labelsOf(message.buttons).map((label) => `${index}:${label}`),
  );
  const expected = shows.labels.map((label) => `${messages.length - 1}:${label}`);
  const pictures = messages.map(({ media = "" }) => media);
  const wanted = messages.map((_message, at) => (at === 0 ? (shows.picture ?? "") : ""));
  return (
    words.join() === shows.words.join() &&
    buttons.join() === expected.join() &&
    pictures.join() === wanted.join()
  );
}

function describe(messages: readonly PlatformMessage[]): string {
  const shown = messages.map(
    ({ buttons, media = "", text }) => `${text.slice(0, 12)} ${media} [${labelsOf(buttons).join()}]`,
  );
  return shown.join("; ") || "nothing";
}

function wanted(card: SaidCard): string {
  return CardWatch.lastOf(card)
    .map(({ shows }) => (shows === undefined ? "nothing" : `version ${shows.version}`))
    .join(" or ");
}
