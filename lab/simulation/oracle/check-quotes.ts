import type { EndState } from "./end-state.ts";
import type { ScheduleEnd } from "./schedule-watch.ts";
import { textOfQuestion } from "./stored-message.ts";

/**
 * Checks the replies of people to digests: the conversation that has written the digest answers, in the same session
 * unless somebody has begun a new one, and its model reads what was quoted.
 */
export function checkQuotes({ oracle, threads, written }: EndState, { watch }: ScheduleEnd): void {
  for (const { digest, threadId, token } of watch.quotes) {
    const thread = threads.find((one) => one.threadId === threadId);
    const turns = [...(thread?.operations.values() ?? [])];
    const asked = turns.find(({ questions }) => questions.includes(digest));
    for (const reply of turns.filter(({ questions }) => questions.includes(token))) {
      if (reply.threadId !== threadId)
        oracle.fail("I11", `${token} of ${threadId} is answered in ${reply.threadId}`);
      const question = textOfQuestion(reply.question);
      if (!question.includes("[In reply to your message: ") || !question.includes(digest))
        oracle.fail("I5", `the model does not read the digest ${digest}, which ${token} quotes`);
      const isNew = written.some(
        (one) => one.name === "new" && thread?.siblings.includes(one.threadId) === true,
      );
      if (!isNew && reply.session !== asked?.session)
        oracle.fail("I5", `the conversation that answers ${token} does not know its digest ${digest}`);
    }
  }
}
