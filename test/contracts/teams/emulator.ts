/**
 * Microsoft Teams in memory. In a channel the bot hears of messages that mention it alone, and of edits and deletions
 * of them. Files come with an address in private chats ("Send and receive files"), pictures in channels are inline.
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
  SentFile,
  Webhook,
} from "../platform-emulator.ts";
import { below, plain, showMarkdown, withBullets } from "../shown-text.ts";
import { buttonsOf, showCard } from "./adaptive-card.ts";
import { TeamsApi } from "./api.ts";
import { Conversations, TEAM, TENANT, userIdOf } from "./conversations.ts";
import type { Activity, Consent, Conversation } from "./conversations.ts";
import { Drive, FILES } from "./drive.ts";

const APP = { id: "a2b8e1f0-5c0d-4b39-9d3e-0f6b1c7d2e11", password: "app-password" };
const BOT = { id: `28:${APP.id}`, name: "Shop Bot" };
const CONNECTOR = "https://smba.trafficmanager.net";

export class TeamsEmulator implements PlatformEmulator {
  readonly name = "teams";
  readonly #conversations: Conversations;
  readonly #api: TeamsApi;
  readonly #key = new TokenKey("connector-key");
  readonly drive = new Drive();
  readonly #uploads = new Map<string, SentFile>();

  constructor({ now = () => Date.now() }: { readonly now?: () => number } = {}) {
    this.#conversations = new Conversations(now);
    this.#api = new TeamsApi(this.#conversations, APP, this.#key, this.drive);
  }

  env(apiUrl: string): Readonly<Record<string, string>> {
    const options = { appId: APP.id, appPassword: APP.password, appTenantId: TENANT, userName: BOT.name };
    const origins = [CONNECTOR, FILES, "https://login.botframework.com", "https://login.microsoftonline.com"];
    return {
      PLATFORM: this.name,
      PLATFORM_OPTIONS: JSON.stringify(options),
      PLATFORM_ORIGINS: JSON.stringify(Object.fromEntries(origins.map((origin) => [origin, apiUrl]))),
    };
  }

  async answer(request: Request): Promise<Response> {
    if (this.drive.isSession(request)) return this.drive.upload(request);
    const { pathname } = new URL(request.url);
    const file = this.#uploads.get(pathname);
    // A download of OneDrive is signed. An inline picture needs the bot's token.
    const isOpen = pathname.startsWith("/personal/");
    if (file === undefined || (!isOpen && request.headers.get("authorization") === null)) {
      return this.#api.answer(request);
    }
    return new Response(file.bytes, { headers: { "content-type": file.mediaType } });
  }

  async describe(request: Request): Promise<PlatformCall> {
    if (this.drive.isSession(request)) return { kind: "upload" };
    return this.#api.describe(request);
  }

  refuse(refusal: Refusal, call?: PlatformCall): Response {
    return this.#api.refuse(refusal, call);
  }

  direct(person: Person): Place {
    return this.#conversations.direct(person).id;
  }

  shared(name: string): Place {
    return this.#conversations.channel(name).id;
  }

  async act(act: Act): Promise<Acted | undefined> {
    const conversation = this.#conversations.at(act.in);
    this.#conversations.people.set(userIdOf(act.by), act.by);
    if (act.kind === "write") return this.#write(act, conversation);
    // Commands of a bot's menu are text that people send.
    if (act.kind === "command") return undefined;
    const activity = this.#conversations.activity(conversation, act.messageId);
    if (activity === undefined) return undefined;
    const report = (fields: Record<string, unknown>): Acted => ({
      webhooks: [this.#webhook(act.by, activity, fields)],
    });
    switch (act.kind) {
      case "press": {
        const answers = activity.consents.flatMap((consent) => this.#answersOf(consent));
        const answer = answers.find(({ label }) => label === act.label);
        if (answer !== undefined) {
          const ids = { id: `f:${this.#conversations.nextId()}`, replyToId: activity.id };
          const value = { type: "fileUpload", ...answer.value() };
          return report({ ...ids, type: "invoke", name: "fileConsent/invoke", value });
        }
        const button = activity.cards.flatMap(buttonsOf).find(({ title }) => title === act.label);
        if (button === undefined) return undefined;
        const { data, type, verb } = button;
        const ids = { id: `f:${this.#conversations.nextId()}`, replyToId: activity.id };
        if (type === "Action.Submit") return report({ ...ids, type: "message", value: data });
        const value = { action: { type, verb, data }, trigger: "manual" };
        return report({ ...ids, type: "invoke", name: "adaptiveCard/action", value });
      }
      case "edit":
        activity.text = act.text;
        activity.isEdited = true;
        this.#conversations.changed();
        return report({ ...textOf(act.text, false), type: "messageUpdate", eventType: "editMessage" });
      case "delete":
        this.#conversations.remove(activity);
        return report({ type: "messageDelete", eventType: "softDeleteMessage" });
      case "react": {
        // Bots hear of reactions to their own messages.
        if (activity.by !== undefined) return { webhooks: [] };
        const ids = { id: `f:${this.#conversations.nextId()}`, replyToId: activity.id };
        return report({ ...ids, type: "messageReaction", reactionsAdded: [{ type: "like" }] });
      }
    }
  }

  /** Serves the conversation elsewhere from now on. Its next activity tells where (`serviceUrl`). */
  moveService(place: Place, region: string): void {
    this.#conversations.at(place).region = region;
  }

  /** Has the consent in one place carry the contexts of a card in another one. */
  forgeConsent(place: Place, from: string, elsewhere: Place): void {
    const consents = this.#conversations.activity(this.#conversations.at(elsewhere), from)?.consents ?? [];
    for (const activity of this.#conversations.activities)
      if (activity.conversation.id === place && activity.consents.length > 0) activity.consents = consents;
  }

  /** Removes the bot from the conversation. */
  shut(place: Place): void {
    this.#conversations.at(place).hasBot = false;
  }

  seen(place: Place): readonly SeenMessage[] {
    const conversation = this.#conversations.at(place);
    return this.#conversations.activities.filter((it) => it.conversation === conversation).map(show);
  }

  typingShown(place: Place): number {
    return this.#conversations.at(place).typingShown;
  }

  watch(changed: () => void): void {
    this.#conversations.changed = changed;
  }

  #write(act: Act & { readonly kind: "write" }, conversation: Conversation): Acted | undefined {
    const root = this.#conversations.activity(conversation, act.inThreadOf);
    if (act.inThreadOf !== undefined && (root === undefined || conversation.isDirect)) return undefined;
    const { by, files = [], isMention = false, text } = act;
    const activity = this.#conversations.add({
      conversation,
      threadId: root?.threadId,
      by,
      onlyFor: undefined,
      files,
      text: isMention ? `${BOT.name} ${text}` : text,
      cards: [],
      consents: [],
    });
    if (!conversation.hasBot || (!conversation.isDirect && !isMention)) {
      return { messageId: activity.id, webhooks: [] };
    }
    const attachments = [
      ...files.map((file) => this.#upload(file, conversation.isDirect)),
      { contentType: "text/html", content: `<p>${text}</p>` },
    ];
    const fields = { ...textOf(text, isMention), type: "message", attachments };
    return { messageId: activity.id, webhooks: [this.#webhook(by, activity, fields)] };
  }

  /** The buttons of a card that asks for consent, as people see them, and what each tells the bot. */
  #answersOf({ acceptContext, declineContext, name }: Consent) {
    return [
      {
        label: "Allow",
        value: () => ({ action: "accept", context: acceptContext, uploadInfo: this.drive.begin(name) }),
      },
      { label: "Decline", value: () => ({ action: "decline", context: declineContext }) },
    ];
  }

  #upload(file: SentFile, isDirect: boolean): Record<string, unknown> {
    const id = String(this.#uploads.size + 1);
    const pathname = isDirect
      ? `/personal/ada/download-${id}`
      : `/amer/${TENANT}/v3/attachments/${id}/views/original`;
    this.#uploads.set(pathname, file);
    if (!isDirect) {
      return { contentType: file.mediaType, contentUrl: `${CONNECTOR}${pathname}`, name: file.name };
    }
    return {
      contentType: "application/vnd.microsoft.teams.file.download.info",
      contentUrl: `${FILES}/personal/ada/Documents/${file.name}`,
      name: file.name,
      content: {
        downloadUrl: `${FILES}${pathname}?UniqueId=${id}&tempauth=t`,
        uniqueId: id,
        fileType: file.name.split(".").at(-1),
      },
    };
  }

  #webhook(by: Person, { conversation, id, threadId }: Activity, fields: Record<string, unknown>): Webhook {
    const now = this.#conversations.now();
    const { eventType, ...rest } = fields;
    const serviceUrl = `${CONNECTOR}/${conversation.region}/${TENANT}/`;
    const body = JSON.stringify({
      timestamp: new Date(now).toISOString(),
      id,
      channelId: "msteams",
      serviceUrl,
      from: { id: userIdOf(by), name: by.name, aadObjectId: `aad-${by.id}` },
      recipient: BOT,
      conversation: conversation.isDirect
        ? { conversationType: "personal", tenantId: TENANT, id: conversation.id }
        : {
            isGroup: true,
            conversationType: "channel",
            tenantId: TENANT,
            id: `${conversation.id};messageid=${threadId}`,
          },
      channelData: {
        ...(eventType !== undefined && { eventType }),
        tenant: { id: TENANT },
        ...(!conversation.isDirect && { team: { id: TEAM }, channel: { id: conversation.id } }),
      },
      locale: "en-US",
      ...rest,
    });
    const key = this.#key;
    const conversations = this.#conversations;
    const signed = (url: string, claims: object): Request => {
      const seconds = Math.floor(conversations.now() / 1000);
      const iss = "https://api.botframework.com";
      const usual = { serviceurl: serviceUrl, nbf: seconds - 300, exp: seconds + 3600, iss, aud: APP.id };
      const headers = {
        authorization: `Bearer ${key.sign({ ...usual, ...claims })}`,
        "content-type": "application/json; charset=utf-8",
        "user-agent": "Microsoft-SkypeBotApi (Microsoft-BotFramework/3.0)",
      };
      return new Request(url, { method: "POST", headers, body });
    };
    return {
      request: (url) => signed(url, {}),
      forOthers: (url) =>
        [
          { aud: "00000000-0000-0000-0000-000000000000" },
          { iss: "https://sts.example.com" },
          { serviceurl: "https://connector.example.com/" },
          { nbf: 1_500_000_000, exp: 1_500_003_600 },
        ].map((claims) => signed(url, claims)),
    };
  }
}

function textOf(words: string, isMention: boolean): Record<string, unknown> {
  const name = `<at>${BOT.name}</at>`;
  return {
    text: isMention ? `${name} ${words}` : words,
    textFormat: "plain",
    entities: [
      { type: "clientInfo", locale: "en-US", country: "US", platform: "Web", timezone: "Europe/London" },
      ...(isMention ? [{ type: "mention", mentioned: BOT, text: name }] : []),
    ],
  };
}

function show(activity: Activity): SeenMessage {
  const { by, cards, consents, files, id, isEdited, onlyFor, text, threadId } = activity;
  // "Format your bot messages": text has no tables, headings and lines across, and lists on the desktop alone.
  const shownAsSource = ["table", "list", "heading", "thematicBreak"] as const;
  const shown = by === undefined ? withBullets(showMarkdown(text, { shownAsSource })) : { text, marks: [] };
  return {
    id,
    by: by === undefined ? "bot" : by.id,
    ...below([shown, ...cards.map(showCard), ...consents.map(({ name }) => plain(name))]),
    ...(threadId !== undefined && threadId !== id && { threadOf: threadId }),
    ...(onlyFor !== undefined && { onlyFor }),
    buttons: [
      ...cards.flatMap(buttonsOf).flatMap(({ title }) => title ?? []),
      ...consents.flatMap(() => ["Allow", "Decline"]),
    ],
    files,
    isEdited,
  };
}
