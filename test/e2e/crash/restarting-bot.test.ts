import { describeDeaths } from "./deaths.ts";

describeDeaths("a bot that restarts", ["starts over", "goes on"]);
