import type { CardBody } from "../../src/core/delivery.ts";
import { hardLines as lines, plainMarkdown as plain } from "../../src/core/plain-markdown.ts";
import type { OutgoingButton, OutgoingMedia, SurfaceCapabilities } from "../../src/core/surface.ts";

type Forms = Pick<SurfaceCapabilities, "buttonLimits" | "buttons" | "copyButtons" | "images">;

/**
 * Returns a card's text in Markdown, with everything that the platform cannot show otherwise: fields, and, on a
 * platform without buttons, numbered options, links and texts to copy.
 */
export function cardText(card: CardBody, forms: Forms): string {
  const buttons = card.buttons?.flat() ?? [];
  const isNumbered = card.numbered === true || !forms.buttons;
  const blocks = [
    card.text,
    lines((card.fields ?? []).map(({ label, value }) => `**${plain(label)}:** ${plain(value)}`)),
    imageText(card, forms),
    isNumbered ? optionsText(buttons) : "",
    lines(buttons.flatMap((button) => textOf(button, forms))),
  ];
  return blocksOf(blocks);
}

/** Whether a card and its `callback` buttons fit into one message of the platform. */
export function fitsButtons(card: CardBody, forms: Forms): boolean {
  const limits = forms.buttonLimits;
  const labels = (card.buttons?.flat() ?? []).flatMap(({ kind, label }) =>
    kind === "callback" ? label : [],
  );
  if (limits === undefined || labels.length === 0) return true;
  return (
    labels.length <= limits.maxButtons &&
    labels.every((label) => label.length <= limits.maxLabelLength) &&
    cardText(card, forms).length <= limits.maxTextLength
  );
}

/** Returns the rows of buttons that the platform can show. */
export function shownButtons(
  { buttons = [] }: CardBody,
  forms: Forms,
): readonly (readonly OutgoingButton[])[] {
  if (!forms.buttons) return [];
  const canShow = ({ kind }: OutgoingButton): boolean => kind !== "copy" || forms.copyButtons === true;
  return buttons.map((row) => row.filter(canShow)).filter((row) => row.length > 0);
}

/** Returns a link to the picture. A picture that only the platform knows has none. */
function imageText({ image }: CardBody, { images }: Forms): string {
  return image === undefined || images === true || !("url" in image) ? "" : `<${image.url}>`;
}

function optionsText(buttons: readonly OutgoingButton[]): string {
  return buttons
    .filter(({ kind }) => kind === "callback")
    .map(({ label }, index) => `${index + 1}. ${plain(label)}`)
    .join("\n");
}

function textOf(button: OutgoingButton, { buttons, copyButtons }: Forms): string[] {
  if (button.kind === "link" && !buttons) return [`[${plain(button.label)}](<${button.url}>)`];
  if (button.kind === "copy" && !(buttons && copyButtons === true))
    return [`${plain(button.label)}: ${code(button.text)}`];
  return [];
}

/** Returns a caption with a link to each file, for a platform without files. */
export function linksText(files: readonly OutgoingMedia[], caption: string): string {
  const links = files.flatMap(({ name, refusal, source }) =>
    source.kind === "address" && refusal === undefined ? [`[${plain(name)}](<${source.url}>)`] : [],
  );
  return blocksOf([caption, lines(links), refusalsText(files)]);
}

/** Returns the texts of files that cannot be sent. Empty if there are none. */
export function refusalsText(files: readonly OutgoingMedia[]): string {
  return blocksOf(files.map(({ refusal }) => refusal?.text ?? ""));
}

export function blocksOf(blocks: readonly string[]): string {
  return blocks.filter((block) => block.trim() !== "").join("\n\n");
}

function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
