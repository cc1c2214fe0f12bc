import type { RichText, TextFormat } from "../../../src/core/rich-text.ts";
import type { Renderer } from "../split/pack/renderer.ts";
import { discordMarkdown } from "./discord-markdown.ts";
import { plainText } from "./plain-text.ts";
import { slackMrkdwn } from "./slack-mrkdwn.ts";
import { standardMarkdown } from "./standard-markdown.ts";
import { telegramEntities } from "./telegram-entities.ts";
import { whatsapp } from "./whatsapp.ts";

const RENDERERS: Readonly<Record<TextFormat, Renderer<RichText>>> = {
  "telegram-entities": telegramEntities,
  plain: plainText,
  "slack-mrkdwn": slackMrkdwn,
  "discord-markdown": discordMarkdown,
  whatsapp,
  markdown: standardMarkdown,
};

export function rendererOf(format: TextFormat): Renderer<RichText> {
  return RENDERERS[format];
}
