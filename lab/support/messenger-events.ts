/** Complete events and definitions for tests, which name only the fields that matter. */
import type { Deps } from "../../src/core/base/deps.ts";
import { createLog } from "../../src/core/base/log.ts";
import type { Log } from "../../src/core/base/log.ts";
import type { BotIdentity, MessengerDefinition, MessengerPlatform } from "../../src/core/chat/messenger.ts";
import type { MessengerEvent, MessengerMessage } from "../../src/core/chat/messenger-event.ts";
import type { InboxRow } from "../../src/inbox/inbox-store.ts";
import { DeclaredMessengers } from "../../src/messengers/declare/declared-messengers.ts";
import type { NormalizedMessengerDefinition } from "../../src/messengers/declare/define-messengers.ts";

export function messageEvent(
  overrides: Partial<Omit<MessengerEvent, "message">> & { message?: Partial<MessengerMessage> } = {},
): MessengerEvent {
  const { message, ...event } = overrides;
  return {
    key: "m:1:1",
    kind: "direct-message",
    messengerId: "telegram",
    provider: "telegram",
    thread: { id: "telegram:1", chatId: "1", isDirectMessage: true },
    author: { userId: "7", fullName: "Ada Lovelace", userName: "ada" },
    capabilities: {
      canEditMessages: true,
      canStream: true,
      maxMessageLength: 4096,
      supportsActions: true,
      supportsAttachments: true,
    },
    ...event,
    message: { id: "1", text: "Hello", sentAt: 0, isMention: false, attachments: [], ...message },
  };
}

export function inboxRow(
  seq: number,
  overrides: { receivedAt?: number; readyAt?: number; event?: MessengerEvent } = {},
): InboxRow {
  const event = overrides.event ?? messageEvent();
  return {
    seq,
    key: `telegram|${event.key}`,
    messengerId: event.messengerId,
    state: "queued",
    receivedAt: overrides.receivedAt ?? 0,
    readyAt: overrides.readyAt ?? 0,
    incoming: { key: event.key, thread: event.thread, raw: undefined },
    event,
  };
}

/** Returns a definition whose platform can do nothing, for tests of declarations. */
export function definitionOf(overrides: Partial<MessengerDefinition> = {}): MessengerDefinition {
  const refuse = (): never => {
    throw new Error("this platform is not to be used");
  };
  const platform: MessengerPlatform = {
    provider: "telegram",
    verification: { kind: "none" },
    chatThreadId: (chatId: string) => chatId,
    receive: refuse,
    parse: refuse,
    surface: refuse,
    fetchIdentity: refuse,
    fetchAttachment: refuse,
  };
  return { platform, verifyWebhook: false, ...overrides };
}

/** The messengers of a bot, as one of its objects uses them. */
export function declaredOf(
  definitions: () => readonly NormalizedMessengerDefinition[],
  deps: Deps,
  {
    identity = () => Promise.resolve({ userId: "bot" }),
    log = createLog(() => {}),
  }: { readonly identity?: (messengerId: string) => Promise<BotIdentity>; readonly log?: Log } = {},
): DeclaredMessengers {
  return new DeclaredMessengers({
    deps,
    log,
    read: () => ({ definitions: definitions(), leftOut: [] }),
    root: { identity, platform: () => Promise.reject(new Error("there is no root here")) },
  });
}
