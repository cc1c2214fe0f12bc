import type { ThinkCommands } from "switchboard";
import { menuCard } from "./menu.ts";
import { HOURS, SHOP } from "./texts.ts";

export const COMMANDS: ThinkCommands = {
  menu: { description: "Show the topics", handler: () => menuCard("Menu") },
  order: {
    description: "Where is my order? For example: /order 1001",
    handler: ({ args }) =>
      args === "" ? "Which order? For example: /order 1001" : { prompt: `Where is my order ${args}?` },
  },
  hours: { description: "When our team answers", handler: () => HOURS },
  shop: { description: "Where our shop is", handler: () => SHOP },
};
