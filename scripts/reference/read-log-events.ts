/** The levels at which each event is logged, in the order of their weight. */
export type LoggedEvents = ReadonlyMap<string, ReadonlySet<string>>;

const CALL =
  /(?:\blog\s*\.(?<method>info|warn|error)\(|#write\(\s*(?<level>\w+|"\w+"),)\s*"(?<event>[^"]+)"/g;
const LEVELS = ["info", "warn", "error"];

/** Finds the events that sources log. A level that is decided at run time may be any. */
export function readLogEvents(sources: readonly string[]): LoggedEvents {
  const found = new Map<string, Set<string>>();
  for (const source of sources) {
    for (const { groups } of source.matchAll(CALL)) {
      const { event = "", level, method } = groups ?? {};
      const literal = method ?? /^"(\w+)"$/.exec(level ?? "")?.[1];
      const levels = found.get(event) ?? new Set();
      for (const one of literal === undefined ? LEVELS : [literal]) levels.add(one);
      found.set(event, levels);
    }
  }
  return new Map(
    [...found].map(([event, levels]) => [event, new Set(LEVELS.filter((level) => levels.has(level)))]),
  );
}
