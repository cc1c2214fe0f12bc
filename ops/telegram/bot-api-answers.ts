import { z } from "zod";

/** The fields that are read of the answers of the Bot API. */

export const accountAnswer = z.object({ username: z.string() });

export const webhookInfoAnswer = z.object({
  /** Empty if no webhook is set. */
  url: z.string(),
  pending_update_count: z.number(),
  last_error_date: z.number().nullish(),
  last_error_message: z.string().nullish(),
  allowed_updates: z.array(z.string()).nullish(),
});

export type WebhookInfo = z.infer<typeof webhookInfoAnswer>;

export const commandsAnswer = z.array(z.object({ command: z.string() }));

export const doneAnswer = z.literal(true);

/** Updates, passed on as they came. */
export const updatesAnswer = z.array(z.looseObject({ update_id: z.number() }));
