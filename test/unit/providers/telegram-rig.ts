import type { IncomingEvent, MessengerPlatform, PlatformContext } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { Surface } from "../../../src/core/chat/surface.ts";
import { telegramMessenger, type TelegramMessengerOptions } from "../../../providers/telegram/index.ts";
import { createFakeBotApi } from "./fake-bot-api.ts";
import { answerAsRoot, createPlatformContext, createReceiver, throughStorage } from "./platform-context.ts";
import { token } from "./telegram-updates.ts";

/** A Telegram messenger with a fake Bot API, and short ways through it. */
export function createTelegramRig(options: Partial<TelegramMessengerOptions> = {}): {
  readonly platform: MessengerPlatform;
  readonly context: PlatformContext;
  readonly surface: Surface;
  readonly api: ReturnType<typeof createFakeBotApi>;
  /** Posts a body to the webhook. */
  readonly post: (
    body: unknown,
    durable?: () => Promise<void>,
  ) => Promise<{ response: Response; accepted: IncomingEvent[]; ignored: string[] }>;
  /** The event of an update that must be routed. */
  readonly event: (update: unknown) => Promise<MessengerEvent>;
  /** How often the stored identity was asked for. */
  readonly identityReads: () => number;
  readonly log: readonly string[];
  readonly fireTimers: () => void;
} {
  const api = createFakeBotApi(token);
  let identityReads = 0;
  const { context, fireTimers, log } = createPlatformContext({
    fetch: api.fetch,
    identity: async () => {
      identityReads += 1;
      return { userId: token.split(":")[0] ?? "", userName: "Support_Bot" };
    },
  });
  const { platform } = telegramMessenger({
    token,
    secretToken: "s3cret",
    userName: "support_bot",
    ...options,
  });
  const post = async (body: unknown, durable?: () => Promise<void>) => {
    const receiver = createReceiver(durable);
    const request = new Request("https://bot.example/messengers/telegram/webhook", {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const response = await answerAsRoot(platform.receive(request, context, receiver));
    return { response, accepted: receiver.accepted, ignored: receiver.ignored };
  };
  return {
    platform,
    context,
    surface: platform.surface(context),
    api,
    post,
    identityReads: () => identityReads,
    log,
    fireTimers,
    async event(update) {
      const { accepted, ignored } = await post(update);
      const incoming = accepted[0];
      if (incoming === undefined) throw new Error(`not routed: ${ignored.join()}`);
      return platform.parse(throughStorage(incoming), context);
    },
  };
}
