import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

/** A bot that sends the text of `/broadcast?text=` to everyone who has subscribed, and shows what became of it. */
export class SubscribedTestBot extends Think<BotEnvironment> {
  override subscribeCommands = true;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override async onRequest(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/broadcast":
        return new Response(await this.broadcasts.send(searchParams.get("text") ?? "", "subscribers"));
      case "/state":
        return Response.json(await this.broadcasts.get(searchParams.get("id") ?? ""));
      default:
        return super.onRequest(request);
    }
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(SubscribedTestBot);
