import { Api } from "grammy";
import type { Update } from "grammy/types";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { realClock } from "../../playground/telegram/clock.ts";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../playground/telegram/simulator.ts";
import { startWebhook } from "../unit/playground/echo-bot.ts";
import type { WebhookServer } from "../unit/playground/echo-bot.ts";
import { leavePage, loadPlayground, takePage, takeProfile } from "./browser.ts";

/** The playground's page in a browser, with a person "Alice Moss" and a bot. Everything is new for each test. */
export interface PageRig {
  readonly simulator: Simulator;
  readonly api: Api;
  readonly page: Page;
  readonly webhook: WebhookServer;
  /** Alice's private chat, which is open. */
  readonly chat: SimChat;
  /** What the bot does with an update. @default nothing */
  behave: (update: Update) => Promise<unknown>;
  /** The simulator's time, which stands still as soon as it is set. @default the machine's */
  timeMs: number | undefined;
  readonly field: () => Locator;
  /** The entry of a chat in the list. */
  readonly entry: (name: string) => Locator;
  write(text: string): Promise<void>;
  /** Puts a text into the field at once, as a paste does. */
  paste(text: string): Promise<void>;
}

/** Registers the hooks of a test file. A page error, a console error or a request to elsewhere fails the test. */
export function usePage(): PageRig {
  let browser: BrowserContext;
  let problems: string[] = [];
  let started: Pick<PageRig, "simulator" | "api" | "page" | "webhook" | "chat"> | undefined;
  const now = () => {
    if (started === undefined) throw new Error("The page is there only while a test runs.");
    return started;
  };
  const rig: PageRig = {
    get simulator() {
      return now().simulator;
    },
    get api() {
      return now().api;
    },
    get page() {
      return now().page;
    },
    get webhook() {
      return now().webhook;
    },
    get chat() {
      return now().chat;
    },
    behave: () => Promise.resolve(),
    timeMs: undefined,
    field: () => now().page.getByRole("textbox", { name: "Message" }),
    entry: (name) => now().page.locator("#chat-list").getByRole("button", { name }),
    write: async (text) => {
      await rig.field().fill(text);
      await rig.field().press("Enter");
    },
    paste: async (text) => {
      await rig.field().focus();
      await now().page.keyboard.insertText(text);
    },
  };

  beforeAll(async () => {
    browser = await takeProfile();
  });
  beforeEach(async () => {
    problems = [];
    rig.timeMs = undefined;
    rig.behave = () => Promise.resolve();
    const simulator = await startSimulator({
      redelivery: { baseMs: 20, maxMs: 100 },
      clock: { ...realClock, now: () => rig.timeMs ?? realClock.now() },
    });
    const webhook = await startWebhook(async (update) => {
      await rig.behave(update);
      return { status: 200 };
    });
    simulator.setWebhook(webhook.url);
    const chat = simulator.privateChat(simulator.addUser({ first_name: "Alice", last_name: "Moss" }));
    const api = new Api(simulator.token, { apiRoot: simulator.url });
    const page = await takePage(browser);
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.text().includes("Content Security Policy"))
        problems.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(simulator.url) && !request.url().startsWith("data:"))
        problems.push(request.url());
    });
    await loadPlayground(page, `${simulator.url}/#${chat.id}`);
    started = { simulator, api, page, webhook, chat };
  });
  afterEach(async () => {
    const { page, simulator, webhook } = now();
    await leavePage(page);
    await browser.clearPermissions();
    await webhook.close();
    await simulator.close();
    expect(problems).toEqual([]);
  });
  return rig;
}
