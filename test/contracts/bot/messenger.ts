import { env as settings } from "cloudflare:workers";
import type { Adapter } from "chat";
import { chatSdkMessenger, type MessengerDefinition } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";
import { reroute } from "./reroute.ts";

export interface PlatformEnvironment {
  /** Name of the platform. */
  readonly PLATFORM: string;
  /** JSON: options of its adapter. */
  readonly PLATFORM_OPTIONS: string;
  /** JSON: addresses that clients of the platform have inside, and those of the emulator for them. */
  readonly PLATFORM_ORIGINS?: string;
  /** JSON: names of commands by their numbers. */
  readonly QUICK_COMMANDS?: string;
  /** Limit of a call, in milliseconds. */
  readonly CALL_TIMEOUT_MS?: string;
}

type CreateAdapter = (options: never) => Adapter;

/** A bot evaluates the adapter of its own platform alone, which takes a good part of its start. */
const adapters: Readonly<Record<string, () => Promise<CreateAdapter>>> = {
  slack: async () => (await import("@chat-adapter/slack")).createSlackAdapter,
  discord: async () => (await import("@chat-adapter/discord")).createDiscordAdapter,
  teams: async () => (await import("@chat-adapter/teams")).createTeamsAdapter,
  whatsapp: async () => (await import("@chat-adapter/whatsapp")).createWhatsAppAdapter,
  gchat: async () => (await import("@chat-adapter/gchat")).createGoogleChatAdapter,
  github: async () => (await import("@chat-adapter/github")).createGitHubAdapter,
  linear: async () => (await import("@chat-adapter/linear")).createLinearAdapter,
};

/** Undefined on Telegram. */
const create = await adapters[(settings as unknown as PlatformEnvironment).PLATFORM]?.();

const RATE = { burst: 20, everyMs: 50 } as const;
/** Platforms ask for seconds between the posts in a chat, or of a bot. Rows would wait for that, and do not prove it. */
const PACING = { direct: RATE, group: RATE, global: RATE } as const;

/** All abilities are the defaults. Only times are shorter, for a suite that waits little. */
const common = {
  respondTo: ["direct-message", "mention", "subscribed-thread"],
  burstMs: 0,
  pacing: PACING,
} as const;

export function messengerOf(env: PlatformEnvironment): MessengerDefinition {
  const { CALL_TIMEOUT_MS = "15000", PLATFORM_OPTIONS, PLATFORM_ORIGINS = "{}", QUICK_COMMANDS = "{}" } = env;
  reroute(JSON.parse(PLATFORM_ORIGINS) as Record<string, string>);
  const options = JSON.parse(PLATFORM_OPTIONS) as never;
  const ours = { ...common, delivery: { callTimeoutMs: Number(CALL_TIMEOUT_MS) } };
  return create === undefined
    ? telegramMessenger({ ...ours, ...(options as Parameters<typeof telegramMessenger>[0]) })
    : chatSdkMessenger({
        ...ours,
        adapter: create(options),
        quickCommands: JSON.parse(QUICK_COMMANDS) as Record<string, string>,
        verifyWebhook: false,
      });
}
