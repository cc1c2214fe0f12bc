/**
 * A bot in which each conversation has one task of its own, at the time that `/due <kind> <ISO time>` names: code that
 * writes to the chat, or a prompt whose answer goes there. With `COUNT_ROWS` it counts the rows that are written.
 */
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ConfiguredModel, ThinkCommands, ThinkScheduledTasks } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { countRows, takeRowsWritten } from "../worker/count-rows.ts";

interface Env extends BotEnvironment {
  COUNT_ROWS?: string;
}

export class ScheduleBot extends Think<Env> {
  constructor(...parameters: ConstructorParameters<typeof Think<Env>>) {
    super(...parameters);
    if (this.env.COUNT_ROWS) countRows(this.ctx.storage);
  }

  override getModel(): ConfiguredModel {
    return modelFromEnv(this.env);
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    const [kind, at] = this.ctx.storage.kv.get<string>("due")?.split(" ") ?? [];
    if (kind === undefined || at === undefined) return {};
    const schedule = `at ${at}` as "at 2026-12-24T18:00";
    const scope = "conversation";
    if (kind === "prompt") return { due: { schedule, scope, prompt: "reply 20 0 #due" } };
    return { due: { schedule, scope, handler: async () => void (await this.say(`due ${at}`)) } };
  }

  override getCommands(): ThinkCommands {
    return {
      due: {
        description: "Plan the task of this chat",
        handler: async ({ args }) => {
          this.ctx.storage.kv.put("due", args);
          await this.internal_reconcileScheduledTasks();
          return "planned";
        },
      },
    };
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

const bot = createWorker<Env>(ScheduleBot);

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "/bench/rows") return Response.json(takeRowsWritten());
    return bot.fetch?.(request, env, context) ?? new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<Env>;
