/** The repositories of organizations in memory: their issues, their pull requests, and the comments. */
import type { Person, Place, SentFile } from "../platform-emulator.ts";

/** Each has one repository. Most rows play in that of the first. */
export const ORGANIZATIONS: readonly string[] = ["octo-org", "octo-labs"];
export const [OWNER = "", OTHER_OWNER = ""] = ORGANIZATIONS;
export const REPOSITORY = "hello-world";

export interface Account {
  readonly id: number;
  readonly login: string;
  readonly type: "User" | "Bot";
}

export interface Comment {
  readonly id: number;
  readonly issue: Issue;
  readonly by: Account;
  readonly createdAt: number;
  readonly files: readonly SentFile[];
  /** Of a review comment. `replyTo` is the first comment of its thread. */
  readonly review: { readonly replyTo: number | undefined } | undefined;
  readonly reactions: Reaction[];
  body: string;
  updatedAt: number;
}

export interface Reaction {
  readonly id: number;
  readonly by: Account;
  readonly content: string;
}

export interface Issue {
  readonly owner: string;
  readonly number: number;
  readonly title: string;
  readonly isPullRequest: boolean;
  readonly createdAt: number;
  state: "open" | "locked" | "deleted";
}

export class Repository {
  readonly bot: Account;
  readonly issues: Issue[] = [];
  readonly comments: Comment[] = [];
  readonly #accounts = new Map<string, Account>();
  readonly now: () => number;
  changed: () => void = () => {};
  #lastId = 1_900_000_000;

  constructor(now: () => number, bot: Pick<Account, "login" | "type">) {
    this.bot = { id: 9_000_001, ...bot };
    this.now = now;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  issuesOf(owner: string): readonly Issue[] {
    return this.issues.filter((issue) => issue.owner === owner);
  }

  issueNamed(title: string, isPullRequest: boolean, owner = OWNER): Issue {
    const ofOwner = this.issuesOf(owner);
    const known = ofOwner.find((it) => it.title === title && it.isPullRequest === isPullRequest);
    if (known !== undefined) return known;
    const number = ofOwner.length + 1;
    const issue: Issue = { owner, number, title, isPullRequest, createdAt: this.now(), state: "open" };
    this.issues.push(issue);
    return issue;
  }

  issueAt(place: Place): Issue {
    const issue = this.issues.find((it) => placeOf(it) === place);
    if (issue === undefined) throw new Error(`GitHub has no place ${place}.`);
    return issue;
  }

  commentsOf(issue: Issue): Comment[] {
    return this.comments.filter((comment) => comment.issue === issue);
  }

  add(comment: Pick<Comment, "issue" | "by" | "body"> & Partial<Pick<Comment, "review" | "files">>): Comment {
    const now = this.now();
    const added = {
      review: undefined,
      files: [],
      ...comment,
      id: this.nextId(),
      reactions: [],
      createdAt: now,
      updatedAt: now,
    };
    this.comments.push(added);
    this.changed();
    return added;
  }

  edit(comment: Comment, body: string): void {
    comment.body = body;
    // An edit within the millisecond of the comment is an edit, too.
    comment.updatedAt = Math.max(this.now(), comment.createdAt + 1);
    this.changed();
  }

  remove(comment: Comment): void {
    this.comments.splice(this.comments.indexOf(comment), 1);
    this.changed();
  }

  accountOf({ id, name }: Person): Account {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    const login = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
    const account: Account = { id: 5_000_000 + this.#accounts.size, login, type: "User" };
    this.#accounts.set(id, account);
    return account;
  }

  findAccount(isIt: (account: Account) => boolean): Account | undefined {
    return [this.bot, ...this.#accounts.values()].find(isIt);
  }

  /** Returns the id of a person, or `bot`. */
  authorOf({ by }: Comment): string {
    return by === this.bot ? "bot" : ([...this.#accounts].find(([, it]) => it === by)?.[0] ?? by.login);
  }
}

export function placeOf({ number, owner }: Issue): Place {
  return `${owner}/${REPOSITORY}#${number}`;
}
