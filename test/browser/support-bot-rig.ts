import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { User } from "grammy/types";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { SUGGESTIONS } from "../../playground/shop/beside.ts";
import { shopPictures } from "../../playground/shop/pictures.ts";
import { startShop, type Shop } from "../../playground/shop/shop-server.ts";
import { startSimulator, type Simulator } from "../../playground/telegram/simulator.ts";
import { usePersonPage, type PersonPage } from "./person-page.ts";

/** The support bot with the demo model, as `npm start` runs it, and its page. */
export interface SupportBotRig extends PersonPage {
  readonly bot: ServedBot;
  readonly shop: Shop;
  readonly simulator: Simulator;
  /** The shop's team, and somebody else. */
  readonly people: { readonly ann: User; readonly bob: User; readonly eve: User };
  readonly button: (name: string) => Locator;
  /** Keeps the shop from answering a GET of a path. Returns the end of that. */
  readonly holdShop: (pathname: string) => () => void;
  /** Makes a group of Ann, Bob and Eve, and opens it. */
  readonly openGroup: (title: string) => Promise<void>;
  /** Chooses the person who writes and presses in the open group. */
  readonly as: (name: string) => Promise<void>;
}

/** Registers the hooks of a test file, as `usePersonPage` does. All its tests share one bot. */
export function useSupportBot(): SupportBotRig {
  let transcription: Server;
  const held = new Map<string, Promise<void>>();
  let started: Pick<SupportBotRig, "bot" | "shop" | "simulator" | "people"> | undefined;
  const now = () => {
    if (started === undefined) throw new Error("The bot is there only while a test runs.");
    return started;
  };
  const chat = usePersonPage(() => now().simulator);
  beforeAll(async () => {
    const [shop, simulator] = await Promise.all([
      startShop({ pictures: true, beforeRead: (pathname) => held.get(pathname) }),
      startSimulator({ webFiles: shopPictures(), suggestions: SUGGESTIONS }),
    ]);
    const people = {
      ann: simulator.addUser({ first_name: "Ann" }),
      bob: simulator.addUser({ first_name: "Bob" }),
      eve: simulator.addUser({ first_name: "Eve" }),
    };
    transcription = await startTranscription();
    const bot = await startServedBot({
      withDemo: true,
      env: {
        TELEGRAM_BOT_TOKEN: simulator.token,
        TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
        TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
        TELEGRAM_API_BASE_URL: simulator.url,
        ORDERS_API_URL: shop.url,
        TEAM_USER_IDS: `${people.ann.id},${people.bob.id}`,
        PUBLIC_URL: "https://bot.shop.example",
        TRANSCRIPTION_BASE_URL: `http://127.0.0.1:${(transcription.address() as AddressInfo).port}/v1`,
      },
    });
    simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
    started = { bot, shop, simulator, people };
  });
  afterAll(async () => {
    const { bot, shop, simulator } = now();
    await bot.close();
    transcription.close();
    await simulator.close();
    await shop.close();
  });
  const { log, screenshot, send, write } = chat;
  return {
    get bot() {
      return now().bot;
    },
    get page() {
      return chat.page;
    },
    get people() {
      return now().people;
    },
    get shop() {
      return now().shop;
    },
    get simulator() {
      return now().simulator;
    },
    log,
    button: (name) => log().getByRole("button", { name }),
    write,
    send,
    screenshot,
    holdShop: (pathname) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(pathname, promise);
      return () => {
        held.delete(pathname);
        resolve();
      };
    },
    openGroup: async (title) => {
      const { people, simulator } = now();
      simulator.addGroup({ title, members: [people.ann, people.bob, people.eve] });
      await chat.page.locator("#chat-list").getByRole("button", { name: title }).click();
      await chat.page.getByText(`supergroup, 3 people and @${simulator.bot.username}`).waitFor();
    },
    as: async (name) => {
      await chat.page.getByLabel("Write as").selectOption({ label: name });
    },
  };
}

/** Starts a server that understands the same in every voice message. */
async function startTranscription(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ text: "where is order 1001?" }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
