import type { Adapter, Message, MessageMetadata } from "chat";
import { z } from "zod";
import type { UnreportedMessage } from "./adapter-profile.ts";
import { mentioningText } from "./teams-mentions.ts";

const KINDS = { messageUpdate: "edited", messageDelete: "deleted" } as const;

/** A message whose deletion was taken back is an edit of it, too. */
const activity = z.looseObject({
  type: z.enum(["messageUpdate", "messageDelete"]),
  id: z.string(),
  timestamp: z.string().nullish(),
  conversation: z.object({ id: z.string() }),
  channelData: z.object({ eventType: z.enum(["editMessage", "undeleteMessage", "softDeleteMessage"]) }),
});

interface TeamsAdapter {
  readonly chat:
    | { processMessage(adapter: Adapter, threadId: string, message: Message): unknown }
    | undefined;
}

/** Reads the edit or the deletion of a message. The adapter reports new messages alone. */
export function readUnreported(body: unknown): UnreportedMessage | undefined {
  const { data } = activity.safeParse(body);
  if (data === undefined) return undefined;
  return {
    kind: KINDS[data.type],
    async report(adapter) {
      const message = adapter.parseMessage(body);
      message.isMention = (mentioningText(message)?.mentions.length ?? 0) > 0;
      // The time of the change, not of the message.
      const metadata: MessageMetadata = message.metadata;
      if (data.timestamp) metadata.editedAt = new Date(data.timestamp);
      await (adapter as unknown as TeamsAdapter).chat?.processMessage(adapter, message.threadId, message);
    },
  };
}
