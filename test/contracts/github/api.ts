/**
 * GitHub's REST API for one repository of each organization.
 *
 * Sources: the OpenAPI description (`@octokit/openapi-types`), "Rate limits for the REST API", "Troubleshooting the REST
 * API", and error bodies that users of the API have quoted.
 *
 * - A locked issue refuses comments (403), a deleted one is gone (410).
 * - A body has 1 to 65,536 characters (422).
 * - 5,000 calls an hour, and 80 calls a minute that create content. The refusals have the status 403, too.
 * - A call without a user agent (403), or without the right of its token, is refused.
 */
import { randomUUID } from "node:crypto";
import type { CallKind, PlatformCall, Refusal } from "../platform-emulator.ts";
import { DOCS, notFound, ok, refused, wordRefusal, type Access, type Answer } from "./answer.ts";
import {
  accountJson,
  commentJson,
  issueJson,
  pullJson,
  reactionJson,
  repositoryJson,
  wholeSeconds,
} from "./json.ts";
import { ORGANIZATIONS, placeOf, REPOSITORY } from "./repository.ts";
import type { Account, Comment, Issue, Repository } from "./repository.ts";

const MAX_BODY_LENGTH = 65_536;
const CALLS_AN_HOUR = 5000;
const POSTS_A_MINUTE = 80;

interface Call {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly kind: CallKind;
  readonly answer: (call: Call) => Answer;
  /** The issue that the call is about. */
  readonly issue?: (call: Pick<Call, "parts">) => Issue | undefined;
}

/** A comment that the bot made, changed or deleted: GitHub reports it to the bot, too. */
type Report = (action: "created" | "edited" | "deleted", comment: Comment, more: object) => void;

export class GitHubApi {
  readonly #repository: Repository;
  readonly #access: Access;
  readonly #report: Report;
  readonly #routes: readonly Route[];
  /** When the bot created content, in epoch milliseconds. */
  readonly #posts: number[] = [];
  #calls = 0;

  constructor(repository: Repository, access: Access, report: Report) {
    this.#repository = repository;
    this.#access = access;
    this.#report = report;
    const ofOwners = ORGANIZATIONS.flatMap((owner) => [
      ...this.#commentRoutes(owner),
      ...this.#issueRoutes(owner),
    ]);
    this.#routes = [...this.#generalRoutes(), ...ofOwners];
  }

  async answer(request: Request): Promise<Response> {
    const { body, headers, status } = this.#answer(request, await request.text());
    this.#calls += 1;
    return new Response(status === 204 ? null : JSON.stringify(body), {
      status,
      headers: { ...this.#usualHeaders(), ...headers },
    });
  }

  describe({ method, url }: Request): PlatformCall {
    const { pathname } = new URL(url);
    if (pathname.endsWith("/access_tokens")) return { kind: "sign-in" };
    const { parts, route } = this.#find(method, pathname);
    const issue = route?.issue?.({ parts });
    return { kind: route?.kind ?? "other", ...(issue && { place: placeOf(issue) }) };
  }

  refuse(refusal: Refusal): Response {
    const { body, headers, status } = wordRefusal(refusal);
    return Response.json(body, { status, headers: { ...this.#usualHeaders(), ...headers } });
  }

  #answer(request: Request, text: string): Answer {
    if (!request.headers.get("user-agent")) return refused(403, "Request forbidden by administrative rules.");
    const { pathname, searchParams } = new URL(request.url);
    const [, scheme = "", token] =
      /^(token|bearer) (.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const isBearer = scheme.toLowerCase() === "bearer";
    const answer = this.#access.answer({ method: request.method, pathname, token, isBearer });
    if (answer !== undefined) return answer;
    if (this.#calls >= CALLS_AN_HOUR) {
      const page = `${DOCS}/overview/rate-limits-for-the-rest-api`;
      return refused(403, `API rate limit exceeded for user ID ${this.#repository.bot.id}.`, page);
    }
    const body = parseBody(text);
    if (body === undefined) return refused(400, "Problems parsing JSON");
    const { parts, route } = this.#find(request.method, pathname);
    if (route === undefined) return notFound;
    if (route.kind === "post" && !this.#mayPost())
      return wordRefusal({ kind: "flood", retryAfterMs: 60_000 });
    return route.answer({ parts, query: searchParams, body });
  }

  #find(method: string, pathname: string): { route: Route | undefined; parts: readonly string[] } {
    const route = this.#routes.find((it) => it.method === method && it.path.test(pathname));
    const [, ...parts] = route?.path.exec(pathname) ?? [];
    return { route, parts };
  }

  #generalRoutes(): Route[] {
    const { bot } = this.#repository;
    const find = (isIt: (account: Account) => boolean): Answer => {
      const account = this.#repository.findAccount(isIt);
      return account === undefined ? notFound : ok(accountJson(account));
    };
    const get = (path: string, answer: Route["answer"]): Route => ({
      method: "GET",
      path: pattern(path),
      kind: "read",
      answer,
    });
    return [
      get("/user", () => ok(accountJson(bot))),
      get("/user/{}", ({ parts: [id] }) => find((account) => String(account.id) === id)),
      get("/users/{}", ({ parts: [login] }) =>
        find((account) => account.login === decodeURIComponent(login ?? "")),
      ),
      ...ORGANIZATIONS.flatMap((owner) => [
        get(homeOf(owner), () => ok(repositoryJson(owner))),
        get(`${homeOf(owner)}/pulls`, () =>
          ok(
            this.#repository
              .issuesOf(owner)
              .filter((it) => it.isPullRequest)
              .map(pullJson),
          ),
        ),
      ]),
    ];
  }

  #commentRoutes(owner: string): Route[] {
    return [false, true].flatMap((isReview) => {
      const path = `${homeOf(owner)}/${isReview ? "pulls" : "issues"}/comments/{}`;
      const find = ({ parts: [wanted] }: Pick<Call, "parts">): Comment | undefined =>
        this.#repository.comments.find(
          ({ id, issue, review }) =>
            issue.owner === owner && String(id) === wanted && (review !== undefined) === isReview,
        );
      const route = (
        [method, end]: readonly [string, string],
        kind: CallKind,
        run: (comment: Comment, call: Call) => Answer,
      ): Route => ({
        method,
        path: pattern(`${path}${end}`),
        kind,
        issue: (call) => find(call)?.issue,
        answer: (call) => {
          const comment = find(call);
          return comment === undefined ? notFound : run(comment, call);
        },
      });
      return [
        route(["GET", ""], "read", (comment) => ok(commentJson(comment))),
        route(["PATCH", ""], "edit", (comment, { body }) => this.#edit(comment, body)),
        route(["DELETE", ""], "remove", (comment) => this.#remove(comment)),
        route(["GET", "/reactions"], "read", ({ reactions }) => ok(reactions.map(reactionJson))),
        route(["POST", "/reactions"], "other", (comment, { body }) => this.#react(comment, body)),
        route(["DELETE", "/reactions/{}"], "other", ({ reactions }, { parts }) => {
          const { bot } = this.#repository;
          const index = reactions.findIndex(({ by, id }) => String(id) === parts[1] && by === bot);
          if (index === -1) return notFound;
          reactions.splice(index, 1);
          return { status: 204 };
        }),
      ];
    });
  }

  #issueRoutes(owner: string): Route[] {
    const find = ({ parts: [number] }: Pick<Call, "parts">): Issue | undefined =>
      this.#repository.issuesOf(owner).find((issue) => String(issue.number) === number);
    const route = (
      [method, path]: readonly [string, string],
      kind: CallKind,
      run: (issue: Issue, call: Call) => Answer,
    ): Route => ({
      method,
      path: pattern(`${homeOf(owner)}${path}`),
      kind,
      issue: find,
      answer: (call) => {
        const issue = find(call);
        if (issue === undefined || (path.startsWith("/pulls") && !issue.isPullRequest)) return notFound;
        return issue.state === "deleted" ? refused(410, "This issue was deleted") : run(issue, call);
      },
    });
    return [
      route(["GET", "/issues/{}"], "read", (issue) => ok(issueJson(issue))),
      route(["GET", "/issues/{}/comments"], "read", (issue, call) => this.#list(issue, call, false)),
      route(["POST", "/issues/{}/comments"], "post", (issue, { body }) =>
        this.#create(issue, body, undefined),
      ),
      route(["GET", "/pulls/{}"], "read", (issue) => ok(pullJson(issue))),
      route(["GET", "/pulls/{}/comments"], "read", (issue, call) => this.#list(issue, call, true)),
      route(["POST", "/pulls/{}/comments/{}/replies"], "post", (issue, { body, parts }) => {
        const root = this.#repository.commentsOf(issue).find(({ id }) => String(id) === parts[1]);
        // The id must be that of the first comment: "Replies to replies are not supported."
        if (root?.review === undefined || root.review.replyTo !== undefined) return notFound;
        return this.#create(issue, body, { replyTo: root.id });
      }),
    ];
  }

  #create(issue: Issue, { body }: Call["body"], review: Comment["review"]): Answer {
    const invalid = checkBody(body, review);
    if (invalid !== undefined) return invalid;
    if (issue.state === "locked") {
      const page = "https://docs.github.com/articles/locking-conversations/";
      return refused(403, "Unable to create comment because issue is locked.", page);
    }
    this.#posts.push(this.#repository.now());
    const comment = this.#repository.add({ issue, by: this.#repository.bot, body: String(body), review });
    this.#report("created", comment, {});
    const json = commentJson(comment);
    return { status: 201, body: json, headers: { location: String(json["url"]) } };
  }

  #edit(comment: Comment, { body }: Call["body"]): Answer {
    const invalid = checkBody(body, comment.review);
    if (invalid !== undefined) return invalid;
    if (comment.by !== this.#repository.bot) return notAllowed;
    const from = comment.body;
    this.#repository.edit(comment, String(body));
    this.#report("edited", comment, { changes: { body: { from } } });
    return ok(commentJson(comment));
  }

  #remove(comment: Comment): Answer {
    if (comment.by !== this.#repository.bot) return notAllowed;
    this.#repository.remove(comment);
    this.#report("deleted", comment, {});
    return { status: 204 };
  }

  #react({ reactions }: Comment, { content }: Call["body"]): Answer {
    if (typeof content !== "string" || !REACTIONS.has(content)) return refused(422, "Validation Failed");
    const { bot } = this.#repository;
    const known = reactions.find((it) => it.by === bot && it.content === content);
    if (known !== undefined) return ok(reactionJson(known));
    const reaction = { id: this.#repository.nextId(), by: bot, content };
    reactions.push(reaction);
    return { status: 201, body: reactionJson(reaction) };
  }

  /** Lists comments by ascending id, 30 to 100 a page. `since` is about their last change. */
  #list(issue: Issue, { query }: Call, isReview: boolean): Answer {
    const size = Math.min(Number(query.get("per_page") ?? 30), 100);
    const page = Number(query.get("page") ?? 1);
    const since = Date.parse(query.get("since") ?? "") || 0;
    const all = this.#repository
      .commentsOf(issue)
      .filter((it) => (it.review !== undefined) === isReview && wholeSeconds(it.updatedAt) >= since);
    // Only review comments can be sorted.
    if (isReview && query.get("direction") === "desc") all.reverse();
    const isLast = all.length <= page * size;
    const next = `<https://api.github.com/repositories/1296269/issues/${issue.number}/comments?page=${page + 1}>`;
    return {
      ...ok(all.slice((page - 1) * size, page * size).map(commentJson)),
      ...(!isLast && { headers: { link: `${next}; rel="next"` } }),
    };
  }

  #mayPost(): boolean {
    const since = this.#repository.now() - 60_000;
    return this.#posts.filter((at) => at > since).length < POSTS_A_MINUTE;
  }

  #usualHeaders(): Record<string, string> {
    return {
      "content-type": "application/json; charset=utf-8",
      "x-github-media-type": "github.v3; format=json",
      "x-github-request-id": randomUUID(),
      "x-ratelimit-limit": String(CALLS_AN_HOUR),
      "x-ratelimit-remaining": String(Math.max(0, CALLS_AN_HOUR - this.#calls)),
      "x-ratelimit-used": String(this.#calls),
      "x-ratelimit-reset": String(Math.floor(this.#repository.now() / 1000) + 3600),
      "x-ratelimit-resource": "core",
    };
  }
}

const homeOf = (owner: string): string => `/repos/${owner}/${REPOSITORY}`;
const REACTIONS = new Set(["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]);
const notAllowed = refused(403, "Must have admin rights to Repository.");

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll("{}", "([^/]+)")}$`, "i");
}

function parseBody(text: string): Call["body"] | undefined {
  if (text === "") return {};
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

function checkBody(body: unknown, review: Comment["review"]): Answer | undefined {
  if (typeof body !== "string") return refused(422, 'Invalid request.\n\n"body" wasn\'t supplied.');
  const isBlank = body.trim() === "";
  if (!isBlank && Array.from(body).length <= MAX_BODY_LENGTH) return undefined;
  const message = isBlank
    ? "Body cannot be blank"
    : `Body is too long (maximum is ${MAX_BODY_LENGTH} characters)`;
  const resource = review === undefined ? "IssueComment" : "PullRequestReviewComment";
  const refusal = refused(422, "Validation Failed");
  const errors = [{ resource, code: "unprocessable", field: "data", message }];
  return { ...refusal, body: { ...(refusal.body as object), errors } };
}
