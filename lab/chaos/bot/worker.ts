/**
 * The bot of the campaign. People make reminders, and everyone who has subscribed gets a digest every minute. Its model answers people, and writes code for those who ask for it; `/card` and `/file` send a card and a file with the name that
 * follows. A press is counted in the object's storage before the card shows the count. In groups whose title begins
 * with "By person" every member has a conversation of their own.
 */
import type { ToolSet } from "ai";
import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type {
  BotEnvironment,
  CardPress,
  ConfiguredModel,
  Content,
  ThinkActions,
  ThinkCommands,
  ThinkScheduledTasks,
} from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";
import { ActionConnector, codemode, createCodemodeRuntime } from "switchboard/codemode";
import { undo } from "switchboard/undo";
import { z } from "zod";

/** The effect of an action: its name, unique in the campaign, and the address that makes it. */
const effect = z.object({ name: z.string(), url: z.string() });

async function make(url: string): Promise<string> {
  const response = await fetch(url, { method: "POST" });
  return response.text();
}

export class ChaosBot extends Think<BotEnvironment> {
  override chatSchedules = { leastIntervalMs: 0, mostPerPerson: 100_000, mostPerChat: 100_000 };
  override subscribeCommands = true;
  static override codemode = codemode();
  static override undo = undo({ undoForMs: 3_600_000 });

  override getActions(): ThinkActions {
    const effects = {
      inputSchema: effect,
      // The outside world knows the name of each effect, and makes it once.
      idempotencyKey: ({ input }: { input: z.infer<typeof effect> }) => input.name,
      approvalSummary: ({ input }: { input: z.infer<typeof effect> }) => `Make ${input.name}`,
      execute: ({ url }: z.infer<typeof effect>) => make(url),
      revert: ({ input }: { input: z.infer<typeof effect> }) => make(`${input.url}/undo`),
    };
    return {
      note: action({ ...effects, description: "Makes a note." }),
      pay: action({ ...effects, description: "Pays.", approval: true, approvers: "anyone" }),
    };
  }

  override getTools(): ToolSet {
    const connectors = [new ActionConnector(this.ctx, this.env, ["note", "pay"])];
    return { codemode: createCodemodeRuntime({ ctx: this.ctx, connectors }).tool() };
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    return {
      minute: { schedule: "every 1 minute", prompt: "Write the digest.", deliverTo: "subscribers" },
    };
  }

  override async onRequest(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== "/occurrences") return super.onRequest(request);
    return Response.json(this.schedules.occurrences({ taskId: "minute", limit: 1000 }));
  }

  override getModel(): ConfiguredModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        conversation: ({ author, thread }) =>
          author !== undefined && thread.title?.startsWith("By person") === true
            ? { target: "subagent", name: `person/${author.userId}` }
            : { target: "subagent", name: thread.id },
      }),
    });
  }

  override getCommands(): ThinkCommands {
    return {
      card: { description: "A card with a button", handler: ({ args }) => cardOf(args, 0) },
      file: {
        description: "A file",
        handler: ({ args }) => ({
          kind: "files",
          files: [
            { kind: "document", name: `${args}.txt`, source: new TextEncoder().encode(args.repeat(20_000)) },
          ],
        }),
      },
    };
  }

  override async onAction({ cardId, payload }: CardPress): Promise<string> {
    const cue = typeof payload === "string" ? payload : "";
    void this.sql`CREATE TABLE IF NOT EXISTS pressed (cue TEXT PRIMARY KEY, times INTEGER NOT NULL)`;
    void this.sql`INSERT INTO pressed VALUES (${cue}, 1) ON CONFLICT DO UPDATE SET times = times + 1`;
    const [row] = this.sql<{ times: number }>`SELECT times FROM pressed WHERE cue = ${cue}`;
    const times = row?.times ?? 0;
    await this.revise(cardId, cardOf(cue, times));
    return `counted ${times}`;
  }
}

function cardOf(cue: string, times: number): Content {
  return {
    kind: "card",
    text: `card ${cue}, pressed ${times}`,
    buttons: [[{ kind: "callback", label: "Press", payload: cue }]],
  };
}

export default createWorker(ChaosBot);
