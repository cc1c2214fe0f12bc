import type { BotObject } from "../../../src/agent/bot-object.ts";
import type { PromptRequest } from "../../../src/messengers/turns/prompts.ts";
import type { Life } from "../machine/life.ts";
import type { InboxWatch } from "../oracle/inbox-watch.ts";
import { outcomeToken } from "../oracle/stored-message.ts";

/** Tells the oracle of the turns about the outcomes of actions, which wait among the messages of people. */
export function watchOutcomes(
  { thread: { own } }: Pick<BotObject, "thread">,
  life: Life,
  inbox: Pick<InboxWatch, "arrives" | "stored">,
): void {
  const submit = own.submit.bind(own);
  Object.assign(own, {
    submit: (request: PromptRequest) => {
      const [message] = request.messages;
      const token = message === undefined ? undefined : outcomeToken(message);
      const [address] = request.answerTo;
      if (token === undefined || address === undefined) return submit(request);
      inbox.arrives(token, address.threadId, undefined);
      const accepted = submit(request);
      // Its transaction ends with the present step. A process that dies there stores nothing.
      void Promise.resolve().then(() => {
        if (!life.isDead) inbox.stored(token);
      });
      return accepted;
    },
  } satisfies Partial<typeof own>);
}
