import { generateKeyPairSync, randomUUID, sign } from "node:crypto";
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
import { below, withMentions, withoutCode, type ShownText } from "../shown-text.ts";
import { allOf, buttonsOf, showComponents, showContent, showEmbed } from "./components.ts";
import {
  APPLICATION,
  contentOf,
  EPHEMERAL,
  Guild,
  GUILD,
  userOf,
  type Channel,
  type Fields,
  type Interaction,
  type Message,
} from "./guild.ts";
import { RestApi, TOKEN } from "./rest-api.ts";

/** Shown while a deferred answer is awaited. */
const THINKING = "Shop is thinking…";

/**
 * Discord for an app without a connection to the Gateway: the REST API, and interactions by HTTP. People can use commands
 * and press buttons. Ordinary messages are not reported to the app.
 */
export class DiscordEmulator implements PlatformEmulator {
  readonly name = "discord";
  readonly talksByCommand = true;
  readonly #guild = new Guild();
  readonly #keys = generateKeyPairSync("ed25519");
  readonly #publicKey = this.#keys.publicKey
    .export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex");
  readonly #api = new RestApi(this.#guild, this.#publicKey);
  readonly #shared = new Map<string, string>();

  env(apiUrl: string): Readonly<Record<string, string>> {
    const options = { apiUrl, applicationId: APPLICATION, botToken: TOKEN, publicKey: this.#publicKey };
    return {
      PLATFORM: this.name,
      PLATFORM_OPTIONS: JSON.stringify(options),
      // The adapter sends files and answers to interactions there, whatever its `apiUrl` is.
      PLATFORM_ORIGINS: JSON.stringify({ "https://discord.com": apiUrl }),
    };
  }

  watch(changed: () => void): void {
    this.#guild.changed = changed;
  }

  describe(request: Request): PlatformCall {
    return this.#api.describe(request);
  }

  refuse(refusal: Refusal): Response {
    return this.#api.refuse(refusal);
  }

  answer(request: Request): Promise<Response> {
    return this.#api.answer(request);
  }

  direct(person: Person): Place {
    return this.#guild.direct(person);
  }

  shared(name: string): Place {
    const id = this.#shared.get(name) ?? `88${String(this.#shared.size).padStart(8, "0")}`;
    this.#shared.set(name, id);
    return this.#guild.open(id, false);
  }

  shut(place: Place): void {
    this.#guild.channel(place).isShut = true;
  }

  typingShown(place: Place): number {
    return this.#guild.channel(place).typing;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#guild.channel(place).messages.map((message) => ({
      id: message.id,
      by: message.authorId === APPLICATION ? "bot" : message.authorId,
      ...withMentions(show(message), withoutCode(sourceOf(message)), MENTION),
      ...(message.onlyFor !== undefined && { onlyFor: message.onlyFor }),
      buttons: buttonsOf(message.components).map(({ label }) => label ?? ""),
      files: message.files,
      isEdited: message.isEdited,
    }));
  }

  async act(act: Act): Promise<Acted | undefined> {
    const channel = this.#guild.channel(act.in);
    this.#guild.people.set(act.by.id, act.by);
    switch (act.kind) {
      case "write": {
        const mention = act.isMention === true ? `<@${APPLICATION}> ` : "";
        const files = act.files ?? [];
        const message = this.#guild.add(channel, { authorId: act.by.id, content: mention + act.text, files });
        return { messageId: message.id, webhooks: [] };
      }
      case "command": {
        const options = act.args === "" ? [] : [{ name: "text", type: 3, value: act.args }];
        const data = { id: this.#guild.id(), name: act.name, type: 1, options };
        return { webhooks: [this.#interaction(channel, act.by, 2, { data })] };
      }
      case "press": {
        const message = this.#guild.find(channel, act.messageId);
        const button = buttonsOf(message.components).find(({ label }) => label === act.label);
        if (button === undefined) throw new Error(`There is no button ${act.label}.`);
        const data = { component_type: 2, custom_id: button.custom_id, id: 2 };
        return {
          webhooks: [
            this.#interaction(channel, act.by, 3, { data, message: this.#guild.json(channel, message) }),
          ],
        };
      }
      case "edit": {
        Object.assign(this.#guild.find(channel, act.messageId), { content: act.text, isEdited: true });
        return { messageId: act.messageId, webhooks: [] };
      }
      case "delete": {
        channel.messages.splice(channel.messages.indexOf(this.#guild.find(channel, act.messageId)), 1);
        return { webhooks: [] };
      }
      case "react":
        return { webhooks: [] };
      default:
        return act satisfies never;
    }
  }

  #interaction(channel: Channel, by: Person, type: number, fields: Fields): Webhook {
    const token = randomUUID();
    const interaction: Interaction = {
      channel,
      user: by.id,
      at: Date.now(),
      isAnswered: false,
      original: undefined,
    };
    this.#guild.interactions.set(token, interaction);
    const user = userOf(by);
    const body = JSON.stringify({
      id: this.#guild.id(),
      application_id: APPLICATION,
      type,
      token,
      version: 1,
      channel_id: channel.id,
      channel: {
        id: channel.id,
        type: channel.isDirect ? 1 : 0,
        ...(!channel.isDirect && { guild_id: GUILD, name: "general" }),
      },
      ...(channel.isDirect
        ? { user, context: 1 }
        : { guild_id: GUILD, member: { user, roles: [], permissions: "0" }, context: 0 }),
      locale: "en-US",
      entitlements: [],
      attachment_size_limit: 10_485_760,
      ...fields,
    });
    return {
      request: (url) => {
        const timestamp = String(Math.floor(Date.now() / 1000));
        const signature = sign(null, Buffer.from(timestamp + body), this.#keys.privateKey).toString("hex");
        const headers = {
          "content-type": "application/json",
          "x-signature-ed25519": signature,
          "x-signature-timestamp": timestamp,
        };
        return new Request(url, { method: "POST", body, headers });
      },
      answered: async (response) => {
        this.#callback(interaction, (await response.json()) as Fields);
        this.#guild.changed();
      },
    };
  }

  /** Shows an answer to an interaction: a message, a sign that one will come, or nothing yet. */
  #callback(interaction: Interaction, { data, type }: Fields): void {
    if (interaction.isAnswered) return;
    interaction.isAnswered = true;
    const fields = (data ?? {}) as Fields;
    const { channel, user } = interaction;
    const isPrivate = (Number(fields["flags"] ?? 0) & EPHEMERAL) !== 0;
    const readers = isPrivate ? { onlyFor: user } : {};
    if (type === 4) interaction.original = this.#guild.add(channel, { ...contentOf(fields, []), ...readers });
    if (type === 5)
      interaction.original = this.#guild.add(channel, { content: THINKING, isThinking: true, ...readers });
  }
}

/** Without `allowed_mentions`, all of them notify. */
const MENTION = /@(?:everyone|here)|<@[!&]?\d+>/g;

function sourceOf({ components, content }: Message): string {
  return [content, ...allOf(components).map((component) => component.content ?? "")].join("\n");
}

function show(message: Message): ShownText {
  return below([
    showContent(message.content),
    ...message.embeds.map((embed) => showEmbed(embed)),
    showComponents(message.components),
  ]);
}
