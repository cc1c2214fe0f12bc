/** Objects of Linear's GraphQL schema and of its webhooks, with the fields that clients ask for. */
import type { AgentActivity, Comment, Issue, Session, User, Workspace } from "./workspace.ts";

const SITE = "https://linear.app/acme";

export const idOf = (value: { readonly id: string } | undefined): { readonly id: string } | null =>
  value === undefined ? null : { id: value.id };

export function userJson({ displayName, id, name }: User): Record<string, unknown> {
  const email = `${displayName}@example.org`;
  return { id, name, displayName, email, avatarUrl: null, url: `${SITE}/profiles/${displayName}` };
}

export function issueJson(issue: Issue): Record<string, unknown> {
  const { id, number, title } = issue;
  return { id, number, title, identifier: `ENG-${number}`, url: urlOf(issue), description: null };
}

/** As queries return it. */
export function commentJson(comment: Comment): Record<string, unknown> {
  const { body, by, createdAt, id, issue, parentId, reactions, updatedAt } = comment;
  return {
    id,
    body,
    url: `${urlOf(issue)}#comment-${id.slice(0, 8)}`,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    archivedAt: null,
    editedAt: updatedAt === createdAt ? null : new Date(updatedAt).toISOString(),
    issueId: issue.id,
    issue: idOf(issue),
    parentId: parentId ?? null,
    parent: parentId === undefined ? null : { id: parentId },
    user: { id: by.id },
    botActor: null,
    externalUser: null,
    reactionData: [],
    reactions: reactions.map((reaction) => ({
      id: reaction.id,
      emoji: reaction.emoji,
      user: idOf(reaction.by),
    })),
    syncedWith: null,
  };
}

export function activityJson(activity: AgentActivity): Record<string, unknown> {
  const { content, createdAt, id, isEphemeral, session, sourceComment } = activity;
  const at = new Date(createdAt).toISOString();
  const kind = String(content["type"]);
  return {
    id,
    content: { ...content, __typename: `AgentActivity${kind[0]?.toUpperCase()}${kind.slice(1)}Content` },
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
    ephemeral: isEphemeral,
    agentSession: idOf(session),
    sourceComment: idOf(sourceComment),
    signal: null,
    user: null,
  };
}

/** As webhooks bring it ("Data change events payload"). */
export function commentData(comment: Comment): Record<string, unknown> {
  const { body, by, createdAt, id, issue, parentId, updatedAt } = comment;
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    body,
    issueId: issue.id,
    ...(parentId !== undefined && { parentId }),
    userId: by.id,
    reactionData: [],
    issue: { ...issueJson(issue), teamId: "team-1", team: { id: "team-1", key: "ENG", name: "Engineering" } },
    user: userJson(by),
  };
}

export function sessionData(
  session: Session,
  { bot, id: organizationId }: Workspace,
): Record<string, unknown> {
  const { comment, createdAt, creator, id, issue } = session;
  const at = new Date(createdAt).toISOString();
  return {
    id,
    createdAt: at,
    updatedAt: at,
    organizationId,
    appUserId: bot.id,
    creatorId: creator.id,
    creator: userJson(creator),
    issueId: issue.id,
    issue: issueJson(issue),
    commentId: comment.id,
    comment: { id: comment.id, body: comment.body, userId: comment.by.id, issueId: issue.id },
    status: session.activities.length === 0 ? "pending" : "active",
    type: "commentThread",
    url: `${urlOf(issue)}#agent-session-${id.slice(0, 8)}`,
  };
}

export function urlOf({ number, title }: Issue): string {
  return `${SITE}/issue/ENG-${number}/${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
}
