import { canSearch } from "../plan/plan.ts";
import { findMessage } from "./end-state.ts";
import type { EndState, Thread } from "./end-state.ts";
import { stripMark, wordsOf } from "./visible-text.ts";

/** All files and places are visible in the end: each once, in order, with the whole caption (I5, I12). */
export function checkAlbums({ oracle, plan, platform }: EndState, thread: Thread): void {
  const { threadId } = thread;
  for (const album of oracle.albums.albums) {
    if (album.threadId !== threadId) continue;
    const { token } = album;
    const receipt = oracle.albums.receiptOf(album);
    if (receipt === undefined) {
      if (album.isStored) oracle.fail("I4", `${token} was accepted, and nothing is stored of it`);
      continue;
    }
    // Deleted files, and files for a person who had blocked the bot, prove nothing.
    if (thread.wasBlocked || platform.hasDeletions(threadId)) continue;
    if (receipt.state === "failed") {
      const isGivenUp = !canSearch(plan) || plan.policy.onUnknown !== "resend-marked";
      const isLost =
        oracle.posts.hasLostIn(album.chatId) ||
        receipt.messages.some(
          ({ attempts, code, state }) => state === "unknown" || attempts >= 2 || code === "interrupted",
        );
      if (!isGivenUp || !isLost) {
        oracle.fail("I5", `${token} has failed with ${receipt.code ?? "no code"}, and without a reason`);
      }
      continue;
    }
    if (receipt.state !== "delivered") {
      oracle.fail("I5", `${token} is ${receipt.state} in the end`);
      continue;
    }
    const ids = receipt.messages
      .filter(({ state }) => state === "sent")
      .toSorted((left, right) => left.part - right.part)
      .flatMap(({ messageId, messageIds }) => messageIds ?? messageId ?? []);
    const shown = ids.map((id) => findMessage(platform, threadId, id));
    const messages = shown.filter((message) => message !== undefined);
    if (messages.length < shown.length) {
      oracle.fail("I12", `${token} counts as shown in ${ids.join(", ")}, and is not visible`);
      continue;
    }
    if (ids.some((id, at) => at > 0 && Number(id) <= Number(ids[at - 1]))) {
      oracle.fail("I5", `${token} is shown in another order: ${ids.join(", ")}`);
    }
    const media = messages.flatMap((message) => message.media ?? []);
    const words = messages.flatMap(({ text }) => wordsOf(stripMark(text)));
    // A place is a map where the platform has one, else its title and a link.
    const isAsText = album.isPlace && media.length === 0 && words[0] === album.words[0];
    const wanted = album.isPlace ? [] : album.words;
    if (!isAsText && (media.join() !== album.media.join() || words.join() !== wanted.join())) {
      oracle.fail("I5", `${token} shows ${media.join(", ") || "no file"} and "${words.join(" ")}"`);
    }
  }
}
