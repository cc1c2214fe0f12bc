import type { Adapter } from "chat";

/** A message whose form the platform has approved, as its adapter takes it. */
export interface ChatSdkTemplate {
  readonly name: string;
  readonly language: string;
  /** Values for the template's variables, in the platform's own form. */
  readonly components?: readonly unknown[];
}

/** Beginning of the keys of the adapter's state that tell when people have written. */
export const HEARD = "switchboard:heard";

/** The time after a person's message in which a platform takes ordinary messages to them. */
export interface MessageWindow {
  /** In milliseconds. */
  readonly lastsMs: number;
  /** Posts a message of an approved form. Returns its id. */
  readonly sendTemplate: (adapter: Adapter, threadId: string, template: ChatSdkTemplate) => Promise<string>;
}
