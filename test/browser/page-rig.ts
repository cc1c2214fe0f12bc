import { Api } from "grammy";
import type { Update } from "grammy/types";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { realClock } from "../../playground/telegram/clock.ts";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../playground/telegram/simulator.ts";
import { startWebhook } from "../unit/playground/echo-bot.ts";
import type { WebhookServer } from "../unit/playground/echo-bot.ts";
import { leavePage, loadPlayground, openChat, releasePage, takePage, takeProfile } from "./browser.ts";

const ALICE = { first_name: "Alice", last_name: "Moss" };

/** Closes the dialogs and menus that a test has left open. */
const CLOSE_ALL = `
  for (const one of document.querySelectorAll("dialog[open]")) one.close();
  for (const one of document.querySelectorAll(":popover-open")) one.hidePopover();
`;

/** The playground's page in a browser, with a person "Alice Moss" and a bot. */
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

/**
 * Registers the hooks of a test file. A page error, a console error or a request to elsewhere fails the test. Everything is
 * new for each test. With `keeps`, each test has a new person on the page that stays open, which costs far less; others
 * are in its list of chats.
 */
export function usePage({ keeps = false }: { readonly keeps?: boolean } = {}): PageRig {
  let browser: BrowserContext;
  let problems: string[] = [];
  let started: Pick<PageRig, "simulator" | "api" | "page" | "webhook" | "chat"> | undefined;
  /** Updates that the bot got in earlier tests. */
  let earlier = 0;
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
      const { webhook } = now();
      return { ...webhook, received: webhook.received.slice(earlier) };
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
    const { api, simulator, webhook } = started ?? (await start());
    const chat = simulator.privateChat(simulator.addUser(ALICE));
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
    if (started === undefined) await loadPlayground(page, `${simulator.url}/${keeps ? "" : `#${chat.id}`}`);
    if (keeps) await openChat(page, chat.id);
    earlier = webhook.received.length;
    started = { simulator, api, page, webhook, chat };
  });
  afterEach(async ({ task }) => {
    const { chat, page, simulator } = now();
    await browser.clearPermissions();
    if (!keeps || task.result?.state === "fail" || problems.length > 0) await end();
    else {
      rig.behave = () => Promise.resolve();
      await releasePage(page);
      await page.evaluate(CLOSE_ALL);
      await simulator.waitFor(() => simulator.updates().every(({ state }) => state !== "pending"));
      simulator.addUser({ id: chat.id, first_name: "Somebody" });
    }
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    if (started !== undefined) await end();
  });

  async function start(): Promise<Pick<PageRig, "simulator" | "api" | "webhook">> {
    const simulator = await startSimulator({
      redelivery: { baseMs: 20, maxMs: 100 },
      clock: { ...realClock, now: () => rig.timeMs ?? realClock.now() },
    });
    const webhook = await startWebhook(async (update) => {
      await rig.behave(update);
      return { status: 200 };
    });
    simulator.setWebhook(webhook.url);
    return { simulator, webhook, api: new Api(simulator.token, { apiRoot: simulator.url }) };
  }

  async function end(): Promise<void> {
    const { page, simulator, webhook } = now();
    started = undefined;
    await leavePage(page);
    await webhook.close();
    await simulator.close();
  }

  return rig;
}
