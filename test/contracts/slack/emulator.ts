import { createHmac, randomUUID } from "node:crypto";
import type {
  Act,
  Acted,
  Person,
  Place,
  PlatformCall,
  PlatformEmulator,
  Refusal,
  SeenMessage,
  Webhook,
} from "../platform-emulator.ts";
import { plain, showMarkdown, showStars, withMentions, type ShownText } from "../shown-text.ts";
import { buttonsOf, findButton, showBlocks } from "./blocks.ts";
import { WebApi, type WebApiOptions } from "./web-api.ts";
import { BOT_USER, TEAM, TOKEN, Workspace, type Channel, type Fields, type Message } from "./workspace.ts";

const SECRET = "s3cret";

/** Slack: the Web API, the Events API, interactivity and slash commands of one workspace, for one app. */
export class SlackEmulator implements PlatformEmulator {
  readonly name = "slack";
  readonly #workspace = new Workspace();
  readonly #api: WebApi;
  readonly #shared = new Map<string, string>();

  constructor(options: WebApiOptions = {}) {
    this.#api = new WebApi(this.#workspace, options);
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    this.#workspace.apiUrl = apiUrl;
    const options = { apiUrl: `${apiUrl}/`, botToken: TOKEN, signingSecret: SECRET };
    return { PLATFORM: this.name, PLATFORM_OPTIONS: JSON.stringify(options) };
  }

  watch(changed: () => void): void {
    this.#workspace.changed = changed;
  }

  /** An app that reads channels hears of its own messages, too. */
  watchEchoes(echoed: (webhook: Webhook) => void): void {
    this.#workspace.echoed = (channel, event) => echoed(this.#event(channel, event));
  }

  /** More than 30,000 events in an hour: Slack drops them, and says so once a minute ("app_rate_limited event"). */
  dropEvents(): Webhook {
    const seconds = Math.floor(Date.now() / 60_000) * 60;
    const event = { token: "unused", type: "app_rate_limited", minute_rate_limited: seconds };
    return signed(JSON.stringify({ ...event, team_id: TEAM, api_app_id: "A1" }), "application/json");
  }

  describe(request: Request): Promise<PlatformCall> {
    return this.#api.describe(request);
  }

  refuse(refusal: Refusal): Response {
    return this.#api.refuse(refusal);
  }

  /** The workspace may limit for how long people and apps change their messages. */
  refuseEdit(): Response {
    return Response.json({ ok: false, error: "edit_window_closed" });
  }

  answer(request: Request): Promise<Response> {
    return this.#api.answer(request);
  }

  direct(person: Person): Place {
    return this.#workspace.direct(person);
  }

  shared(name: string): Place {
    const id = this.#shared.get(name) ?? `C${100 + this.#shared.size}`;
    this.#shared.set(name, id);
    this.#workspace.open(id, false);
    return id;
  }

  shut(place: Place): void {
    this.#workspace.channel(place).isArchived = true;
  }

  typingShown(place: Place): number {
    return this.#workspace.channel(place).typing;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#workspace.channel(place).messages.map((message) => {
      const { text, marks } = withMentions(show(message), sourceOf(message), MENTION);
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
    const channel = this.#workspace.channel(act.in);
    const user = `U${act.by.id}`;
    this.#workspace.people.set(user, act.by);
    switch (act.kind) {
      case "write":
        return this.#write(channel, user, act);
      case "command":
        return this.#command(channel, user, act.name, act.args);
      case "press":
        return this.#press(channel, user, act.messageId, act.label);
      case "edit": {
        const message = this.#workspace.message(channel, act.messageId);
        const previous = this.#workspace.eventMessage(channel, message);
        message.text = act.text;
        message.isEdited = true;
        const event = this.#workspace.change(channel, message, previous);
        return { messageId: message.ts, webhooks: [this.#event(channel, event)] };
      }
      case "delete": {
        const message = this.#workspace.message(channel, act.messageId);
        channel.messages.splice(channel.messages.indexOf(message), 1);
        return { webhooks: [this.#event(channel, this.#workspace.deletion(channel, message))] };
      }
      case "react": {
        const message = this.#workspace.message(channel, act.messageId);
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
      ts: this.#workspace.ts(),
      user,
      ...(act.inThreadOf !== undefined && { threadTs: act.inThreadOf }),
      text: `${isMention ? `<@${BOT_USER}> ` : ""}${escape(act.text)}`,
      blocks: [],
      files,
      isEdited: false,
    };
    channel.messages.push(message);
    const fileFields = files.map((file) => {
      const id = `F${this.#workspace.files.size + 1}`;
      this.#workspace.files.set(id, file);
      const address = `${this.#workspace.apiUrl}/files-pri/${TEAM}-${id}/${file.name}`;
      const { bytes, mediaType: mimetype, name } = file;
      return { id, name, mimetype, size: bytes.length, url_private: address, url_private_download: address };
    });
    const event = {
      ...this.#workspace.eventMessage(channel, message),
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
      user_name: this.#workspace.people.get(user)?.name ?? user,
      command: `/${name}`,
      text,
      api_app_id: "A1",
      is_enterprise_install: "false",
      response_url: this.#workspace.responseUrl({ channel, user }),
      trigger_id: randomUUID(),
    });
    const webhook = signed(fields.toString(), "application/x-www-form-urlencoded");
    return { webhooks: [{ ...webhook, answered: (response) => this.#answered(response, channel, user) }] };
  }

  #press(channel: Channel, user: string, ts: string, label: string): Acted {
    const message = this.#workspace.message(channel, ts);
    const found = findButton(message.blocks, label);
    if (found === undefined) throw new Error(`There is no button ${label}.`);
    const { block, button } = found;
    const thread = message.threadTs === undefined ? {} : { thread_ts: message.threadTs };
    const payload = {
      type: "block_actions",
      user: { id: user, username: user, name: this.#workspace.people.get(user)?.name, team_id: TEAM },
      api_app_id: "A1",
      container: { type: "message", message_ts: ts, channel_id: channel.id, is_ephemeral: false, ...thread },
      trigger_id: randomUUID(),
      team: { id: TEAM, domain: "example" },
      enterprise: null,
      is_enterprise_install: false,
      channel: { id: channel.id, name: channel.isDirect ? "directmessage" : "channel" },
      message: this.#workspace.eventMessage(channel, message),
      state: { values: {} },
      response_url: this.#workspace.responseUrl({
        channel,
        user,
        ts,
        ...(message.threadTs && { threadTs: message.threadTs }),
      }),
      actions: [{ ...button, block_id: block.block_id, action_ts: this.#workspace.ts() }],
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
    if (typeof answer["text"] === "string" && answer["text"] !== "")
      this.#workspace.respond({ channel, user }, answer);
  }

  #event(channel: Channel | undefined, event: Fields): Webhook {
    const ts = this.#workspace.ts();
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

/** `markdown_text` shows all of Markdown, also tables (docs.slack.dev/reference/block-kit/blocks/markdown-block). */
/** "Formatting message text": the references that notify people. */
const MENTION = /<(?:@[UW]|!(?:channel|everyone|here|subteam\^))[^>]*>/g;

/** All that may notify people: labels and other plain texts never do. */
function sourceOf({ blocks, markdown = "", text }: Message): string {
  const parsed = JSON.stringify(blocks, (_key, value: unknown) =>
    typeof value === "object" && value !== null && "type" in value && value.type === "plain_text"
      ? null
      : value,
  );
  return `${text}\n${markdown}\n${parsed}`;
}

function show({ blocks, markdown, text }: Message): ShownText {
  if (blocks.length > 0) return showBlocks(blocks);
  if (markdown !== undefined) return showMarkdown(markdown);
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
  const signedAt = (url: string, seconds: number): Request => {
    const at = String(Math.floor(seconds));
    const signature = createHmac("sha256", SECRET).update(`v0:${at}:${body}`).digest("hex");
    const headers = {
      "content-type": type,
      "x-slack-request-timestamp": at,
      "x-slack-signature": `v0=${signature}`,
    };
    return new Request(url, { method: "POST", body, headers });
  };
  return {
    request: (url) => signedAt(url, Date.now() / 1000),
    // "Verifying requests from Slack": one of more than five minutes ago could be a replay.
    forOthers: (url) => [signedAt(url, Date.now() / 1000 - 310)],
  };
}
