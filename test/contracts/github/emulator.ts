/** GitHub in memory: one repository whose issues and pull requests people comment on. */
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
import { GitHubApi } from "./api.ts";
import { accountJson, commentJson, issueJson, reviewedPullJson, repositoryJson } from "./json.ts";
import { placeOf, Repository } from "./repository.ts";
import type { Account, Comment, Issue } from "./repository.ts";
import { githubWebhook } from "./webhook.ts";

const SECRET = "It's a Secret to Everybody";
/** "Mentioning people and teams": a person by name, and a team by its organization. */
const MENTION = /(?<!\w)@[a-z\d][a-z\d-]*(?:\/[\w-]+)?/gi;
const TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

interface GitHubOptions {
  readonly isReview?: boolean;
  readonly now?: () => number;
}

export class GitHubEmulator implements PlatformEmulator {
  readonly name = "github";
  readonly #repository: Repository;
  readonly #api: GitHubApi;
  /** Whether people write at the lines of pull requests. */
  readonly hasOwnThreads: boolean;
  #echoed: (webhook: Webhook) => void = () => {};

  constructor({ isReview = false, now = () => Date.now() }: GitHubOptions = {}) {
    this.hasOwnThreads = isReview;
    this.#repository = new Repository(now);
    this.#api = new GitHubApi(this.#repository, TOKEN, (action, comment, more) =>
      this.#echoed(report(action, comment, more, this.#repository.bot)),
    );
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const { login } = this.#repository.bot;
    const options = { apiUrl, token: TOKEN, webhookSecret: SECRET, userName: login };
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

  shared(name: string): Place {
    return placeOf(this.#repository.issueNamed(name, this.hasOwnThreads));
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
        return { webhooks: [report("edited", comment, { changes }, sender)] };
      }
      case "delete":
        this.#repository.remove(comment);
        return { webhooks: [report("deleted", comment, {}, sender)] };
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
    return { messageId: String(comment.id), webhooks: [report("created", comment, {}, by)] };
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
    const words = `${act.isMention ? `@${this.#repository.bot.login} ` : ""}${act.text}`;
    const body = [words, ...(act.files ?? []).map(linkOf)].filter((part) => part !== "").join("\n\n");
    const isNew = this.hasOwnThreads && root === undefined;
    const review = isNew
      ? { replyTo: undefined }
      : root?.review && { replyTo: root.review.replyTo ?? root.id };
    const comment = this.#repository.add({ issue, by, body, review, files: act.files ?? [] });
    return { messageId: String(comment.id), webhooks: [report("created", comment, {}, by)] };
  }

  #find(issue: Issue, messageId: string): Comment | undefined {
    return this.#repository.commentsOf(issue).find(({ id }) => String(id) === messageId);
  }
}

function report(
  action: "created" | "edited" | "deleted",
  comment: Comment,
  more: object,
  sender: Account,
): Webhook {
  const { issue } = comment;
  const [event, about] = comment.review
    ? ["pull_request_review_comment", { pull_request: reviewedPullJson(issue) }]
    : ["issue_comment", { issue: issueJson(issue) }];
  const shared = { comment: commentJson(comment), repository: repositoryJson, sender: accountJson(sender) };
  return githubWebhook(event, { action, ...more, ...about, ...shared }, SECRET);
}

/** A file that somebody drops on the text box becomes a link in the text. Only people with access can open it. */
function linkOf({ mediaType, name }: SentFile): string {
  const isPicture = mediaType.startsWith("image/");
  const kind = isPicture ? "assets" : "files";
  return `${isPicture ? "!" : ""}[${name}](https://github.com/user-attachments/${kind}/${randomUUID()})`;
}
