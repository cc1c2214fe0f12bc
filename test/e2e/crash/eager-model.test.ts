import { describeDeaths } from "./deaths.ts";

describeDeaths("a bot that restarts, a model that would go on", "continue");
