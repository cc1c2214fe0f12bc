import type { Update } from "grammy/types";
import { equalSecrets } from "../../src/core/bytes/constant-time.ts";
import { problem } from "../../src/core/web/problem.ts";
import type {
  CommandEntry,
  MessengerPlatform,
  PlatformContext,
  PlatformVerification,
  ReceiveContext,
} from "../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../src/core/chat/messenger-event.ts";
import { sha256 } from "../../src/core/bytes/sha256.ts";
import type { BotNames } from "./updates/addressing.ts";
import { answerPress } from "./answer-press.ts";
import { createTelegramClient, type TelegramClient } from "./client.ts";
import { setCommandMenu } from "./command-menu.ts";
import { describeChat } from "./describe-chat.ts";
import { downloadFile, fetchFileMetadata } from "./files/file-download.ts";
import { FilePaths } from "./files/file-paths.ts";
import { isMember } from "./updates/membership.ts";
import type { TelegramSettings } from "./options.ts";
import { parseUpdate } from "./updates/parse-update.ts";
import { routeUpdate, telegramThreadId, type RoutingSettings } from "./routing.ts";
import { createTelegramSurface } from "./surface.ts";
import { allowedUpdatesFor } from "./updates/update-kinds.ts";
import { parseJson } from "../../src/core/json/parse-json.ts";

const secretHeader = "X-Telegram-Bot-Api-Secret-Token";

/** Creates Telegram as a platform. This makes no call, because it happens at every cold start. */
export function createTelegramPlatform(settings: TelegramSettings): MessengerPlatform {
  let client: TelegramClient | undefined;
  let account: Promise<string> | undefined;
  const paths = new FilePaths();
  const { botId, onUpdate, reactions } = settings;
  const routing: RoutingSettings = { botId, reactions, takesUpdates: onUpdate !== undefined };
  const fetchOf = (context: PlatformContext) => settings.fetch ?? context.deps.fetch;
  const clientOf = (context: PlatformContext) =>
    (client ??= createTelegramClient(settings, fetchOf(context)));
  return {
    provider: "telegram",
    wantedUpdates: allowedUpdatesFor({ reactions, onUpdate }),
    chatThreadId: (chatId) => telegramThreadId(chatId, undefined),
    topicThreadId: telegramThreadId,
    verification: verificationBy(settings.secretToken),
    receive: (request, context, receive) =>
      receiveUpdate(request, context, receive, clientOf(context), routing),
    parse: (incoming, context) =>
      parseUpdate(incoming, context.messengerId, botNames(settings, context), routing),
    describeChat,
    surface: (context) => createTelegramSurface(clientOf(context), settings.pacing),
    ...(onUpdate !== undefined && {
      handleUpdate: async ({ raw }: MessengerEvent, context: PlatformContext) =>
        onUpdate({ update: raw as Update, api: clientOf(context).botApi() }),
    }),
    account: () => (account ??= sha256(settings.token)),
    async fetchIdentity(context, signal) {
      const me = await clientOf(context).call("getMe", {}, signal);
      return { userId: String(me.id), ...(me.username ? { userName: me.username } : {}) };
    },
    async checkAccess(context, signal) {
      await clientOf(context).call("getMe", {}, signal);
    },
    async isMember(chatId, userId, context, signal) {
      const asked = { chat_id: chatId, user_id: Number(userId) };
      return isMember(await clientOf(context).call("getChatMember", asked, signal));
    },
    async checkWebhook(context, signal) {
      const info = await clientOf(context).call("getWebhookInfo", {}, signal);
      return {
        isSet: Boolean(info.url),
        pending: info.pending_update_count,
        ...(info.last_error_date !== undefined && {
          lastError: { at: info.last_error_date * 1000, message: info.last_error_message ?? "unknown error" },
        }),
      };
    },
    ...(settings.commandMenu && {
      setCommands: (
        commands: readonly CommandEntry[],
        context: PlatformContext,
        signal: AbortSignal,
        formerLanguages: readonly string[],
      ) => setCommandMenu(commands, clientOf(context), signal, formerLanguages),
    }),
    fetchAttachment: (reference, context, options) =>
      downloadFile(reference, clientOf(context), settings, {
        ...options,
        fetch: fetchOf(context),
        clock: context.deps.clock,
        paths,
      }),
    fetchAttachmentMetadata: (reference, context, { signal }) =>
      fetchFileMetadata(reference, clientOf(context), { signal, clock: context.deps.clock, paths }),
  };
}

function verificationBy(secretToken: string | undefined): PlatformVerification {
  if (secretToken === undefined) return { kind: "none" };
  return { kind: "header", verify: (headers) => equalSecrets(headers.get(secretHeader) ?? "", secretToken) };
}

/**
 * Answers 200 for a durable or irrelevant update, and 400 for a body that is not an update. Rejects if an update could
 * not be stored.
 */
async function receiveUpdate(
  request: Request,
  context: PlatformContext,
  receive: ReceiveContext,
  client: TelegramClient,
  routing: RoutingSettings,
): Promise<Response> {
  const routed = routeUpdate(parseJson(await request.text()), routing);
  const ignore = (kind: string): void => {
    receive.ignore(kind);
    context.log.info("inbox.event", { messenger: context.messengerId, outcome: `ignored: ${kind}` });
  };
  switch (routed.kind) {
    case "invalid":
      return problem(400, "not-an-update", routed.reason);
    case "ignored":
      ignore(routed.updateKind);
      return Response.json({ ok: true });
    case "press":
      await answerPress(routed.queryId, client, context);
      ignore(routed.updateKind);
      return Response.json({ ok: true });
    case "routed":
      await receive.accept([routed.event]);
      return Response.json({ ok: true });
    default:
      return routed satisfies never;
  }
}

/**
 * Returns the bot's names. The id is the first part of the token. Telegram is asked for the name only if the options do
 * not have it.
 */
function botNames(settings: TelegramSettings, context: PlatformContext): BotNames {
  return {
    botId: settings.botId,
    userName: async () => (settings.userName ?? (await context.identity()).userName)?.toLowerCase(),
  };
}
