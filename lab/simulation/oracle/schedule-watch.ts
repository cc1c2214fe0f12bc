import type { OccurrenceRecord, OwnerNews } from "../../../src/schedules/rules/occurrence.ts";
import type { PlanItem } from "../plan/plan.ts";

export type PlannedSchedule = Extract<PlanItem, { kind: "schedule" }>;

/** The scheduled tasks of a run that is over. */
export interface ScheduleEnd {
  readonly plans: readonly PlannedSchedule[];
  readonly occurrences: readonly OccurrenceRecord[];
  readonly watch: ScheduleWatch;
}

/** One turn that a scheduled task has asked a conversation for. */
export interface AskedTurn {
  readonly occurrence: string;
  readonly threadId: string;
  /** The word by which the turn is known in the conversation. */
  readonly token: string;
}

/** A reply of a person to a digest, which quotes it. */
export interface DigestQuote {
  readonly threadId: string;
  readonly token: string;
  /** The word by which the turn of the digest is known. */
  readonly digest: string;
}

/**
 * Knows what scheduled tasks have asked of conversations, and what their owners were told. It belongs to the run and not
 * to a process, so that a repetition after a crash is recognized.
 */
export class ScheduleWatch {
  readonly told: { readonly task: string; readonly occurrence: string; readonly news: OwnerNews }[] = [];
  /** Replies of people to digests. */
  readonly quotes: DigestQuote[] = [];
  readonly #asked = new Map<string, AskedTurn>();

  get asked(): readonly AskedTurn[] {
    return [...this.#asked.values()];
  }

  /** Returns the word of a turn, by the id under which its conversation knows it. */
  tokenOf(submissionId: string, occurrence: string, threadId: string): string {
    const known = this.#asked.get(submissionId);
    if (known !== undefined) return known.token;
    const token = `q${FIRST_TOKEN + this.#asked.size}`;
    this.#asked.set(submissionId, { occurrence, threadId, token });
    return token;
  }

  /** A card is posted to the owner of a task, once for its id. */
  tell(task: string, occurrence: string, news: OwnerNews): void {
    const isKnown = this.told.some((one) => one.occurrence === occurrence && one.news === news);
    if (!isKnown) this.told.push({ task, occurrence, news });
  }
}

/** Later than the prompts that the plan names. */
const FIRST_TOKEN = 1_000;
