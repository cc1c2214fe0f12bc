import { z } from "zod";
import { WEB_ADDRESS } from "../../actions/attachments/check-attachment.ts";
import type { CardButton, CardContent, Content, FileSource } from "../../core/message/content.ts";
import { InvalidInputError } from "../../core/base/errors.ts";
import { publicUrlOf } from "../../core/web/public-url.ts";
import type { UnsentFile } from "../../core/message/unsent-file.ts";
import { hardLines, plainMarkdown } from "../../core/message/plain-markdown.ts";
import { FILE_KINDS } from "../../core/message/reply-attachment.ts";
import type { AttachmentSurface, StoredAttachment } from "../../core/message/reply-attachment.ts";
import { mailPageUrl } from "../root/mail-page.ts";

const sourceSchema = z.union([
  z.object({ storedId: z.string(), sizeBytes: z.number() }),
  z.object({ fileId: z.string() }),
  z.object({ url: z.string().regex(WEB_ADDRESS), fetchedBy: z.enum(["bot", "platform"]).optional() }),
]);

const fileSchema = z.object({
  source: sourceSchema,
  name: z.string().optional(),
  mediaType: z.string().optional(),
  caption: z.string().optional(),
  transcript: z.string().optional(),
});

const addressesSchema = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((one) => [one ?? []].flat().filter((address) => address.trim() !== ""));

const emailSchema = z.object({
  to: addressesSchema,
  cc: addressesSchema,
  bcc: addressesSchema,
  subject: z.string().default(""),
  body: z.string().default(""),
});

/** A draft of an e-mail, whose addresses are lists. */
export type EmailDraft = z.infer<typeof emailSchema>;

const MOST_COPIED = 256;

/**
 * Returns the content that shows an attachment in a chat. Undefined for types of the bot's own, which nobody has to see.
 *
 * @param publicUrl the bot's address on the internet, for the page that opens the mail program
 * @throws {InvalidInputError} `attachment-invalid`
 */
export function attachmentContent(
  attachment: StoredAttachment,
  surface: Pick<AttachmentSurface, "copyButtons" | "files">,
  publicUrl?: string,
): Content | undefined {
  const { type, ...rest } = attachment;
  const kind = Object.hasOwn(FILE_KINDS, type) ? FILE_KINDS[type] : undefined;
  if (kind !== undefined) {
    if (!surface.files) return attachmentText(attachment);
    const { caption, mediaType, name, source } = parsed(fileSchema, attachment);
    const file = {
      kind,
      source: source as FileSource,
      ...(name !== undefined && { name }),
      ...(mediaType !== undefined && { mediaType }),
    };
    return { kind: "files", files: [file], ...(caption !== undefined && { caption }) };
  }
  // `checkContent` checks the fields of these two.
  if (type === "card") return { ...rest, kind: "card" } as unknown as Content;
  if (type === "location") return { ...rest, kind: "location" } as unknown as Content;
  return type === "email_draft" ? emailCard(parsed(emailSchema, attachment), surface, publicUrl) : undefined;
}

const wordsSchema = z.object({
  caption: z.string().catch(""),
  name: z.string().min(1).optional().catch(undefined),
  transcript: z.string().catch(""),
});

/** Returns a text in place of an attachment's file, for platforms without files. Undefined if there is none. */
export function attachmentText(attachment: StoredAttachment): string | undefined {
  const file = fileOf(attachment);
  if (file === undefined) return undefined;
  const { caption, transcript } = wordsSchema.parse(attachment);
  const label = plainMarkdown(file.name);
  const head =
    file.url === undefined ? `**${label}** can't be shown in this chat.` : `[${label}](<${file.url}>)`;
  return together(transcript === "" || file.url !== undefined ? head : "", spoken(transcript), caption);
}

/** Returns the caption of a file that cannot be sent: its spoken words, and its own caption. */
export function captionWithout(attachment: StoredAttachment): string {
  const { caption, transcript } = wordsSchema.parse(attachment);
  return together(spoken(transcript), caption);
}

/** Returns the name of an attachment's file, and its address if it has a public one. */
export function fileOf(attachment: StoredAttachment): Pick<UnsentFile, "name" | "url"> | undefined {
  if (!Object.hasOwn(FILE_KINDS, attachment.type)) return undefined;
  const { name = NAMES[attachment.type] ?? attachment.type } = wordsSchema.parse(attachment);
  return { name, url: publicUrlOf(attachment["source"]) };
}

function spoken(transcript: string): string {
  return transcript === "" ? "" : `🎤 ${plainMarkdown(transcript)}`;
}

function together(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

const NAMES: Readonly<Record<string, string>> = {
  voice_note: "A voice note",
  image: "A picture",
  document: "A document",
  audio: "A recording",
  video: "A video",
};

function emailCard(
  draft: EmailDraft,
  { copyButtons }: Pick<AttachmentSurface, "copyButtons">,
  publicUrl: string | undefined,
): CardContent {
  const { bcc, body, cc, subject, to } = draft;
  const heads = [
    ["To", to.join(", ")],
    ["Cc", cc.join(", ")],
    ["Bcc", bcc.join(", ")],
    ["Subject", subject],
  ] as const;
  const shown = heads
    .filter(([, value]) => value !== "")
    .map(([label, value]) => `**${label}:** ${plainMarkdown(value)}`);
  const text = [`**E-mail draft**`, hardLines(shown), quoted(body)]
    .filter((part) => part !== "")
    .join("\n\n");
  const url = publicUrl === undefined ? undefined : mailPageUrl(publicUrl, draft);
  const copies: CardButton[] = [
    ["Copy address", to.join(", ")] as const,
    ["Copy subject", subject] as const,
    ["Copy text", body] as const,
  ].flatMap(([label, copied]) =>
    !copyButtons || copied === "" || copied.length > MOST_COPIED
      ? []
      : [{ kind: "copy", label, text: copied }],
  );
  const open: CardButton[] = url === undefined ? [] : [{ kind: "link", label: "Open in mail program", url }];
  return { kind: "card", text, buttons: [open, copies].filter((row) => row.length > 0) };
}

function quoted(body: string): string {
  return body
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.split("\n").map(plainMarkdown))
    .filter((paragraph) => paragraph.some((line) => line !== ""))
    .map((paragraph) => `> ${paragraph.join("  \n> ")}`)
    .join("\n>\n");
}

function parsed<T>(schema: z.ZodType<T>, attachment: StoredAttachment): T {
  const result = schema.safeParse(attachment);
  if (result.success) return result.data;
  const fields = result.error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new InvalidInputError(
    "attachment-invalid",
    `An attachment of the type "${attachment.type}" cannot be shown: check ${fields === "" ? "its fields" : fields}.`,
  );
}
