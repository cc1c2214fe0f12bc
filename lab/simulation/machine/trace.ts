/** A log of the run in order, with actors and times. Lines are created only if somebody will read them. */
export interface Trace {
  add(actor: string, what: () => string): void;
  readonly lines: readonly string[];
}

export function createTrace(isOn: boolean, now: () => number, startAt: number): Trace {
  const lines: string[] = [];
  return {
    lines,
    add(actor, what) {
      if (!isOn) return;
      const time = ((now() - startAt) / 1_000).toFixed(3).padStart(9);
      lines.push(`${time}  ${actor.padEnd(16)} ${what()}`);
    },
  };
}
