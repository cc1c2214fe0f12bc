import type { LifecycleJob } from "agents/lifecycle";

/** The durable names of an alarm. */
export interface AlarmName {
  /** Id of the job, with a version. */
  readonly id: string;
  /** Name of the work that the alarm calls for. */
  readonly fn: string;
}

/** The durable jobs of an object. Lifecycle keeps those of a Durable Object. */
export interface AlarmJobs {
  get(id: string): { readonly time: number } | undefined;
  push(job: AlarmJob): Promise<unknown>;
  cancel(id: string): Promise<unknown>;
}

/** A job with the time of its alarm, in epoch milliseconds. */
export interface AlarmJob extends AlarmName {
  readonly time: number;
  /** The job takes the place of an earlier one with its id. */
  readonly singleflight: true;
}

/** One alarm of an object, which a Lifecycle job keeps through crashes and restarts. */
export class DurableAlarm {
  readonly #name: AlarmName;
  readonly #life: { readonly jobs: AlarmJobs };

  constructor(name: AlarmName, life: { readonly jobs: AlarmJobs }) {
    this.#name = name;
    this.#life = life;
  }

  /** Sets the alarm to a time (epoch milliseconds), or removes it. Resolves when that is durable. */
  async set(at: number | undefined): Promise<void> {
    const { fn, id } = this.#name;
    if (at === undefined) await this.#life.jobs.cancel(id);
    else await this.#life.jobs.push({ id, fn, time: at, singleflight: true });
  }

  /** Returns the time that is stored, in epoch milliseconds. Undefined if the alarm is not set. */
  time(): number | undefined {
    return this.#life.jobs.get(this.#name.id)?.time;
  }

  /** Whether a job that is due now is this alarm. */
  isOf(job: LifecycleJob): boolean {
    return job.fn === this.#name.fn;
  }
}
