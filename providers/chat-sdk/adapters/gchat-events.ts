import type { Adapter, Message } from "chat";
import { z } from "zod";
import { isRecord } from "../../../src/core/json/is-record.ts";
import type { MentioningText } from "../events/text-to-bot.ts";
import type { UnreportedMessage } from "./adapter-profile.ts";
import { replaceMethod } from "./search/post-key.ts";

const object = z.looseObject({});
const parameters = z.record(z.string(), z.string()).nullish().catch(undefined);

/** An event of an app that is not a Google Workspace add-on ("Receive and respond to user interactions"). */
const interaction = z.object({
  type: z.enum(["MESSAGE", "ADDED_TO_SPACE", "APP_COMMAND", "CARD_CLICKED"]),
  eventTime: z.string().nullish(),
  space: object,
  user: object.nullish(),
  message: object.nullish(),
  action: z.object({ actionMethodName: z.string().nullish() }).nullish(),
  common: z.looseObject({ invokedFunction: z.string().nullish(), parameters }).nullish(),
});

/** A slash command of an add-on. A command of the menu has no message, and tells no more than its number. */
const command = z.object({
  chat: z.looseObject({ appCommandPayload: z.looseObject({ space: object, message: object }) }),
});

/** The parts of the adapter that read the events of add-ons. */
interface GoogleChatAdapter {
  handleMessageEvent(event: unknown): void;
  handleCardClick(event: unknown): void;
}

/**
 * Reads the events of an app that is no add-on, and the slash commands of one that is. The adapter reads the messages and
 * presses of add-ons alone, so these events get the form of theirs.
 */
export function readUnreported(body: unknown): UnreportedMessage | undefined {
  const ofAddOn = command.safeParse(body).data?.chat;
  if (ofAddOn !== undefined) return reported({ ...ofAddOn, messagePayload: ofAddOn.appCommandPayload });
  const { data } = interaction.safeParse(body);
  // An app that was added without words gets no message.
  if (!data?.message) return undefined;
  const { action, common, eventTime, message, space, type, user } = data;
  const chat = { user, eventTime };
  if (type !== "CARD_CLICKED") return reported({ ...chat, messagePayload: { space, message } });
  const invokedFunction = common?.invokedFunction ?? action?.actionMethodName;
  const press = {
    commonEventObject: { ...common, invokedFunction },
    chat: { ...chat, buttonClickedPayload: { space, message, user } },
  };
  return { kind: "new", report: (adapter) => partsOf(adapter).handleCardClick(press) };
}

function reported(chat: object): UnreportedMessage {
  return { kind: "new", report: (adapter) => partsOf(adapter).handleMessageEvent({ chat }) };
}

const partsOf = (adapter: Adapter): GoogleChatAdapter => adapter as unknown as GoogleChatAdapter;

const mentioning = z.object({
  chat: z.object({
    messagePayload: z.object({
      message: z.object({
        text: z.string(),
        annotations: z
          .array(
            z.object({
              startIndex: z.number().nullish(),
              length: z.number().nullish(),
              userMention: z
                .object({ user: z.object({ name: z.string(), type: z.string().nullish() }) })
                .nullish(),
            }),
          )
          .nullish(),
      }),
    }),
  }),
});

/** Finds the mentions of the bot, whose name in Google Chat is not that of the adapter. */
export function mentioningText(
  { raw }: Pick<Message, "raw" | "text">,
  botUserId: string | undefined,
): MentioningText | undefined {
  const { data } = mentioning.safeParse(raw);
  if (data === undefined) return undefined;
  const { annotations, text } = data.chat.messagePayload.message;
  const mentions = (annotations ?? [])
    .filter(({ userMention }) => isBot(userMention?.user, botUserId))
    .map(({ length, startIndex }) => text.slice(startIndex ?? 0, (startIndex ?? 0) + (length ?? 0)));
  return { text, mentions: mentions.filter((mention) => mention !== "") };
}

/** An app that does not know its own id hears of mentions of its own alone. */
function isBot(
  user: { readonly name: string; readonly type?: string | null | undefined } | undefined,
  botUserId: string | undefined,
): boolean {
  return botUserId === undefined ? user?.type === "BOT" : user?.name === botUserId;
}

/**
 * Has each message of an event taken for one that mentions the bot: in a space an app gets no others. Events are stored
 * without the permissions that those of add-ons have.
 */
export function prepareEvents(adapter: Adapter): void {
  for (const name of ["handleMessageEvent", "handleCardClick"]) {
    replaceMethod(
      adapter,
      name,
      (handle) =>
        (event: unknown, ...more: unknown[]) =>
          handle(withoutPermissions(event), ...more),
    );
  }
  replaceMethod(adapter, "parseGoogleChatMessage", (parse) => (...event: unknown[]) => {
    const message = parse(...event) as Message;
    message.isMention = true;
    return message;
  });
}

/** Leaves out a person's and Google's tokens, and an address that has one. */
function withoutPermissions(event: unknown): unknown {
  if (!isRecord(event)) return event;
  const { authorizationEventObject: _tokens, chat, ...rest } = event;
  if (!isRecord(chat)) return rest;
  const payloads = Object.entries(chat).map(([name, value]): [string, unknown] => {
    if (!isRecord(value)) return [name, value];
    const { configCompleteRedirectUri: _address, ...payload } = value;
    return [name, payload];
  });
  return { ...rest, chat: Object.fromEntries(payloads) };
}
