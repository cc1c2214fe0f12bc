/** A workspace of Linear in memory: issues with their comments, and sessions of an agent. */
import { randomUUID } from "node:crypto";
import type { Person, Place } from "../platform-emulator.ts";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
}

export interface Issue {
  readonly id: Place;
  readonly number: number;
  readonly title: string;
  isDeleted: boolean;
}

export interface Comment {
  readonly id: string;
  readonly issue: Issue;
  readonly parentId: string | undefined;
  readonly by: User;
  readonly createdAt: number;
  readonly reactions: { readonly id: string; readonly emoji: string; readonly by: User }[];
  body: string;
  updatedAt: number;
}

export interface Session {
  readonly id: string;
  readonly issue: Issue;
  readonly comment: Comment;
  readonly creator: User;
  readonly createdAt: number;
  readonly activities: AgentActivity[];
}

export interface AgentActivity {
  readonly id: string;
  readonly session: Session;
  readonly content: Readonly<Record<string, unknown>>;
  readonly isEphemeral: boolean;
  readonly sourceComment: Comment | undefined;
  readonly createdAt: number;
}

export class Workspace {
  readonly id = "9d3c5a1e-3b0f-4c55-8f3b-4f0a4d1b6c01";
  readonly bot: User = {
    id: "b07e6f0c-1a56-4a3a-9a0e-2c1f0e8d7a02",
    name: "Shop Bot",
    displayName: "shop-bot",
  };
  readonly issues: Issue[] = [];
  readonly comments: Comment[] = [];
  readonly sessions: Session[] = [];
  readonly now: () => number;
  readonly #people = new Map<string, User>();
  changed: () => void = () => {};
  /** Called when the bot has changed a comment of its own. */
  echoed: (action: "create" | "update" | "remove", comment: Comment) => void = () => {};

  constructor(now: () => number) {
    this.now = now;
  }

  issueNamed(title: string): Issue {
    const known = this.issues.find((it) => it.title === title);
    if (known !== undefined) return known;
    const issue = { id: randomUUID(), number: this.issues.length + 1, title, isDeleted: false };
    this.issues.push(issue);
    return issue;
  }

  issue(id: unknown): Issue | undefined {
    return this.issues.find((it) => it.id === id && !it.isDeleted);
  }

  comment(id: unknown): Comment | undefined {
    return this.comments.find((it) => it.id === id);
  }

  add(fields: Pick<Comment, "issue" | "parentId" | "by" | "body">, id: string = randomUUID()): Comment {
    const now = this.now();
    const comment = { ...fields, id, reactions: [], createdAt: now, updatedAt: now };
    this.comments.push(comment);
    this.changed();
    return comment;
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

  user({ id, name }: Person): User {
    const known = this.#people.get(id);
    if (known !== undefined) return known;
    const displayName = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
    const user = { id: randomUUID(), name, displayName };
    this.#people.set(id, user);
    return user;
  }

  findUser(id: unknown): User | undefined {
    return [this.bot, ...this.#people.values()].find((user) => user.id === id);
  }

  /** Returns the id of a person, or `bot`. */
  authorOf({ by }: Comment): string {
    return by === this.bot ? "bot" : ([...this.#people].find(([, user]) => user === by)?.[0] ?? by.id);
  }
}
