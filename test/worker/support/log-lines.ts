import { onTestFinished, vi } from "vitest";

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** The bot's log from now to the end of the test; it is not printed. */
export function captureLog(): readonly LogLine[] {
  const lines: LogLine[] = [];
  const take = (line: unknown): void => {
    if (typeof line === "string" && line.startsWith("{")) lines.push(JSON.parse(line) as LogLine);
  };
  const spies = [
    vi.spyOn(console, "log").mockImplementation(take),
    vi.spyOn(console, "warn").mockImplementation(take),
    vi.spyOn(console, "error").mockImplementation(take),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return lines;
}
