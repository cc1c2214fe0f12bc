import type { RpcTarget } from "cloudflare:workers";
import type { Agent, DynamicAgentStub } from "agents";

/** Another agent, as `subAgent` and `conversationAgent` return it: its methods, and its parts such as `deliveries`. */
export type AgentStub<T extends Agent> = DynamicAgentStub<T> & {
  readonly [Name in keyof T as T[Name] extends RpcTarget ? Name : never]: RemotePart<T[Name]>;
};

/** A part of an agent in another object, with all its methods. */
type RemotePart<Part> = {
  readonly [Name in keyof Part & string]: Part[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};
