import { type Adapter, type ChatInstance, Message, type MessageData, type WebhookOptions } from "chat";

/** What the fake platform's people see, and what its adapters do with a request. */
export interface FakeAdapterWorld {
  /** The newest text of each message that was posted, in order. */
  readonly shown: string[];
  readonly handle: (
    chat: ChatInstance,
    adapter: Adapter,
    body: unknown,
    options: WebhookOptions | undefined,
  ) => Response | Promise<Response>;
}

/** An adapter of the Chat SDK for a platform that exists for tests only: threads are `name:channel:thread`. */
export function createFakeAdapter(name: string, world: FakeAdapterWorld): Adapter {
  let chat: ChatInstance | undefined;
  const textOf = (content: unknown): string => {
    const { markdown, raw } = content as { readonly markdown?: string; readonly raw?: string };
    return markdown ?? raw ?? "";
  };
  const adapter: Partial<Adapter> = {
    name,
    userName: "shop-bot",
    initialize: async (instance) => void (chat = instance),
    channelIdFromThreadId: (threadId) => threadId.split(":").slice(0, 2).join(":"),
    isDM: () => false,
    startTyping: async () => undefined,
    postMessage: async (threadId, content) => ({
      id: String(world.shown.push(textOf(content))),
      threadId,
      raw: {},
    }),
    editMessage: async (threadId, messageId, content) => {
      world.shown[Number(messageId) - 1] = textOf(content);
      return { id: messageId, threadId, raw: {} };
    },
    deleteMessage: async () => undefined,
    async handleWebhook(request, options) {
      if (chat === undefined) throw new Error("not initialized");
      return world.handle(chat, adapter as Adapter, await request.json(), options);
    },
  };
  return adapter as Adapter;
}

/** A message of the SDK. */
export function sdkMessage(
  data: Pick<MessageData, "id" | "text" | "threadId"> & Partial<MessageData>,
): Message {
  return new Message({
    formatted: { type: "root", children: [] },
    attachments: [],
    author: { userId: "1", userName: "ada", fullName: "Ada", isBot: false, isMe: false },
    metadata: { dateSent: new Date(), edited: false },
    raw: { id: data.id },
    ...data,
  });
}
