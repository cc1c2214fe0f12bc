import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { startSimulator, type Simulator } from "../../playground/telegram/simulator.ts";
import { startDocsServer, type DocsServer } from "./docs-server.ts";
import { usePersonPage } from "./person-page.ts";

const ADMIN_TOKEN = "of-the-operator";
let bot: ServedBot;
let docs: DocsServer;
let simulator: Simulator;
const person = usePersonPage(() => simulator);

beforeAll(async () => {
  docs = await startDocsServer();
  docs.oauth.secrets.set("by-hand", "secret-of-the-client");
  simulator = await startSimulator({});
  bot = await startServedBot({
    withDemo: true,
    config: path.resolve(import.meta.dirname, "../e2e/bots/signed-in/wrangler.jsonc"),
    env: {
      ADMIN_TOKEN,
      DOCS_URL: docs.url,
      SECRETS_KEY: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ=",
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
      TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
      TELEGRAM_API_BASE_URL: simulator.url,
    },
  });
  // Its port is known only now.
  await bot.restart({ PUBLIC_URL: bot.url });
  simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
});
afterAll(async () => {
  await bot.close();
  await simulator.close();
  await docs.close();
});

/** Asks for a link in the chat, and opens it in another tab, as its button does. */
async function openLink(server: string): Promise<Page> {
  await person.write(`/call connect_${server} {}`);
  const card = person
    .log()
    .getByRole("article")
    .filter({ hasText: `Sign in at ${server}` })
    .last();
  const href = await card.getByRole("link", { name: "Sign in" }).getAttribute("href");
  const tab = await person.page.context().newPage();
  await tab.goto(href ?? "");
  return tab;
}

/** The operator agrees to all tools of a server. */
async function allow(server: string): Promise<void> {
  const url = `${bot.url}/switchboard/mcp-tools`;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const hashes = await vi.waitUntil(async () => {
    const { tools } = (await (await fetch(url, { headers })).json()) as {
      readonly tools: readonly { readonly server: string; readonly hash: string }[];
    };
    const listed = tools.filter((tool) => tool.server === server).map(({ hash }) => hash);
    return listed.length > 0 && listed;
  }, 10_000);
  await fetch(url, { method: "POST", headers, body: JSON.stringify({ server, hashes, allow: true }) });
}

it("signs a person in from the chat's link, and calls with the person's token", async () => {
  const tab = await openLink("docs");
  await tab.getByText("This connects docs").waitFor();
  await tab.getByRole("link", { name: "Sign in" }).click();
  await tab.getByText("You are connected").waitFor();
  await tab.close();
  await person.log().getByText("You are connected with docs").waitFor();
  await allow("docs");
  await bot.restart();
  await person.write("/call docs__whose {}");
  await person.log().getByText("mail of ada@docs").waitFor();
  expect(docs.oauth.requests.some(({ path: at }) => at === "/register")).toBe(true);
});

it("signs in with the author's client and its secret, after SIGKILL between the redirect and the token", async () => {
  docs.oauth.account = "bob@docs";
  const tab = await openLink("vault");
  const link = tab.url();
  const token = docs.hold("/token");
  await tab.getByRole("link", { name: "Sign in" }).click();
  await token.reached;
  await bot.kill("SIGKILL");
  token.release();
  await bot.restart();
  // The browser could not load the page, so the person opens the link once more.
  await tab.goto(link);
  await tab.getByRole("link", { name: "Sign in" }).click();
  await tab.getByText("You are connected").waitFor();
  await tab.close();
  const sent = docs.oauth.requests.findLast(({ path: at }) => at === "/token");
  expect(sent?.form).toMatchObject({ client_id: "by-hand", client_secret: "secret-of-the-client" });
  await allow("vault");
  await bot.restart();
  await person.write("/call vault__whose {}");
  await person.log().getByText("mail of bob@docs").waitFor();
});

/** Returns how this machine answers at an address to the author's code, and to that of strangers. */
async function tried(address: string, by = "both"): Promise<readonly unknown[]> {
  const url = `${bot.url}/private?by=${by}&url=${encodeURIComponent(address)}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  return response.json() as Promise<readonly unknown[]>;
}

it.each([
  ["an address", "127.0.0.1"],
  ["a name that resolves to one", "localhost"],
  ["a number", "2130706433"],
  ["a short form", "127.1"],
  ["IPv6 with IPv4 in it", "[::ffff:127.0.0.1]"],
  ["any address of this machine", "0.0.0.0"],
])("keeps strangers' addresses out of the private network: %s", async (_what, host) => {
  const { port } = new URL(docs.url);
  expect(await tried(`http://${host}:${port}/nothing`)).toEqual([404, "refused"]);
});

const HIDING = {
  "compatible IPv6": "[::127.0.0.1]",
  "translated IPv6": "[::ffff:0:7f00:1]",
  "6to4": "[2002:7f00:1::1]",
  NAT64: "[64:ff9b::7f00:1]",
  "NAT64 of the own network": "[64:ff9b:1::7f00:1]",
  "IPv6 of a site": "[fec0::1]",
  "a network of benchmarks": "198.18.0.1",
  "this network": "0.0.0.1",
  "metadata of a cloud": "169.254.169.254",
};

it("refuses strangers' addresses that hide or are private ones before it connects", async () => {
  const answers = Object.entries(HIDING).map(
    async ([what, host]) => [what, await tried(`http://${host}:9/nothing`, "strangers")] as const,
  );
  expect(Object.fromEntries(await Promise.all(answers))).toEqual(
    Object.fromEntries(Object.keys(HIDING).map((what) => [what, ["refused"]])),
  );
});
