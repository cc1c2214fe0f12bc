import { fileForm } from "../../src/core/chat/degrade.ts";
import type { CardBody } from "../../src/core/chat/delivery.ts";
import { hardLines as lines, plainMarkdown as plain } from "../../src/core/message/plain-markdown.ts";
import type { OutgoingButton, OutgoingMedia, SurfaceCapabilities } from "../../src/core/chat/surface.ts";

type Forms = Pick<SurfaceCapabilities, "buttons" | "copyButtons" | "images" | "linkButtons">;

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

/** Returns the buttons that the platform knows. */
export function shownButtons(
  { buttons = [] }: CardBody,
  forms: Forms,
): readonly (readonly OutgoingButton[])[] {
  if (!forms.buttons) return [];
  return buttons.map((row) => row.filter((button) => isKnown(button, forms))).filter((row) => row.length > 0);
}

function isKnown({ kind }: OutgoingButton, { buttons, copyButtons, linkButtons }: Forms): boolean {
  if (kind === "link") return buttons && linkButtons !== false;
  return buttons && (kind === "callback" || copyButtons === true);
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

function textOf(button: OutgoingButton, forms: Forms): string[] {
  if (button.kind === "callback" || isKnown(button, forms)) return [];
  return button.kind === "link"
    ? [`[${plain(button.label)}](<${button.url}>)`]
    : [`${plain(button.label)}: ${code(button.text)}`];
}

/** Returns a caption with a link to each file, for a platform without files. */
export function linksText(files: readonly OutgoingMedia[], caption: string): string {
  const links = files.flatMap((file) =>
    file.source.kind === "address" && fileForm(file, undefined) === "link"
      ? [`[${plain(file.name)}](<${file.source.url}>)`]
      : [],
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
