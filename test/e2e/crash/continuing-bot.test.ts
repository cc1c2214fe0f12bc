import { describeDeaths } from "./deaths.ts";

describeDeaths("a bot that continues", ["goes on"], {
  config: "test/e2e/bots/continuing/wrangler.jsonc",
});
