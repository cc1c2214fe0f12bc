import type { Log, LogFields } from "../base/log.ts";
import { WINDOW_CLOSED } from "./window-closed.ts";

/** Growth of counters by series: `switchboard_turns_total{outcome="done"}` → 3. Plain JSON. */
export type FigureDeltas = Readonly<Record<string, number>>;

/** The newest time of something, in epoch milliseconds, and its code. */
export interface Note {
  readonly at: number;
  readonly code: string;
}

/** Everything that a process has counted and noted since its last report. Plain JSON. */
export interface FigureReport {
  readonly counts: FigureDeltas;
  readonly notes: Readonly<Record<string, Note>>;
}

/** Names of notes. Those of penalties end with messenger and chat, those of tasks with task and conversation. */
export const MODEL_FAILED = "model-failed";
export const MODEL_WORKED = "model-worked";
export const PENALTY = "penalty ";
/** Followed by the messenger and a chat to which the platform delivers nothing until the person writes. */
export const WINDOW = "window ";
export const TASK_FAILS = "task-fails ";
/** The code of a note about something that works again. */
export const WORKS = "works";

type Labels = Readonly<Record<string, string>>;

/** Upper bounds of the buckets for durations, in seconds. */
const BUCKETS_S = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** A scheduled task that failed so often in a row is one that the operator hears of. */
export const FAILS_OFTEN = 5;

/** Most notes of one collection. The oldest ones are dropped. */
const MOST_NOTES = 500;

/** Most series of one collection. Labels come from code, but codes of failures may come from a platform. */
const MOST_SERIES = 2_000;

/**
 * Counts what the objects of one bot do, for `/metrics`. In memory only.
 *
 * All objects in one process share one collection for each root. An object that calls the root anyway takes what was
 * counted and sends it along, so that no message costs a further call. The root adds it up.
 */
export class Figures {
  #counted = new Map<string, number>();
  #notes = new Map<string, Note>();

  /** Notes that something happened, if nothing newer of this name is known. */
  note(name: string, note: Note): void {
    const known = this.#notes.get(name);
    if (known !== undefined && known.at > note.at) return;
    this.#notes.delete(name);
    const [oldest] = this.#notes.keys();
    if (oldest !== undefined && this.#notes.size >= MOST_NOTES) this.#notes.delete(oldest);
    this.#notes.set(name, note);
  }

  count(name: string, labels: Labels, by = 1): void {
    this.#add(seriesOf(name, labels), by);
  }

  /** Counts a duration, in milliseconds, in a histogram of seconds. */
  observe(name: string, labels: Labels, durationMs: number): void {
    const seconds = durationMs / 1000;
    for (const bound of [...BUCKETS_S, Infinity]) {
      const le = bound === Infinity ? "+Inf" : String(bound);
      this.#add(seriesOf(`${name}_bucket`, { ...labels, le }), seconds <= bound ? 1 : 0);
    }
    this.#add(seriesOf(`${name}_sum`, labels), seconds);
    this.#add(seriesOf(`${name}_count`, labels), 1);
  }

  /** Adds what another process has counted and noted. */
  absorb({ counts, notes }: FigureReport): void {
    for (const [series, by] of Object.entries(counts)) this.#add(series, by);
    for (const [name, note] of Object.entries(notes)) this.note(name, note);
  }

  /** Returns everything that was counted and noted, and begins again at zero. Undefined if that is nothing. */
  take(): FigureReport | undefined {
    if (this.#counted.size === 0 && this.#notes.size === 0) return undefined;
    const taken = { counts: Object.fromEntries(this.#counted), notes: Object.fromEntries(this.#notes) };
    this.#counted = new Map();
    this.#notes = new Map();
    return taken;
  }

  /** Returns everything that was noted, by name. */
  notes(): ReadonlyMap<string, Note> {
    return this.#notes;
  }

  /** Returns everything that was counted. */
  all(): FigureDeltas {
    return Object.fromEntries(this.#counted);
  }

  #add(series: string, by: number): void {
    const known = this.#counted.get(series);
    if (known === undefined && this.#counted.size >= MOST_SERIES) return;
    this.#counted.set(series, (known ?? 0) + by);
  }
}

const pending = new Map<string, Figures>();

/** Returns the collection of this process for a bot, by the name of its root. */
export function figuresOf(root: string): Figures {
  return ofRoot(pending, root);
}

const totals = new Map<string, Figures>();

/**
 * Returns what has arrived at a root, by its name. It belongs to the process, because an idle root leaves the memory and
 * comes back.
 */
export function totalsOf(root: string): Figures {
  return ofRoot(totals, root);
}

function ofRoot(all: Map<string, Figures>, root: string): Figures {
  const figures = all.get(root) ?? new Figures();
  all.set(root, figures);
  return figures;
}

function seriesOf(name: string, labels: Labels): string {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return parts.length === 0 ? name : `${name}{${parts.join(",")}}`;
}

function escaped(value: string): string {
  return value
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", String.raw`\n`)
    .replaceAll('"', String.raw`\"`);
}

/** Returns a log that also counts its lines. Each fact that is worth a line is worth a figure. */
export function countedLog(log: Log, figures: () => Figures, now: () => number): Log {
  const counted = (inner: Log, conversation?: LogFields[string]): Log => {
    const at =
      (level: "info" | "warn" | "error") =>
      (event: string, fields: LogFields = {}): void => {
        countLine(figures(), level, event, fields);
        noteLine(figures(), now(), event, { conversation, ...fields });
        inner[level](event, fields);
      };
    return {
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (fields) => counted(inner.with(fields), fields.conversation ?? conversation),
      reveal: inner.reveal,
    };
  };
  return counted(log);
}

function countLine(figures: Figures, level: string, event: string, fields: LogFields): void {
  if (level !== "info") figures.count("switchboard_problems_total", { level, event });
  const text = (name: string): string => String(fields[name] ?? "");
  switch (event) {
    case "inbox.event":
      // "ignored: no mention" and "command: help" count as "ignored" and "command".
      return figures.count("switchboard_events_total", { outcome: text("outcome").split(":", 1)[0] ?? "" });
    case "turn.ended":
      figures.count("switchboard_turns_total", { outcome: text("outcome") });
      if (fields.restarted !== true)
        figures.observe("switchboard_turn_seconds", {}, numberOf(fields.durationMs));
      figures.count("switchboard_model_calls_total", {}, numberOf(fields.steps));
      figures.count("switchboard_tool_calls_total", {}, numberOf(fields.toolCalls));
      figures.count("switchboard_tokens_total", { kind: "input" }, numberOf(fields.inputTokens));
      figures.count("switchboard_tokens_total", { kind: "output" }, numberOf(fields.outputTokens));
      return;
    case "model.call-failed":
      return figures.count("switchboard_model_failures_total", { code: text("code") });
    case "delivery.call-failed":
      return figures.count("switchboard_platform_failures_total", { kind: text("kind"), code: text("code") });
    default:
  }
}

/** A message was refused, or was accepted and not delivered. */
const WINDOW_EVENTS: ReadonlySet<string> = new Set(["chat.gone", "chat-sdk.not-delivered"]);

function noteLine(figures: Figures, at: number, event: string, fields: LogFields): void {
  if (event === "model.call-failed") {
    figures.note(MODEL_FAILED, { at, code: String(fields.code ?? "model-failed") });
  } else if (event === "turn.ended" && fields.outcome === "done" && numberOf(fields.steps) > 0) {
    figures.note(MODEL_WORKED, { at, code: WORKS });
  } else if (fields.code === WINDOW_CLOSED && WINDOW_EVENTS.has(event)) {
    figures.note(`${WINDOW}${String(fields.messenger)} ${String(fields.chat)}`, { at, code: WINDOW_CLOSED });
  } else if (numberOf(fields.failures) >= FAILS_OFTEN) {
    const task = String(fields.task);
    // The root reads its own tasks, and people hear of theirs in the chat.
    if (fields.conversation === undefined || task.startsWith("#")) return;
    const code = event === "schedule.failed" ? String(fields.code ?? "unknown") : WORKS;
    figures.note(`${TASK_FAILS}${task} ${String(fields.conversation)}`, { at, code });
  }
}

function numberOf(value: LogFields[string]): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
