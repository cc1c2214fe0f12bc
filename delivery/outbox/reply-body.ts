import { z } from "zod";
import type { CardBody, IfDeleted, SendOptions } from "../../src/core/delivery.ts";
import type { OutgoingButton } from "../../src/core/surface.ts";

const buttonSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("callback"), label: z.string(), token: z.string() }),
  z.object({ kind: z.literal("link"), label: z.string(), url: z.string() }),
  z.object({ kind: z.literal("copy"), label: z.string(), text: z.string() }),
]) satisfies z.ZodType<OutgoingButton>;

const cardSchema = z.object({
  key: z.string(),
  text: z.string(),
  fields: z
    .array(z.object({ label: z.string(), value: z.string() }).readonly())
    .readonly()
    .optional(),
  image: z.union([z.object({ fileId: z.string() }), z.object({ url: z.string() })]).optional(),
  buttons: z.array(z.array(buttonSchema).readonly()).readonly().optional(),
  numbered: z.boolean().optional(),
}) satisfies z.ZodType<CardBody>;

/**
 * What a whole reply shows beside plain text. Stored with the reply until it is visible.
 *
 * - `card`: a card. `ifDeleted` says whether it is posted again if a person has deleted it.
 * - `removed`: a card that is to disappear. `isLocked`: the platform does not remove it any more, so its messages show the
 *   reply's text instead.
 */
const bodySchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("card"),
    card: cardSchema,
    ifDeleted: z.enum(["leave", "post"]) satisfies z.ZodType<IfDeleted>,
  }),
  z.object({ kind: z.literal("removed"), key: z.string(), isLocked: z.boolean() }),
]);

export type ReplyBody = Readonly<z.infer<typeof bodySchema>>;

/** What a reply has that is whole from its start. A streaming reply has none of it. */
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

/** The card key of a body, if it is a card's. */
export function keyOf(body: ReplyBody): string {
  return body.kind === "card" ? body.card.key : body.key;
}
