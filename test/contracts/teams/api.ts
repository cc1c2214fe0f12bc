/**
 * The Bot Connector as Teams serves it, and Microsoft's services that give tokens and publish keys.
 *
 * Sources: "Authentication with the Bot Connector API", the API reference of the Bot Connector, "Optimize your bot with
 * rate limiting in Teams", "Format your bot messages", "Messages in bot conversations" (with its status codes), and the
 * clients in `@microsoft/teams.api`. Compared in November 2026.
 *
 * - The bot's token is that of its app: client credentials for the scope of the Bot Framework.
 * - 7 posts a second, 8 in two and 60 in 30 in one conversation; more get 429.
 * - A message with its cards has at most 100 KB in UTF-16. Pictures in Base64 do not count.
 * - A text with an attachment becomes two messages, and the bot learns the id of neither.
 * - A conversation that the bot was removed from refuses it (403). The bot changes its own messages alone.
 * - A private word in a shared conversation is a targeted activity.
 * - A private chat can be asked to take a file into the person's OneDrive ("Send and receive files"). A file card shows
 *   one that is there. The documents leave open how other conversations refuse both.
 * - A conversation is served at the address of its newest activity. Other addresses refuse it here, which the documents
 *   leave open: they ask bots to keep the newest ("Send proactive messages").
 */
import type { TokenKey } from "../json-web-token.ts";
import type { CallKind, PlatformCall, Refusal, SentFile } from "../platform-emulator.ts";
import type { CardElement } from "./adaptive-card.ts";
import { personIdOf, TENANT, userIdOf } from "./conversations.ts";
import type { Activity, Conversation, Conversations } from "./conversations.ts";
import { consentsOf } from "./drive.ts";
import type { Drive, FileCard } from "./drive.ts";

const MAX_ACTIVITY_BYTES = 100_000;
/** Most posts in a conversation, and the time in milliseconds. */
const RATES = [
  [7, 1000],
  [8, 2000],
  [60, 30_000],
] as const;
/** The words of the service behind the connector, which it passes on as a text. */
const BLOCKED = { subCode: "MessageWritesBlocked", details: "Thread is blocked from message writes." };
const SCOPE = "https://api.botframework.com/.default";

export interface App {
  readonly id: string;
  readonly password: string;
}

interface Attachment extends FileCard {
  readonly content?: CardElement & FileCard["content"];
}

interface SentActivity {
  readonly type?: string;
  readonly text?: string;
  readonly attachments?: readonly Attachment[];
  readonly recipient?: { readonly id?: string };
}

interface Path {
  readonly region: string;
  readonly conversationId: string;
  readonly rest: readonly string[];
}

export class TeamsApi {
  readonly #conversations: Conversations;
  readonly #app: App;
  readonly #key: TokenKey;
  readonly #drive: Drive;
  readonly #posts: { readonly conversation: Conversation; readonly at: number }[] = [];

  /** @param key signs the connector's requests, and here the bot's tokens, too */
  constructor(conversations: Conversations, app: App, key: TokenKey, drive: Drive) {
    this.#drive = drive;
    this.#conversations = conversations;
    this.#app = app;
    this.#key = key;
  }

  async answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const text = await request.text();
    const open = this.#answerInPublic(request.method, pathname, text);
    if (open !== undefined) return open;
    const token = /^Bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    if (token === undefined || !this.#isToken(token)) return this.refuse({ kind: "token" });
    const path = pathOf(pathname);
    const conversation = path && this.#conversations.find(path.conversationId);
    if (conversation === undefined || path === undefined || conversation.region !== path.region) {
      return problem(404, "ConversationNotFound", "Conversation not found.");
    }
    if (!conversation.hasBot) {
      return conversation.isDirect
        ? Response.json({ errorCode: 209, message: JSON.stringify(BLOCKED) }, { status: 403 })
        : problem(403, "BotNotInConversationRoster", "The bot is not part of the conversation roster.");
    }
    const body = parseActivity(text);
    if (body === undefined) return problem(400, "BadSyntax", "The request is no JSON object.");
    const isTargeted = searchParams.get("isTargetedActivity") === "true";
    const [kind, id, more] = path.rest;
    if (kind === "members") return this.#showMember(id);
    if (kind !== "activities") return problem(404, "NotFound", "Not found.");
    if (more === "reactions")
      return this.#conversations.activity(conversation, id) ? Response.json({}) : notFound();
    switch (request.method) {
      case "POST":
        return this.#post(conversation, path, body, isTargeted);
      case "PUT":
        return this.#update(conversation, id, body);
      case "DELETE":
        return this.#remove(conversation, id);
      default:
        return problem(405, "MethodNotAllowed", "Method not allowed.");
    }
  }

  async describe(request: Request): Promise<PlatformCall> {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/oauth2/v2.0/token")) return { kind: "sign-in" };
    if (pathname.includes("/.well-known/")) return { kind: "keys" };
    const path = pathOf(pathname);
    if (path === undefined) return { kind: "read" };
    const place = this.#conversations.find(path.conversationId)?.id;
    const [resource, , more] = path.rest;
    if (resource !== "activities") return { kind: "read", place };
    if (more !== undefined) return { kind: "other", place };
    const kinds: Readonly<Record<string, CallKind>> = { PUT: "edit", DELETE: "remove", GET: "read" };
    const isTyping = request.method === "POST" && parseActivity(await request.text())?.type === "typing";
    return { kind: isTyping ? "typing" : (kinds[request.method] ?? "post"), place };
  }

  refuse(refusal: Refusal, call?: PlatformCall): Response {
    switch (refusal.kind) {
      case "flood": {
        const response = problem(429, "Throttled", "Too many requests.");
        response.headers.set("retry-after", String(Math.ceil(refusal.retryAfterMs / 1000)));
        return response;
      }
      case "error":
        return refusal.status === 503
          ? problem(503, "ServiceUnavailable", "The service is unavailable.")
          : problem(500, "ServiceError", "Unknown service error.");
      case "token":
        if (call?.kind === "sign-in")
          return this.#giveToken(new URLSearchParams({ client_id: this.#app.id }));
        return Response.json({ message: "Authorization has been denied for this request." }, { status: 401 });
    }
  }

  #isToken(token: string): boolean {
    const claims = this.#key.verify(token);
    return claims?.["appid"] === this.#app.id && Number(claims["exp"]) * 1000 > this.#conversations.now();
  }

  /** Answers that need no token. */
  #answerInPublic(method: string, pathname: string, text: string): Response | undefined {
    const login = "https://login.microsoftonline.com";
    switch (pathname) {
      case "/v1/.well-known/keys":
        return Response.json({ keys: [{ ...this.#key.jwk, endorsements: ["msteams"] }] });
      case "/v1/.well-known/openidconfiguration":
        return Response.json({
          issuer: "https://api.botframework.com",
          jwks_uri: "https://login.botframework.com/v1/.well-known/keys",
          id_token_signing_alg_values_supported: ["RS256"],
        });
      case `/${TENANT}/v2.0/.well-known/openid-configuration`:
        return Response.json({
          issuer: `${login}/${TENANT}/v2.0`,
          authorization_endpoint: `${login}/${TENANT}/oauth2/v2.0/authorize`,
          token_endpoint: `${login}/${TENANT}/oauth2/v2.0/token`,
          jwks_uri: `${login}/${TENANT}/discovery/v2.0/keys`,
        });
      case `/${TENANT}/oauth2/v2.0/token`:
        return method === "POST" ? this.#giveToken(new URLSearchParams(text)) : undefined;
      default:
        return undefined;
    }
  }

  #giveToken(form: URLSearchParams): Response {
    const refused = (status: number, error: string, code: number, words: string): Response =>
      Response.json({ error, error_description: `AADSTS${code}: ${words}`, error_codes: [code] }, { status });
    if (form.get("client_id") !== this.#app.id) {
      return refused(400, "unauthorized_client", 700_016, "Application was not found in the directory.");
    }
    if (form.get("client_secret") !== this.#app.password) {
      return refused(401, "invalid_client", 7_000_215, "Invalid client secret provided.");
    }
    if (!(form.get("scope") ?? "").split(" ").includes(SCOPE)) {
      return refused(400, "invalid_scope", 70_011, "The provided value for scope is not valid.");
    }
    const seconds = Math.floor(this.#conversations.now() / 1000);
    const claims = {
      aud: "https://api.botframework.com",
      iss: `https://sts.windows.net/${TENANT}/`,
      appid: this.#app.id,
      tid: TENANT,
      iat: seconds,
      exp: seconds + 3600,
    };
    return Response.json({ token_type: "Bearer", expires_in: 3599, access_token: this.#key.sign(claims) });
  }

  #post(conversation: Conversation, path: Path, sent: SentActivity, isTargeted: boolean): Response {
    if (sent.type === "typing") {
      conversation.typingShown += 1;
      this.#conversations.changed();
      return Response.json({ id: this.#conversations.nextId() }, { status: 201 });
    }
    const content = this.#contentOf(sent, conversation);
    if (content instanceof Response) return content;
    const userId = sent.recipient?.id;
    const onlyFor = isTargeted && userId !== undefined ? personIdOf(userId) : undefined;
    if (isTargeted && (onlyFor === undefined || conversation.isDirect)) {
      return problem(400, "BadArgument", "A targeted activity needs a recipient in a shared conversation.");
    }
    const now = this.#conversations.now();
    const posts = this.#posts.filter((post) => post.conversation === conversation);
    if (RATES.some(([most, ms]) => posts.filter(({ at }) => at > now - ms).length >= most)) {
      return this.refuse({ kind: "flood", retryAfterMs: 1000 });
    }
    this.#posts.push({ conversation, at: now });
    const [, threadId] = path.conversationId.split(";messageid=");
    const { cards, consents, files, text } = content;
    const isSplit = text.trim() !== "" && cards.length + consents.length + files.length > 0;
    const messages = isSplit
      ? [
          { text, cards: [], consents: [], files: [] },
          { ...content, text: "" },
        ]
      : [content];
    const [added] = messages.map((message) =>
      this.#conversations.add({ conversation, threadId, by: undefined, onlyFor, ...message }),
    );
    return Response.json(isSplit ? {} : { id: added?.id }, { status: 201 });
  }

  #update(conversation: Conversation, id: string | undefined, sent: SentActivity): Response {
    const activity = this.#own(conversation, id);
    if (activity === undefined) return notFound();
    const content = this.#contentOf(sent, conversation);
    if (content instanceof Response) return content;
    Object.assign(activity, content, { isEdited: true });
    this.#conversations.changed();
    return Response.json({ id: activity.id });
  }

  #remove(conversation: Conversation, id: string | undefined): Response {
    const activity = this.#own(conversation, id);
    if (activity === undefined) return notFound();
    this.#conversations.remove(activity);
    return new Response(null, { status: 200 });
  }

  /** Of the files in an activity Teams shows pictures, and those of the person's OneDrive. */
  #contentOf(
    sent: SentActivity,
    { isDirect }: Conversation,
  ): Pick<Activity, "text" | "cards" | "consents" | "files"> | Response {
    if (Buffer.byteLength(JSON.stringify(sent, withoutPictures), "utf16le") > MAX_ACTIVITY_BYTES) {
      return problem(413, "MessageSizeTooBig", "Message size too large.");
    }
    const attachments = sent.attachments ?? [];
    const cards = attachments.flatMap(({ content, contentType }) =>
      contentType === "application/vnd.microsoft.card.adaptive" && content !== undefined ? [content] : [],
    );
    const consents = consentsOf(attachments);
    const shown = this.#drive.filesOf(attachments);
    if (consents === undefined || shown === undefined || (!isDirect && consents.length + shown.length > 0))
      return problem(400, "BadArgument", "The attachment of a file is not valid here.");
    const files = [...attachments.flatMap((attachment) => pictureOf(attachment) ?? []), ...shown];
    const text = sent.text ?? "";
    if (text.trim() === "" && attachments.length === 0) {
      return problem(400, "BadSyntax", "Activity resulted into multiple skype activities or none.");
    }
    return { text, cards, consents, files };
  }

  /** Returns a message of the bot's own. */
  #own(conversation: Conversation, id: string | undefined): Activity | undefined {
    const activity = this.#conversations.activity(conversation, id);
    return activity?.by === undefined ? activity : undefined;
  }

  #showMember(userId: string | undefined): Response {
    const person = this.#conversations.people.get(userId ?? "");
    if (person === undefined)
      return problem(404, "MemberNotFoundInConversation", "The member was not found.");
    const email = `${person.id}@example.org`;
    return Response.json({
      id: userIdOf(person),
      name: person.name,
      aadObjectId: `aad-${person.id}`,
      email,
      userPrincipalName: email,
      tenantId: TENANT,
      userRole: "user",
    });
  }
}

/** The service address names the region and the tenant. */
function pathOf(pathname: string): Path | undefined {
  const [, region = "", path] = /^\/([^/]+)\/.*\/v3\/conversations\/(.+)$/.exec(pathname) ?? [];
  const [conversationId, ...rest] = path?.split("/").map((part) => decodeURIComponent(part)) ?? [];
  return conversationId === undefined ? undefined : { region, conversationId, rest };
}

function problem(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}

function notFound(): Response {
  return problem(404, "ActivityNotFoundInConversation", "The activity was not found in the conversation.");
}

function withoutPictures(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.replace(/^(data:image\/[^,]*),.*$/s, "$1") : value;
}

function pictureOf({ contentType = "", contentUrl = "", name = "" }: Attachment): SentFile | undefined {
  const [, base64] = /^data:image\/(?:png|jpe?g|gif);base64,(.+)$/.exec(contentUrl) ?? [];
  if (base64 === undefined || !contentType.startsWith("image/")) return undefined;
  return { name, mediaType: contentType, bytes: new Uint8Array(Buffer.from(base64, "base64")) };
}

function parseActivity(text: string): SentActivity | undefined {
  if (text === "") return {};
  try {
    return JSON.parse(text) as SentActivity;
  } catch {
    return undefined;
  }
}
