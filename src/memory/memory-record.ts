import { z } from "zod";
import { SwitchboardError } from "../core/base/errors.ts";
import type { ActionStates } from "../actions/memory/action-states.ts";
import type { PersonOf } from "../feature/session.ts";

/**
 * From whom an entry is.
 *
 * - `said`: the person wrote these words (`said` has them) in a message that the turn answered
 * - `agreed`: the person has agreed to the text, or has written it with Change
 * - `written`: a person of a group has written it with Change
 * - `noted`: the model's own note, perhaps from a file, a tool or a guess
 * - `code`: the bot's own code
 */
export const entrySource = z.enum(["said", "agreed", "written", "noted", "code"]);

const entrySchema = z.object({
  id: z.string(),
  block: z.string(),
  text: z.string(),
  source: entrySource,
  said: z.string().optional(),
  /** Epoch milliseconds. */
  at: z.number(),
});
const recordSchema = z.object({
  /** The person whom the record is about, for `data forget` and `data export`. */
  person: z.object({ messenger: z.string(), userId: z.string() }).optional(),
  /** Whether the person wants the record to be used in groups, too. */
  isForGroups: z.boolean().optional(),
  entries: z.array(entrySchema),
});

/** A fact that is kept. */
export type MemoryEntry = Readonly<z.infer<typeof entrySchema>>;

/** All that is kept in one place. */
export interface MemoryRecord extends Omit<z.infer<typeof recordSchema>, "entries"> {
  readonly entries: readonly MemoryEntry[];
}

/** Where a record is stored. */
export interface MemoryPlace {
  readonly key: string;
  readonly states: ActionStates;
  readonly person?: PersonOf;
}

const MOST_TRIES = 20;
const VERSION = 1;

export async function readRecord({ key, states }: MemoryPlace): Promise<MemoryRecord> {
  return parsed((await states.read(key))?.value);
}

/**
 * Changes a record in one step: `change` is called again if somebody else has changed it meanwhile. Returns what `change`
 * returned last.
 */
export async function changeRecord<Result>(
  { key, person, states }: MemoryPlace,
  change: (record: MemoryRecord) => { readonly record: MemoryRecord; readonly result: Result },
): Promise<Result> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const before = await states.read(key);
    const { record, result } = change(parsed(before?.value));
    const isEmpty = record.entries.length === 0 && record.isForGroups !== true;
    const next = isEmpty ? undefined : { value: JSON.stringify({ person, ...record }), version: VERSION };
    if (next?.value === before?.value) return result;
    if (await states.write(key, next, before?.revision ?? "none")) return result;
  }
  throw new SwitchboardError("memory-busy", "This memory was changed by others each time. Try again later.");
}

function parsed(value: string | undefined): MemoryRecord {
  return value === undefined ? { entries: [] } : recordSchema.parse(JSON.parse(value));
}
