import { z } from "zod";
import type { CardBody, IfDeleted, SendOptions } from "../../src/core/chat/delivery.ts";
import type { OutgoingButton, OutgoingMedia } from "../../src/core/chat/surface.ts";

const buttonSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("callback"), label: z.string(), token: z.string() }),
  z.object({ kind: z.literal("link"), label: z.string(), url: z.string() }),
  z.object({ kind: z.literal("copy"), label: z.string(), text: z.string() }),
]) satisfies z.ZodType<OutgoingButton>;

const mediaSchema = z.object({
  kind: z.enum(["photo", "document", "audio", "voice", "video", "animation"]),
  name: z.string(),
  mediaType: z.string(),
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("bytes"), hash: z.string(), sizeBytes: z.number() }),
    z.object({ kind: z.literal("platform"), fileId: z.string() }),
    z.object({ kind: z.literal("address"), url: z.string() }),
  ]),
  url: z.string().optional(),
  refusal: z.object({ code: z.string(), text: z.string() }).optional(),
}) satisfies z.ZodType<OutgoingMedia>;

const cardSchema = z.object({
  key: z.string(),
  text: z.string(),
  fields: z
    .array(z.object({ label: z.string(), value: z.string() }).readonly())
    .readonly()
    .optional(),
  image: z.union([z.object({ fileId: z.string() }), z.object({ url: z.string() }), mediaSchema]).optional(),
  buttons: z.array(z.array(buttonSchema).readonly()).readonly().optional(),
  numbered: z.boolean().optional(),
  asksForWord: z.boolean().optional(),
  asksForQuote: z.boolean().optional(),
  asksForMessage: z.boolean().optional(),
}) satisfies z.ZodType<CardBody>;

const locationSchema = z.object({
  latitude: z.number(),
  longitude: z.number(),
  title: z.string().optional(),
  address: z.string().optional(),
});

/**
 * Contents of a complete reply beside plain text. Stored with the reply until they are visible.
 *
 * - `card`: a card. `ifDeleted` says whether it is posted again if a person has deleted it. `isLocked`: the platform can
 *   no longer remove messages that the card does not need any more, so they show `REMOVED_TEXT` instead.
 *   `isPictureRefused`: the platform did not accept the picture, so the card is shown without it.
 * - `removed`: a card to remove. `isLocked`: the platform can no longer remove it, so its messages show the reply's
 *   text instead.
 * - `files`: a file, or an album. The reply's text is its caption. `isSplit`: the platform refused the album, so each
 *   file is a message of its own.
 * - `location`: a place. The reply has no text.
 */
const bodySchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("card"),
    card: cardSchema,
    ifDeleted: z.enum(["leave", "post"]) satisfies z.ZodType<IfDeleted>,
    isLocked: z.boolean().optional(),
    isPictureRefused: z.boolean().optional(),
  }),
  z.object({ kind: z.literal("removed"), key: z.string(), isLocked: z.boolean() }),
  z.object({
    kind: z.literal("files"),
    files: z.array(mediaSchema).readonly(),
    isSplit: z.boolean().optional(),
  }),
  z.object({ kind: z.literal("location"), location: locationSchema }),
]);

export type ReplyBody = Readonly<z.infer<typeof bodySchema>>;

/** Fields of a reply that is complete from its start. A streaming reply has none of them. */
export interface WholeReply {
  readonly text?: string;
  readonly body?: ReplyBody;
  readonly options?: SendOptions | undefined;
}

const optionsSchema = z.object({
  silent: z.boolean().optional(),
  protect: z.boolean().optional(),
});

export function parseBody(json: string): ReplyBody {
  return bodySchema.parse(JSON.parse(json));
}

export function parseSendOptions(json: string): SendOptions {
  const { silent, protect } = optionsSchema.parse(JSON.parse(json));
  return { ...(silent !== undefined && { silent }), ...(protect !== undefined && { protect }) };
}

/** Returns the code of a file that the platform has refused. */
export function refusedCode(body: ReplyBody | undefined): string | undefined {
  if (body?.kind !== "files") return undefined;
  return body.files.find(({ refusal }) => refusal !== undefined)?.refusal?.code;
}

export function keyOf(body: ReplyBody): string | undefined {
  switch (body.kind) {
    case "card":
      return body.card.key;
    case "removed":
      return body.key;
    case "files":
    case "location":
      return undefined;
    default:
      return body satisfies never;
  }
}

/** Returns the hashes of the stored files that a body shows. */
export function hashesOf(body: ReplyBody | undefined): string[] {
  return mediaOf(body).flatMap(({ source }) => (source.kind === "bytes" ? [source.hash] : []));
}

/** Returns the files of a reply whose bytes may be stored. */
function mediaOf(body: ReplyBody | undefined): readonly OutgoingMedia[] {
  if (body?.kind === "files") return body.files;
  const image = body?.kind === "card" ? body.card.image : undefined;
  return image !== undefined && "source" in image ? [image] : [];
}
