import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../../playground/telegram/simulator.ts";
import type { SimChat, Simulator, UserReference } from "../../../../playground/telegram/simulator.ts";
import { createBotApi } from "../../../../ops/telegram/bot-api.ts";
import { freeUpdates, pollIntoWebhook } from "../../../../ops/telegram/poll-into-webhook.ts";

const SECRET = "s3cret";
const PATH = "/messengers/telegram/webhook";
/** Longer than any post takes here. */
const LAST_POSTS_MS = 2_000;

let simulator: Simulator;
let bot: Server;
let url: string;
/** The texts that the bot has taken, in their order. */
let taken: string[];
/** Answers a text. The bot accepts it if this returns 200. */
let answer: (text: string) => number | Promise<number>;
let people: Record<"ada" | "ben", { readonly user: UserReference; readonly chat: SimChat }>;
let runs: { readonly stop: () => Promise<void> }[];

beforeEach(async () => {
  simulator = await startSimulator();
  taken = [];
  runs = [];
  answer = () => 200;
  bot = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { message } = JSON.parse(body) as { message: { text: string } };
      const isSecret = request.headers["x-telegram-bot-api-secret-token"] === SECRET;
      const status = request.url === PATH && isSecret ? await answer(message.text) : 401;
      if (status === 200) taken.push(message.text);
      response.writeHead(status).end("{}");
    })();
  });
  await new Promise<void>((resolve) => bot.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(bot.address() as AddressInfo).port}`;
  const person = (first_name: string) => {
    const user = simulator.addUser({ first_name });
    return { user, chat: simulator.privateChat(user) };
  };
  people = { ada: person("Ada"), ben: person("Ben") };
});

afterEach(async () => {
  for (const run of runs) await run.stop();
  bot.closeAllConnections();
  bot.close();
  await simulator.close();
});

function write(who: keyof typeof people, text: string): void {
  simulator.sendText(people[who].chat, people[who].user, text);
}

function poll(mayRemove = async (_webhook: string): Promise<boolean> => false) {
  const stopped = new AbortController();
  const said: string[] = [];
  const api = createBotApi({ token: simulator.token, apiBaseUrl: simulator.url });
  const say = (line: string): void => void said.push(line);
  const ended = freeUpdates({ api, say, mayRemove }).then((bot) =>
    pollIntoWebhook({
      api,
      url,
      messenger: { id: bot, provider: "telegram", path: PATH, updates: ["message"], commands: [] },
      secret: SECRET,
      say,
      signal: stopped.signal,
      // No test waits: a pause ends when other work has had its turn. Once polling ends, posts that are under way may end.
      pause: () =>
        new Promise((resolve) => setTimeout(resolve, stopped.signal.aborted ? LAST_POSTS_MS : 1).unref()),
    }),
  );
  const run = {
    said,
    ended,
    stop: async () => {
      stopped.abort();
      await ended.catch(() => undefined);
    },
  };
  runs.push(run);
  return run;
}

const pending = (): number => simulator.updates().filter(({ state }) => state === "pending").length;
const eventually = (holds: () => boolean): Promise<void> => simulator.waitFor(holds, { timeoutMs: 5_000 });

describe("long polling", () => {
  it("posts the updates to the bot with the secret, in the order of each chat", async () => {
    write("ada", "one");
    write("ada", "two");
    poll();
    await eventually(() => pending() === 0);
    write("ada", "three");
    await eventually(() => pending() === 0);
    expect(taken).toEqual(["one", "two", "three"]);
    expect(simulator.calls({ method: "getUpdates" })[0]?.payload).toMatchObject({
      allowed_updates: ["message"],
    });
  });

  it("confirms an update only after the bot has said 200, and holds no other chat up", async () => {
    let isBroken = true;
    answer = (text) => (text.startsWith("ada") && isBroken ? 503 : 200);
    write("ada", "ada 1");
    write("ada", "ada 2");
    write("ben", "ben 1");
    const run = poll();
    await eventually(() => taken.includes("ben 1"));
    write("ben", "ben 2");
    await eventually(() => taken.includes("ben 2"));
    expect(taken).toEqual(["ben 1", "ben 2"]);
    expect(simulator.updates().find(({ chatId }) => chatId === people.ada.chat.id)?.state).toBe("pending");
    expect(run.said.filter((line) => line.includes("503"))).toHaveLength(1);
    isBroken = false;
    await eventually(() => pending() === 0);
    expect(taken).toEqual(["ben 1", "ben 2", "ada 1", "ada 2"]);
  });

  it("gets what was not accepted again after a restart, and nothing else", async () => {
    answer = (text) => (text === "two" ? 500 : 200);
    write("ada", "one");
    write("ada", "two");
    const first = poll();
    await eventually(() => first.said.some((line) => line.includes("500")));
    await first.stop();
    expect(taken).toEqual(["one"]);
    expect(pending()).toBe(1);
    answer = () => 200;
    poll();
    await eventually(() => pending() === 0);
    expect(taken).toEqual(["one", "two"]);
  });

  it("goes on when Telegram fails, asks to wait or has an older poll open", async () => {
    simulator.fault({ method: "getUpdates", kind: "5xx", body: "json", times: 2 });
    simulator.fault({ method: "getUpdates", kind: "429", retryAfter: 1 });
    simulator.fault({ method: "getUpdates", kind: "cut-after" });
    write("ada", "hello");
    const run = poll();
    await eventually(() => pending() === 0);
    expect(taken).toEqual(["hello"]);
    expect(run.said).toEqual(["Telegram has a problem (502).", "Telegram answers again."]);
  });

  it("leaves a webhook alone unless its removal is allowed", async () => {
    simulator.setWebhook("http://127.0.0.1:9/live", "x");
    const asked: string[] = [];
    const no = poll(async (webhook) => {
      asked.push(webhook);
      return false;
    });
    await expect(no.ended).rejects.toMatchObject({
      code: "webhook-set",
      message: expect.stringContaining("http://127.0.0.1:9/live"),
    });
    expect(asked).toEqual(["http://127.0.0.1:9/live"]);
    expect(simulator.calls({ method: "deleteWebhook" })).toEqual([]);
    write("ada", "hello");
    poll(async () => true);
    await eventually(() => pending() === 0);
    expect(taken).toEqual(["hello"]);
  });

  it("ends with a sentence when a webhook is set meanwhile", async () => {
    const run = poll();
    await eventually(() => simulator.calls({ method: "getUpdates" }).length > 0);
    simulator.setWebhook("http://127.0.0.1:9/live", "x");
    await expect(run.ended).rejects.toMatchObject({ code: "telegram-conflict" });
  });
});
