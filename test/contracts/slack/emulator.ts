import { createHmac, randomUUID } from "node:crypto";
import type {
  Act,
  Acted,
  CallKind,
  Person,
  Place,
  PlatformCall,
  PlatformEmulator,
  Refusal,
  SeenMessage,
  SentFile,
  Webhook,
} from "../platform-emulator.ts";
import { plain, showMarkdown, showStars, type ShownText } from "../shown-text.ts";
import { type Block, buttonsOf, findButton, problemOfBlocks, showBlocks } from "./blocks.ts";

const TOKEN = "xoxb-1";
const SECRET = "s3cret";
const TEAM = "T1";
const BOT_USER = "U0BOT";

/** Limits of `chat.postMessage`: of `text`, and of `markdown_text`. */
const MOST_TEXT = 40_000;
const MOST_MARKDOWN = 12_000;

interface Message {
  readonly ts: string;
  /** The id of a Slack user. */
  readonly user: string;
  readonly threadTs?: string;
  readonly onlyFor?: string;
  text: string;
  markdown?: string;
  blocks: readonly Block[];
  readonly files: readonly SentFile[];
  readonly metadata?: unknown;
  isEdited: boolean;
}

interface Channel {
  readonly id: string;
  readonly isDirect: boolean;
  readonly messages: Message[];
  isArchived: boolean;
  typing: number;
}

type Fields = Readonly<Record<string, unknown>>;

class SlackError extends Error {}

/** Slack: the Web API, the Events API, interactivity and slash commands of one workspace, for one app. */
export class SlackEmulator implements PlatformEmulator {
  readonly name = "slack";
  readonly #channels = new Map<string, Channel>();
  readonly #people = new Map<string, Person>();
  readonly #shared = new Map<string, string>();
  readonly #files = new Map<string, SentFile>();
  readonly #tickets = new Map<string, { name: string; bytes?: Uint8Array<ArrayBuffer> }>();
  /** Where the answers to an interaction go. */
  readonly #responses = new Map<string, { channel: Channel; user: string; ts?: string; threadTs?: string }>();
  #apiUrl = "";
  #clock = 0;
  #changed: () => void = () => {};

  env(apiUrl: string): Readonly<Record<string, string>> {
    this.#apiUrl = apiUrl;
    const options = { apiUrl: `${apiUrl}/`, botToken: TOKEN, signingSecret: SECRET };
    return { PLATFORM: this.name, PLATFORM_OPTIONS: JSON.stringify(options) };
  }

  watch(changed: () => void): void {
    this.#changed = changed;
  }

  // People

  direct(person: Person): Place {
    const id = `D${person.id}`;
    this.#people.set(`U${person.id}`, person);
    this.#open(id, true);
    return id;
  }

  shared(name: string): Place {
    const id = this.#shared.get(name) ?? `C${100 + this.#shared.size}`;
    this.#shared.set(name, id);
    this.#open(id, false);
    return id;
  }

  shut(place: Place): void {
    this.#channel(place).isArchived = true;
  }

  typingShown(place: Place): number {
    return this.#channel(place).typing;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#channel(place).messages.map((message) => {
      const { text, marks } = show(message);
      return {
        id: message.ts,
        by: message.user === BOT_USER ? "bot" : message.user.slice(1),
        text,
        marks,
        ...(message.threadTs !== undefined && { threadOf: message.threadTs }),
        ...(message.onlyFor !== undefined && { onlyFor: message.onlyFor.slice(1) }),
        buttons: buttonsOf(message.blocks).map((button) => button.text.text),
        files: message.files,
        isEdited: message.isEdited,
      };
    });
  }

  async act(act: Act): Promise<Acted | undefined> {
    const channel = this.#channel(act.in);
    const user = `U${act.by.id}`;
    this.#people.set(user, act.by);
    switch (act.kind) {
      case "write":
        return this.#write(channel, user, act);
      case "command":
        return this.#command(channel, user, act.name, act.args);
      case "press":
        return this.#press(channel, user, act.messageId, act.label);
      case "edit": {
        const message = this.#message(channel, act.messageId);
        const previous = this.#eventMessage(channel, message);
        message.text = act.text;
        message.isEdited = true;
        const edited = { user, ts: this.#ts() };
        const event = {
          type: "message",
          subtype: "message_changed",
          message: { ...this.#eventMessage(channel, message), edited },
          previous_message: previous,
          hidden: true,
          ts: edited.ts,
        };
        return { messageId: message.ts, webhooks: [this.#event(channel, event)] };
      }
      case "delete": {
        const message = this.#message(channel, act.messageId);
        channel.messages.splice(channel.messages.indexOf(message), 1);
        const event = {
          type: "message",
          subtype: "message_deleted",
          deleted_ts: message.ts,
          previous_message: this.#eventMessage(channel, message),
          hidden: true,
          ts: this.#ts(),
        };
        return { webhooks: [this.#event(channel, event)] };
      }
      case "react": {
        const message = this.#message(channel, act.messageId);
        const event = {
          type: "reaction_added",
          user,
          reaction: act.emoji,
          item: { type: "message", channel: channel.id, ts: message.ts },
          item_user: message.user,
        };
        return { webhooks: [this.#event(undefined, event)] };
      }
      default:
        return act satisfies never;
    }
  }

  #write(channel: Channel, user: string, act: Act & { readonly kind: "write" }): Acted {
    const isMention = act.isMention ?? false;
    const files = act.files ?? [];
    const message: Message = {
      ts: this.#ts(),
      user,
      ...(act.inThreadOf !== undefined && { threadTs: act.inThreadOf }),
      text: `${isMention ? `<@${BOT_USER}> ` : ""}${escape(act.text)}`,
      blocks: [],
      files,
      isEdited: false,
    };
    channel.messages.push(message);
    const fileFields = files.map((file) => {
      const id = `F${this.#files.size + 1}`;
      this.#files.set(id, file);
      const address = `${this.#apiUrl}/files-pri/${TEAM}-${id}/${file.name}`;
      const { bytes, mediaType: mimetype, name } = file;
      return { id, name, mimetype, size: bytes.length, url_private: address, url_private_download: address };
    });
    const event = {
      ...this.#eventMessage(channel, message),
      ...(files.length > 0 && { subtype: "file_share", files: fileFields }),
    };
    const webhooks = [this.#event(channel, event)];
    // An app that reads channels gets both events of a mention.
    if (isMention && !channel.isDirect) {
      const { subtype: _subtype, ...mention } = event as Fields;
      webhooks.push(this.#event(undefined, { ...mention, type: "app_mention" }));
    }
    return { messageId: message.ts, webhooks };
  }

  #command(channel: Channel, user: string, name: string, text: string): Acted {
    const fields = new URLSearchParams({
      team_id: TEAM,
      team_domain: "example",
      channel_id: channel.id,
      channel_name: channel.isDirect ? "directmessage" : channel.id.toLowerCase(),
      user_id: user,
      user_name: this.#people.get(user)?.name ?? user,
      command: `/${name}`,
      text,
      api_app_id: "A1",
      is_enterprise_install: "false",
      response_url: this.#responseUrl({ channel, user }),
      trigger_id: randomUUID(),
    });
    const webhook = signed(fields.toString(), "application/x-www-form-urlencoded");
    return { webhooks: [{ ...webhook, answered: (response) => this.#answered(response, channel, user) }] };
  }

  #press(channel: Channel, user: string, ts: string, label: string): Acted {
    const message = this.#message(channel, ts);
    const found = findButton(message.blocks, label);
    if (found === undefined) throw new Error(`There is no button ${label}.`);
    const { block, button } = found;
    const thread = message.threadTs === undefined ? {} : { thread_ts: message.threadTs };
    const payload = {
      type: "block_actions",
      user: { id: user, username: user, name: this.#people.get(user)?.name, team_id: TEAM },
      api_app_id: "A1",
      container: { type: "message", message_ts: ts, channel_id: channel.id, is_ephemeral: false, ...thread },
      trigger_id: randomUUID(),
      team: { id: TEAM, domain: "example" },
      enterprise: null,
      is_enterprise_install: false,
      channel: { id: channel.id, name: channel.isDirect ? "directmessage" : "channel" },
      message: this.#eventMessage(channel, message),
      state: { values: {} },
      response_url: this.#responseUrl({
        channel,
        user,
        ts,
        ...(message.threadTs && { threadTs: message.threadTs }),
      }),
      actions: [{ ...button, block_id: block.block_id, action_ts: this.#ts() }],
    };
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    return { webhooks: [signed(body, "application/x-www-form-urlencoded")] };
  }

  /** Slack shows the answer to a slash command to the person. */
  async #answered(response: Response, channel: Channel, user: string): Promise<void> {
    const body = await response.text();
    if (body === "") return;
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    const answer = isJson ? (JSON.parse(body) as Fields) : { text: body };
    if (typeof answer["text"] === "string" && answer["text"] !== "") this.#respond({ channel, user }, answer);
  }

  // The API

  async describe(request: Request): Promise<PlatformCall> {
    const method = methodOf(request);
    const kind = KINDS[method] ?? "other";
    if (method.startsWith("upload/")) return { kind: "upload" };
    if (method.startsWith("response/"))
      return { kind: "post", place: this.#responses.get(method.slice(9))?.channel.id };
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
      const target = this.#responses.get(method.slice(9));
      if (target === undefined) return new Response("expired_url", { status: 404 });
      this.#respond(target, (await request.json()) as Fields);
      return new Response("ok");
    }
    const fields = await fieldsOf(request);
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? fields["token"];
    if (method.startsWith("files-pri/")) {
      const file = this.#files.get(/-(F\d+)\//.exec(method)?.[1] ?? "");
      // Without the token Slack answers with the page to sign in.
      if (token !== TOKEN)
        return new Response("<!DOCTYPE html>", { headers: { "content-type": "text/html" } });
      if (file === undefined) return new Response("", { status: 404 });
      return new Response(file.bytes, { headers: { "content-type": file.mediaType } });
    }
    if (token === undefined) return Response.json({ ok: false, error: "not_authed" });
    if (token !== TOKEN) return Response.json({ ok: false, error: "invalid_auth" });
    try {
      return Response.json({ ok: true, ...this.#call(method, fields) });
    } catch (error) {
      if (error instanceof SlackError) return Response.json({ ok: false, error: error.message });
      throw error;
    } finally {
      this.#changed();
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
        const person = this.#people.get(id);
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
        const person = this.#people.get(user);
        if (person === undefined) throw new SlackError("user_not_found");
        return { channel: { id: this.direct(person) } };
      }
      case "conversations.history":
      case "conversations.replies":
        return this.#list(method, fields);
      case "chat.postMessage": {
        const { message } = this.#post(fields);
        const channel = textField(fields, "channel");
        return { channel, ts: message.ts, message: this.#eventMessage(this.#channel(channel), message) };
      }
      case "chat.postEphemeral": {
        const user = textField(fields, "user");
        if (!this.#people.has(user)) throw new SlackError("user_not_in_channel");
        return { message_ts: this.#post(fields, user).message.ts };
      }
      case "chat.update":
        return this.#update(fields);
      case "chat.delete": {
        const channel = this.#of(fields);
        const message = this.#own(channel, fields, "cant_delete_message");
        channel.messages.splice(channel.messages.indexOf(message), 1);
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
        const id = `F9${this.#tickets.size + 1}`;
        this.#tickets.set(id, { name });
        return { upload_url: `${this.#apiUrl}/upload/${id}`, file_id: id };
      }
      case "files.completeUploadExternal":
        return this.#completeUpload(fields);
      case "reactions.add":
        this.#message(this.#of(fields), textField(fields, "timestamp"));
        return {};
      default:
        throw new SlackError("unknown_method");
    }
  }

  #post(fields: Fields, onlyFor?: string): { readonly message: Message } {
    const channel = this.#of(fields);
    if (channel.isArchived) throw new SlackError("is_archived");
    const content = contentOf(fields);
    const threadTs = fields["thread_ts"];
    const message: Message = {
      ts: this.#ts(),
      user: BOT_USER,
      ...(typeof threadTs === "string" && threadTs !== "" && { threadTs }),
      ...(onlyFor !== undefined && { onlyFor }),
      ...content,
      files: [],
      metadata: json(fields["metadata"]),
      isEdited: false,
    };
    channel.messages.push(message);
    return { message };
  }

  #update(fields: Fields): Fields {
    const channel = this.#of(fields);
    if (channel.isArchived) throw new SlackError("is_archived");
    const message = this.#own(channel, fields, "cant_update_message");
    const content = contentOf(fields);
    message.text = content.text;
    message.blocks = content.blocks;
    if (content.markdown === undefined) delete message.markdown;
    else message.markdown = content.markdown;
    message.isEdited = true;
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
    const messages = found.slice(0, Number(fields["limit"] ?? 100)).map((message) => ({
      ...this.#eventMessage(channel, message),
      ...(withMetadata && message.metadata !== undefined && { metadata: message.metadata }),
    }));
    return { messages, has_more: false, response_metadata: { next_cursor: "" } };
  }

  async #upload(id: string, request: Request): Promise<Response> {
    const ticket = this.#tickets.get(id);
    if (ticket === undefined) return new Response("", { status: 404 });
    const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
    const form = isForm ? await request.formData() : undefined;
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
      const ticket = this.#tickets.get(id);
      if (ticket?.bytes === undefined) throw new SlackError("file_not_found");
      return { name: ticket.name, mediaType: "application/octet-stream", bytes: ticket.bytes };
    });
    const id = fields["channel_id"] ?? fields["channels"];
    if (typeof id === "string") {
      const channel = this.#channels.get(id);
      if (channel === undefined) throw new SlackError("channel_not_found");
      if (channel.isArchived) throw new SlackError("is_archived");
      const threadTs = fields["thread_ts"];
      channel.messages.push({
        ts: this.#ts(),
        user: BOT_USER,
        ...(typeof threadTs === "string" && { threadTs }),
        text: typeof fields["initial_comment"] === "string" ? fields["initial_comment"] : "",
        blocks: [],
        files,
        isEdited: false,
      });
    }
    return { files: named.map(({ id: file, title }) => ({ id: file, title })) };
  }

  #respond(target: { channel: Channel; user: string; ts?: string; threadTs?: string }, fields: Fields): void {
    const { channel, threadTs, ts, user } = target;
    const original = channel.messages.find((message) => message.ts === ts);
    if (fields["delete_original"] === true && original !== undefined) {
      channel.messages.splice(channel.messages.indexOf(original), 1);
    } else if (fields["replace_original"] === true && original !== undefined) {
      Object.assign(original, contentOf(fields), { isEdited: true });
    } else {
      channel.messages.push({
        ts: this.#ts(),
        user: BOT_USER,
        ...(threadTs !== undefined && { threadTs }),
        ...(fields["response_type"] !== "in_channel" && { onlyFor: user }),
        ...contentOf(fields),
        files: [],
        isEdited: false,
      });
    }
    this.#changed();
  }

  #responseUrl(target: { channel: Channel; user: string; ts?: string; threadTs?: string }): string {
    const id = String(this.#responses.size + 1);
    this.#responses.set(id, target);
    return `${this.#apiUrl}/response/${id}`;
  }

  // State

  #open(id: string, isDirect: boolean): void {
    if (this.#channels.has(id)) return;
    this.#channels.set(id, { id, isDirect, messages: [], isArchived: false, typing: 0 });
  }

  #channel(id: string): Channel {
    const channel = this.#channels.get(id);
    if (channel === undefined) throw new SlackError("channel_not_found");
    return channel;
  }

  #channelField(fields: Fields, name: string): Channel {
    return this.#channel(textField(fields, name));
  }

  #of(fields: Fields): Channel {
    return this.#channelField(fields, "channel");
  }

  #message(channel: Channel, ts: string): Message {
    const message = channel.messages.find((one) => one.ts === ts && one.onlyFor === undefined);
    if (message === undefined) throw new SlackError("message_not_found");
    return message;
  }

  #own(channel: Channel, fields: Fields, refusal: string): Message {
    const message = this.#message(channel, textField(fields, "ts"));
    if (message.user !== BOT_USER) throw new SlackError(refusal);
    return message;
  }

  /** Unique in the workspace, and later ones are larger. */
  #ts(): string {
    this.#clock = Math.max(this.#clock + 1, Date.now() * 1000);
    return `${Math.floor(this.#clock / 1_000_000)}.${String(this.#clock % 1_000_000).padStart(6, "0")}`;
  }

  #eventMessage(channel: Channel, message: Message): Fields {
    const { threadTs } = message;
    const parent = channel.messages.find(({ ts }) => ts === threadTs);
    const isBot = message.user === BOT_USER;
    return {
      type: "message",
      user: message.user,
      ts: message.ts,
      text: message.text,
      team: TEAM,
      ...(message.blocks.length > 0 && { blocks: message.blocks }),
      ...(threadTs !== undefined && { thread_ts: threadTs, parent_user_id: parent?.user }),
      ...(isBot ? { bot_id: "B1", app_id: "A1" } : { client_msg_id: `client-${message.ts}` }),
    };
  }

  #event(channel: Channel | undefined, event: Fields): Webhook {
    const ts = this.#ts();
    const place =
      channel === undefined ? {} : { channel: channel.id, channel_type: channel.isDirect ? "im" : "channel" };
    const full = { ...event, ...(event["type"] === "app_mention" ? {} : place), event_ts: event["ts"] ?? ts };
    const body = JSON.stringify({
      token: "unused",
      team_id: TEAM,
      context_team_id: TEAM,
      api_app_id: "A1",
      event: full,
      type: "event_callback",
      event_id: `Ev${ts.replace(".", "")}`,
      event_time: Math.floor(Number(ts)),
      authorizations: [
        { enterprise_id: null, team_id: TEAM, user_id: BOT_USER, is_bot: true, is_enterprise_install: false },
      ],
      is_ext_shared_channel: false,
    });
    return signed(body, "application/json");
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

/** Forms have their structures as JSON. */
function json(value: unknown): unknown {
  return typeof value === "string" && value !== "" ? JSON.parse(value) : value;
}

function contentOf(fields: Fields): { text: string; markdown?: string; blocks: readonly Block[] } {
  const text = typeof fields["text"] === "string" ? fields["text"] : "";
  const markdown = typeof fields["markdown_text"] === "string" ? fields["markdown_text"] : undefined;
  const blocks = (json(fields["blocks"]) ?? []) as readonly Block[];
  if (markdown !== undefined && (text !== "" || blocks.length > 0))
    throw new SlackError("markdown_text_conflict");
  if (text === "" && (markdown ?? "") === "" && blocks.length === 0) throw new SlackError("no_text");
  if (text.length > MOST_TEXT || (markdown?.length ?? 0) > MOST_MARKDOWN)
    throw new SlackError("msg_too_long");
  const problem = problemOfBlocks(blocks);
  if (problem !== undefined) throw new SlackError(problem);
  return { text: markdown ?? text, ...(markdown !== undefined && { markdown }), blocks };
}

/** `markdown_text` shows the source of tables. */
function show({ blocks, markdown, text }: Message): ShownText {
  if (blocks.length > 0) return showBlocks(blocks);
  if (markdown !== undefined) return showMarkdown(markdown, { shownAsSource: ["table"] });
  const shown = showStars(text, { hasLabels: true });
  return shown.text === "" ? plain("") : { ...shown, text: unescape(shown.text) };
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function signed(body: string, type: string): Webhook {
  return {
    request(url) {
      const at = String(Math.floor(Date.now() / 1000));
      const signature = createHmac("sha256", SECRET).update(`v0:${at}:${body}`).digest("hex");
      const headers = {
        "content-type": type,
        "x-slack-request-timestamp": at,
        "x-slack-signature": `v0=${signature}`,
      };
      return new Request(url, { method: "POST", body, headers });
    },
  };
}
