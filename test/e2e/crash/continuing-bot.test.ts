import { describeDeaths } from "./deaths.ts";

describeDeaths(
  "a bot that continues, a model that goes on",
  "continue",
  "test/e2e/bots/continuing/wrangler.jsonc",
);
