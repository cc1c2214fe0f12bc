import type { ChatState } from "./world.ts";

/** The commands that clients offer in a chat: of the narrowest scope that has some (BotCommandScope). */
export function commandsIn(
  chat: Pick<ChatState, "id" | "type">,
  commands: ReadonlyMap<string, readonly object[]>,
): readonly object[] {
  const kinds = ["chat", chat.type === "private" ? "all_private_chats" : "all_group_chats", "default"];
  for (const kind of kinds) {
    for (const [key, list] of commands) {
      const { scope, language } = parseScopeKey(key);
      if (scope.type !== kind || language !== "" || list.length === 0) continue;
      if (kind !== "chat" || Number(scope.chat_id) === chat.id) return list;
    }
  }
  return [];
}

/** Under which key a list is kept. */
export function scopeKey(scope: unknown, language: string): string {
  return `${JSON.stringify(scope ?? { type: "default" })}|${language}`;
}

function parseScopeKey(key: string): {
  readonly scope: { readonly type?: unknown; readonly chat_id?: unknown };
  readonly language: string;
} {
  const end = key.lastIndexOf("|");
  const scope: unknown = JSON.parse(key.slice(0, end));
  return { scope: typeof scope === "object" && scope !== null ? scope : {}, language: key.slice(end + 1) };
}
