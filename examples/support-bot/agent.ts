import { modelFromEnv, roles, Think, transcriberFromEnv } from "switchboard";
import type {
  ActionTurnContext,
  BotEnvironment,
  CardPress,
  Content,
  Session,
  ThinkScheduledTasks,
  ThinkTools,
  TranscriptionEnvironment,
} from "switchboard";
import { memory } from "switchboard/memory";
import { defineMessengers, type FetchableAttachment } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { COMMANDS } from "./commands.ts";
import { customerMemory } from "./customer-memory.ts";
import { exportInvoices } from "./export-invoices.ts";
import { invoiceCaption, invoicePdf } from "./invoice.ts";
import { lookupOrder } from "./lookup-order.ts";
import { menuCard, type MenuPage } from "./menu.ts";
import { cancelOrder, changeAddress } from "./order-actions.ts";
import { orderCard } from "./order-card.ts";
import { refundOrder } from "./refund-order.ts";
import { replyActions } from "./reply-actions.ts";
import { returnOrder } from "./return-order.ts";
import { SYSTEM_PROMPT } from "./texts.ts";
import { supportTools } from "./tools.ts";

interface Env extends BotEnvironment, TranscriptionEnvironment {
  /**
   * The shop's backend. Below it are `GET /orders/<number>` and `/products`, `POST /refunds`, `/orders/<number>/cancel`,
   * `/orders/<number>/address` and `/orders/<number>/return`. `npm start` serves a small one.
   */
  ORDERS_API_URL?: string;
  /** User ids of the shop's team, with commas. In groups only they may change orders and refund. @default everybody may */
  TEAM_USER_IDS?: string;
  /** The bot's own address, for the page that opens the mail program. */
  PUBLIC_URL?: string;
}

/** Payloads of the cards' buttons. */
type Action =
  | { readonly kind: "page"; readonly page: MenuPage }
  | { readonly kind: "status" | "invoice"; readonly id: string };

/** The support assistant of a small shop for coffee and tea. */
export class SupportAgent extends Think<Env> {
  static override memory = memory();
  override publicUrl = this.env.PUBLIC_URL || undefined;
  override chatSchedules = true;
  override subscribeCommands = true;

  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return SYSTEM_PROMPT;
  }

  override configureSession(session: Session) {
    return customerMemory(session);
  }

  override getTools(): ThinkTools {
    return supportTools({
      baseUrl: this.env.ORDERS_API_URL,
      sayOnce: (content, toolCallId) => this.#sayOnce(content, toolCallId),
    });
  }

  override getActions() {
    const baseUrl = this.env.ORDERS_API_URL;
    return {
      refund_order: refundOrder(baseUrl),
      cancel_order: cancelOrder(baseUrl),
      change_address: changeAddress(baseUrl),
      return_order: returnOrder({
        baseUrl,
        fetchPhoto: async (photo, signal) => (await this.sentFile(photo).fetch({ signal })).bytes,
      }),
      export_invoices: exportInvoices(baseUrl),
      ...replyActions(baseUrl),
    };
  }

  /** In a private chat customers act for themselves. In a group the team does, and anybody of it may agree. */
  override authorizeTurn({ chat, person }: ActionTurnContext) {
    const team = (this.env.TEAM_USER_IDS ?? "").split(",").filter((id) => id !== "");
    const isOfTeam = person !== undefined && team.includes(person.userId);
    if (team.length === 0 || (chat?.isDirectMessage === true && !isOfTeam)) return true;
    // The team gets a list everywhere: only by that do their private chats show what waits in groups.
    const grantedPermissions = roles({ billing: team, orders: team })(person);
    return { allowed: true, grantedPermissions, reason: "Ask somebody of the shop's team." };
  }

  override getCommands() {
    return COMMANDS;
  }

  /** Turns a page of the menu, or does what a button of an order's card says. */
  override async onAction({ cardId, payload }: CardPress) {
    const action = payload as Action;
    if (action.kind === "page") {
      await this.revise(cardId, menuCard(action.page));
      return undefined;
    }
    const result = await lookupOrder(this.env.ORDERS_API_URL, action.id);
    if (!result.found) return { text: result.message, alert: true };
    const { order } = result;
    if (action.kind === "invoice") {
      const source = await invoicePdf(order);
      await this.say({
        kind: "files",
        files: [{ kind: "document", source, name: `invoice-${order.id}.pdf` }],
        caption: invoiceCaption(order),
      });
      return "Here is your invoice.";
    }
    await this.revise(cardId, orderCard(order));
    return `Your order is ${order.status}.`;
  }

  override transcribe(audio: FetchableAttachment) {
    return transcriberFromEnv(this.env)?.(audio);
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    const schedule = "every week on friday at 16:00 in Europe/Stockholm";
    return {
      news: { schedule, prompt: "Write one short tip about coffee or tea.", deliverTo: "subscribers" },
    };
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  async #sayOnce(content: Content, toolCallId: string): Promise<void> {
    const message = this.getMessengerContext()?.key ?? "";
    await this.say(content, undefined, { idempotencyKey: `${message}:${toolCallId}` });
  }
}
