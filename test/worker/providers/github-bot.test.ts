import { createGitHubAdapter } from "@chat-adapter/github";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chatSdkMessenger } from "../../../providers/chat-sdk/index.ts";
import type { CardPress } from "../../../src/index.ts";
import { createWorld, type World } from "../support/world.ts";

/* A bot with the adapter of GitHub and default options, before an API that keeps its comments. */

/** The bot's name, broken in its own words so that nobody is mentioned. */
const BOT = "@\u200bshop-bot";

interface Comment {
  readonly id: number;
  readonly path: string;
  body: string;
}

let comments: Comment[];
/** Number of comments that people and the bot wrote. GitHub numbers them in one ascending row. */
let written = 0;
/** Paths of issues that take no comments. */
let locked: string[];

beforeEach(() => {
  comments = [];
  locked = [];
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(globalThis, "fetch").mockImplementation(async (address, init) => {
    const request = address instanceof Request ? address : undefined;
    const { pathname: path } = new URL(address instanceof Request ? address.url : address);
    const method = request?.method ?? init?.method ?? "GET";
    const text = request === undefined ? init?.body : await request.text();
    const { body = "" } = JSON.parse(typeof text === "string" && text !== "" ? text : "{}") as {
      body?: string;
    };
    const bot = { id: 9, login: "shop-bot", type: "Bot" };
    if (locked.includes(path)) return Response.json({ message: "Issue is locked." }, { status: 403 });
    if (method === "POST") {
      written += 1;
      const comment = { id: written, path, body };
      comments.push(comment);
      return Response.json({ id: comment.id, body, user: bot }, { status: 201 });
    }
    if (method === "PATCH") {
      const comment = comments.find(({ id }) => path.endsWith(`/comments/${id}`));
      if (comment !== undefined) comment.body = body;
      return Response.json({ id: comment?.id, body, user: bot });
    }
    return Response.json(bot);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

function createBot(pressed: CardPress[] = []): World {
  return createWorld({
    messengers: () => ({
      github: chatSdkMessenger({
        adapter: createGitHubAdapter({ token: "ghp", userName: "shop-bot", webhookVerifier: () => true }),
        verifyWebhook: false,
        burstMs: 0,
        channelSpeakerLabel: false,
      }),
    }),
    settings: { onAction: async (press) => void pressed.push(press) },
  });
}

async function comment(
  world: World,
  body: string,
  on: { readonly issue: number } | { readonly review: number },
) {
  written += 1;
  const at = new Date().toISOString();
  const base = {
    action: "created",
    comment: {
      id: written,
      body,
      created_at: at,
      updated_at: at,
      user: { id: 1, login: "ada", type: "User" },
      ...("review" in on && { in_reply_to_id: 7 }),
    },
    repository: { name: "web", owner: { login: "shop" } },
    sender: { id: 1 },
  };
  const place = "issue" in on ? { issue: { number: on.issue } } : { pull_request: { number: on.review } };
  const response = await world.fetch("/messengers/github/webhook", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": "issue" in on ? "issue_comment" : "pull_request_review_comment",
    },
    body: JSON.stringify({ ...base, ...place }),
  });
  expect(response.status).toBe(200);
}

const SOON = { timeout: 10_000 };
const bodies = (issue: number) =>
  comments.filter(({ path }) => path === `/repos/shop/web/issues/${issue}/comments`).map(({ body }) => body);

describe("a bot on GitHub", () => {
  it("has each issue and pull request as a chat, to which bot code can write", async () => {
    const world = createBot();
    await comment(world, "@shop-bot one", { issue: 1 });
    await comment(world, "@shop-bot two", { issue: 2 });
    await comment(world, "@shop-bot three", { review: 3 });
    await expect.poll(() => comments.length, SOON).toBe(3);
    const { chats } = await world.stub.listChats();
    expect(chats.map(({ chatId }) => chatId).toSorted()).toEqual([
      "github:shop/web:3",
      "github:shop/web:issue:1",
      "github:shop/web:issue:2",
    ]);
    const id = await world.stub.broadcasts.send(
      "Version 2 is out",
      chats.map(({ chatId }) => ({ messenger: "github", chatId })),
    );
    await expect.poll(() => world.stub.broadcasts.get(id), SOON).toMatchObject({ state: "done", sent: 3 });
    for (const issue of [1, 2, 3]) expect(bodies(issue).at(-1)).toBe("Version 2 is out");
  });

  it("still reaches an issue by the address that it had when its repository was the chat", async () => {
    const world = createBot();
    const threadId = "github:shop/web:issue:1";
    const stored = { messengerId: "github", threadId, chatId: "github:shop/web", topicId: threadId };
    const id = await world.stub.broadcasts.send("News", [{ ...stored, isDirectMessage: false }]);
    await expect.poll(() => world.stub.broadcasts.get(id), SOON).toMatchObject({ state: "done", sent: 1 });
    expect(bodies(1)).toEqual(["News"]);
  });

  it("keeps the other issues of a repository when one is locked", async () => {
    const world = createBot();
    await comment(world, "@shop-bot one", { issue: 1 });
    await comment(world, "@shop-bot two", { issue: 2 });
    await expect.poll(() => comments.length, SOON).toBe(2);
    locked.push("/repos/shop/web/issues/1/comments");
    await world.stub.say("Again", { messenger: "github", chatId: "github:shop/web:issue:1" });
    await expect
      .poll(
        async () => (await world.stub.listChats({ isGone: true })).chats.map(({ chatId }) => chatId),
        SOON,
      )
      .toEqual(["github:shop/web:issue:1"]);
    await world.stub.say("Again", { messenger: "github", chatId: "github:shop/web:issue:2" });
    await expect.poll(() => bodies(2), SOON).toEqual([`You said: ${BOT} two`, "Again"]);
  });

  it("takes the number of an option and a command after a mention", async () => {
    const pressed: CardPress[] = [];
    const world = createBot(pressed);
    await comment(world, "@shop-bot hello", { issue: 1 });
    await expect.poll(() => bodies(1), SOON).toEqual([`You said: ${BOT} hello`]);
    const buttons = ["Approve", "Reject"].map((label, index) => [
      { kind: "callback" as const, label, payload: index + 1 },
    ]);
    await world.stub.say(
      { kind: "card", text: "Refund it?", buttons },
      { messenger: "github", chatId: "github:shop/web:issue:1" },
    );
    await expect.poll(() => bodies(1).at(-1), SOON).toContain("Refund it?");
    await comment(world, "@shop-bot 2", { issue: 1 });
    await expect.poll(() => pressed.map(({ payload }) => payload), SOON).toEqual([2]);
    const before = bodies(1).length;
    await comment(world, "@shop-bot /help", { issue: 1 });
    await expect.poll(() => bodies(1).slice(before).join("\n"), SOON).toContain("/help");
    expect(bodies(1).join("\n")).not.toContain(`You said: ${BOT} /help`);
  });
});
