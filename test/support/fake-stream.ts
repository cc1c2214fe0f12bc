import type { RichText } from "../../src/core/message/rich-text.ts";
import type { CallOptions, NativeStream } from "../../src/core/chat/surface.ts";
import { FakeFailure } from "./fake-platform.ts";
import type { FakeCall, FakeMessage, FakeMethod } from "./fake-platform.ts";

interface Access {
  readonly call: <Value>(
    method: FakeMethod,
    what: Omit<FakeCall, "at" | "method" | "outcome">,
    options: CallOptions,
    act: () => Value,
  ) => Promise<Value>;
  readonly find: (chatId: string, messageId: string) => FakeMessage;
  /** Adds a message, and returns its id. */
  readonly add: (chatId: string, message: Omit<FakeMessage, "id">) => string;
  readonly check: (content: RichText) => void;
}

/** Messages that grow. They cannot be edited until their stream has ended. */
export function fakeStream({ add, call, check, find }: Access): NativeStream {
  return {
    begin: async ({ chatId }, { key, text, entities, replyTo }, options) =>
      call("begin", { chatId, text, entities: entities.length, replyTo }, options, () => {
        check({ text, entities });
        return { messageId: add(chatId, { key, text, entities, isStreaming: true }) };
      }),
    append: async ({ chatId }, messageId, { text, entities }, options) => {
      await call("append", { chatId, messageId, text, entities: entities.length }, options, () => {
        const found = find(chatId, messageId);
        if (found.isStreaming !== true) throw new FakeFailure({ kind: "rejected", code: "not-streaming" });
        const shift = found.text.length;
        const more = entities.map((entity) => ({ ...entity, offset: entity.offset + shift }));
        check({ text: found.text + text, entities: more });
        found.text += text;
        found.entities = [...found.entities, ...more];
      });
    },
    end: async ({ chatId }, messageId, options) => {
      await call("end", { chatId, messageId }, options, () => {
        find(chatId, messageId).isStreaming = false;
      });
    },
  };
}
