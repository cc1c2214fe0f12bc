import { AsyncLocalStorage } from "node:async_hooks";
import type { StateAdapter } from "chat";

/** The state of the object whose call of an adapter runs. A bundle of a bot without adapters leaves it out. */
const running = /* @__PURE__ */ new AsyncLocalStorage<StateAdapter>();

/** Calls an adapter, which then works with this state. */
export function withState<Result>(state: StateAdapter, call: () => Promise<Result>): Promise<Result> {
  return running.run(state, call);
}

/**
 * Returns the state to give to an adapter. Several objects may share one adapter, which then knows the state of the last
 * one that initialized it. Each call works with the state of its own object: workerd refuses the stubs and the storage
 * of another one.
 */
export function stateOfCall(own: StateAdapter): StateAdapter {
  return new Proxy(own, {
    get: (_target, name): unknown => Reflect.get(running.getStore() ?? own, name),
  });
}
