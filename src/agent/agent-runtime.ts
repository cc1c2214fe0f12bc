import { LifecycleCapability } from "agents/lifecycle";
import type { CapabilityRequestContext, LifecycleJobContext, LifecycleJobs } from "agents/lifecycle";
import type { FigureReport } from "../core/chat/figures.ts";
import { BotObject } from "./bot-object.ts";
import type { BotObjectOptions, ObjectLife } from "./bot-object.ts";

/** An agent object as a Lifecycle capability: passes its starts, requests, alarms and calls to its `BotObject`. */
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
  answer(method: string, args: readonly unknown[], figures?: FigureReport): Promise<unknown> {
    return this.object.answer(method, args, figures);
  }

  override onStart(): void {
    this.object.start();
  }

  async onRequest({ request }: CapabilityRequestContext): Promise<Response | undefined> {
    return this.object.objects.isRoot() ? this.object.root.handle(request) : undefined;
  }

  onJob({ job }: LifecycleJobContext): Promise<void> {
    return this.object.onJob(job);
  }
}
