/** How platforms write formatted text: the whole face of this folder. */
export { telegramEntities } from "./telegram-entities.ts";
export { plainText } from "./plain-text.ts";
export { slackMrkdwn } from "./slack-mrkdwn.ts";
export { discordMarkdown } from "./discord-markdown.ts";
export { standardMarkdown } from "./standard-markdown.ts";
export { rendererOf } from "./renderer-of.ts";
export { whatsapp } from "./whatsapp.ts";
export { richBlocks, richWhereItShows } from "./rich-blocks.ts";
