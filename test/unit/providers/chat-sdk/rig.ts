import { createMockAdapter, createTestMessage } from "@chat-adapter/tests";
import type { Adapter, ChatInstance, Message, MessageData, WebhookOptions } from "chat";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { ChatSdkMessengerOptions } from "../../../../providers/chat-sdk/index.ts";
import type {
  IncomingEvent,
  MessengerPlatform,
  PlatformContext,
} from "../../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../../src/core/chat/messenger-event.ts";
import { createPlatformContext, createReceiver, throughStorage } from "../platform-context.ts";

export const author = { userId: "U1", userName: "ada", fullName: "Ada", isBot: false, isMe: false } as const;
export const sentAt = 1_799_999_000_000;

/** A message of the SDK that Ada wrote. */
export function messageOf({
  id = "1",
  text = "hello",
  ...rest
}: Partial<MessageData> & { readonly threadId: string }): Message {
  const metadata = { dateSent: new Date(sentAt), edited: false };
  return createTestMessage(id, text, { author, metadata, raw: { id }, ...rest });
}

/** What an adapter does with a request: the part of it that a test is about. */
export type Handle = (
  chat: ChatInstance,
  adapter: Adapter,
  request: Request,
  options: WebhookOptions | undefined,
) => Response | Promise<Response>;

export interface Rig {
  readonly platform: MessengerPlatform;
  readonly context: PlatformContext;
  readonly log: readonly string[];
  readonly fireTimers: () => void;
  receive(
    request?: Request,
    durable?: () => Promise<void>,
  ): Promise<{
    readonly response: Response;
    readonly accepted: readonly IncomingEvent[];
    readonly ignored: readonly string[];
  }>;
  readonly parse: (incoming: IncomingEvent) => Promise<MessengerEvent>;
  /** The outcomes in the log, in order. */
  outcomes(): unknown[];
  handshake(request: Request): Promise<Response | undefined>;
}

/** A messenger over an adapter, with the log and the events that the inbox would store. */
export function createRig(adapter: Adapter, options: Partial<ChatSdkMessengerOptions> = {}): Rig {
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false, ...options });
  const { context, log, fireTimers } = createPlatformContext({});
  const receive = async (request = postRequest("{}"), durable?: () => Promise<void>) => {
    const receiver = createReceiver(durable);
    const response = await platform.receive(request, context, receiver);
    return { response, accepted: receiver.accepted, ignored: receiver.ignored };
  };
  const parse = (incoming: IncomingEvent): Promise<MessengerEvent> =>
    platform.parse(throughStorage(incoming), context);
  const outcomes = (): unknown[] =>
    log.map((line) => (JSON.parse(line) as { readonly outcome?: string }).outcome).filter(Boolean);
  const handshake = async (request: Request) => platform.handshake?.(request, context);
  return { platform, context, log, fireTimers, receive, parse, outcomes, handshake };
}

/** A rig over the mock adapter, whose `handleWebhook` is `handle`. */
export function createMockRig(
  handle: Handle,
  overrides: Partial<Adapter> = {},
  name = "slack",
): Rig & { readonly adapter: Adapter } {
  let chat: ChatInstance | undefined;
  const adapter: Adapter = createMockAdapter(name, {
    initialize: async (instance) => void (chat = instance),
    handleWebhook: async (request, options) => {
      if (chat === undefined) throw new Error("not initialized");
      return handle(chat, adapter, request, options);
    },
    ...overrides,
  });
  return { adapter, ...createRig(adapter) };
}

export function postRequest(body: string, headers: Record<string, string> = {}): Request {
  return new Request("https://bot.example/webhook", { method: "POST", headers, body });
}

/** Lets everything run that waits for nothing but its turn. */
export async function workDone(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
