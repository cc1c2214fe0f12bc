import { createWorker, modelFromEnv, Think } from "switchboard";
import type { ModelEnvironment, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

/**
 * A bot whose conversations fail to take a message that asks for it: "fail before storing" twice, as a full disk does,
 * and "fail after storing" once, as a machine does that dies behind its last write.
 */
export class ForgetfulBot extends Think<Env> {
  #failures = 0;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override async inner(method: string, args: readonly unknown[]): Promise<unknown> {
    const text = method === "thread.receiveEvents" ? JSON.stringify(args) : "";
    if (text.includes("fail before storing") && this.#failures < 2) {
      this.#failures += 1;
      throw new Error("EXCEPTION-DETAIL: the disk is full");
    }
    const answer = await super.inner(method, args);
    if (text.includes("fail after storing") && this.#failures < 1) {
      this.#failures += 1;
      throw new Error("EXCEPTION-DETAIL: the machine died");
    }
    return answer;
  }

  override onRequest(request: Request): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith("/hello")) return new Response("Hello from the bot itself");
    if (pathname === "/ignored") return Response.json(this.ignoredUpdates());
    return super.onRequest(request);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        burstMs: 0,
      }),
    });
  }
}

export default createWorker(ForgetfulBot);
