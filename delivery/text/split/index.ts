/** Markdown in, messages out: the whole face of this folder. */
export { splitText } from "./split-text.ts";
export { createPlanner } from "./planner.ts";
export type { Planner } from "./planner.ts";
export type { Part, PartLimits, PlannerOptions, SplitOptions } from "./pack/part.ts";
export type { MarkCost, Renderer } from "./pack/renderer.ts";
export type { Mark, Piece } from "./pack/piece.ts";
export { telegramEntities } from "../render/telegram-entities.ts";
export { plainText } from "../render/plain-text.ts";
export { slackMrkdwn } from "../render/slack-mrkdwn.ts";
export { discordMarkdown } from "../render/discord-markdown.ts";
export { standardMarkdown } from "../render/standard-markdown.ts";
export { rendererOf } from "../render/renderer-of.ts";
export { whatsapp } from "../render/whatsapp.ts";
export { richBlocks, richWhereItShows } from "../render/rich-blocks.ts";
