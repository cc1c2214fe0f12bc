/** How platforms write formatted text: the whole face of this folder. */
export { telegramEntities } from "./telegram-entities.ts";
export { plainText } from "./plain-text.ts";
export { rendererOf } from "./renderer-of.ts";
export { richBlocks, richWhereItShows } from "./rich-blocks.ts";
