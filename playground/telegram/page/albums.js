/**
 * Puts the messages of an album together: one message, with the files of all. Messages that each have a caption stay
 * apart.
 *
 * @param {readonly any[]} messages oldest first
 * @returns {any[]}
 */
export function joinAlbums(messages) {
  const joined = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const isSame = message.mediaGroupId !== undefined && before?.mediaGroupId === message.mediaGroupId;
    if (!isSame || (before.text !== "" && message.text !== "")) {
      joined.push(message);
      continue;
    }
    const withText = before.text === "" ? message : before;
    joined[joined.length - 1] = {
      ...before,
      text: withText.text,
      entities: withText.entities,
      attachments: [...before.attachments, ...message.attachments],
      reactions: [...before.reactions, ...message.reactions],
      pinned: before.pinned || message.pinned,
    };
  }
  return joined;
}
