/** Returns the id of a reply's draft, from 1 to 2147483647. It is the same in every process. */
export function draftIdOf(replyId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < replyId.length; index += 1) {
    hash = Math.imul(hash ^ replyId.charCodeAt(index), 0x01000193);
  }
  return hash & 0x7fffffff || 1;
}
