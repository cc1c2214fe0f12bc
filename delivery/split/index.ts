/** Cuts markdown into messages. Other folders import the splitter from here only. */
export { splitText } from "./split-text.ts";
export { createPlanner } from "./planner.ts";
export type { Planner } from "./planner.ts";
export type { Part, PartLimits, PlannerOptions, SplitOptions } from "./part.ts";
export type { MarkCost, Renderer } from "./renderer.ts";
export type { Mark, Piece } from "./piece.ts";
export { telegramEntities } from "../render/telegram-entities.ts";
export { plainText } from "../render/plain-text.ts";
export { slackMrkdwn } from "../render/slack-mrkdwn.ts";
export { discordMarkdown } from "../render/discord-markdown.ts";
export { standardMarkdown } from "../render/standard-markdown.ts";
export { rendererOf } from "../render/renderer-of.ts";
export { whatsapp } from "../render/whatsapp.ts";
export { richBlocks, richWhereItShows } from "../render/rich-blocks.ts";
