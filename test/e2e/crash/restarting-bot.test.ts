import { addCardDeaths } from "./card-deaths.ts";
import { describeDeaths } from "./deaths.ts";
import { addForumDeath } from "./forum-death.ts";
import { addMemoryDeaths } from "./memory-deaths.ts";
import { addMenuDeaths } from "./menu-deaths.ts";

describeDeaths("a bot that restarts", ["starts over", "goes on"], {
  further(bot) {
    addForumDeath(bot);
    addCardDeaths(bot);
    addMenuDeaths(bot);
    addMemoryDeaths(bot);
  },
});
