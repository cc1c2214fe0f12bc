/**
 * The Google Chat API, and the service that gives tokens for it.
 *
 * Sources: the reference of `spaces.messages` and `media`, "Authenticate as a Google Chat app", "Verify requests from
 * Google Chat", "Usage limits", the error model of Google's APIs, and the types of `@googleapis/chat`.
 *
 * - A service account gets a token for a JWT that it has signed.
 * - A message has text or cards, at most 32,000 bytes in all. The bot changes its own messages alone.
 * - `requestId` names a message: creating it again returns it. `messageId` is an id that the app chooses.
 * - Without `messageReplyOption` a message begins a thread, whatever its `thread` says.
 * - An app's own token may neither list messages nor react.
 * - 60 writes a minute in a space, shared by all apps. A refusal names no waiting time.
 */
import type { CallKind, PlatformCall, Refusal } from "../platform-emulator.ts";
import type { TokenKey } from "../json-web-token.ts";
import { messageJson, resourceNameOf, spaceJson, userJson } from "./spaces.ts";
import type { CardWithId, Message, Space, Spaces } from "./spaces.ts";

const MAX_MESSAGE_BYTES = 32_000;
const WRITES_A_MINUTE = 60;
const SCOPE = "https://www.googleapis.com/auth/chat.bot";
const CHAT_ACCOUNT = "chat@system.gserviceaccount.com";

interface Account {
  readonly email: string;
  readonly key: TokenKey;
}

/** The keys with which Google Chat signs its requests to apps, and Google those to add-ons. */
interface Keys {
  readonly chat: TokenKey;
  readonly google: TokenKey;
}

interface Call {
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly kind: CallKind;
  readonly answer: (call: Call) => Response;
}

export class GoogleChatApi {
  readonly #spaces: Spaces;
  readonly #account: Account;
  readonly #keys: Keys;
  readonly #routes: readonly Route[];
  readonly #writes: { readonly space: Space; readonly at: number }[] = [];
  readonly #tokens = new Set<string>();

  constructor(spaces: Spaces, account: Account, keys: Keys) {
    this.#spaces = spaces;
    this.#account = account;
    this.#keys = keys;
    this.#routes = this.#listRoutes();
  }

  async answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const open = this.#answerInPublic(request.method, pathname, text);
    if (open !== undefined) return open;
    const token = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (token === undefined || !this.#tokens.has(token)) return this.refuse({ kind: "token" });
    const route = this.#find(request.method, pathname);
    const body = parseBody(text);
    if (route === undefined) return problem(404, "NOT_FOUND", "Method not found.");
    if (body === undefined) return problem(400, "INVALID_ARGUMENT", "Invalid JSON payload received.");
    const [, name = ""] = route.path.exec(decodeURIComponent(pathname)) ?? [];
    return route.answer({ name, query: searchParams, body });
  }

  describe({ method, url }: Request): PlatformCall {
    const { pathname } = new URL(url);
    if (pathname === "/token") return { kind: "sign-in" };
    if (/^\/(?:service_accounts|oauth2)\//.test(pathname)) return { kind: "keys" };
    const place = /^\/v1\/(spaces\/[^/]+)/.exec(pathname)?.[1];
    return { kind: this.#find(method, pathname)?.kind ?? "read", place };
  }

  refuse(refusal: Refusal, call?: PlatformCall): Response {
    switch (refusal.kind) {
      case "flood": {
        const metric =
          "Quota exceeded for quota metric 'Message writes' and limit 'Message writes per minute'";
        const details = { reason: "RATE_LIMIT_EXCEEDED", domain: "googleapis.com" };
        return problem(429, "RESOURCE_EXHAUSTED", `${metric} of service 'chat.googleapis.com'.`, details);
      }
      case "error":
        return refusal.status === 503
          ? problem(503, "UNAVAILABLE", "The service is currently unavailable.")
          : problem(500, "INTERNAL", "Internal error encountered.");
      case "token":
        if (call?.kind === "sign-in") {
          const error_description = "Invalid JWT Signature.";
          return Response.json({ error: "invalid_grant", error_description }, { status: 400 });
        }
        return problem(
          401,
          "UNAUTHENTICATED",
          "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other " +
            "valid authentication credential.",
        );
    }
  }

  #find(method: string, pathname: string): Route | undefined {
    return this.#routes.find((it) => it.method === method && it.path.test(decodeURIComponent(pathname)));
  }

  /** Answers that need no token: keys of Google, and the token service. */
  #answerInPublic(method: string, pathname: string, text: string): Response | undefined {
    const { chat, google } = this.#keys;
    switch (decodeURIComponent(pathname)) {
      case `/service_accounts/v1/metadata/x509/${CHAT_ACCOUNT}`:
        return Response.json({ [chat.keyId]: chat.certificate(CHAT_ACCOUNT) });
      case "/oauth2/v1/certs":
        return Response.json({
          [google.keyId]: google.certificate("federated-signon.system.gserviceaccount.com"),
        });
      case `/service_accounts/v1/jwk/${CHAT_ACCOUNT}`:
        return Response.json({ keys: [chat.jwk] });
      case "/oauth2/v3/certs":
        return Response.json({ keys: [google.jwk] });
      case "/token":
        return method === "POST" ? this.#giveToken(new URLSearchParams(text)) : undefined;
      default:
        return undefined;
    }
  }

  #giveToken(form: URLSearchParams): Response {
    const refused = (error: string, description: string): Response =>
      Response.json({ error, error_description: description }, { status: 400 });
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") {
      return refused("unsupported_grant_type", "Invalid grant_type");
    }
    const claims = this.#account.key.verify(form.get("assertion") ?? "");
    if (claims?.["iss"] !== this.#account.email) return refused("invalid_grant", "Invalid JWT Signature.");
    if (Number(claims["exp"]) * 1000 < this.#spaces.now()) return refused("invalid_grant", "Token expired.");
    if (!String(claims["scope"]).split(" ").includes(SCOPE))
      return refused("invalid_scope", "Invalid scope.");
    const token = `ya29.c.${this.#tokens.size + 1}`;
    this.#tokens.add(token);
    return Response.json({ access_token: token, expires_in: 3599, token_type: "Bearer" });
  }

  #listRoutes(): readonly Route[] {
    const space = "(spaces/[^/]+)";
    const message = "(spaces/[^/]+/messages/[^/]+)";
    const at = (path: string): RegExp => new RegExp(`^/v1/${path}$`);
    const onMessage = (run: (found: Message, call: Call) => Response) => (call: Call) => {
      const found = this.#spaces.find(call.name);
      return found === undefined ? notFound() : (this.#inSpace(found.space) ?? run(found, call));
    };
    const onSpace = (run: (found: Space, call: Call) => Response) => (call: Call) => {
      const found = this.#spaces.findSpace(call.name);
      return found === undefined ? notFound() : (this.#inSpace(found) ?? run(found, call));
    };
    return [
      { method: "GET", path: at(space), kind: "read", answer: onSpace((it) => Response.json(spaceJson(it))) },
      {
        method: "GET",
        path: at(`${space}/members`),
        kind: "read",
        answer: onSpace(({ name }) =>
          Response.json({
            memberships: [{ name: `${name}/members/app`, member: userJson(this.#spaces.bot) }],
          }),
        ),
      },
      {
        method: "POST",
        path: at(`${space}/messages`),
        kind: "post",
        answer: onSpace((it, call) => this.#create(it, call)),
      },
      { method: "GET", path: at(`${space}/messages`), kind: "read", answer: onSpace(wrongScopes) },
      {
        method: "GET",
        path: at(message),
        kind: "read",
        answer: onMessage((it) => Response.json(messageJson(it))),
      },
      ...["PUT", "PATCH"].map((method): Route => ({
        method,
        path: at(message),
        kind: "edit",
        answer: onMessage((it, call) => this.#update(it, call)),
      })),
      { method: "DELETE", path: at(message), kind: "remove", answer: onMessage((it) => this.#remove(it)) },
      { method: "GET", path: at(`${message}/reactions`), kind: "read", answer: onMessage(wrongScopes) },
      { method: "POST", path: at(`${message}/reactions`), kind: "other", answer: onMessage(wrongScopes) },
      { method: "GET", path: at("media/(.+)"), kind: "read", answer: ({ name }) => this.#download(name) },
    ];
  }

  #inSpace({ hasBot }: Space): Response | undefined {
    return hasBot
      ? undefined
      : problem(403, "PERMISSION_DENIED", "This Chat app is not a member of this space.");
  }

  #create(space: Space, { body, query }: Call): Response {
    const requestId = query.get("requestId") ?? undefined;
    const made = this.#spaces.messages.find((it) => requestId !== undefined && it.requestId === requestId);
    if (made !== undefined) return Response.json(messageJson(made));
    const invalid = checkMessage(body);
    if (invalid !== undefined) return invalid;
    const clientId = query.get("messageId") ?? undefined;
    if (clientId !== undefined && !/^client-[a-z0-9-]{0,56}$/.test(clientId)) {
      return problem(400, "INVALID_ARGUMENT", "Invalid message ID.");
    }
    if (clientId !== undefined && this.#spaces.find(`${space.name}/messages/${clientId}`) !== undefined) {
      return problem(409, "ALREADY_EXISTS", "A message with this ID already exists.");
    }
    const viewer = nameIn(body["privateMessageViewer"]);
    if (viewer !== undefined && !this.#spaces.isPerson(viewer)) {
      return problem(400, "INVALID_ARGUMENT", "The private message viewer is not a member of the space.");
    }
    const option = query.get("messageReplyOption") ?? "MESSAGE_REPLY_OPTION_UNSPECIFIED";
    const wanted = option.startsWith("REPLY_") ? nameIn(body["thread"]) : undefined;
    const isKnown = this.#spaces.messages.some((it) => it.space === space && it.thread === wanted);
    if (option === "REPLY_MESSAGE_OR_FAIL" && !isKnown) return notFound();
    const refused = this.#write(space);
    if (refused !== undefined) return refused;
    const { cards, isMarkdown, text } = contentOf(body);
    const fields = { space, by: this.#spaces.bot, text, isMarkdown, cards, viewer, requestId, clientId };
    return Response.json(messageJson(this.#spaces.add(fields, isKnown ? wanted : undefined)));
  }

  /** Counts a write: a message that is made, changed or removed. Returns the refusal if it is one too many. */
  #write(space: Space): Response | undefined {
    const now = this.#spaces.now();
    if (this.#writes.filter((it) => it.space === space && it.at > now - 60_000).length >= WRITES_A_MINUTE)
      return this.refuse({ kind: "flood", retryAfterMs: 0 });
    this.#writes.push({ space, at: now });
    return undefined;
  }

  #update(message: Message, { body, query }: Call): Response {
    if (message.by !== this.#spaces.bot) return notOwn();
    const mask = new Set(
      (query.get("updateMask") ?? "").split(",").map((field) => field.replace("cards_v2", "cardsV2")),
    );
    if (mask.has("")) return problem(400, "INVALID_ARGUMENT", "The update mask is required.");
    const fields = contentOf(body);
    const text = mask.has("*") || mask.has("text") ? fields.text : message.text;
    const cards = mask.has("*") || mask.has("cardsV2") ? fields.cards : message.cards;
    const invalid = checkMessage({ text, cardsV2: cards });
    if (invalid !== undefined) return invalid;
    const refused = this.#write(message.space);
    if (refused !== undefined) return refused;
    message.text = text;
    if (text !== "") message.isMarkdown = fields.isMarkdown;
    message.cards = cards;
    message.updatedAt = this.#spaces.now();
    this.#spaces.changed();
    return Response.json(messageJson(message));
  }

  #remove(message: Message): Response {
    if (message.by !== this.#spaces.bot) return notOwn();
    const refused = this.#write(message.space);
    if (refused !== undefined) return refused;
    message.isDeleted = true;
    this.#spaces.changed();
    return Response.json({});
  }

  #download(resourceName: string): Response {
    for (const { files, name } of this.#spaces.messages) {
      const file = files.find((_, index) => resourceNameOf(name, index) === resourceName);
      if (file !== undefined)
        return new Response(file.bytes, { headers: { "content-type": file.mediaType } });
    }
    return notFound();
  }
}

function problem(
  code: number,
  status: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Response {
  const info = details && { details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", ...details }] };
  return Response.json({ error: { code, message, status, ...info } }, { status: code });
}

function notFound(): Response {
  return problem(404, "NOT_FOUND", "Requested entity was not found.");
}

function notOwn(): Response {
  return problem(403, "PERMISSION_DENIED", "The caller does not have permission");
}

function wrongScopes(): Response {
  const details = { reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT", domain: "googleapis.com" };
  return problem(403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.", details);
}

function checkMessage(body: Call["body"]): Response | undefined {
  const { cards, text } = contentOf(body);
  if (text === "" && cards.length === 0) {
    return problem(400, "INVALID_ARGUMENT", "Message cannot be empty. Set text or cards.");
  }
  const bytes = Buffer.byteLength(text) + (cards.length > 0 ? Buffer.byteLength(JSON.stringify(cards)) : 0);
  if (bytes <= MAX_MESSAGE_BYTES) return undefined;
  return problem(400, "INVALID_ARGUMENT", `Message is too long. The limit is ${MAX_MESSAGE_BYTES} bytes.`);
}

/** "Format messages": a new app writes Markdown, unless a message says otherwise. */
function contentOf(body: Call["body"]): { text: string; isMarkdown: boolean; cards: readonly CardWithId[] } {
  const { cardsV2, markupSyntax, text } = body;
  return {
    isMarkdown: markupSyntax !== "MARKUP_SYNTAX_CHAT",
    text: typeof text === "string" ? text : "",
    cards: Array.isArray(cardsV2) ? (cardsV2 as CardWithId[]) : [],
  };
}

function nameIn(resource: unknown): string | undefined {
  const { name } = (resource ?? {}) as { readonly name?: unknown };
  return typeof name === "string" ? name : undefined;
}

function parseBody(text: string): Call["body"] | undefined {
  if (text === "") return {};
  try {
    return JSON.parse(text) as Call["body"];
  } catch {
    return undefined;
  }
}
