import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel } from "switchboard";
import { mcpClient } from "switchboard/mcp-client";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

interface Env extends BotEnvironment {
  DOCS_URL: string;
  PUBLIC_NETWORK: Fetcher;
}

/** A bot at whose server people sign in: by a client that registers itself, and by one with a secret. */
export class SignedInBot extends Think<Env> {
  static override mcpClient = mcpClient<Env>({
    servers: ({ DOCS_URL: url }) => ({
      docs: { url, auth: "person", approval: false },
      vault: { url, auth: { clientId: "by-hand", clientSecret: "secret-of-the-client" }, approval: false },
    }),
  });

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  /** Fetches an address as the author's code does, unless it is for strangers alone, and as that of strangers is. */
  override async onRequest(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const url = searchParams.get("url") ?? "";
    const own = searchParams.get("by") === "both" ? [fetch(url)] : [];
    const tries = [...own, this.env.PUBLIC_NETWORK.fetch(url)].map((one) =>
      one.then(
        ({ status }) => status,
        // The network's own refusal, before it connects, is an error inside of workerd.
        (error: unknown) => (String(error).includes("internal error") ? "refused" : "unreachable"),
      ),
    );
    return Response.json(await Promise.all(tries));
  }
}

export default createWorker(SignedInBot);
