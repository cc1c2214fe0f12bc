/**
 * Whether lists and objects lie in each other more than `limit` deep. What is deeper can be parsed, but neither written
 * as JSON again nor sent to another object: both run out of stack.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
