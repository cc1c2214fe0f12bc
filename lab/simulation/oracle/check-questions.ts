import type { EndState } from "./end-state.ts";
import { idOf } from "./form-face.ts";
import { TAKEN } from "./question-watch.ts";

/** Checks the questions of actions at the end of a run, and what people were told beside them (I14). */
export function checkQuestions({ oracle, platform, threads }: EndState): void {
  const { approvals, questions } = oracle;
  const outcomeOf = (number: number): string | undefined =>
    threads.map((thread) => thread.outcomeOf(`m${number}`)).find((outcome) => outcome !== undefined);
  oracle.botAnswers.check();
  questions.secrets.check(() => new Map(threads.flatMap((thread) => [...thread.tables()])));
  questions.check((effect) => approvals.hasRun(effect), outcomeOf);
  const notices = [...oracle.replies.values()].filter(({ isNotice }) => isNotice);
  // Each question tells once that a message was no answer.
  const hinted = [...questions.forms.hints].flatMap(([id, messageId]) => {
    const shown = platform.keyboards.find(
      (one) => String(one.id) === messageId && id.startsWith(`${one.threadId} `),
    );
    return idOf((shown && questions.forms.faceIn(shown)?.cardId) ?? "") ?? [];
  });
  questions.figures.questionHints += hinted.length;
  if (new Set(hinted).size < hinted.length) oracle.fail("I14", "a question has several hints");
  for (const { threadId } of threads) {
    const here = notices.filter((reply) => reply.threadId === threadId);
    const reminded = here.flatMap(({ id }) => /^question:([^:]+):.*:reminder$/.exec(id)?.[1] ?? []);
    questions.figures.questionReminders += reminded.length;
    if (new Set(reminded).size < reminded.length)
      oracle.fail("I14", `a question in ${threadId} has several reminders`);
  }
}

/** The outcome of a message that may hold a secret. */
const KEPT = "answered with a hint";

/** Whether a message was handled as the answer to a question, so that the model does not get it. */
export function isAnswer(outcome: string | undefined): boolean {
  return outcome === TAKEN || outcome === KEPT || outcome?.startsWith("press: ") === true;
}
