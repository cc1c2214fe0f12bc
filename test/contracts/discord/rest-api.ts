import { readForm } from "../read-form.ts";
import type { PlatformCall, Refusal, SentFile } from "../platform-emulator.ts";
import {
  APPLICATION,
  contentOf,
  DiscordError,
  EPHEMERAL,
  GUILD,
  type Guild,
  invalidForm,
  userOf,
  type Channel,
  type Fields,
  type Message,
} from "./guild.ts";

export const TOKEN = "token";
const INTERACTION_LASTS_MS = 15 * 60_000;
/** "The past few minutes". */
const NONCE_LASTS_MS = 3 * 60_000;

/** The REST API of version 10, as far as bots use it for messages. */
export class RestApi {
  readonly #guild: Guild;
  readonly #publicKey: string;

  constructor(guild: Guild, publicKey: string) {
    this.#guild = guild;
    this.#publicKey = publicKey;
  }

  describe(request: Request): PlatformCall {
    const parts = partsOf(request);
    const { method } = request;
    if (parts[0] === "webhooks" || parts[0] === "interactions") {
      const place = this.#guild.interactions.get(parts[2] ?? "")?.channel.id;
      const kind =
        method === "GET" ? "read" : method === "DELETE" ? "remove" : parts[3] === undefined ? "post" : "edit";
      const isFirst =
        kind === "edit" && this.#guild.interactions.get(parts[2] ?? "")?.original?.isThinking === true;
      return { kind: isFirst ? "post" : kind, place };
    }
    const place = parts[0] === "channels" ? parts[1] : undefined;
    if (method === "GET") return { kind: "read", place };
    if (parts[2] === "typing") return { kind: "typing", place };
    if (parts[2] !== "messages" || parts[4] !== undefined) return { kind: "other", place };
    return { kind: method === "POST" ? "post" : method === "PATCH" ? "edit" : "remove", place };
  }

  refuse(refusal: Refusal): Response {
    switch (refusal.kind) {
      case "flood": {
        const seconds = refusal.retryAfterMs / 1000;
        const headers = { "retry-after": String(Math.ceil(seconds)), "x-ratelimit-scope": "user" };
        const body = { message: "You are being rate limited.", retry_after: seconds, global: false };
        return Response.json(body, { status: 429, headers });
      }
      case "error":
        return Response.json(
          { message: `${refusal.status}: Internal Server Error`, code: 0 },
          { status: refusal.status },
        );
      case "token":
        return Response.json({ message: "401: Unauthorized", code: 0 }, { status: 401 });
      default:
        return refusal satisfies never;
    }
  }

  async answer(request: Request): Promise<Response> {
    const parts = partsOf(request);
    try {
      if (parts[0] === "webhooks") return await this.#webhookCall(parts, request);
      if (request.headers.get("authorization") !== `Bot ${TOKEN}`) return this.refuse({ kind: "token" });
      if (parts[0] === "channels") return await this.#channelCall(parts, request);
      if (parts[0] === "users" && parts[1] === "@me" && parts[2] === "channels") {
        const person = this.#guild.people.get(String(((await request.json()) as Fields)["recipient_id"]));
        if (person === undefined) throw new DiscordError(404, 10_013, "Unknown User");
        return Response.json({ id: this.#guild.direct(person), type: 1 });
      }
      if (parts[0] === "users") {
        if (parts[1] === "@me") return Response.json({ id: APPLICATION, username: "shop", bot: true });
        const person = this.#guild.people.get(parts[1] ?? "");
        if (person === undefined) throw new DiscordError(404, 10_013, "Unknown User");
        return Response.json(userOf(person));
      }
      if (parts[0] === "applications")
        return Response.json({
          id: APPLICATION,
          name: "shop",
          verify_key: this.#publicKey,
          interactions_endpoint_url: "https://bot.example.com/messengers/discord/webhook",
        });
      throw new DiscordError(404, 0, "404: Not Found");
    } catch (error) {
      if (!(error instanceof DiscordError)) throw error;
      const { code, message, status } = error;
      return Response.json({ message, code }, { status });
    } finally {
      this.#guild.changed();
    }
  }

  async #channelCall(parts: readonly string[], request: Request): Promise<Response> {
    const channel = this.#guild.channel(parts[1] ?? "");
    if (channel.isShut) {
      throw channel.isDirect
        ? new DiscordError(403, 50_007, "Cannot send messages to this user")
        : new DiscordError(403, 50_001, "Missing Access");
    }
    const { method } = request;
    if (parts[2] === undefined)
      return Response.json({
        id: channel.id,
        type: channel.isDirect ? 1 : 0,
        ...(!channel.isDirect && { guild_id: GUILD }),
      });
    if (parts[2] === "typing") {
      channel.typing += 1;
      return new Response(null, { status: 204 });
    }
    if (parts[2] !== "messages") throw new DiscordError(404, 0, "404: Not Found");
    if (parts[3] === undefined) {
      if (method === "GET") return Response.json(this.#list(channel, new URL(request.url).searchParams));
      const { fields, files } = await formOf(request);
      const { nonce: given } = fields;
      const nonce = typeof given === "string" || typeof given === "number" ? String(given) : undefined;
      if (nonce !== undefined && nonce.length > 25) throw invalidForm("nonce");
      const message =
        this.#madeWith(channel, fields["enforce_nonce"] === true ? nonce : undefined) ??
        this.#guild.add(channel, contentOf(fields, files));
      if (nonce !== undefined) channel.made.set(nonce, { id: message.id, at: Date.now() });
      // The nonce is in this answer only, and not kept with the message.
      return Response.json({ ...this.#guild.json(channel, message), ...(nonce !== undefined && { nonce }) });
    }
    const message = this.#guild.find(channel, parts[3]);
    if (parts[4] === "reactions") return new Response(null, { status: 204 });
    if (method === "GET") return Response.json(this.#guild.json(channel, message));
    if (message.authorId !== APPLICATION)
      throw new DiscordError(403, 50_005, "Cannot edit a message authored by another user");
    if (method === "DELETE") {
      channel.messages.splice(channel.messages.indexOf(message), 1);
      return new Response(null, { status: 204 });
    }
    this.#change(message, await formOf(request));
    return Response.json(this.#guild.json(channel, message));
  }

  /** Also for a message that was deleted since, no second one is made. */
  #madeWith(channel: Channel, nonce: string | undefined): Message | undefined {
    const made = nonce === undefined ? undefined : channel.made.get(nonce);
    if (made === undefined || Date.now() - made.at > NONCE_LASTS_MS) return undefined;
    return this.#guild.find(channel, made.id);
  }

  /** Answers through the token of an interaction, which need no token of the bot. */
  async #webhookCall(parts: readonly string[], request: Request): Promise<Response> {
    const interaction = this.#guild.interactions.get(parts[2] ?? "");
    if (parts[1] !== APPLICATION || interaction === undefined)
      throw new DiscordError(404, 10_015, "Unknown Webhook");
    if (Date.now() - interaction.at > INTERACTION_LASTS_MS)
      throw new DiscordError(401, 50_027, "Invalid Webhook Token");
    const { channel, original, user } = interaction;
    const { method } = request;
    if (parts[3] === undefined) {
      const { fields, files } = await formOf(request);
      // The first message after a deferred answer takes its place.
      if (original?.isThinking === true) {
        this.#change(original, { fields, files });
        return Response.json(this.#guild.json(channel, original));
      }
      const isPrivate = (Number(fields["flags"] ?? 0) & EPHEMERAL) !== 0;
      const made = this.#guild.add(channel, {
        ...contentOf(fields, files),
        ...(isPrivate && { onlyFor: user }),
      });
      return Response.json(this.#guild.json(channel, made));
    }
    const message = parts[4] === "@original" ? original : channel.messages.find(({ id }) => id === parts[4]);
    if (message === undefined) throw new DiscordError(404, 10_008, "Unknown Message");
    if (method === "DELETE") {
      channel.messages.splice(channel.messages.indexOf(message), 1);
      return new Response(null, { status: 204 });
    }
    if (method === "PATCH") this.#change(message, await formOf(request));
    return Response.json(this.#guild.json(channel, message));
  }

  /** Fields that an edit leaves out stay as they are. */
  #change(
    message: Message,
    { fields, files }: { readonly fields: Fields; readonly files: readonly SentFile[] },
  ): void {
    const before = {
      content: message.isThinking ? "" : message.content,
      embeds: message.embeds,
      components: message.components,
      flags: message.flags,
    };
    const after = contentOf({ ...before, ...fields }, files, message.files.length > 0);
    const isFirst = message.isThinking;
    Object.assign(message, after, {
      isEdited: !isFirst,
      isThinking: false,
      files: files.length > 0 ? files : message.files,
    });
  }

  #list(channel: Channel, query: URLSearchParams): readonly Fields[] {
    const limit = Number(query.get("limit") ?? 50);
    if (limit < 1 || limit > 100) throw invalidForm("limit");
    const after = query.get("after");
    const before = query.get("before");
    const found = channel.messages
      .filter(({ onlyFor }) => onlyFor === undefined)
      .filter(({ id }) => after === null || BigInt(id) > BigInt(after))
      .filter(({ id }) => before === null || BigInt(id) < BigInt(before));
    const chosen = after === null ? found.slice(-limit) : found.slice(0, limit);
    return chosen.reverse().map((message) => this.#guild.json(channel, message));
  }
}

function partsOf(request: Request): readonly string[] {
  return new URL(request.url).pathname
    .replace(/^\/api\/v10/, "")
    .slice(1)
    .split("/");
}

async function formOf(
  request: Request,
): Promise<{ readonly fields: Fields; readonly files: readonly SentFile[] }> {
  if (request.headers.get("content-type")?.startsWith("multipart/form-data") !== true) {
    return { fields: (await request.json()) as Fields, files: [] };
  }
  const form = await readForm(request);
  const payload = form.get("payload_json");
  const files: SentFile[] = [];
  for (const [name, value] of form) {
    if (!/^files\[\d+\]$/.test(name) || typeof value === "string") continue;
    files.push({ name: value.name, mediaType: value.type, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return { fields: typeof payload === "string" ? (JSON.parse(payload) as Fields) : {}, files };
}
