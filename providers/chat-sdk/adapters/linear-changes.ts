import type { Adapter, Message } from "chat";
import { z } from "zod";
import type { UnreportedMessage } from "./adapter-profile.ts";
import { replaceMethod } from "./search/post-key.ts";

const KINDS = { create: "new", update: "edited", remove: "deleted" } as const;

const person = z.looseObject({ id: z.string(), name: z.string() });

/**
 * A comment has a `user`. If not, somebody outside of the workspace has written it, in a thread that is synced with
 * another service (`externalUser`), or an app (`botActor`).
 *
 * Of an update, `updatedFrom` has the former values of the fields that changed.
 */
const webhook = z.looseObject({
  type: z.literal("Comment"),
  action: z.enum(["create", "update", "remove"]),
  data: z.looseObject({ user: z.unknown().optional(), externalUser: person.nullish().catch(undefined) }),
  updatedFrom: z.record(z.string(), z.unknown()).nullish(),
});

/** The part of the adapter that reads webhooks of comments, with the token of their workspace. */
interface LinearAdapter {
  onCommentEvent(payload: unknown): Promise<void>;
}

/**
 * Reads a comment of somebody outside of the workspace, or the edit or the deletion of any comment. The adapter reports
 * new comments of users alone.
 */
export function readUnreported(body: unknown): UnreportedMessage | undefined {
  const { data: event } = webhook.safeParse(body);
  if (event === undefined) return undefined;
  const { action, data, updatedFrom } = event;
  const { externalUser, user } = data;
  if (action === "create" && (user || !externalUser)) return undefined;
  // Other updates are reactions, and comments that were resolved.
  if (action === "update" && updatedFrom?.["body"] === undefined) return undefined;
  // The adapter takes the name of a user from the address of the profile.
  const author = user ?? (externalUser && { ...externalUser, url: "" });
  return {
    kind: KINDS[action],
    report: (adapter: Adapter) =>
      (adapter as unknown as LinearAdapter).onCommentEvent({
        ...event,
        action: "create",
        data: { ...data, user: author },
      }),
  };
}

const begun = z.object({ action: z.literal("created") });

/**
 * Has sessions answered that an automation has begun. The adapter reports their first message as that of a bot, and the
 * messages of bots start nothing.
 */
export function answerAutomations(adapter: Adapter): void {
  replaceMethod(adapter, "parseMessageFromAgentSessionEvent", (parse) => (...event: unknown[]) => {
    const message = parse(...event) as Message | null;
    if (message === null || !begun.safeParse(event[0]).success) return message;
    return Object.assign(message, { author: { ...message.author, isBot: false } });
  });
}
