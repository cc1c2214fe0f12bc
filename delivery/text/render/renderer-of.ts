import type { RichText, TextFormat } from "../../../src/core/message/rich-text.ts";
import type { LengthUnit } from "../../../src/core/text/text-length.ts";
import type { Renderer } from "../split/pack/renderer.ts";
import { createBlockRenderer } from "./markdown-blocks.ts";
import { createMarkupRenderer } from "./markup.ts";
import { plainTextIn } from "./plain-text.ts";
import { telegramEntities } from "./telegram-entities.ts";

/** Returns the renderer for a platform's format, which counts lengths in the platform's unit. */
export function rendererOf(format: TextFormat, unit?: LengthUnit): Renderer<RichText> {
  if (format === "telegram-entities") return telegramEntities;
  if (format === "plain") return plainTextIn(unit);
  return format.blocks === undefined
    ? createMarkupRenderer(format, unit)
    : createBlockRenderer(format, format.blocks, unit);
}
