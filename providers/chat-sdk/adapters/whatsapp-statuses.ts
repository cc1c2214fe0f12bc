import { z } from "zod";
import { WINDOW_CLOSED } from "../../../src/core/chat/window-closed.ts";
import type { UndeliveredMessage } from "./adapter-profile.ts";

/** More than 24 hours since the person wrote. Until they write again, only templates arrive. */
const RE_ENGAGEMENT = 131_047;

/** The person cannot get messages of the bot. */
const UNREACHABLE: ReadonlySet<number> = new Set([130_497, 131_021, 131_026]);

/** Returns the code by which a chat is known as gone. Undefined: other messages may arrive. */
export function goneCodeOf(code: number): string | undefined {
  if (code === RE_ENGAGEMENT) return WINDOW_CLOSED;
  return UNREACHABLE.has(code) ? "recipient-unreachable" : undefined;
}

const failed = z.object({
  id: z.string(),
  status: z.literal("failed"),
  timestamp: z.coerce.number(),
  /** The phone number. Missing if the person hides it behind a user name. */
  recipient_id: z.string().nullish(),
  recipient_user_id: z.string().nullish(),
  /** `group`: the recipient is one, to which the bot does not write. */
  recipient_type: z.enum(["individual"]).nullish(),
  errors: z.array(z.object({ code: z.number() })),
});

const webhook = z.object({
  entry: z.array(
    z.object({
      changes: z.array(
        z.object({
          value: z.object({
            metadata: z.object({ phone_number_id: z.string() }).optional(),
            statuses: z.array(z.unknown()).optional(),
          }),
        }),
      ),
    }),
  ),
});

/** Reads the messages that WhatsApp has accepted and then not delivered. The adapter does not report them. */
export function readUndelivered(body: unknown): readonly UndeliveredMessage[] {
  const { data } = webhook.safeParse(body);
  const values = (data?.entry ?? []).flatMap(({ changes }) => changes.map(({ value }) => value));
  return values.flatMap(({ metadata, statuses = [] }) =>
    statuses.flatMap((one) => {
      const status = failed.safeParse(one).data;
      const code = status?.errors[0]?.code;
      const recipient = status?.recipient_id ?? status?.recipient_user_id;
      if (status === undefined || metadata === undefined || code === undefined || !recipient) return [];
      const goneCode = goneCodeOf(code);
      return {
        threadId: `whatsapp:${metadata.phone_number_id}:${recipient}`,
        messageId: status.id,
        at: status.timestamp * 1000,
        code: goneCode ?? String(code),
        ...(goneCode !== undefined && { goneCode }),
      };
    }),
  );
}
