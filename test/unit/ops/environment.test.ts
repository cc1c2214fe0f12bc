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
