import { z } from "zod";
import { CLOCKS_DIFFER_MS, foundIn, PAGE_SIZE } from "./adapter-search.ts";
import type { AdapterSearch } from "./adapter-search.ts";

/** GitHub lists the comments since a time, and keeps their text. It stores no key. */
export const githubSearch: AdapterSearch = {
  async find(adapter, threadId, { isOther, isText, since }) {
    const { decodeThreadId, getOctokitForThread } = parts.parse(adapter);
    const { owner, prNumber, repo, reviewCommentId } = place.parse(decodeThreadId.call(adapter, threadId));
    const octokit = await getOctokitForThread.call(adapter, owner, repo);
    const asked = {
      owner,
      repo,
      since: new Date(since - CLOCKS_DIFFER_MS).toISOString(),
      per_page: PAGE_SIZE,
    };
    const { data } = await (reviewCommentId === undefined
      ? octokit.issues.listComments({ ...asked, issue_number: prNumber })
      : octokit.pulls.listReviewComments({
          ...asked,
          pull_number: prNumber,
          sort: "created",
          direction: "asc",
        }));
    const listed = comments.parse(data);
    const ids = listed
      .filter(
        ({ body, id, in_reply_to_id: repliesTo, user }) =>
          (reviewCommentId === undefined || repliesTo === reviewCommentId) &&
          (adapter.botUserId === undefined || String(user?.id) === adapter.botUserId) &&
          isText(body ?? "") &&
          !isOther(String(id)),
      )
      .map(({ id }) => String(id));
    return foundIn(ids, listed.length < PAGE_SIZE);
  },
};

type List = (options: object) => Promise<{ readonly data: unknown }>;
interface Octokit {
  readonly issues: { readonly listComments: List };
  readonly pulls: { readonly listReviewComments: List };
}
const isFunction = (value: unknown): boolean => typeof value === "function";
const parts = z.object({
  decodeThreadId: z.custom<(threadId: string) => unknown>(isFunction),
  getOctokitForThread: z.custom<(owner: string, repo: string) => Promise<Octokit>>(isFunction),
});
const place = z.object({
  owner: z.string(),
  repo: z.string(),
  prNumber: z.number(),
  reviewCommentId: z.number().optional(),
});
const comments = z.array(
  z.object({
    id: z.number(),
    body: z.string().nullish(),
    user: z.object({ id: z.number() }).nullish(),
    in_reply_to_id: z.number().nullish(),
  }),
);
