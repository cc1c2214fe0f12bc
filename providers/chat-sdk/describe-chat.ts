import { z } from "zod";
import type { ChatFacts } from "../../src/core/chat/chat.ts";
import type { IncomingEvent } from "../../src/core/chat/messenger.ts";

const person = z.object({
  userId: z.string(),
  userName: z.string().nullish(),
  fullName: z.string().nullish(),
});
/** Only the people of a stored event. Adapters do not tell the title and the language of a chat. */
const people = z.object({
  message: z.object({ author: person }).nullish().catch(undefined),
  user: person.nullish().catch(undefined),
});

const undelivered = z.object({ type: z.literal("undelivered"), goneCode: z.string() });

/** Returns the facts about a chat that a stored event shows. Almost any event shows that somebody is there. */
export function describeChat({ raw, thread }: IncomingEvent): ChatFacts {
  const gone = undelivered.safeParse(raw).data;
  if (gone !== undefined) {
    return {
      kind: thread.isDirectMessage ? "private" : "group",
      isReachable: false,
      goneCode: gone.goneCode,
    };
  }
  if (!thread.isDirectMessage) return { kind: "group", isReachable: true };
  const found = people.safeParse(raw).data;
  const author = found?.message?.author ?? found?.user;
  const title = author?.fullName || author?.userName;
  return {
    kind: "private",
    isReachable: true,
    ...(title && { title }),
    ...(author && { userId: author.userId }),
  };
}
