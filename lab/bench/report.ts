import type { ContenderName } from "./contender.ts";

/** One measured value. A line of the table has one for each contender. */
export interface Measurement {
  readonly part: string;
  readonly metric: string;
  readonly unit: string;
  readonly contender: ContenderName;
  readonly value: number | string;
}

/** Collects measurements, and prints each at once, so that a run that is ended early has printed its results. */
export class Report {
  readonly measurements: Measurement[] = [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  add(part: string, metric: string, unit: string, contender: ContenderName, value: number | string): void {
    this.measurements.push({ part, metric, unit, contender, value });
    this.#print(`${part}: ${metric}: ${contender} ${shown(value)} ${unit}`);
  }

  /** One line for each metric, one column for each contender, as Markdown. */
  table(): string {
    const names = [...new Set(this.measurements.map(({ contender }) => contender))];
    const metrics = [
      ...new Set(this.measurements.map(({ part, metric, unit }) => `${part} | ${metric} | ${unit}`)),
    ];
    const lines = metrics.map((metric) => {
      const cells = names.map((name) => {
        const found = this.measurements.findLast(
          (it) => `${it.part} | ${it.metric} | ${it.unit}` === metric && it.contender === name,
        );
        return found === undefined ? "" : shown(found.value);
      });
      return `| ${metric} | ${cells.join(" | ")} |`;
    });
    return [
      `| part | what | unit | ${names.join(" | ")} |`,
      `| --- | --- | --- |${" ---: |".repeat(names.length)}`,
      ...lines,
    ].join("\n");
  }
}

function shown(value: number | string): string {
  if (typeof value === "string") return value;
  if (Number.isNaN(value)) return "none";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1);
}
