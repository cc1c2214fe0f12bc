import type { Called } from "./approval-watch.ts";
import { wasCut } from "./approval-watch.ts";
import type { EndState, Thread } from "./end-state.ts";

/** Name of a file that an action attaches. */
export function fileName(effect: string, index: number): string {
  return `${effect}.${index}`;
}

/**
 * Every file that an action attaches is visible once, in order, below the text of its answer (I5). That of an approved
 * action is below the answer to its outcome.
 */
export function checkAttached({ oracle, plan, platform }: EndState, thread: Thread): void {
  // Deleted messages, and those for a person who had blocked the bot, prove nothing.
  if (thread.wasBlocked || platform.hasDeletions(thread.threadId)) return;
  const visible = platform.visible(thread.threadId);
  for (const called of oracle.approvals.called.values()) {
    const { call, threadId } = called;
    if (threadId !== thread.threadId) continue;
    const names = Array.from({ length: called.plan.files }, (_, index) => fileName(call.effect, index));
    const shown = visible.filter(({ media }) => media?.startsWith(`${call.effect}.`) === true);
    const media = shown.map((message) => message.media);
    // A lost post may be given up, or leave a second copy, as its policy says: the checks of posts judge that.
    if (shown.some((message) => oracle.posts.isLost(message.call)) || oracle.posts.hasLostIn(called.chatId))
      continue;
    const isShown = media.join() === names.join();
    if (!isShown && (media.length > 0 || isOwed(called)))
      oracle.fail(
        "I5",
        `${call.effect} shows the files ${media.join() || "none"} instead of ${names.join()}`,
      );
    const below = visible.findLast(({ text }) => new RegExp(`\\bt${called.turn}a\\d+w\\d+z\\b`).test(text));
    const [first] = shown;
    if (
      first !== undefined &&
      below !== undefined &&
      first.id < below.id &&
      plan.policy.onUnknown !== "leave"
    )
      oracle.fail("I5", `the files of ${call.effect} stand above the text of their answer`);
  }
}

/** Whether the action has certainly ended with its files. After a check of an earlier run there may be none. */
function isOwed(called: Called): boolean {
  const { hasResult, isAsked, runs } = called;
  return runs > 0 && (isAsked || hasResult) && !wasCut(called);
}
