import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type {
  CardPress,
  ChatTarget,
  Content,
  ModelEnvironment,
  ThinkActions,
  ThinkCommands,
  ThinkModel,
} from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { z } from "zod";
import { messengerOf, type PlatformEnvironment } from "./messenger.ts";

/** A label that is neither a link nor a mention. */
const OFFER = "[Free](https://evil.example) @everyone <!here> <users/all>";
const REPORT = new TextEncoder().encode("id,amount\n1,50\n");

/** A bot that uses everything which people see: answers, cards, files, commands and messages of its own. */
export class ContractsBot extends Think<ModelEnvironment & PlatformEnvironment> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getActions(): ThinkActions {
    return {
      refund: action({
        description: "Refunds an order.",
        inputSchema: z.object({ order: z.string() }),
        approval: true,
        execute: ({ order }) => ({ refunded: order }),
      }),
      return_item: action({
        description: "Takes an item back.",
        inputSchema: z.object({}),
        execute: async (_input, context) => {
          const schema = z.object({ reason: z.enum(["broken", "too late"]), boxes: z.int().min(1) });
          const { value, why } = await context.elicit({ message: "What is it?", schema });
          return value === undefined ? `not returned: ${why}` : `returned: ${value.reason} ${value.boxes}`;
        },
      }),
      send_report: action({
        description: "Sends the report.",
        inputSchema: z.object({}),
        execute: (_input, context) => {
          context.attachReply({ type: "document", source: REPORT, name: "report.csv" });
          return { sent: true };
        },
      }),
    };
  }

  override getCommands(): ThinkCommands {
    return {
      ping: { description: "Answers", handler: ({ args }) => `Pong ${args}`.trim() },
      quiet: { description: "Does something", handler: () => undefined },
      menu: {
        description: "Shows the menu",
        handler: (): Content => ({
          kind: "card",
          text: "**Your order?**",
          buttons: [[{ kind: "callback", label: "Coffee", payload: "coffee" }]],
        }),
      },
      offer: {
        description: "Offers something",
        handler: (): Content => ({
          kind: "card",
          text: "A free one?",
          buttons: [[{ kind: "callback", label: OFFER, payload: "offer" }]],
        }),
      },
    };
  }

  override onAction({ label }: CardPress): string {
    return `${label} is noted.`;
  }

  override async onRequest(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case "/say": {
        const { content, to } = await request.json<{ content: Content; to: ChatTarget }>();
        return answer(() => this.say(content, to));
      }
      case "/broadcast": {
        const { text } = await request.json<{ text: string }>();
        return answer(() => this.broadcasts.send(text, "all"));
      }
      case "/chats":
        return Response.json(this.listChats().chats);
      default:
        return super.onRequest(request);
    }
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ [this.env.PLATFORM]: messengerOf(this.env) });
  }
}

async function answer(run: () => Promise<string>): Promise<Response> {
  try {
    return Response.json({ id: await run() });
  } catch (error) {
    return Response.json({ code: error instanceof Error && "code" in error ? error.code : "failed" });
  }
}

export default createWorker(ContractsBot);
