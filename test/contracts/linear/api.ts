/**
 * Linear's GraphQL API, as far as bots use it, and its token endpoint.
 *
 * Sources: the schema in `@linear/sdk`, "Rate limiting", "OAuth 2.0 authentication", "Agent interaction".
 *
 * - A personal key stands alone in `Authorization`, a token behind `Bearer`.
 * - The author of a comment may name its id, a UUID; a second comment with the id is refused.
 * - A refusal says its kind in `extensions`. Too many calls have the status 400, and no waiting time but the headers.
 * - Activities of a session are never changed. A response appears as a comment, an ephemeral thought for a while.
 */
import { randomUUID } from "node:crypto";
import type { PlatformCall, Refusal } from "../platform-emulator.ts";
import { activityJson, commentJson, idOf, issueJson, userJson } from "./json.ts";
import type { AgentActivity, Comment, Workspace } from "./workspace.ts";

const CALLS_AN_HOUR = 5000;

export interface Credentials {
  readonly apiKey: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

type Values = Readonly<Record<string, unknown>>;

interface Operation {
  readonly kind: "query" | "mutation";
  /** The first field that is asked for. */
  readonly field: string;
  readonly variables: Values;
}

export class LinearApi {
  readonly #workspace: Workspace;
  readonly #credentials: Credentials;
  readonly #tokens = new Set<string>();
  #calls = 0;
  /** How often a thought was shown for a while. */
  readonly thoughts = new Map<string, number>();

  constructor(workspace: Workspace, credentials: Credentials) {
    this.#workspace = workspace;
    this.#credentials = credentials;
  }

  async answer(request: Request): Promise<Response> {
    const text = await request.text();
    if (new URL(request.url).pathname === "/oauth/token") return this.#giveToken(new URLSearchParams(text));
    this.#calls += 1;
    if (!this.#isAllowed(request.headers.get("authorization") ?? "")) return this.refuse({ kind: "token" });
    if (this.#calls > CALLS_AN_HOUR) return this.refuse({ kind: "flood", retryAfterMs: 3_600_000 });
    const operation = parseOperation(text);
    if (operation === undefined) return problem(400, "graphql error", "Syntax Error: Unexpected token.");
    const run =
      operation.kind === "mutation" ? this.#mutations[operation.field] : this.#queries[operation.field];
    if (run === undefined) {
      return problem(400, "graphql error", `Cannot query field "${operation.field}" on type "Query".`);
    }
    const result = run(operation.variables);
    if (result instanceof Response) return result;
    return Response.json({ data: { [operation.field]: result } }, { headers: this.#limits() });
  }

  async describe(request: Request): Promise<PlatformCall> {
    if (new URL(request.url).pathname === "/oauth/token") return { kind: "sign-in" };
    const { field = "", variables = {} } = parseOperation(await request.text()) ?? {};
    const input = record(variables["input"]);
    const ofComment = this.#workspace.comment(variables["id"])?.issue.id;
    switch (field) {
      case "commentCreate":
        return { kind: "post", place: this.#workspace.issues.find(({ id }) => id === input["issueId"])?.id };
      case "commentUpdate":
        return { kind: "edit", place: ofComment };
      case "commentDelete":
        return { kind: "remove", place: ofComment };
      case "agentActivityCreate": {
        const place = this.#workspace.sessions.find(({ id }) => id === input["agentSessionId"])?.issue.id;
        return { kind: input["ephemeral"] === true ? "typing" : "post", place };
      }
      default:
        return { kind: field === "reactionCreate" ? "other" : "read" };
    }
  }

  refuse(refusal: Refusal): Response {
    switch (refusal.kind) {
      case "flood": {
        const response = problem(400, "ratelimited", "Rate limit exceeded", "RATELIMITED");
        // The bot reads it a moment later.
        const reset = this.#workspace.now() + refusal.retryAfterMs + 1000;
        response.headers.set("x-ratelimit-requests-limit", String(CALLS_AN_HOUR));
        response.headers.set("x-ratelimit-requests-remaining", "0");
        response.headers.set("x-ratelimit-requests-reset", String(reset));
        return response;
      }
      case "error":
        return problem(refusal.status, "internal error", "Internal server error", "INTERNAL_SERVER_ERROR");
      case "token":
        return problem(
          401,
          "authentication error",
          "Authentication required, not authenticated",
          "AUTHENTICATION_ERROR",
        );
    }
  }

  readonly #queries: Readonly<Record<string, (variables: Values) => unknown>> = {
    viewer: () => ({ ...userJson(this.#workspace.bot), organization: { id: this.#workspace.id } }),
    user: ({ id }) => {
      const user = this.#workspace.findUser(id);
      return user === undefined ? notFound("User") : userJson(user);
    },
    issue: ({ id }) => {
      const issue = this.#workspace.issue(id);
      return issue === undefined ? notFound("Issue") : issueJson(issue);
    },
    comment: ({ id }) => {
      const comment = this.#workspace.comment(id);
      return comment === undefined ? notFound("Comment") : commentJson(comment);
    },
    comments: (variables) => this.#listComments(variables),
    agentActivity: ({ id }) => {
      const activity = this.#workspace.sessions.flatMap((it) => it.activities).find((it) => it.id === id);
      return activity === undefined ? notFound("AgentActivity") : activityJson(activity);
    },
    agentSession: ({ id }) => {
      const session = this.#workspace.sessions.find((it) => it.id === id);
      return session === undefined
        ? notFound("AgentSession")
        : { id: session.id, issue: idOf(session.issue), comment: idOf(session.comment) };
    },
  };

  readonly #mutations: Readonly<Record<string, (variables: Values) => unknown>> = {
    commentCreate: ({ input }) => this.#createComment(record(input)),
    commentUpdate: ({ id, input }) => {
      const comment = this.#own(id);
      if (comment === undefined) return notFound("Comment");
      const { body } = record(input);
      if (typeof body !== "string" || body === "") return invalid("body should not be empty");
      this.#workspace.edit(comment, body);
      this.#workspace.echoed("update", comment);
      return { success: true, lastSyncId: 1, comment: idOf(comment) };
    },
    commentDelete: ({ id }) => {
      const comment = this.#own(id);
      if (comment === undefined) return notFound("Comment");
      this.#workspace.remove(comment);
      this.#workspace.echoed("remove", comment);
      return { success: true, lastSyncId: 1, entityId: comment.id };
    },
    reactionCreate: ({ input }) => {
      const { commentId, emoji } = record(input);
      const comment = this.#workspace.comment(commentId);
      if (comment === undefined) return notFound("Comment");
      const reaction = { id: randomUUID(), emoji: String(emoji), by: this.#workspace.bot };
      comment.reactions.push(reaction);
      return { success: true, lastSyncId: 1, reaction: { id: reaction.id, emoji: reaction.emoji } };
    },
    agentActivityCreate: ({ input }) => this.#createActivity(record(input)),
  };

  #createComment({ body, id, issueId, parentId }: Values): unknown {
    const issue = this.#workspace.issue(issueId);
    if (issue === undefined) return notFound("Issue");
    if (typeof body !== "string" || body.trim() === "") return invalid("body should not be empty");
    const parent = this.#workspace.comment(parentId);
    if (typeof parentId === "string" && parent === undefined) return notFound("Comment");
    // "parentId" must be the first comment of a thread.
    if (parent?.parentId !== undefined) return invalid("Parent comment must be a top level comment.");
    if (id !== undefined && (typeof id !== "string" || !UUID.test(id))) return invalid("id must be a UUID");
    if (this.#workspace.comment(id) !== undefined) return invalid("Entity with this id already exists.");
    const by = this.#workspace.bot;
    const comment = this.#workspace.add({ issue, parentId: parent?.id, by, body }, id);
    this.#workspace.echoed("create", comment);
    return { success: true, lastSyncId: 1, comment: idOf(comment) };
  }

  #createActivity({ agentSessionId, content, ephemeral, id = randomUUID() }: Values): unknown {
    const session = this.#workspace.sessions.find(({ id }) => id === agentSessionId);
    if (session === undefined || session.issue.isDeleted) return notFound("AgentSession");
    if (typeof id !== "string" || !UUID.test(id)) return invalid("id must be a UUID");
    const all = this.#workspace.sessions.flatMap(({ activities }) => activities);
    if (all.some((known) => known.id === id)) return invalid("Entity with this id already exists.");
    const given = record(content);
    if (!ACTIVITIES.has(String(given["type"]))) return invalid("content.type is unknown");
    const isEphemeral = ephemeral === true;
    if (isEphemeral && !/^(?:thought|action)$/.test(String(given["type"]))) {
      return invalid("Only thoughts and actions can be ephemeral.");
    }
    const isSaid = /^(?:response|elicitation|error)$/.test(String(given["type"]));
    const { comment, issue } = session;
    const sourceComment = isSaid
      ? this.#workspace.add({
          issue,
          parentId: comment.parentId ?? comment.id,
          by: this.#workspace.bot,
          body: String(given["body"]),
        })
      : undefined;
    const now = this.#workspace.now();
    const activity: AgentActivity = {
      id,
      session,
      content: given,
      isEphemeral,
      sourceComment,
      createdAt: now,
    };
    session.activities.push(activity);
    if (isEphemeral) this.thoughts.set(issue.id, (this.thoughts.get(issue.id) ?? 0) + 1);
    this.#workspace.changed();
    return { success: true, lastSyncId: 1, agentActivity: idOf(activity) };
  }

  #listComments({ filter, first, last }: Values): unknown {
    const { createdAt, issue, parent } = record(filter);
    const equal = (wanted: unknown, value: string | undefined): boolean => {
      const { eq } = record(record(wanted)["id"]);
      return eq === undefined || eq === value;
    };
    const { gt, gte = gt } = record(createdAt);
    const since = typeof gte === "string" ? Date.parse(gte) : 0;
    const found = this.#workspace.comments.filter(
      (it) => equal(parent, it.parentId) && equal(issue, it.issue.id) && it.createdAt >= since,
    );
    const nodes = typeof last === "number" ? found.slice(-last) : found.slice(0, Number(first ?? 50));
    const pageInfo = {
      hasNextPage: nodes.length < found.length,
      hasPreviousPage: false,
      startCursor: nodes[0]?.id ?? null,
      endCursor: nodes.at(-1)?.id ?? null,
    };
    return { nodes: nodes.map(commentJson), pageInfo };
  }

  #own(id: unknown): Comment | undefined {
    const comment = this.#workspace.comment(id);
    return comment?.by === this.#workspace.bot ? comment : undefined;
  }

  #isAllowed(authorization: string): boolean {
    const [, token] = /^Bearer (.+)$/.exec(authorization) ?? [];
    return authorization === this.#credentials.apiKey || (token !== undefined && this.#tokens.has(token));
  }

  #giveToken(form: URLSearchParams): Response {
    const { clientId, clientSecret } = this.#credentials;
    if (form.get("client_id") !== clientId || form.get("client_secret") !== clientSecret) {
      return Response.json({ error: "invalid_client" }, { status: 401 });
    }
    const access_token = `lin_oauth_${this.#tokens.size + 1}`;
    this.#tokens.add(access_token);
    return Response.json({
      access_token,
      token_type: "Bearer",
      expires_in: 2_591_999,
      scope: form.get("scope"),
    });
  }

  #limits(): Record<string, string> {
    return {
      "x-ratelimit-requests-limit": String(CALLS_AN_HOUR),
      "x-ratelimit-requests-remaining": String(Math.max(0, CALLS_AN_HOUR - this.#calls)),
      "x-ratelimit-requests-reset": String(this.#workspace.now() + 3_600_000),
    };
  }
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
const ACTIVITIES = new Set(["action", "elicitation", "error", "prompt", "response", "thought"]);

function problem(status: number, type: string, message: string, code = "INPUT_ERROR"): Response {
  const extensions = { type, code, statusCode: status, userError: true, userPresentableMessage: message };
  return Response.json({ errors: [{ message, extensions }], data: null }, { status });
}

function notFound(entity: string): Response {
  return problem(400, "invalid input", `Entity not found: ${entity}`);
}

function invalid(reason: string): Response {
  return problem(400, "invalid input", `Argument Validation Error: ${reason}`);
}

function parseOperation(text: string): Operation | undefined {
  try {
    const { query, variables } = JSON.parse(text) as { readonly query?: string; readonly variables?: Values };
    const [, kind, field] = /^\s*(query|mutation)[^{]*\{\s*(\w+)/.exec(query ?? "") ?? [];
    if (field === undefined) return undefined;
    return { kind: kind === "mutation" ? "mutation" : "query", field, variables: variables ?? {} };
  } catch {
    return undefined;
  }
}

function record(value: unknown): Values {
  return typeof value === "object" && value !== null ? (value as Values) : {};
}
