import { createDiscordAdapter } from "@chat-adapter/discord";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import type { Adapter, ChatInstance } from "chat";
import { describe, expect, it } from "vitest";
import { textToBot } from "../../../../providers/chat-sdk/events/text-to-bot.ts";
import type { MessengerEvent } from "../../../../src/core/chat/messenger-event.ts";
import { createRig, postRequest } from "./rig.ts";

/** A message that mentions the bot, as its platform and the real adapter report it. */
type Says = (text: string) => Promise<MessengerEvent>;

async function through(adapter: Adapter, body: object, headers?: Record<string, string>) {
  const rig = createRig(adapter);
  const { accepted, response } = await rig.receive(postRequest(JSON.stringify(body), headers));
  expect(response.status).toBe(200);
  const [incoming] = accepted;
  if (incoming === undefined) throw new Error("The adapter reported nothing.");
  return rig.parse(incoming);
}

/** Reports a message that the adapter reads, without the check of the platform's token. */
async function unsigned(adapter: Adapter, read: () => Parameters<ChatInstance["processMessage"]>[2]) {
  let chat: ChatInstance | undefined;
  adapter.initialize = async (instance) => void (chat = instance);
  adapter.handleWebhook = async () => {
    const message = read();
    void chat?.processMessage(adapter, (message as { threadId: string }).threadId, message);
    return new Response("ok");
  };
  return through(adapter, {});
}

const webhookVerifier = () => true;

const slack: Says = (text) => {
  const adapter = createSlackAdapter({ botToken: "xoxb-1", botUserId: "UBOT", webhookVerifier });
  // The names of people, without a network.
  Reflect.set(adapter, "lookupUser", async (id: string) => ({
    displayName: `The ${id} of the Shop`,
    realName: id,
  }));
  return through(adapter, {
    type: "event_callback",
    event: {
      type: "app_mention",
      channel: "C1",
      user: "U1",
      ts: "1.1",
      text: text.replace("@bot", "<@UBOT>").replace("@ada", "<@U1|ada>"),
    },
  });
};

const discord =
  (mention: string): Says =>
  (text) => {
    const adapter = createDiscordAdapter({
      applicationId: "100",
      botToken: "token",
      webhookVerifier,
      mentionRoleIds: ["200"],
    });
    const token = { "x-discord-gateway-token": "token" };
    const data = {
      id: "3",
      channel_id: "2",
      channel_type: 0,
      guild_id: "1",
      thread: { id: "4", parent_id: "2" },
      content: text.replace("@bot", mention),
      author: { id: "5", username: "ada" },
      timestamp: "2026-11-20T10:00:00Z",
      mentions: mention.includes("&") ? [] : [{ id: "100", username: "bot" }],
      mention_roles: mention.includes("&") ? ["200"] : [],
      attachments: [],
    };
    return through(adapter, { type: "GATEWAY_MESSAGE_CREATE", timestamp: 1, data }, token);
  };

const teams =
  (tag: string): Says =>
  (text) => {
    const adapter = createTeamsAdapter({ appId: "app", appPassword: "p", appTenantId: "t" });
    const activity = {
      type: "message",
      id: "1",
      text: text.replace("@bot", `${tag}&nbsp;`),
      from: { id: "29:1", name: "Ada" },
      recipient: { id: "28:app", name: "Shop Bot" },
      conversation: { id: "19:c@thread.tacv2" },
      serviceUrl: "https://smba.example/",
      entities: [{ type: "mention", text: tag, mentioned: { id: "28:app", name: "Shop Bot" } }],
    };
    return unsigned(adapter, () => Object.assign(adapter.parseMessage(activity), { isMention: true }));
  };

const github: Says = (text) =>
  through(
    createGitHubAdapter({ token: "ghp", webhookVerifier, userName: "bot", botUserId: 9 }),
    {
      action: "created",
      issue: { number: 7 },
      comment: {
        id: 3,
        body: text,
        created_at: "2026-11-20T10:00:00Z",
        updated_at: "2026-11-20T10:00:00Z",
        user: { id: 1, login: "ada", type: "User" },
      },
      repository: { name: "web", owner: { login: "shop" } },
      sender: { id: 1 },
    },
    { "x-github-event": "issue_comment" },
  );

const gchat: Says = (text) => {
  const adapter = createGoogleChatAdapter({
    auth: "key",
    googleChatProjectNumber: "1",
    botUserId: "users/9",
    userName: "bot",
  });
  const said = text.replace("@bot", "@Shop Bot");
  const event = {
    chat: {
      messagePayload: {
        space: { name: "spaces/A", type: "ROOM" },
        message: {
          name: "spaces/A/messages/B",
          sender: { name: "users/1", displayName: "Ada", type: "HUMAN" },
          text: said,
          createTime: "2026-11-20T10:00:00Z",
          thread: { name: "spaces/A/threads/T" },
          annotations: [
            {
              type: "USER_MENTION",
              startIndex: said.indexOf("@Shop Bot"),
              length: 9,
              userMention: {
                type: "MENTION",
                user: { name: "users/9", displayName: "Shop Bot", type: "BOT" },
              },
            },
          ],
        },
      },
    },
  };
  return unsigned(adapter, () => adapter.parseMessage(event));
};

const linear: Says = (text) => {
  const adapter = createLinearAdapter({ apiKey: "lin", webhookVerifier, userName: "bot" });
  // The adapter asks Linear for it at the start.
  Reflect.set(adapter, "defaultBotUserId", "u9");
  return unsigned(adapter, () =>
    adapter.parseMessage({
      kind: "comment",
      organizationId: "o",
      comment: {
        id: "c1",
        body: text,
        issueId: "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9",
        parentId: undefined,
        url: undefined,
        user: {
          type: "user",
          id: "1",
          displayName: "ada",
          fullName: "Ada",
          email: undefined,
          avatarUrl: undefined,
        },
        createdAt: "2026-11-20T10:00:00Z",
        updatedAt: "2026-11-20T10:00:00Z",
      },
    }),
  );
};

const platforms: Readonly<Record<string, Says>> = {
  slack,
  discord: discord("<@100>"),
  "discord, with a nickname": discord("<@!100>"),
  "discord, by a role of the bot": discord("<@&200>"),
  teams: teams("<at>Shop Bot</at>"),
  "teams, with an attribute": teams('<at id="0">Shop Bot</at>'),
  github,
  gchat,
  linear,
};

describe.each(Object.entries(platforms))("a mention on %s", (_name, says) => {
  it("leaves the number of an option and a word", async () => {
    expect(await says("@bot 1")).toMatchObject({ kind: "mention", message: { textToBot: "1" } });
    expect((await says("@bot, yes")).message?.textToBot).toBe("yes");
    expect((await says("yes @bot")).message?.textToBot).toBe("yes");
  });

  it("leaves a command, which is for this bot alone", async () => {
    expect(await says("@bot /Menu for two")).toMatchObject({
      kind: "mention",
      message: { command: { name: "menu", args: "for two", isForThisBot: true } },
    });
  });

  it("in the middle of a text, or alone, leaves the text as it is", async () => {
    const { message } = await says("I asked @bot about it");
    expect([message?.textToBot, message?.command]).toEqual([undefined, undefined]);
    expect((await says("@bot")).message?.textToBot).toBeUndefined();
  });
});

describe("a command that is typed in a channel without a mention", () => {
  it("is one for whoever knows it", async () => {
    const { kind, message } = await github("/menu");
    expect([kind, message?.command]).toEqual(["message", { name: "menu", args: "" }]);
  });

  it("is none if another bot is named", async () => {
    expect((await github("/menu@other")).message?.command).toBeUndefined();
    expect((await github("@other /menu")).message?.command).toBeUndefined();
  });
});

describe("readable words to the bot on slack", () => {
  it("have names, addresses and signs as people see them", async () => {
    const { message } = await slack("@bot /tell @ada &lt;now&gt; <mailto:shop@example.org|the shop>");
    expect(message?.command?.args).toBe("@ada <now> mailto:shop@example.org");
  });
});

describe("textToBot", () => {
  it("takes no longer name and no address for the bot's name", () => {
    const said = (text: string) => textToBot({ text, mentions: ["@bot"] });
    expect([said("@bots yes"), said("@bot-2 yes"), said("write to ada@bot")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(said("@Bot: yes")).toBe("yes");
    // Its small form is longer.
    expect(textToBot({ text: "@İş Takip 1", mentions: ["@İş Takip"] })).toBe("1");
  });
});
