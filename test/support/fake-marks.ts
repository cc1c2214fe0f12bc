import type { CallOptions, Surface } from "../../src/core/chat/surface.ts";
import { FakeFailure } from "./fake-platform.ts";
import type { FakeCall, FakeMessage, FakeMethod } from "./fake-platform.ts";

interface MarksHost {
  readonly call: (
    method: FakeMethod,
    what: Pick<FakeCall, "chatId" | "messageId" | "text">,
    options: CallOptions,
    act: () => void,
  ) => Promise<void>;
  readonly messages: (chatId: string) => readonly FakeMessage[];
}

/** Reactions and pins of a platform in memory. */
export function fakeMarks({ call, messages }: MarksHost): Required<Pick<Surface, "react" | "pin">> {
  const found = (message: FakeMessage | undefined): FakeMessage => {
    if (message === undefined) throw new FakeFailure({ kind: "missing", code: "message-missing" });
    return message;
  };
  return {
    react: ({ chatId }, messageId, emoji, options) =>
      call("react", { chatId, messageId, ...(emoji !== undefined && { text: emoji }) }, options, () => {
        found(messages(chatId).find(({ id }) => id === messageId)).reaction = emoji;
      }),
    pin: ({ chatId }, messageId, { isPinned }, options) => {
      const what = {
        chatId,
        text: isPinned ? "pin" : "unpin",
        ...(messageId !== undefined && { messageId }),
      };
      return call("pin", what, options, () => {
        const isMeant = ({ id, isPinned: isUp }: FakeMessage): boolean =>
          messageId === undefined ? isUp === true : id === messageId;
        found(messages(chatId).findLast(isMeant)).isPinned = isPinned;
      });
    },
  };
}
