import type { CallKind, PlatformCall, Refusal, SentFile } from "../platform-emulator.ts";
import { readForm } from "../read-form.ts";
import {
  BOT_USER,
  contentOf,
  json,
  SlackError,
  TEAM,
  TOKEN,
  type Channel,
  type Fields,
  type Message,
  type Workspace,
} from "./workspace.ts";

/** Most bytes of `text` in `chat.update`. */
const MOST_UPDATED_TEXT = 4000;

/** `conversations.history` and `.replies`: calls of each in a minute, and messages in an answer. */
const READING = { most: 50, page: 1000 };
/** Every answer tells the scopes of the token. */
const SCOPES =
  "app_mentions:read,channels:history,chat:write,commands,files:read,files:write,groups:history,im:history,mpim:history,reactions:read,users:read";
/** Those of apps that are sold outside of the Marketplace ("Rate limit changes for non-Marketplace apps"). */
const READING_OUTSIDE = { most: 1, page: 15 };
const MINUTE_MS = 60_000;

export interface WebApiOptions {
  /** Whether the app is sold, and not in the Marketplace. @default false */
  readonly isSoldOutside?: boolean;
  readonly now?: () => number;
}

/** The methods of the Web API that a bot uses, and the addresses to which files and answers to interactions go. */
export class WebApi {
  readonly #workspace: Workspace;
  readonly #reading: typeof READING;
  readonly #now: () => number;
  readonly #reads: { readonly method: string; readonly at: number }[] = [];

  constructor(workspace: Workspace, { isSoldOutside = false, now = () => Date.now() }: WebApiOptions = {}) {
    this.#workspace = workspace;
    this.#reading = isSoldOutside ? READING_OUTSIDE : READING;
    this.#now = now;
  }

  async describe(request: Request): Promise<PlatformCall> {
    const method = methodOf(request);
    const kind = KINDS[method] ?? "other";
    if (method.startsWith("upload/")) return { kind: "upload" };
    if (method.startsWith("response/"))
      return { kind: "post", place: this.#workspace.responses.get(method.slice(9))?.channel.id };
    const fields = await fieldsOf(request);
    const place = fields["channel"] ?? fields["channel_id"];
    return { kind, ...(typeof place === "string" && { place }) };
  }

  refuse(refusal: Refusal): Response {
    switch (refusal.kind) {
      case "flood": {
        const headers = { "retry-after": String(Math.ceil(refusal.retryAfterMs / 1000)) };
        return Response.json({ ok: false, error: "ratelimited" }, { status: 429, headers });
      }
      case "error":
        return new Response("", { status: refusal.status });
      case "token":
        return Response.json({ ok: false, error: "invalid_auth" });
      default:
        return refusal satisfies never;
    }
  }

  async answer(request: Request): Promise<Response> {
    const method = methodOf(request);
    if (method.startsWith("upload/")) return this.#upload(method.slice(7), request);
    if (method.startsWith("response/")) {
      const target = this.#workspace.responses.get(method.slice(9));
      if (target === undefined) return new Response("expired_url", { status: 404 });
      this.#workspace.respond(target, (await request.json()) as Fields);
      return new Response("ok");
    }
    const fields = await fieldsOf(request);
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") || fields["token"];
    if (method.startsWith("files-pri/")) {
      const file = this.#workspace.files.get(/-(F\d+)\//.exec(method)?.[1] ?? "");
      // Without the token Slack answers with the page to sign in.
      if (token !== TOKEN)
        return new Response("<!DOCTYPE html>", { headers: { "content-type": "text/html" } });
      if (file === undefined) return new Response("", { status: 404 });
      return new Response(file.bytes, { headers: { "content-type": file.mediaType } });
    }
    if (token === undefined) return Response.json({ ok: false, error: "not_authed" });
    if (token !== TOKEN) return Response.json({ ok: false, error: "invalid_auth" });
    const waitMs = this.#waitBefore(method);
    if (waitMs > 0) return this.refuse({ kind: "flood", retryAfterMs: waitMs });
    try {
      return Response.json(
        { ok: true, ...this.#call(method, fields) },
        { headers: { "x-oauth-scopes": SCOPES } },
      );
    } catch (error) {
      if (error instanceof SlackError) return Response.json({ ok: false, error: error.message });
      throw error;
    } finally {
      this.#workspace.changed();
    }
  }

  #call(method: string, fields: Fields): Fields {
    switch (method) {
      case "auth.test":
        return {
          url: "https://example.slack.com/",
          team: "Example",
          user: "shop",
          team_id: TEAM,
          user_id: BOT_USER,
          bot_id: "B1",
        };
      case "users.info": {
        const id = textField(fields, "user");
        const person = this.#workspace.people.get(id);
        if (person === undefined && id !== BOT_USER) throw new SlackError("user_not_found");
        const name = person?.name ?? "shop";
        return {
          user: {
            id,
            name,
            real_name: name,
            is_bot: id === BOT_USER,
            profile: { display_name: name, real_name: name },
          },
        };
      }
      case "conversations.info": {
        const { id, isDirect, isArchived } = this.#of(fields);
        return {
          channel: {
            id,
            name: id.toLowerCase(),
            is_im: isDirect,
            is_channel: !isDirect,
            is_archived: isArchived,
            is_member: true,
          },
        };
      }
      case "conversations.open": {
        const user = textField(fields, "users");
        const person = this.#workspace.people.get(user);
        if (person === undefined) throw new SlackError("user_not_found");
        return { channel: { id: this.#workspace.direct(person) } };
      }
      case "conversations.history":
      case "conversations.replies":
        return this.#list(method, fields);
      case "chat.postMessage": {
        const { message } = this.#post(fields);
        const channel = textField(fields, "channel");
        return {
          channel,
          ts: message.ts,
          message: this.#workspace.eventMessage(this.#workspace.channel(channel), message),
        };
      }
      case "chat.postEphemeral": {
        const user = textField(fields, "user");
        if (!this.#workspace.people.has(user)) throw new SlackError("user_not_in_channel");
        return { message_ts: this.#post(fields, user).message.ts };
      }
      case "chat.update":
        return this.#update(fields);
      case "chat.delete": {
        const channel = this.#of(fields);
        const message = this.#own(channel, fields, "cant_delete_message");
        channel.messages.splice(channel.messages.indexOf(message), 1);
        this.#workspace.echoed(channel, this.#workspace.deletion(channel, message));
        return { channel: channel.id, ts: message.ts };
      }
      case "assistant.threads.setStatus": {
        const channel = this.#channelField(fields, "channel_id");
        if (!channel.messages.some(({ ts }) => ts === fields["thread_ts"]))
          throw new SlackError("invalid_thread_ts");
        if (textField(fields, "status") !== "") channel.typing += 1;
        return {};
      }
      case "files.getUploadURLExternal": {
        const name = textField(fields, "filename");
        if (!(Number(fields["length"]) > 0)) throw new SlackError("invalid_arguments");
        const id = `F9${this.#workspace.tickets.size + 1}`;
        this.#workspace.tickets.set(id, { name });
        return { upload_url: `${this.#workspace.apiUrl}/upload/${id}`, file_id: id };
      }
      case "files.completeUploadExternal":
        return this.#completeUpload(fields);
      case "files.info": {
        const id = textField(fields, "file");
        const ticket = this.#workspace.tickets.get(id);
        if (ticket === undefined) throw new SlackError("file_not_found");
        const { isTold, name, shared } = ticket;
        ticket.isTold = true;
        if (shared === undefined || isTold !== true) return { file: { id, name, shares: {} } };
        const { channel, ts } = shared;
        return {
          file: {
            id,
            name,
            shares: { [channel.isDirect ? "private" : "public"]: { [channel.id]: [{ ts }] } },
          },
        };
      }
      case "reactions.add":
        this.#workspace.message(this.#of(fields), textField(fields, "timestamp"));
        return {};
      default:
        throw new SlackError("unknown_method");
    }
  }

  /** Returns how long the app must wait before it may read again. */
  #waitBefore(method: string): number {
    if (method !== "conversations.history" && method !== "conversations.replies") return 0;
    const now = this.#now();
    const reads = this.#reads.filter((read) => read.method === method && read.at > now - MINUTE_MS);
    const first = reads.at(-this.#reading.most);
    if (first !== undefined) return first.at + MINUTE_MS - now;
    this.#reads.push({ method, at: now });
    return 0;
  }

  #post(fields: Fields, onlyFor?: string): { readonly message: Message } {
    const channel = this.#of(fields);
    if (channel.isArchived) throw new SlackError("is_archived");
    const content = contentOf(fields);
    const threadTs = fields["thread_ts"];
    const message: Message = {
      ts: this.#workspace.ts(),
      user: BOT_USER,
      ...(typeof threadTs === "string" && threadTs !== "" && { threadTs }),
      ...(onlyFor !== undefined && { onlyFor }),
      ...content,
      files: [],
      metadata: json(fields["metadata"]),
      isEdited: false,
    };
    channel.messages.push(message);
    if (onlyFor === undefined)
      this.#workspace.echoed(channel, this.#workspace.eventMessage(channel, message));
    return { message };
  }

  #update(fields: Fields): Fields {
    const channel = this.#of(fields);
    if (channel.isArchived) throw new SlackError("is_inactive");
    const message = this.#own(channel, fields, "cant_update_message");
    const content = contentOf(fields);
    const previous = this.#workspace.eventMessage(channel, message);
    const { text } = fields;
    if (typeof text === "string" && Buffer.byteLength(text) > MOST_UPDATED_TEXT)
      throw new SlackError("msg_too_long");
    message.text = content.text;
    message.blocks = content.blocks;
    if (content.markdown === undefined) delete message.markdown;
    else message.markdown = content.markdown;
    message.isEdited = true;
    this.#workspace.echoed(channel, this.#workspace.change(channel, message, previous));
    return { channel: channel.id, ts: message.ts, text: message.text };
  }

  #list(method: string, fields: Fields): Fields {
    const channel = this.#of(fields);
    const oldest = Number(fields["oldest"] ?? 0);
    const latest = Number(fields["latest"] ?? Infinity);
    const isInclusive = String(fields["inclusive"]) === "true";
    const withMetadata = String(fields["include_all_metadata"]) === "true";
    const thread = method === "conversations.replies" ? textField(fields, "ts") : undefined;
    const found = channel.messages
      .filter(({ onlyFor }) => onlyFor === undefined)
      .filter(({ threadTs, ts }) =>
        thread === undefined ? threadTs === undefined : threadTs === thread || ts === thread,
      )
      .filter(({ ts }) =>
        isInclusive
          ? Number(ts) >= oldest && Number(ts) <= latest
          : Number(ts) > oldest && Number(ts) < latest,
      );
    if (thread !== undefined && !channel.messages.some(({ ts }) => ts === thread))
      throw new SlackError("thread_not_found");
    if (thread === undefined) found.reverse();
    const limit = Math.min(Number(fields["limit"] ?? 100), this.#reading.page);
    const messages = found.slice(0, limit).map((message) => ({
      ...this.#workspace.eventMessage(channel, message),
      ...(withMetadata && message.metadata !== undefined && { metadata: message.metadata }),
    }));
    const hasMore = found.length > limit;
    return { messages, has_more: hasMore, response_metadata: { next_cursor: hasMore ? "bmV4dA==" : "" } };
  }

  async #upload(id: string, request: Request): Promise<Response> {
    const ticket = this.#workspace.tickets.get(id);
    if (ticket === undefined) return new Response("", { status: 404 });
    const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
    const form = isForm ? await readForm(request) : undefined;
    const part =
      form === undefined ? undefined : [...form.values()].find((value) => typeof value !== "string");
    const source = part === undefined ? request : (part as Blob);
    ticket.bytes = new Uint8Array(await source.arrayBuffer());
    return new Response(`OK - ${ticket.bytes.length}`);
  }

  #completeUpload(fields: Fields): Fields {
    const named = json(fields["files"]) as
      | readonly { readonly id: string; readonly title?: string }[]
      | undefined;
    if (!Array.isArray(named) || named.length === 0) throw new SlackError("invalid_arguments");
    const files = named.map(({ id }): SentFile => {
      const ticket = this.#workspace.tickets.get(id);
      if (ticket?.bytes === undefined) throw new SlackError("file_not_found");
      return { name: ticket.name, mediaType: "application/octet-stream", bytes: ticket.bytes };
    });
    const id = fields["channel_id"] ?? fields["channels"];
    if (typeof id === "string") {
      const channel = this.#workspace.channels.get(id);
      if (channel === undefined) throw new SlackError("channel_not_found");
      if (channel.isArchived) throw new SlackError("is_archived");
      const threadTs = fields["thread_ts"];
      const message: Message = {
        ts: this.#workspace.ts(),
        user: BOT_USER,
        ...(typeof threadTs === "string" && { threadTs }),
        text: typeof fields["initial_comment"] === "string" ? fields["initial_comment"] : "",
        blocks: [],
        files,
        isEdited: false,
      };
      channel.messages.push(message);
      for (const { id: file } of named) {
        const ticket = this.#workspace.tickets.get(file);
        if (ticket !== undefined) ticket.shared = { channel, ts: message.ts };
      }
      const event = { ...this.#workspace.eventMessage(channel, message), subtype: "file_share" };
      this.#workspace.echoed(channel, event);
    }
    return { files: named.map(({ id: file, title }) => ({ id: file, title })) };
  }

  #channelField(fields: Fields, name: string): Channel {
    return this.#workspace.channel(textField(fields, name));
  }

  #of(fields: Fields): Channel {
    return this.#channelField(fields, "channel");
  }

  #own(channel: Channel, fields: Fields, refusal: string): Message {
    const message = this.#workspace.message(channel, textField(fields, "ts"));
    if (message.user !== BOT_USER) throw new SlackError(refusal);
    return message;
  }
}

const KINDS: Readonly<Record<string, CallKind>> = {
  "chat.postMessage": "post",
  "chat.postEphemeral": "post",
  "files.completeUploadExternal": "post",
  "files.getUploadURLExternal": "upload",
  "chat.update": "edit",
  "chat.delete": "remove",
  "assistant.threads.setStatus": "typing",
  "auth.test": "read",
  "users.info": "read",
  "files.info": "read",
  "conversations.info": "read",
  "conversations.history": "read",
  "conversations.replies": "read",
};

function methodOf(request: Request): string {
  return new URL(request.url).pathname.slice(1);
}

async function fieldsOf(request: Request): Promise<Fields> {
  const query = Object.fromEntries(new URL(request.url).searchParams);
  const text = await request.text();
  if (text === "") return query;
  if (request.headers.get("content-type")?.includes("json") === true) return JSON.parse(text) as Fields;
  return { ...query, ...Object.fromEntries(new URLSearchParams(text)) };
}

function textField(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new SlackError("invalid_arguments");
  return value;
}
