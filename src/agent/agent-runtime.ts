import { LifecycleCapability } from "agents/lifecycle";
import type { CapabilityRequestContext, LifecycleJobContext, LifecycleJobs } from "agents/lifecycle";
import type { FigureReport } from "../core/figures.ts";
import { answerCall } from "./answering.ts";
import { BotObject } from "./bot-object.ts";
import type { BotObjectOptions, ObjectLife } from "./bot-object.ts";

/** An agent object as a Lifecycle capability: passes its starts, requests, alarms and calls to the parts of `BotObject`. */
export class AgentRuntime extends LifecycleCapability implements ObjectLife {
  readonly object: BotObject;

  constructor(options: BotObjectOptions) {
    super("switchboard");
    this.object = new BotObject(options, this);
  }

  ready(): Promise<void> {
    return this.lifecycle.ready();
  }

  get jobs(): LifecycleJobs {
    return this.lifecycle.jobs;
  }

  /** Answers a call of another object of this bot. */
  async answer(method: string, args: readonly unknown[], figures?: FigureReport): Promise<unknown> {
    if (figures !== undefined) this.object.metrics.absorb(figures);
    await this.ready();
    return answerCall(this.object, method, args);
  }

  /** Runs after every start. A job of an earlier process may be due, and open turns are resumed without waiting. */
  override onStart(): void {
    const { drive, features, wakeUp } = this.object;
    const wakeAt = drive.time();
    wakeUp.known(wakeAt);
    if (wakeAt !== undefined) this.object.later(() => this.object.thread.poke());
    features.start();
  }

  async onRequest({ request }: CapabilityRequestContext): Promise<Response | undefined> {
    return this.object.objects.isRoot() ? this.object.root.handle(request) : undefined;
  }

  async onJob({ job }: LifecycleJobContext): Promise<void> {
    const { drive, features, thread, wakeUp } = this.object;
    await features.onJob(job);
    if (!drive.isOf(job)) return;
    wakeUp.known(undefined);
    await thread.drive();
    await wakeUp.stored();
  }
}
