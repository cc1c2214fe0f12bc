import { action, ActionError, type Action, type ActionContext } from "switchboard";
import { z } from "zod";
import { invoiceCaption, invoicePdf } from "./invoice.ts";
import type { Order } from "./lookup-order.ts";
import { SAMPLE_VOICE_NOTE } from "./sample-voice-note.ts";
import { orderId, orderOf } from "./shop.ts";
import { HELP_ADDRESS } from "./texts.ts";

/** Actions that add something to the reply. They run once for each question. */
export function replyActions(baseUrl: string | undefined): Record<string, Action> {
  return {
    send_invoice: attaching(baseUrl, "Sends the customer the invoice of an order as a PDF.", invoice),
    send_photo: attaching(baseUrl, "Sends the customer a photo of what was ordered.", photo),
    draft_email: attaching(baseUrl, "Drafts an e-mail to our team about an order.", email),
    voice_summary: attaching(baseUrl, "Sends the customer a voice note about an order.", voiceNote),
  };
}

type Attach = (order: Order, attach: ActionContext["attachReply"]) => string | Promise<string>;

function attaching(baseUrl: string | undefined, description: string, attach: Attach): Action {
  return action({
    description,
    inputSchema: z.object({ orderId }),
    // A run that a crash interrupts is repeated, because it changes nothing.
    idempotencyKey: ({ ctx, input }) => `${ctx.requestId}:${input.orderId}`,
    execute: async (input, { attachReply, signal }) =>
      attach(await orderOf(baseUrl, input.orderId, signal), attachReply),
  });
}

const invoice: Attach = async (order, attach) => {
  attach({
    type: "document",
    source: await invoicePdf(order),
    name: `invoice-${order.id}.pdf`,
    mediaType: "application/pdf",
    caption: invoiceCaption(order),
  });
  return "Here is your invoice.";
};

const photo: Attach = ({ id, picture }, attach) => {
  if (picture === undefined) throw new ActionError(`There is no photo of order ${id}.`);
  attach({ type: "image", source: { url: picture, fetchedBy: "platform" }, caption: `Order **${id}**` });
  return "Here is what you ordered.";
};

const email: Attach = ({ id, status }, attach) => {
  attach({
    type: "email_draft",
    to: HELP_ADDRESS,
    subject: `Order ${id}`,
    body: `Hello,\n\nI have a question about my order ${id} (${status}):\n\n\nKind regards`,
  });
  return `Here is a draft about order ${id}. Add your question and send it.`;
};

/** The bot has no voice of its own, so it sends a recorded sample. */
const voiceNote: Attach = ({ expectedOn, id, status }, attach) => {
  const words = `Order ${id} is ${status}${expectedOn === undefined ? "" : `, expected on ${expectedOn}`}.`;
  attach({ type: "voice_note", source: SAMPLE_VOICE_NOTE, transcript: words, caption: `🔔 ${words}` });
  return "Here is a voice note. It's a sample sound: I can't speak yet.";
};
