import { buttonRows } from "../../src/core/chat/degrade.ts";
import type { RichText, TextFormat, TextLimits } from "../../src/core/message/rich-text.ts";
import type {
  OutgoingButton,
  OutgoingContent,
  Surface,
  SurfaceCapabilities,
} from "../../src/core/chat/surface.ts";
import { rendererOf } from "../text/render/index.ts";
import { splitText } from "../text/split/index.ts";
import { cardText, shownButtons } from "./card-text.ts";
import type { ReplyBody } from "./reply-body.ts";

/** What a platform can show of a body. */
export interface CardForms {
  readonly capabilities: SurfaceCapabilities;
  /** Rows of buttons. Empty if the card is text. */
  readonly rows: readonly (readonly OutgoingButton[])[];
  /** Whether all messages of a card are written in the format of cards, not only the last one. */
  readonly isWhole: boolean;
}

/** Returns what the platform can show of a body. */
export function cardForms(body: ReplyBody, surface: Surface): CardForms {
  const { capabilities } = surface;
  const isWhole = body.kind === "card" && surface.cardFormat !== undefined;
  const text = { capabilities, rows: [], isWhole };
  if (body.kind === "files" && body.isSplit === true && capabilities.files !== undefined)
    return { ...text, capabilities: { ...capabilities, files: { ...capabilities.files, maxAlbumSize: 1 } } };
  if (body.kind !== "card") return text;
  const forms = body.isPictureRefused === true ? { ...capabilities, images: false } : capabilities;
  const shown = shownButtons(body.card, forms);
  const rows = buttonRows(shown, capabilities.buttonLimits, surface.limits.unit);
  const isText = rows === undefined || !fitsMessage(cardText(body.card, forms), shown.flat(), surface);
  if (isText) return { ...text, capabilities: { ...forms, buttons: false } };
  return { ...text, capabilities: forms, rows };
}

/** Whether the text of a card fits a message with buttons. */
function fitsMessage(text: string, shown: readonly OutgoingButton[], surface: Surface): boolean {
  const { buttonLimits } = surface.capabilities;
  if (buttonLimits === undefined || shown.length === 0) return true;
  const { maxLength, ...limits } = surface.limits;
  const room = buttonLimits.textRoom?.(shown) ?? Infinity;
  const most = Math.min(maxLength, buttonLimits.maxTextLength, room);
  if (most < 1) return false;
  const renderer = rendererOf(formatOf(surface, { isCard: true }), limits.unit);
  return (
    splitText<RichText>(text, { renderer, limits: { ...limits, maxLength: most }, final: true }).length <= 1
  );
}

/** Returns the format in which the text of a message is written. */
export function formatOf(surface: Surface, { isCard = false }: Pick<OutgoingContent, "isCard">): TextFormat {
  return isCard ? (surface.cardFormat ?? surface.format) : surface.format;
}

/** Returns the limits of one message of a card. */
export function cardLimits({ capabilities, cardFormat, limits }: Surface): TextLimits {
  if (cardFormat === undefined) return limits;
  const most = capabilities.buttonLimits?.maxTextLength ?? Infinity;
  return { ...limits, maxLength: Math.min(limits.maxLength, most) };
}
