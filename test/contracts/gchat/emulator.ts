/**
 * Google Chat in memory: direct messages with the app, and spaces that it was added to.
 *
 * An app is of one of two kinds ("Verify requests from Google Chat", "Receive and respond to user interactions", "Chat
 * event objects" of add-ons):
 * - Requests to a Google Workspace add-on have an ID token of Google for an account of the app's project, which names the
 *   address of the webhook. Events have their content below `chat`. A button must name that address.
 * - Requests to any other app have a token of Google Chat that names the number of the project. Events have a `type`.
 *
 * In a space the app hears of messages that mention it, and of its commands. A slash command is a message, a quick command
 * is picked from a menu. The app does not hear of edits, deletions and reactions, unless it subscribes to them by Pub/Sub.
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
/** The app's commands in the console, by their numbers from 1. */
const COMMANDS: readonly { readonly name: string; readonly isQuick: boolean }[] = [
  { name: "ping", isQuick: false },
  { name: "menu", isQuick: true },
];
/** The webhook of an add-on in the console. */
const ENDPOINT = "https://bot.example.com/messengers/gchat/webhook";
const addOnAccountOf = (project: string): string =>
  `service-${project}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com`;

const APP_CLAIMS = { aud: PROJECT_NUMBER, iss: ISSUER };
const ADD_ON_CLAIMS = {
  aud: ENDPOINT,
  iss: "https://accounts.google.com",
  azp: "101400000000000000000",
  sub: "101400000000000000000",
  email: addOnAccountOf(PROJECT_NUMBER),
  email_verified: true,
};

interface Event {
  readonly type: "MESSAGE" | "ADDED_TO_SPACE" | "CARD_CLICKED" | "APP_COMMAND";
  readonly space: Space;
  readonly message?: Readonly<Record<string, unknown>>;
  readonly appCommandMetadata?: { readonly appCommandId: number; readonly appCommandType: string };
  /** Of a press. */
  readonly function?: string;
  readonly parameters?: readonly { readonly key: string; readonly value: string }[];
}

/** Names of an event's content in an event of an add-on. */
const PAYLOADS = {
  MESSAGE: "messagePayload",
  ADDED_TO_SPACE: "addedToSpacePayload",
  CARD_CLICKED: "buttonClickedPayload",
  APP_COMMAND: "appCommandPayload",
} as const;

export class GoogleChatEmulator implements PlatformEmulator {
  readonly name = "gchat";
  readonly #spaces: Spaces;
  readonly #api: GoogleChatApi;
  readonly #chatKey = new TokenKey("424189bd9a18927f7ee924f1a100601f1524f441");
  readonly #googleKey = new TokenKey("a3b762f871cdb3bae0044c649622fc1396eda3e3");
  readonly #accountKey: TokenKey;
  readonly #isAddOn: boolean;

  /** @param options `accountKey` is the key of the app's service account. */
  constructor(
    options: { readonly now?: () => number; readonly accountKey?: TokenKey; readonly isAddOn?: boolean } = {},
  ) {
    this.#spaces = new Spaces(options.now ?? (() => Date.now()));
    this.#accountKey = options.accountKey ?? new TokenKey("account-key");
    this.#isAddOn = options.isAddOn === true;
    const keys = { chat: this.#chatKey, google: this.#googleKey };
    this.#api = new GoogleChatApi(this.#spaces, { email: EMAIL, key: this.#accountKey }, keys);
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const options = {
      apiUrl: `${apiUrl}/`,
      credentials: { client_email: EMAIL, private_key: this.#accountKey.privatePem },
      userName: USER_NAME,
      ...(this.#isAddOn
        ? { endpointUrl: ENDPOINT, workspaceAddOnServiceAccountEmail: addOnAccountOf(PROJECT_NUMBER) }
        : { googleChatProjectNumber: PROJECT_NUMBER }),
    };
    const quick = COMMANDS.flatMap(({ isQuick, name }, index) => (isQuick ? [[index + 1, name]] : []));
    const hosts = { "https://oauth2.googleapis.com": apiUrl, "https://www.googleapis.com": apiUrl };
    return {
      PLATFORM: this.name,
      PLATFORM_OPTIONS: JSON.stringify(options),
      PLATFORM_ORIGINS: JSON.stringify(hosts),
      QUICK_COMMANDS: JSON.stringify(Object.fromEntries(quick)),
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
    if (act.kind === "command") return this.#command(act, space, by);
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
    const isAdded = space.isNew && !space.isDirect;
    space.isNew = false;
    return { messageId: message.name, webhooks: this.#added(isAdded, by, { space, message: json }) };
  }

  /** An add-on that is added by a mention hears of the addition, and then of the message. */
  #added(isAdded: boolean, by: User, event: Omit<Event, "type">): readonly Webhook[] {
    if (!isAdded) return [this.#webhook(by, { ...event, type: "MESSAGE" })];
    if (!this.#isAddOn) return [this.#webhook(by, { ...event, type: "ADDED_TO_SPACE" })];
    const { space } = event;
    return [
      this.#webhook(by, { space, type: "ADDED_TO_SPACE" }),
      this.#webhook(by, { ...event, type: "MESSAGE" }),
    ];
  }

  /** Commands are numbered in the console. Only the app and the person see a command. */
  #command(act: Act & { readonly kind: "command" }, space: Space, by: User): Acted | undefined {
    const appCommandId = COMMANDS.findIndex(({ name }) => name === act.name) + 1;
    if (appCommandId === 0 || !space.hasBot) return undefined;
    if (COMMANDS[appCommandId - 1]?.isQuick === true) {
      const appCommandMetadata = { appCommandId, appCommandType: "QUICK_COMMAND" };
      return { webhooks: [this.#webhook(by, { type: "APP_COMMAND", space, appCommandMetadata })] };
    }
    const name = `/${act.name}`;
    const text = `${name} ${act.args}`.trim();
    const message = this.#spaces.add({ space, by, text, viewer: by.name }, undefined);
    const commandId = String(appCommandId);
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
    const appCommandMetadata = { appCommandId, appCommandType: "SLASH_COMMAND" };
    const event = this.#isAddOn
      ? ({ type: "APP_COMMAND", space, message: json, appCommandMetadata } as const)
      : ({ type: "MESSAGE", space, message: json } as const);
    return { webhooks: [this.#webhook(by, event)] };
  }

  #press(message: Message, by: User, label: string): Acted | undefined {
    const action = buttonsOf(message.cards).find(({ text }) => text === label)?.onClick?.action;
    // A card with an action that names no function cannot be pressed. That of an add-on is an address.
    if (action?.function === undefined || (this.#isAddOn && action.function !== ENDPOINT)) return undefined;
    const { function: name, parameters = [] } = action;
    const webhook = this.#webhook(by, {
      type: "CARD_CLICKED",
      space: message.space,
      message: eventMessageJson(message),
      function: name,
      parameters,
    });
    return { webhooks: [webhook] };
  }

  #webhook(by: User, event: Event): Webhook {
    const { appCommandMetadata, function: invokedFunction, message, parameters = [], space, type } = event;
    const values = Object.fromEntries(parameters.map(({ key, value }) => [key, value]));
    const eventTime = new Date(this.#spaces.now()).toISOString();
    const user = userJson(by);
    const content = { space: spaceJson(space), message, appCommandMetadata };
    const common = { userLocale: "en", hostApp: "CHAT" };
    const redirect = "https://chat.google.com/api/bot_config_complete?token=s3cret";
    const ofAddOn = (systemIdToken: string): object => ({
      commonEventObject: { ...common, platform: "WEB", parameters: values },
      authorizationEventObject: { systemIdToken },
      chat: { user, eventTime, [PAYLOADS[type]]: { ...content, configCompleteRedirectUri: redirect } },
    });
    const ofApp = {
      ...content,
      type,
      eventTime,
      user,
      configCompleteRedirectUrl: redirect,
      ...(type === "CARD_CLICKED"
        ? { action: { actionMethodName: invokedFunction, parameters } }
        : undefined),
      common: { ...common, ...(type === "CARD_CLICKED" && { invokedFunction, parameters: values }) },
    };
    const signed = (url: string, claims: object, key = this.#isAddOn ? this.#googleKey : this.#chatKey) => {
      const seconds = Math.floor(this.#spaces.now() / 1000);
      const times = { iat: seconds, exp: seconds + 3600 };
      const token = key.sign({ ...times, ...(this.#isAddOn ? ADD_ON_CLAIMS : APP_CLAIMS), ...claims });
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "user-agent": "Google-Dynamite",
      };
      const body = JSON.stringify(this.#isAddOn ? ofAddOn(token) : ofApp);
      return new Request(url, { method: "POST", headers, body });
    };
    const old = { iat: 1_500_000_000, exp: 1_500_003_600 };
    return {
      request: (url) => signed(url, {}),
      forOthers: (url) =>
        this.#isAddOn
          ? [
              { aud: "https://other.example.com/messengers/gchat/webhook" },
              { email: addOnAccountOf("9876543210") },
              { email: "robot@example.iam.gserviceaccount.com" },
              { email_verified: false },
              { iss: "https://accounts.example.com" },
              old,
            ]
              .map((claims) => signed(url, claims))
              // Google Chat's own key signs for other apps alone.
              .concat(signed(url, {}, this.#chatKey), signed(url, APP_CLAIMS, this.#chatKey))
          : [{ aud: "9876543210" }, { iss: "robot@example.iam.gserviceaccount.com" }, old].map((claims) =>
              signed(url, claims),
            ),
    };
  }

  #show(message: Message): SeenMessage {
    const root = this.#spaces.rootOf(message);
    const words = message.isMarkdown
      ? showMarkdown(message.text)
      : withLists(showStars(message.text, { hasLabels: true, item: ITEM }));
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

/** An item of a list ("Format messages"). Each level of nesting has four spaces in front. */
const ITEM = /^(?: {4})*[*-] (.+)$/gm;

function withLists({ marks, text }: ShownText): ShownText {
  return { text: text.replace(ITEM, (line) => line.replace(/[*-]/, "•")), marks };
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
