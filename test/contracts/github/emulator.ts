/** GitHub in memory: repositories whose issues and pull requests people comment on. */
import { randomUUID } from "node:crypto";
import { showMarkdown, withMentions, withoutCode } from "../shown-text.ts";
import type {
  Act,
  Acted,
  Person,
  Place,
  PlatformCall,
  PlatformEmulator,
  Refusal,
  SeenMessage,
  SentFile,
  Webhook,
} from "../platform-emulator.ts";
import { wordRefusal, type Access } from "./answer.ts";
import { GitHubApi } from "./api.ts";
import { GitHubApp } from "./app.ts";
import { accountJson, commentJson, issueJson, reviewedPullJson, repositoryJson } from "./json.ts";
import { ORGANIZATIONS, OWNER, placeOf, Repository } from "./repository.ts";
import type { Account, Comment, Issue } from "./repository.ts";
import { githubWebhook } from "./webhook.ts";

const SECRET = "It's a Secret to Everybody";
/** "Mentioning people and teams": a person by name, and a team by its organization. */
const MENTION = /(?<!\w)@[a-z\d][a-z\d-]*(?:\/[\w-]+)?/gi;
const USER_NAME = "shop-bot";
const TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

interface GitHubOptions {
  readonly isReview?: boolean;
  /** Whether the bot is an App that all organizations have installed, and not an account with a token. */
  readonly isApp?: boolean;
  readonly now?: () => number;
}

export class GitHubEmulator implements PlatformEmulator {
  readonly name = "github";
  readonly #repository: Repository;
  readonly #api: GitHubApi;
  readonly #app: GitHubApp | undefined;
  /** Whether people write at the lines of pull requests. */
  readonly hasOwnThreads: boolean;
  #echoed: (webhook: Webhook) => void = () => {};

  constructor({ isApp = false, isReview = false, now = () => Date.now() }: GitHubOptions = {}) {
    this.hasOwnThreads = isReview;
    this.#app = isApp ? new GitHubApp(USER_NAME, now) : undefined;
    const bot = isApp ? ({ login: `${USER_NAME}[bot]`, type: "Bot" } as const) : null;
    this.#repository = new Repository(now, bot ?? { login: USER_NAME, type: "User" });
    for (const owner of ORGANIZATIONS) this.#app?.install(owner);
    this.#api = new GitHubApi(this.#repository, this.#app ?? ofAccount, (action, comment, more) => {
      for (const webhook of this.#report(action, comment, more, this.#repository.bot)) this.#echoed(webhook);
    });
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const access = this.#app?.options ?? { token: TOKEN };
    const options = { apiUrl, ...access, webhookSecret: SECRET, userName: USER_NAME };
    return { PLATFORM: this.name, PLATFORM_OPTIONS: JSON.stringify(options) };
  }

  answer(request: Request): Promise<Response> {
    return this.#api.answer(request);
  }

  describe(request: Request): PlatformCall {
    return this.#api.describe(request);
  }

  refuse(refusal: Refusal): Response {
    return this.#api.refuse(refusal);
  }

  /** GitHub has no private chats. */
  direct(_person: Person): undefined {
    return undefined;
  }

  shared(name: string, owner = OWNER): Place {
    return placeOf(this.#repository.issueNamed(name, this.hasOwnThreads, owner));
  }

  /** The conversation of a pull request. Its review threads are threads of it. */
  pullRequest(name: string): Place {
    return placeOf(this.#repository.issueNamed(name, true));
  }

  async act(act: Act): Promise<Acted | undefined> {
    const issue = this.#repository.issueAt(act.in);
    const sender = this.#repository.accountOf(act.by);
    if (act.kind === "write") return this.#write(act, issue, sender);
    // GitHub shows no buttons, and has no commands that an app could register.
    if (act.kind === "press" || act.kind === "command") return undefined;
    const comment = this.#find(issue, act.messageId);
    if (comment === undefined) return undefined;
    switch (act.kind) {
      case "edit": {
        const changes = { body: { from: comment.body } };
        this.#repository.edit(comment, act.text);
        return { webhooks: this.#report("edited", comment, { changes }, sender) };
      }
      case "delete":
        this.#repository.remove(comment);
        return { webhooks: this.#report("deleted", comment, {}, sender) };
      case "react":
        comment.reactions.push({ id: this.#repository.nextId(), by: sender, content: act.emoji });
        // GitHub has no webhook for reactions.
        return { webhooks: [] };
    }
  }

  /** Begins a thread at a line of a pull request. */
  review(person: Person, place: Place, body: string): Acted {
    const by = this.#repository.accountOf(person);
    const issue = this.#repository.issueAt(place);
    const comment = this.#repository.add({ issue, by, body, review: { replyTo: undefined } });
    return { messageId: String(comment.id), webhooks: this.#report("created", comment, {}, by) };
  }

  /** An owner of an organization installs the App, or removes it. */
  install(owner: string, action: "created" | "deleted"): Acted {
    const app = this.#app;
    if (app === undefined) throw new Error("The bot is no App.");
    const installation = action === "created" ? app.install(owner) : app.uninstall(owner);
    const sender = accountJson(this.#repository.accountOf({ id: owner, name: `Owner of ${owner}` }));
    const payload = { action, installation, repositories: [repositoryJson(owner)], sender };
    return { webhooks: [githubWebhook("installation", payload, SECRET, app.id)] };
  }

  /** Locks the conversation: only those with write access to the repository may comment. */
  shut(place: Place): void {
    this.#repository.issueAt(place).state = "locked";
  }

  remove(place: Place): void {
    this.#repository.issueAt(place).state = "deleted";
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#repository.commentsOf(this.#repository.issueAt(place)).map((comment) => {
      const replyTo = comment.review?.replyTo;
      return {
        id: String(comment.id),
        by: this.#repository.authorOf(comment),
        ...withMentions(showMarkdown(comment.body), withoutCode(comment.body), MENTION),
        ...(replyTo !== undefined && { threadOf: String(replyTo) }),
        buttons: [],
        files: comment.files,
        isEdited: comment.updatedAt !== comment.createdAt,
      };
    });
  }

  /** GitHub cannot show it. */
  typingShown(): number {
    return 0;
  }

  watch(changed: () => void): void {
    this.#repository.changed = changed;
  }

  watchEchoes(echoed: (webhook: Webhook) => void): void {
    this.#echoed = echoed;
  }

  #write(act: Act & { readonly kind: "write" }, issue: Issue, by: Account): Acted | undefined {
    // The comments of an issue are one thread. Only comments at lines of a pull request have threads of their own.
    const root = this.#find(issue, act.inThreadOf ?? "");
    if (act.inThreadOf !== undefined && root === undefined) return undefined;
    const words = `${act.isMention ? `@${USER_NAME} ` : ""}${act.text}`;
    const body = [words, ...(act.files ?? []).map(linkOf)].filter((part) => part !== "").join("\n\n");
    const isNew = this.hasOwnThreads && root === undefined;
    const review = isNew
      ? { replyTo: undefined }
      : root?.review && { replyTo: root.review.replyTo ?? root.id };
    const comment = this.#repository.add({ issue, by, body, review, files: act.files ?? [] });
    return { messageId: String(comment.id), webhooks: this.#report("created", comment, {}, by) };
  }

  /** An App hears of the repositories of its installations alone. */
  #report(
    action: "created" | "edited" | "deleted",
    comment: Comment,
    more: object,
    sender: Account,
  ): readonly Webhook[] {
    const { issue } = comment;
    const installation = this.#app?.installationOf(issue.owner);
    if (this.#app !== undefined && installation === undefined) return [];
    const [event, about] = comment.review
      ? ["pull_request_review_comment", { pull_request: reviewedPullJson(issue) }]
      : ["issue_comment", { issue: issueJson(issue) }];
    const shared = {
      comment: commentJson(comment),
      repository: repositoryJson(issue.owner),
      sender: accountJson(sender),
      ...(installation && { installation }),
    };
    return [githubWebhook(event, { action, ...more, ...about, ...shared }, SECRET, this.#app?.id)];
  }

  #find(issue: Issue, messageId: string): Comment | undefined {
    return this.#repository.commentsOf(issue).find(({ id }) => String(id) === messageId);
  }
}

/** An account with a personal access token may read and write all repositories. */
const ofAccount: Access = {
  answer: ({ token }) => (token === TOKEN ? undefined : wordRefusal({ kind: "token" })),
};

/** A file that somebody drops on the text box becomes a link in the text. Only people with access can open it. */
function linkOf({ mediaType, name }: SentFile): string {
  const isPicture = mediaType.startsWith("image/");
  const kind = isPicture ? "assets" : "files";
  return `${isPicture ? "!" : ""}[${name}](https://github.com/user-attachments/${kind}/${randomUUID()})`;
}
