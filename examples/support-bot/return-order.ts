import { action, ActionError, photoSchema, type Action, type SentFile } from "switchboard";
import { z } from "zod";
import { changeInShop, orderId, orderOf } from "./shop.ts";

const REASONS = {
  broken: "It arrived broken",
  wrong: "It is not what I ordered",
  unwanted: "I don't want it any more",
} as const;

const formSchema = z.object({
  reason: z
    .union([
      z.literal("broken").meta({ title: REASONS.broken }),
      z.literal("wrong").meta({ title: REASONS.wrong }),
      z.literal("unwanted").meta({ title: REASONS.unwanted }),
    ])
    .describe("Why do you return it"),
  condition: photoSchema({ maxBytes: 5_000_000 }).describe("A photo of its condition"),
  note: z.string().max(500).optional().describe("Anything else"),
});

interface ReturnHost {
  readonly baseUrl: string | undefined;
  /** Returns the bytes of a photo that the customer has sent. */
  readonly fetchPhoto: (photo: SentFile, signal: AbortSignal) => Promise<Uint8Array>;
}

/** Takes a delivered order back. The customer says why in a form, and sees everything once more before it is sent. */
export function returnOrder({ baseUrl, fetchPhoto }: ReturnHost): Action {
  return action({
    description:
      "Takes an order back that the customer has received. It asks the customer for the reason and for a photo by itself.",
    inputSchema: z.object({ orderId }),
    idempotencyKey: ({ ctx, input }) => `${ctx.requestId}:${input.orderId}`,
    execute: async (input, ctx) => {
      const { status } = await orderOf(baseUrl, input.orderId, ctx.signal);
      if (status !== "delivered") throw new ActionError(`It is ${status}, so it can't be returned.`);
      const { value, why } = await ctx.elicit({
        message: `You would like to return order ${input.orderId}.`,
        schema: formSchema,
      });
      if (why !== undefined) return "The customer does not return it now.";
      const photo = await fetchPhoto(value.condition, ctx.signal);
      await changeInShop(baseUrl, `/orders/${encodeURIComponent(input.orderId)}/return`, {
        body: { reason: value.reason, note: value.note, photo: base64(photo) },
        key: `return-${input.orderId}`,
        signal: ctx.signal,
      });
      return `The return of order ${input.orderId} is noted: ${REASONS[value.reason]}. Send it back within 14 days.`;
    },
  });
}

function base64(bytes: Uint8Array): string {
  let characters = "";
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}
