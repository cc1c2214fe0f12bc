import { statSync } from "node:fs";
import path from "node:path";
import { listObjects, rowsOf } from "./object-store.ts";
import { textOf } from "./mentions.ts";

/** The data of one conversation. */
export interface ConversationUsage {
  readonly name: string;
  readonly messenger: string;
  readonly chat: string;
  readonly title: string | undefined;
  /** Time of its last message, as an ISO date. */
  readonly lastActive: string;
  readonly bytes: number;
  /** The class that has its memory, and the one that `conversation` chooses now. Undefined: the bot's own, always. */
  readonly agentClass?: string;
  readonly chosenClass?: string;
}

export interface DataUsage {
  readonly objects: number;
  readonly bytes: number;
  /** Largest first. */
  readonly conversations: readonly ConversationUsage[];
}

/** Measures the data of a bot. May run beside it. */
export function dataUsage(dataDirectory: string): DataUsage {
  const objects = listObjects(path.join(dataDirectory, "objects"));
  const sizes = new Map(objects.map(({ classKey, file, name }) => [`${classKey}/${name}`, sizeOf(file)]));
  const conversations = objects
    .filter(({ name }) => name !== undefined && !name.includes("/"))
    .flatMap((root) => {
      const classes = rowsOf(root.file, "conversation_class_v1");
      return rowsOf(root.file, "directory_v2").map((row) => {
        const own = classes.find(({ conversation }) => conversation === row.name);
        const agentClass = own && textOf(own.class_name);
        const bot = root.classKey.slice(0, root.classKey.lastIndexOf("-"));
        const classKey = agentClass === undefined ? root.classKey : `${bot}-${agentClass}`;
        return {
          name: textOf(row.name),
          messenger: textOf(row.messenger_id),
          chat: textOf(row.chat_id),
          title: textOf(row.title) || undefined,
          lastActive: new Date(Number(row.last_active_at)).toISOString(),
          bytes: sizes.get(`${classKey}/${root.name}/${textOf(row.name)}`) ?? 0,
          ...(own && { agentClass, chosenClass: textOf(own.chosen_class) }),
        };
      });
    });
  return {
    objects: objects.length,
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    conversations: conversations.toSorted((left, right) => right.bytes - left.bytes),
  };
}

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce(
    (sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
