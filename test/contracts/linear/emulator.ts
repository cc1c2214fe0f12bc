/**
 * Linear in memory: issues that people comment on. A thread is a comment with its replies.
 *
 * As an agent (`mode: "agent-sessions"`) the bot hears of sessions: a mention begins one, and the replies in its thread
 * are prompts. Else it hears of all comments. Commands, buttons and files do not exist.
 */
import { createHmac, randomUUID } from "node:crypto";
import type {
  Act,
  Acted,
  Person,
  Place,
  PlatformCall,
  PlatformEmulator,
  Refusal,
  SeenMessage,
  Webhook,
} from "../platform-emulator.ts";
import { showMarkdown, withMentions, withoutCode } from "../shown-text.ts";
import { LinearApi } from "./api.ts";
import { commentData, sessionData, urlOf, userJson } from "./json.ts";
import type { Comment, Issue, User } from "./workspace.ts";
import { Workspace } from "./workspace.ts";

const SECRET = "lin_wh_PSk8hbbzIQzmVvvAIAmNYpdSDtQTTWAJ";
/** Comments mention people by the address of their profile (linear/linear#351). */
const MENTION = /https:\/\/linear\.app\/[\w-]+\/profiles\/[\w.-]+/g;
const CREDENTIALS = { apiKey: "lin_api_9f3d", clientId: "client", clientSecret: "client-secret" };

export class LinearEmulator implements PlatformEmulator {
  readonly name = "linear";
  readonly #workspace: Workspace;
  readonly #api: LinearApi;
  /** Whether the bot is an agent. */
  readonly hasOwnThreads: boolean;

  constructor(options: { readonly now?: () => number; readonly mode?: "comments" | "agent-sessions" } = {}) {
    this.#workspace = new Workspace(options.now ?? (() => Date.now()));
    this.#api = new LinearApi(this.#workspace, CREDENTIALS);
    this.hasOwnThreads = options.mode === "agent-sessions";
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const { apiKey, clientId, clientSecret } = CREDENTIALS;
    const options = {
      apiUrl: `${apiUrl}/graphql`,
      webhookSecret: SECRET,
      userName: this.#workspace.bot.displayName,
      ...(this.hasOwnThreads
        ? { mode: "agent-sessions", clientCredentials: { clientId, clientSecret } }
        : { apiKey }),
    };
    return {
      PLATFORM: this.name,
      PLATFORM_OPTIONS: JSON.stringify(options),
      PLATFORM_ORIGINS: JSON.stringify({ "https://api.linear.app": apiUrl }),
    };
  }

  answer(request: Request): Promise<Response> {
    return this.#api.answer(request);
  }

  describe(request: Request): Promise<PlatformCall> {
    return this.#api.describe(request);
  }

  refuse(refusal: Refusal): Response {
    return this.#api.refuse(refusal);
  }

  /** Linear has no private chats. */
  direct(_person: Person): undefined {
    return undefined;
  }

  shared(name: string): Place {
    return this.#workspace.issueNamed(name).id;
  }

  async act(act: Act): Promise<Acted | undefined> {
    const issue = this.#issueAt(act.in);
    const by = this.#workspace.user(act.by);
    if (act.kind === "write") return this.#write(act, issue, by);
    if (act.kind === "press" || act.kind === "command") return undefined;
    const comment = this.#workspace.comment(act.messageId);
    if (comment?.issue !== issue) return undefined;
    switch (act.kind) {
      case "edit": {
        const updatedFrom = { body: comment.body, updatedAt: new Date(comment.updatedAt).toISOString() };
        this.#workspace.edit(comment, act.text);
        return { webhooks: this.#reportComment("update", comment, by, { updatedFrom }) };
      }
      case "delete":
        this.#workspace.remove(comment);
        return { webhooks: this.#reportComment("remove", comment, by) };
      case "react": {
        const reaction = { id: randomUUID(), emoji: act.emoji, by };
        comment.reactions.push(reaction);
        const data = {
          id: reaction.id,
          emoji: reaction.emoji,
          userId: by.id,
          commentId: comment.id,
          user: userJson(by),
        };
        return { webhooks: [this.#webhook("Reaction", { action: "create", actor: actorOf(by), data })] };
      }
    }
  }

  /** Deletes the issue. */
  shut(place: Place): void {
    this.#issueAt(place).isDeleted = true;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#workspace.comments
      .filter(({ issue }) => issue.id === place)
      .map((comment) => ({
        id: comment.id,
        by: this.#workspace.authorOf(comment),
        ...withMentions(showMarkdown(comment.body), withoutCode(comment.body), MENTION),
        ...(comment.parentId !== undefined && { threadOf: comment.parentId }),
        buttons: [],
        files: [],
        isEdited: comment.updatedAt !== comment.createdAt,
      }));
  }

  /** A thought of the agent that stays for a while. */
  typingShown(place: Place): number {
    return this.#api.thoughts.get(place) ?? 0;
  }

  /**
   * Returns the time from the beginning of a place's newest session to its first activity, in milliseconds. Undefined
   * before that. "You must emit an activity within 10 seconds": people else read that the agent does not respond.
   */
  firstActivityMs(place: Place): number | undefined {
    const session = this.#workspace.sessions.findLast(({ issue }) => issue.id === place);
    const [first] = session?.activities ?? [];
    return session && first && first.createdAt - session.createdAt;
  }

  watch(changed: () => void): void {
    this.#workspace.changed = changed;
  }

  /** A webhook reports the comments of everybody. */
  watchEchoes(echoed: (webhook: Webhook) => void): void {
    this.#workspace.echoed = (action, comment) => {
      for (const webhook of this.#reportComment(action, comment, comment.by)) echoed(webhook);
    };
  }

  #write(act: Act & { readonly kind: "write" }, issue: Issue, by: User): Acted | undefined {
    const root = this.#workspace.comment(act.inThreadOf);
    if (act.inThreadOf !== undefined && root?.issue !== issue) return undefined;
    const mention = act.isMention === true ? `@${this.#workspace.bot.displayName} ` : "";
    const files = (act.files ?? []).map(
      ({ name }) => `![${name}](https://uploads.linear.app/${randomUUID()})`,
    );
    const body = [`${mention}${act.text}`, ...files].join("\n\n");
    const comment = this.#workspace.add({ issue, parentId: root?.parentId ?? root?.id, by, body });
    const webhooks = this.hasOwnThreads
      ? this.#reportToAgent(comment, act.isMention === true)
      : this.#reportComment("create", comment, by);
    return { messageId: comment.id, webhooks };
  }

  /**
   * Somebody writes in a thread that is synced with another service, or an app does ("CommentWebhookPayload"). Such a
   * comment has no `user`.
   */
  writeFromOutside(place: Place, text: string, by: "person" | "app"): Acted {
    const name = by === "person" ? "Olga" : "Deploys";
    const id = randomUUID();
    const author = { id, name, displayName: name.toLowerCase() };
    const comment = this.#workspace.add({
      issue: this.#issueAt(place),
      parentId: undefined,
      by: author,
      body: text,
    });
    const { user: _user, userId: _userId, ...data } = commentData(comment);
    const externalUser = { id, name, email: "olga@example.org" };
    // The payload has it as a text.
    const botActor = JSON.stringify({ id, type: "integration", name });
    const outside = by === "person" ? { externalUser, externalUserId: id } : { botActor };
    const actor = { id, name, type: by === "person" ? "user" : "integration" };
    const event = { action: "create", actor, data: { ...data, ...outside }, url: urlOf(comment.issue) };
    return { messageId: comment.id, webhooks: [this.#webhook("Comment", event)] };
  }

  #reportToAgent(comment: Comment, isMention: boolean): readonly Webhook[] {
    const rootId = comment.parentId ?? comment.id;
    const running = this.#workspace.sessions.find((it) => (it.comment.parentId ?? it.comment.id) === rootId);
    const { by, createdAt, issue } = comment;
    if (running !== undefined) {
      const agentActivity = {
        id: randomUUID(),
        agentSessionId: running.id,
        content: { type: "prompt", body: comment.body },
        createdAt: new Date(createdAt).toISOString(),
        sourceCommentId: comment.id,
        user: userJson(by),
      };
      const agentSession = sessionData(running, this.#workspace);
      return [this.#webhook("AgentSessionEvent", { action: "prompted", agentSession, agentActivity })];
    }
    if (!isMention) return [];
    const session = { id: randomUUID(), issue, comment, creator: by, createdAt, activities: [] };
    this.#workspace.sessions.push(session);
    const agentSession = sessionData(session, this.#workspace);
    const promptContext = `<issue identifier="ENG-${issue.number}"><title>${issue.title}</title></issue>`;
    return [this.#webhook("AgentSessionEvent", { action: "created", agentSession, promptContext })];
  }

  #reportComment(action: string, comment: Comment, by: User, more: object = {}): readonly Webhook[] {
    if (this.hasOwnThreads) return [];
    const url = `${urlOf(comment.issue)}#comment-${comment.id.slice(0, 8)}`;
    return [
      this.#webhook("Comment", { action, actor: actorOf(by), data: commentData(comment), url, ...more }),
    ];
  }

  /** Linear sends the time of each delivery: one that is older than a minute is to be refused. */
  #webhook(type: string, event: object): Webhook {
    const delivery = randomUUID();
    const createdAt = new Date(this.#workspace.now()).toISOString();
    const { id: organizationId, now } = this.#workspace;
    const signedAt = (url: string, webhookTimestamp: number): Request => {
      const ids = { organizationId, webhookId: "000042e3-d123-4980-b49f-8e140eef9329", webhookTimestamp };
      const body = JSON.stringify({ type, createdAt, ...event, ...ids });
      const headers = {
        "content-type": "application/json; charset=utf-8",
        "linear-delivery": delivery,
        "linear-event": type,
        "linear-signature": linearSignature(body),
        "linear-timestamp": String(webhookTimestamp),
        "user-agent": "Linear-Webhook",
      };
      return new Request(url, { method: "POST", headers, body });
    };
    return {
      request: (url) => signedAt(url, now()),
      forOthers: (url) => [signedAt(url, now() - 310_000)],
    };
  }

  #issueAt(place: Place): Issue {
    const issue = this.#workspace.issues.find(({ id }) => id === place);
    if (issue === undefined) throw new Error(`Linear has no place ${place}.`);
    return issue;
  }
}

function actorOf(user: User): Record<string, unknown> {
  return { ...userJson(user), type: "user" };
}

function linearSignature(body: string): string {
  return createHmac("sha256", SECRET).update(body).digest("hex");
}
