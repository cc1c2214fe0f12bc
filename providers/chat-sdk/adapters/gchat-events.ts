import type { Adapter, ChatInstance, Message } from "chat";
import { z } from "zod";
import { isRecord } from "../../../src/core/json/is-record.ts";
import type { MentioningText } from "../events/text-to-bot.ts";
import type { CommandNames, UnreportedEvent } from "./adapter-profile.ts";
import { replaceMethod } from "./search/post-key.ts";

const object = z.looseObject({});
const parameters = z.record(z.string(), z.string()).nullish().catch(undefined);
const person = z.looseObject({ name: z.string(), displayName: z.string().nullish() });
const place = z.looseObject({
  name: z.string(),
  type: z.string().nullish(),
  spaceType: z.string().nullish(),
});
/** The owner of the app has given each command a number. */
const appCommandMetadata = z.object({
  appCommandId: z.union([z.string().regex(/^\d+$/), z.int()]).transform(String),
  appCommandType: z.string().nullish(),
});
const command = z.object({
  space: place,
  thread: z.looseObject({ name: z.string() }).nullish(),
  message: object.nullish(),
  appCommandMetadata: appCommandMetadata.nullish().catch(undefined),
});
const origin = z.object({ user: person.nullish().catch(undefined), eventTime: z.string().nullish() });

/** An event of an app that is not a Google Workspace add-on ("Receive and respond to user interactions"). */
const interaction = command.extend({
  ...origin.shape,
  type: z.enum(["MESSAGE", "ADDED_TO_SPACE", "APP_COMMAND", "CARD_CLICKED"]),
  action: z.object({ actionMethodName: z.string().nullish() }).nullish(),
  common: z.looseObject({ invokedFunction: z.string().nullish(), parameters }).nullish(),
});
const addOnCommand = z.object({ chat: origin.extend({ appCommandPayload: command }) });

/** The parts of the adapter that read the events of add-ons. */
interface GoogleChatAdapter {
  readonly chat: Pick<ChatInstance, "processSlashCommand">;
  encodeThreadId(place: { spaceName: string; threadName?: string | undefined; isDM: boolean }): string;
  handleMessageEvent(event: unknown): void;
  handleCardClick(event: unknown): void;
}

/**
 * Reads the events of an app that is no add-on, and the commands of one that is. The adapter reads the messages and
 * presses of add-ons alone, so these events get the form of theirs.
 */
export function readUnreported(body: unknown, nameOf: CommandNames): UnreportedEvent | undefined {
  const ofAddOn = addOnCommand.safeParse(body).data?.chat;
  if (ofAddOn !== undefined) return readCommand(ofAddOn.appCommandPayload, ofAddOn, nameOf);
  const { data } = interaction.safeParse(body);
  if (data?.type === "APP_COMMAND") return readCommand(data, data, nameOf);
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

/**
 * A slash command is a message of the person. A quick command has none, and tells its number alone. The message of an
 * action on messages is somebody else's.
 */
function readCommand(
  { appCommandMetadata: metadata, message, space, thread }: z.output<typeof command>,
  { eventTime, user }: z.output<typeof origin>,
  nameOf: CommandNames,
): UnreportedEvent | undefined {
  const type = metadata?.appCommandType;
  if (type === "MESSAGE_ACTION") return undefined;
  if (message && type !== "QUICK_COMMAND")
    return reported({ user, eventTime, messagePayload: { space, message } });
  if (!metadata || !user) return undefined;
  const { appCommandId: number } = metadata;
  const name = nameOf(number);
  if (name === undefined) return { kind: "unnamed-command", number };
  return {
    kind: "new",
    async report(adapter) {
      const parts = partsOf(adapter);
      const isDM = isDirect(space);
      const threadName = isDM ? undefined : thread?.name;
      const fullName = user.displayName ?? user.name;
      await parts.chat.processSlashCommand(
        {
          adapter,
          channelId: parts.encodeThreadId({ spaceName: space.name, threadName, isDM }),
          command: `/${name}`,
          text: "",
          user: { userId: user.name, userName: fullName, fullName, isBot: false, isMe: false },
          // Google Chat gives it no id.
          triggerId: `${user.name} ${number} ${eventTime ?? ""}`,
          raw: {
            chat: { user, eventTime, appCommandPayload: { space, thread, appCommandMetadata: metadata } },
          },
        },
        undefined,
      );
    },
  };
}

/** Whether a space is a chat of one person with the app. */
export function isDirect({ spaceType, type }: Pick<z.output<typeof place>, "spaceType" | "type">): boolean {
  return type === "DM" || spaceType === "DIRECT_MESSAGE";
}

function reported(chat: object): UnreportedEvent {
  return { kind: "new", report: (adapter) => partsOf(adapter).handleMessageEvent({ chat }) };
}

const partsOf = (adapter: Adapter): GoogleChatAdapter => adapter as unknown as GoogleChatAdapter;

const mentioning = z.object({
  chat: z.object({
    messagePayload: z.object({
      message: z.object({
        text: z.string(),
        slashCommand: object.nullish(),
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
  const { annotations, slashCommand, text } = data.chat.messagePayload.message;
  if (slashCommand) return { text, mentions: [], isSlashCommand: true };
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
