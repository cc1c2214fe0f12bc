import type { Adapter } from "chat";
import { z } from "zod";
import type { MessageChange } from "./adapter-profile.ts";

const KINDS = { update: "edited", remove: "deleted" } as const;

/** Of an update, `updatedFrom` has the former values of the fields that changed. */
const webhook = z.looseObject({
  type: z.literal("Comment"),
  action: z.enum(["update", "remove"]),
  updatedFrom: z.record(z.string(), z.unknown()).nullish(),
});

/** The part of the adapter that reads webhooks of comments, with the token of their workspace. */
interface LinearAdapter {
  onCommentEvent(payload: unknown): Promise<void>;
}

/** Reads the edit or the deletion of a comment. The adapter reports new comments alone. */
export function readChange(body: unknown): MessageChange | undefined {
  const { data } = webhook.safeParse(body);
  // Other updates are reactions, and comments that were resolved.
  if (data === undefined || (data.action === "update" && data.updatedFrom?.["body"] === undefined))
    return undefined;
  return {
    kind: KINDS[data.action],
    report: (adapter: Adapter) =>
      (adapter as unknown as LinearAdapter).onCommentEvent({ ...data, action: "create" }),
  };
}
