import type { Adapter } from "chat";
import { z } from "zod";
import type { UnreportedMessage } from "./adapter-profile.ts";

const KINDS = { edited: "edited", deleted: "deleted" } as const;

/** A comment below an issue or a pull request, or one in the thread of a review. */
const webhook = z.looseObject({
  action: z.enum(KINDS),
  comment: z.object({ id: z.number() }),
  issue: z.object({ number: z.number() }).optional(),
  pull_request: z.object({ number: z.number() }).optional(),
});

/** The parts of the adapter that read the webhooks of new comments. */
interface GitHubAdapter {
  handleIssueComment(payload: unknown): void;
  handleReviewComment(payload: unknown): void;
}

/** Reads the edit or the deletion of a comment. The adapter reports new comments alone. */
export function readUnreported(body: unknown): UnreportedMessage | undefined {
  const { data } = webhook.safeParse(body);
  if (data === undefined) return undefined;
  const { action: kind, issue, pull_request: pullRequest } = data;
  if (issue !== undefined) return { kind, report: (adapter) => partsOf(adapter).handleIssueComment(body) };
  if (pullRequest !== undefined)
    return { kind, report: (adapter) => partsOf(adapter).handleReviewComment(body) };
  return undefined;
}

const partsOf = (adapter: Adapter): GitHubAdapter => adapter as unknown as GitHubAdapter;
