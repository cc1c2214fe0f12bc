import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createMockLogger } from "@chat-adapter/tests";
import { describe, expect, it } from "vitest";
import type { ChatSdkMessengerOptions } from "../../../../providers/chat-sdk/index.ts";
import { isInvitation } from "../../../../src/inbox/may-be-answered.ts";
import type { MessengerEvent } from "../../../../src/core/chat/messenger-event.ts";
import { createRig, postRequest, type Rig } from "./rig.ts";

/* Events as "Receive and respond to user interactions" and "Chat event objects" of add-ons show them. */

const rig = (options: Partial<ChatSdkMessengerOptions> = {}): Rig =>
  createRig(
    createGoogleChatAdapter({
      auth: "key",
      disableSignatureVerification: true,
      logger: createMockLogger(),
      userName: "shop-bot",
    }),
    options,
  );

const user = { name: "users/1", displayName: "Ada", type: "HUMAN" };
const app = { name: "users/9", displayName: "Shop Bot", type: "BOT" };
const room = { name: "spaces/A", type: "ROOM", spaceType: "SPACE", displayName: "Team" };
const direct = { name: "spaces/D", type: "DM", spaceType: "DIRECT_MESSAGE" };
const eventTime = "2026-11-20T10:00:00Z";

const message = (text: string, more: object = {}): object => ({
  name: "spaces/A/messages/M",
  sender: user,
  text,
  createTime: eventTime,
  thread: { name: "spaces/A/threads/T" },
  ...more,
});
const mention = (length: number): object => ({
  annotations: [{ type: "USER_MENTION", startIndex: 0, length, userMention: { type: "MENTION", user: app } }],
});
const command = message("/ping now", {
  slashCommand: { commandId: "1" },
  annotations: [
    { type: "SLASH_COMMAND", startIndex: 0, length: 5, slashCommand: { bot: app, commandId: "1" } },
  ],
});

async function eventOf(body: object, one = rig()): Promise<Record<string, unknown> | undefined> {
  const { accepted, response } = await one.receive(postRequest(JSON.stringify(body)));
  expect(response.status).toBe(200);
  expect(accepted.length).toBeLessThan(2);
  const [event] = accepted;
  return event && ((await one.parse(event)) as unknown as Record<string, unknown>);
}

describe("an app of Google Chat", () => {
  it.each(["MESSAGE", "ADDED_TO_SPACE"])("hears a mention in a space: %s", async (type) => {
    const text = "@Shop Bot yes";
    const event = await eventOf({ type, eventTime, space: room, user, message: message(text, mention(9)) });
    expect(event).toMatchObject({
      kind: "mention",
      thread: { chatId: "gchat:spaces/A", isDirectMessage: false },
      message: { text, isMention: true, textToBot: "yes" },
    });
  });

  it("hears a private message", async () => {
    const said = message("Hello", { name: "spaces/D/messages/M", thread: { name: "spaces/D/threads/M" } });
    expect(await eventOf({ type: "MESSAGE", eventTime, space: direct, user, message: said })).toMatchObject({
      thread: { chatId: "gchat:spaces/D", isDirectMessage: true },
      message: { text: "Hello" },
    });
  });

  it.each([
    { type: "MESSAGE", eventTime, space: room, user, message: command },
    { chat: { user, eventTime, appCommandPayload: { space: room, message: command } } },
  ])("hears a command in a space, which is for itself and invites it to nothing: %#", async (body) => {
    const event = await eventOf(body);
    expect(event).toMatchObject({
      kind: "mention",
      message: {
        text: "/ping now",
        isMention: true,
        command: { name: "ping", args: "now", isForThisBot: true },
      },
    });
    expect(isInvitation(event as unknown as MessengerEvent)).toBe(false);
  });

  it.each([
    { space: room, isDirectMessage: false },
    { space: direct, isDirectMessage: true },
  ])("hears a press: $isDirectMessage", async ({ isDirectMessage, space }) => {
    const parameters = { actionId: "c1.card.button", value: "v" };
    const list = Object.entries(parameters).map(([key, value]) => ({ key, value }));
    const event = await eventOf({
      type: "CARD_CLICKED",
      eventTime,
      space,
      user,
      message: { ...message(""), name: `${space.name}/messages/C`, sender: app },
      action: { actionMethodName: "c1.card.button", parameters: list },
      common: { userLocale: "en", hostApp: "CHAT", invokedFunction: "c1.card.button", parameters },
    });
    expect(event).toMatchObject({
      kind: "action",
      thread: { chatId: `gchat:${space.name}`, isDirectMessage },
      action: { messageId: `${space.name}/messages/C`, data: "c1.card.button" },
    });
  });

  it.each(["messagePayload", "buttonClickedPayload", "appCommandPayload"])(
    "stores no permission that an event of an add-on has: %s",
    async (payload) => {
      const configCompleteRedirectUri = "https://chat.google.com/api/bot_config_complete?token=s3cret";
      const body = {
        commonEventObject: { hostApp: "CHAT", parameters: { actionId: "c1.card.button" } },
        authorizationEventObject: { userOAuthToken: "s3cret", systemIdToken: "s3cret" },
        chat: { user, eventTime, [payload]: { space: room, message: command, configCompleteRedirectUri } },
      };
      const { accepted } = await rig().receive(postRequest(JSON.stringify(body)));
      expect(accepted).toHaveLength(1);
      expect(JSON.stringify(accepted)).not.toContain("s3cret");
    },
  );

  /** A command that a person has picked from the menu, in both forms of events. */
  const picked = (space: object, more: object = {}): readonly object[] => {
    const facts = {
      space,
      appCommandMetadata: { appCommandId: 2, appCommandType: "QUICK_COMMAND" },
      ...more,
    };
    return [
      { type: "APP_COMMAND", eventTime, user, ...facts },
      { commonEventObject: { hostApp: "CHAT" }, chat: { user, eventTime, appCommandPayload: facts } },
    ];
  };
  const quickCommands = { 2: "menu" };

  it.each(picked(direct))("hears a quick command in a private chat: %#", async (body) => {
    expect(await eventOf(body, rig({ quickCommands }))).toMatchObject({
      kind: "direct-message",
      thread: { chatId: "gchat:spaces/D", isDirectMessage: true },
      author: { userId: "users/1", fullName: "Ada" },
      message: { text: "/menu", command: { name: "menu", args: "" } },
    });
  });

  it.each(picked(room, { thread: { name: "spaces/A/threads/T" } }))(
    "hears a quick command in a thread of a space, for itself alone: %#",
    async (body) => {
      const thread = await eventOf({ type: "MESSAGE", eventTime, space: room, user, message: command });
      expect(await eventOf(body, rig({ quickCommands }))).toMatchObject({
        kind: "mention",
        thread: thread?.["thread"],
        message: { command: { name: "menu", isForThisBot: true } },
      });
    },
  );

  it("takes a quick command that is delivered twice for one, and one given again for another", async () => {
    const one = rig({ quickCommands });
    const keys: string[] = [];
    for (const time of [eventTime, eventTime, "2026-11-20T10:00:01Z"])
      for (const body of picked(direct)) {
        const text = JSON.stringify(body).replaceAll(eventTime, time);
        const { accepted } = await one.receive(postRequest(text));
        keys.push(...accepted.map(({ key }) => key));
      }
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(2);
  });

  it.each(picked(direct))("says which quick command has no name, and does nothing: %#", async (body) => {
    const one = rig({ quickCommands: { 3: "menu" } });
    expect(await eventOf(body, one)).toBeUndefined();
    expect(one.log.join()).toContain("Name the command 2 in `quickCommands`.");
  });

  it.each(["constructor", "2x", -1, {}])("knows no command with the number %j", async (appCommandId) => {
    const appCommandMetadata = { appCommandId, appCommandType: "QUICK_COMMAND" };
    for (const body of picked(direct, { appCommandMetadata }))
      expect(await eventOf(body, rig({ quickCommands }))).toBeUndefined();
  });

  it("never takes the message that a person has picked an action for as a message of its author", async () => {
    const appCommandMetadata = { appCommandId: 2, appCommandType: "MESSAGE_ACTION" };
    const theirs = message("I say so", { sender: { ...user, name: "users/2" } });
    for (const body of picked(room, { appCommandMetadata, message: theirs }))
      expect(await eventOf(body, rig({ quickCommands }))).toBeUndefined();
  });

  it.each([
    { quickCommands: { 0: "menu" } },
    { quickCommands: { 1001: "menu" } },
    { quickCommands: { 1: "Show the menu" } },
    { quickCommands: { 1: 5 } },
  ] as unknown as Partial<ChatSdkMessengerOptions>[])("takes only names by numbers: %j", (options) => {
    expect(() => rig(options)).toThrow(expect.objectContaining({ code: "chat-sdk-quick-commands" }));
  });

  it.each([
    { type: "ADDED_TO_SPACE", eventTime, space: room, user },
    { type: "REMOVED_FROM_SPACE", eventTime, space: room, user },
    { type: "APP_COMMAND", eventTime, space: room, user, appCommandMetadata: { appCommandId: "2" } },
    {
      chat: {
        user,
        eventTime,
        appCommandPayload: { space: room, appCommandMetadata: { appCommandId: "2" } },
      },
    },
  ])("leaves alone an event without words: %#", async (body) => {
    expect(await eventOf(body)).toBeUndefined();
  });
});
