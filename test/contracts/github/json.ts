/** Objects of GitHub's REST API, with the fields that its examples have. */
import type { Account, Comment, Issue, Reaction } from "./repository.ts";
import { ORGANIZATIONS, REPOSITORY } from "./repository.ts";

const ownerOf = (login: string): Account => ({ id: ORGANIZATIONS.indexOf(login) + 1, login, type: "User" });
const apiOf = (owner: string): string => `https://api.github.com/repos/${owner}/${REPOSITORY}`;
const siteOf = (owner: string): string => `https://github.com/${owner}/${REPOSITORY}`;

export function repositoryJson(owner: string): Record<string, unknown> {
  return {
    id: 1_296_269 + ORGANIZATIONS.indexOf(owner),
    name: REPOSITORY,
    full_name: `${owner}/${REPOSITORY}`,
    private: true,
    owner: accountJson(ownerOf(owner)),
    html_url: siteOf(owner),
    url: apiOf(owner),
    description: null,
    default_branch: "main",
    visibility: "private",
    open_issues_count: 0,
  };
}

export function accountJson({ id, login, type }: Account): Record<string, unknown> {
  return {
    login,
    id,
    node_id: Buffer.from(`U_${id}`).toString("base64"),
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    url: `https://api.github.com/users/${login}`,
    html_url: `https://github.com/${login}`,
    type,
    site_admin: false,
  };
}

export function commentJson(comment: Comment): Record<string, unknown> {
  const { id, issue, by, review } = comment;
  const api = apiOf(issue.owner);
  const page = `${siteOf(issue.owner)}/${issue.isPullRequest ? "pull" : "issues"}/${issue.number}`;
  const common = {
    id,
    node_id: Buffer.from(`IC_${id}`).toString("base64"),
    user: accountJson(by),
    created_at: timestamp(comment.createdAt),
    updated_at: timestamp(comment.updatedAt),
    author_association: "COLLABORATOR",
    body: comment.body,
  };
  if (review === undefined) {
    return {
      ...common,
      url: `${api}/issues/comments/${id}`,
      html_url: `${page}#issuecomment-${id}`,
      issue_url: `${api}/issues/${issue.number}`,
      performed_via_github_app: null,
    };
  }
  return {
    ...common,
    ...(review.replyTo !== undefined && { in_reply_to_id: review.replyTo }),
    url: `${api}/pulls/comments/${id}`,
    html_url: `${page}#discussion_r${id}`,
    pull_request_url: `${api}/pulls/${issue.number}`,
    pull_request_review_id: 237_895_671,
    diff_hunk: "@@ -1 +1 @@\n-# Hello-World",
    path: "README.md",
    commit_id: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    original_commit_id: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
  };
}

export function issueJson(issue: Issue): Record<string, unknown> {
  const { createdAt, isPullRequest, number, owner, state, title } = issue;
  const [api, site] = [apiOf(owner), siteOf(owner)];
  return {
    id: 444_500_000 + number,
    number,
    title,
    user: accountJson(ownerOf(owner)),
    labels: [],
    state: "open",
    locked: state === "locked",
    assignees: [],
    created_at: timestamp(createdAt),
    updated_at: timestamp(createdAt),
    url: `${api}/issues/${number}`,
    html_url: `${site}/issues/${number}`,
    body: "",
    ...(isPullRequest && {
      pull_request: { url: `${api}/pulls/${number}`, html_url: `${site}/pull/${number}` },
    }),
  };
}

export function pullJson(issue: Issue): Record<string, unknown> {
  return { ...reviewedPullJson(issue), merged: false, draft: false };
}

/** A pull request in a webhook about a comment of its review. */
export function reviewedPullJson(issue: Issue): Record<string, unknown> {
  const { pull_request: _, ...json } = issueJson(issue);
  return { ...json, url: `${apiOf(issue.owner)}/pulls/${issue.number}` };
}

export function reactionJson({ id, by, content }: Reaction): Record<string, unknown> {
  return { id, node_id: `R_${id}`, user: accountJson(by), content, created_at: "2016-05-20T20:09:31Z" };
}

/** GitHub counts whole seconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

function timestamp(ms: number): string {
  return new Date(wholeSeconds(ms)).toISOString().replace(".000Z", "Z");
}
