/**
 * Google Chat in memory: direct messages with the app, and spaces that it was added to.
 *
 * The app is not a Google Workspace add-on. So its requests name the number of its project, and its events have a `type`
 * ("Verify requests from Google Chat", "Receive and respond to user interactions"). In a space the app hears of messages
 * that mention it, and of its commands. The mention that adds it to a space comes as `ADDED_TO_SPACE`. It does not hear of
 * edits, deletions and reactions, unless it subscribes to them by Pub/Sub.
 */
import { TokenKey } from "../json-web-token.ts";
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
import { below, showMarkdown, showStars, withMentions, type ShownText } from "../shown-text.ts";
import { GoogleChatApi } from "./api.ts";
import { eventMessageJson, spaceJson, Spaces, userJson } from "./spaces.ts";
import type { Button, CardWithId, Message, Space, User, Widget } from "./spaces.ts";

const PROJECT_NUMBER = "1234567890";
const ISSUER = "chat@system.gserviceaccount.com";
const EMAIL = "shop-bot@shop-project.iam.gserviceaccount.com";
const USER_NAME = "shop-bot";
/** The app's commands in the console. */
const COMMANDS = ["ping"];

export class GoogleChatEmulator implements PlatformEmulator {
  readonly name = "gchat";
  readonly #spaces: Spaces;
  readonly #api: GoogleChatApi;
  readonly #chatKey = new TokenKey("424189bd9a18927f7ee924f1a100601f1524f441");
  readonly #accountKey: TokenKey;

  /** @param options `accountKey` is the key of the app's service account. */
  constructor(options: { readonly now?: () => number; readonly accountKey?: TokenKey } = {}) {
    this.#spaces = new Spaces(options.now ?? (() => Date.now()));
    this.#accountKey = options.accountKey ?? new TokenKey("account-key");
    this.#api = new GoogleChatApi(this.#spaces, { email: EMAIL, key: this.#accountKey }, this.#chatKey);
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const options = {
      apiUrl: `${apiUrl}/`,
      credentials: { client_email: EMAIL, private_key: this.#accountKey.privatePem },
      googleChatProjectNumber: PROJECT_NUMBER,
      userName: USER_NAME,
    };
    const hosts = { "https://oauth2.googleapis.com": apiUrl, "https://www.googleapis.com": apiUrl };
    return {
      PLATFORM: this.name,
      PLATFORM_OPTIONS: JSON.stringify(options),
      PLATFORM_ORIGINS: JSON.stringify(hosts),
    };
  }

  answer(request: Request): Promise<Response> {
    return this.#api.answer(request);
  }

  describe(request: Request): PlatformCall {
    return this.#api.describe(request);
  }

  refuse(refusal: Refusal, call?: PlatformCall): Response {
    return this.#api.refuse(refusal, call);
  }

  direct(person: Person): Place {
    return this.#spaces.spaceNamed(this.#spaces.user(person).name, true).name;
  }

  shared(name: string): Place {
    return this.#spaces.spaceNamed(name, false).name;
  }

  async act(act: Act): Promise<Acted | undefined> {
    const space = this.#spaceAt(act.in);
    const by = this.#spaces.user(act.by);
    if (act.kind === "write") return this.#write(act, space, by);
    // Commands are numbered, as the app's owner has registered them in the console.
    const commandId = act.kind === "command" ? COMMANDS.indexOf(act.name) + 1 : 0;
    if (act.kind === "command") return commandId > 0 ? this.#command(act, commandId, space, by) : undefined;
    const message = this.#spaces.find(act.messageId);
    if (message?.space !== space) return undefined;
    switch (act.kind) {
      case "press":
        return this.#press(message, by, act.label);
      case "edit":
        message.text = act.text;
        message.updatedAt = this.#spaces.now();
        break;
      case "delete":
        message.isDeleted = true;
        break;
      case "react":
    }
    this.#spaces.changed();
    return { webhooks: [] };
  }

  /** Removes the app from the space. */
  shut(place: Place): void {
    this.#spaceAt(place).hasBot = false;
  }

  seen(place: Place): readonly SeenMessage[] {
    return this.#spaces.messages
      .filter((it) => it.space.name === place && !it.isDeleted)
      .map((it) => this.#show(it));
  }

  /** Google Chat cannot show it. */
  typingShown(): number {
    return 0;
  }

  watch(changed: () => void): void {
    this.#spaces.changed = changed;
  }

  #write(act: Act & { readonly kind: "write" }, space: Space, by: User): Acted | undefined {
    const mention = `@${this.#spaces.bot.displayName}`;
    const text = act.isMention ? `${mention} ${act.text}` : act.text;
    const thread = act.inThreadOf === undefined ? undefined : this.#spaces.find(act.inThreadOf)?.thread;
    if (act.inThreadOf !== undefined && thread === undefined) return undefined;
    const message = this.#spaces.add({ space, by, text, files: act.files ?? [] }, thread);
    if (!space.hasBot || (!space.isDirect && act.isMention !== true)) {
      return { messageId: message.name, webhooks: [] };
    }
    const annotation = {
      type: "USER_MENTION",
      startIndex: 0,
      length: mention.length,
      userMention: { user: userJson(this.#spaces.bot), type: "MENTION" },
    };
    const json = {
      ...eventMessageJson(message),
      argumentText: ` ${act.text}`,
      ...(act.isMention && { annotations: [annotation] }),
    };
    const type = space.isNew && !space.isDirect ? "ADDED_TO_SPACE" : "MESSAGE";
    space.isNew = false;
    return { messageId: message.name, webhooks: [this.#webhook(by, { type, space, message: json })] };
  }

  /** Only the app and the person see a command. */
  #command(act: Act & { readonly kind: "command" }, id: number, space: Space, by: User): Acted | undefined {
    if (!space.hasBot) return undefined;
    const name = `/${act.name}`;
    const text = `${name} ${act.args}`.trim();
    const message = this.#spaces.add({ space, by, text, viewer: by.name }, undefined);
    const commandId = String(id);
    const slashCommand = {
      bot: userJson(this.#spaces.bot),
      type: "INVOKE",
      commandName: name,
      commandId,
    };
    const json = {
      ...eventMessageJson(message),
      argumentText: ` ${act.args}`,
      slashCommand: { commandId },
      annotations: [{ type: "SLASH_COMMAND", startIndex: 0, length: name.length, slashCommand }],
    };
    return { webhooks: [this.#webhook(by, { type: "MESSAGE", space, message: json })] };
  }

  #press(message: Message, by: User, label: string): Acted | undefined {
    const action = buttonsOf(message.cards).find(({ text }) => text === label)?.onClick?.action;
    // A card with an action that names no function cannot be pressed.
    if (action?.function === undefined) return undefined;
    const { function: name, parameters = [] } = action;
    const values = Object.fromEntries(parameters.map(({ key, value }) => [key, value]));
    const webhook = this.#webhook(by, {
      type: "CARD_CLICKED",
      space: message.space,
      message: eventMessageJson(message),
      action: { actionMethodName: name, parameters },
      common: { invokedFunction: name, parameters: values },
    });
    return { webhooks: [webhook] };
  }

  #webhook(
    by: User,
    { common, space, ...event }: { readonly type: string; readonly space: Space } & Record<string, unknown>,
  ): Webhook {
    const now = this.#spaces.now();
    const body = JSON.stringify({
      ...event,
      eventTime: new Date(now).toISOString(),
      user: userJson(by),
      space: spaceJson(space),
      common: { userLocale: "en", hostApp: "CHAT", ...(common as object | undefined) },
    });
    const key = this.#chatKey;
    const spaces = this.#spaces;
    const signed = (url: string, claims: object): Request => {
      const seconds = Math.floor(spaces.now() / 1000);
      const usual = { aud: PROJECT_NUMBER, iss: ISSUER, iat: seconds, exp: seconds + 3600 };
      const headers = {
        authorization: `Bearer ${key.sign({ ...usual, ...claims })}`,
        "content-type": "application/json",
        "user-agent": "Google-Dynamite",
      };
      return new Request(url, { method: "POST", headers, body });
    };
    return {
      request: (url) => signed(url, {}),
      forOthers: (url) =>
        [
          { aud: "9876543210" },
          { iss: "robot@example.iam.gserviceaccount.com" },
          { iat: 1_500_000_000, exp: 1_500_003_600 },
        ].map((claims) => signed(url, claims)),
    };
  }

  #show(message: Message): SeenMessage {
    const root = this.#spaces.rootOf(message);
    const words = message.isMarkdown
      ? showMarkdown(message.text)
      : showStars(message.text, { hasLabels: true });
    const parts = [words, ...message.cards.flatMap(showCard)];
    return {
      id: message.name,
      by: message.by.isBot ? "bot" : message.by.name.replace("users/", ""),
      ...withMentions(below(parts), message.text, /<users\/[^>]+>/g),
      ...(root !== undefined && root !== message && { threadOf: root.name }),
      ...(message.viewer !== undefined && { onlyFor: message.viewer.replace("users/", "") }),
      buttons: buttonsOf(message.cards).flatMap(({ disabled, onClick, text }) =>
        text !== undefined && onClick?.action !== undefined && disabled !== true ? [text] : [],
      ),
      files: message.files,
      isEdited: message.updatedAt !== undefined,
    };
  }

  #spaceAt(place: Place): Space {
    const space = this.#spaces.findSpace(place);
    if (space === undefined) throw new Error(`Google Chat has no place ${place}.`);
    return space;
  }
}

function widgetsOf(cards: readonly CardWithId[]): readonly Widget[] {
  return cards.flatMap(({ card }) => card?.sections ?? []).flatMap(({ widgets }) => widgets ?? []);
}

function buttonsOf(cards: readonly CardWithId[]): readonly Button[] {
  return widgetsOf(cards).flatMap(({ buttonList }) => buttonList?.buttons ?? []);
}

function showCard(card: CardWithId): readonly ShownText[] {
  const { subtitle = "", title = "" } = card.card?.header ?? {};
  const texts = widgetsOf([card]).flatMap(({ decoratedText, textParagraph }) => [
    textParagraph?.text ?? "",
    decoratedText?.topLabel ?? "",
    decoratedText?.text ?? "",
    decoratedText?.bottomLabel ?? "",
  ]);
  return [title, subtitle, ...texts].map(showHtml);
}

/** Cards render a part of HTML. Signs of the text of messages, such as `*`, are shown as they are. */
function showHtml(source: string): ShownText {
  const kinds = { b: "bold", i: "italic", s: "strike" } as const;
  const marks = [...source.matchAll(/<(b|i|s)>([^]*?)<\/\1>/g)].map(([, tag, text = ""]) => ({
    kind: kinds[tag as keyof typeof kinds],
    text: bare(text),
  }));
  const links = [...source.matchAll(/<a href="([^"]*)">([^]*?)<\/a>/g)].map(([, url = "", text = ""]) => ({
    kind: "link" as const,
    text: bare(text),
    url,
  }));
  return { text: bare(source), marks: [...marks, ...links] };
}

function bare(html: string): string {
  return html.replaceAll("<br>", "\n").replaceAll(/<[^>]*>/g, "");
}
