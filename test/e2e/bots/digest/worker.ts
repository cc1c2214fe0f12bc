import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel, ThinkScheduledTasks } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

/** A bot that sends one digest to every chat, at the time that `/plan?at=` has named last. */
export class DigestTestBot extends Think<BotEnvironment> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    const at = this.ctx.storage.kv.get<string>("digest-at");
    if (at === undefined) return {};
    return {
      digest: {
        schedule: `at ${at}` as "at 2026-12-24T18:00",
        prompt: "Write the digest.",
        deliverTo: (chats) => chats.map(({ chatId, messengerId }) => ({ messenger: messengerId, chatId })),
      },
    };
  }

  override async onRequest(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/plan") {
      this.ctx.storage.kv.put("digest-at", searchParams.get("at") ?? "");
      await this.internal_reconcileScheduledTasks();
      return new Response("planned");
    }
    if (pathname === "/occurrences") return Response.json(this.schedules.occurrences());
    return super.onRequest(request);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(DigestTestBot);
