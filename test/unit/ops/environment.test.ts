import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { bindingNames, undeclaredNames } from "../../../ops/serve/environment.ts";

const CODE = `
  getModel() { return connect(this.env.LIBRARY_URL, this.env.MODEL, process.env.HOME_OF_A_PACKAGE); }
  getTools() { const { SHOP_URL, SHOP_KEY: key } = this.env; return make(SHOP_URL, key); }
`;
const ENVIRONMENT = {
  LIBRARY_URL: "https://library.example",
  MODEL: "m",
  SHOP_KEY: "k",
  SHOP_URL: "",
  HOME_OF_A_PACKAGE: "x",
};

it("names what the bot reads and what is set, but not declared", () => {
  expect(undeclaredNames(CODE, ENVIRONMENT, bindingNames(ENVIRONMENT, []))).toEqual([
    "LIBRARY_URL",
    "SHOP_KEY",
  ]);
});

it("names nothing that the bot gets", () => {
  const passedOn = bindingNames(ENVIRONMENT, ["LIBRARY_URL", "SHOP_KEY"]);
  expect(undeclaredNames(CODE, ENVIRONMENT, passedOn)).toEqual([]);
});

it("gives every bot the keys of its secrets", () => {
  const environment = { SECRETS_KEY: "new", SECRETS_KEYS_OLD: "old", HOME: "/" };
  expect(bindingNames(environment, [])).toEqual(["SECRETS_KEY", "SECRETS_KEYS_OLD"]);
});

const ADAPTERS = path.resolve(import.meta.dirname, "../../../node_modules/@chat-adapter");

/** Of other ways to hear of messages, to prove who one is, or not to check who others are. */
const NOT_PASSED_ON =
  /^(SLACK_APP_TOKEN|SLACK_SOCKET_FORWARDING_SECRET|DISCORD_RESPOND_TO_CHANNEL_IDS|GOOGLE_CHAT_(DISABLE_SIGNATURE_VERIFICATION|IMPERSONATE_USER|PUBSUB_\w+|USE_ADC))$/;

it.each(["slack", "discord", "teams", "whatsapp", "gchat", "github", "linear"])(
  "gives the bot what the adapter %s reads by itself",
  (adapter) => {
    const code = readFileSync(path.join(ADAPTERS, adapter, "dist/index.js"), "utf8");
    const read = [
      ...new Set([...code.matchAll(/process\.env\.([A-Z_]+)/g)].flatMap(({ 1: name }) => name ?? [])),
    ];
    const wanted = read.filter((name) => !NOT_PASSED_ON.test(name)).toSorted();
    expect(bindingNames(Object.fromEntries(read.map((name) => [name, "x"])), [])).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(3);
  },
);
