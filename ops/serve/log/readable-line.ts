/** Fields that a line shows in another way, or that do not help in one chat. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "time",
  "level",
  "event",
  "messenger",
  "chat",
  "conversation",
  "key",
  "message",
  "text",
  "at",
]);

/** Length of an id on the screen, enough to tell ids apart. */
const ID_LENGTH = 8;

type Line = Readonly<Record<string, unknown>>;

/**
 * Formats a line of the bot's log for a terminal: the time, the event and its fields, then texts and places on lines
 * below. Returns any other line unchanged.
 */
export function readableLine(line: string): string {
  const fact = line.startsWith("{") ? parse(line) : undefined;
  if (fact === undefined) return line;
  const time = new Date(String(fact.time)).toTimeString().slice(0, ID_LENGTH);
  const text = typeof fact.text === "string" ? fact.text : undefined;
  if (fact.event === "bot.output" || String(fact.event).startsWith("serve.")) return `${time} ${text}`;
  const level = fact.level === "info" ? "" : `${String(fact.level).toUpperCase()} `;
  const fields = Object.entries(fact).flatMap(([name, value]) =>
    LEFT_OUT.has(name) ? [] : [`${name}=${shown(name, value)}`],
  );
  const below = [fact.message, text, ...placesOf(fact.at)].flatMap((words) =>
    typeof words === "string" ? words.split("\n").map((part) => `         ${part}`) : [],
  );
  return [`${time} ${level}${String(fact.event)} ${fields.join(" ")}`.trimEnd(), ...below].join("\n");
}

function shown(name: string, value: unknown): string {
  const text = String(value);
  if (name === "turn" || name === "replaces") return text.slice(0, ID_LENGTH);
  return /^[^\s"]+$/.test(text) ? text : JSON.stringify(text);
}

function placesOf(at: unknown): readonly string[] {
  return typeof at === "string" ? at.split(" < ") : [];
}

function parse(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isFact = typeof value === "object" && value !== null && "event" in value && "time" in value;
    return isFact ? value : undefined;
  } catch {
    // A line of another program that begins like JSON.
    return undefined;
  }
}
