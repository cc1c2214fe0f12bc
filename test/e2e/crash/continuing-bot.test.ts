import { describeDeaths } from "./deaths.ts";

describeDeaths("a bot that continues", ["goes on"], "test/e2e/bots/continuing/wrangler.jsonc");
