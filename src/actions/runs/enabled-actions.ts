import type { OfferContext } from "../declare/action-context.ts";
import type { Action, ThinkActions } from "../declare/action.ts";
import type { LocalStates } from "../memory/action-states.ts";

/** The conversation, as it decides which actions it offers. */
interface Offer {
  readonly states: Pick<LocalStates, "contexts">;
  readonly ctx: () => OfferContext;
}

/** Returns the actions that a model is offered now. */
export async function enabledActions(
  actions: ThinkActions,
  offer: Offer,
  onFailure: (name: string, error: unknown) => void,
): Promise<ThinkActions> {
  const offered = await Promise.all(
    Object.entries(actions).map(async (entry) => {
      const [key, action] = entry;
      const failed = (error: unknown): void => onFailure(action.name ?? key, error);
      const isOffered = await isEnabled(action, { ...offer, onFailure: failed });
      return isOffered ? [entry] : [];
    }),
  );
  return Object.fromEntries(offered.flat());
}

/** Whether an action may be called now: in its contexts, and if `enabled` agrees. One whose `enabled` throws may not. */
export async function isEnabled(
  { contexts, enabled }: Action,
  { ctx, onFailure, states }: Offer & { readonly onFailure: (error: unknown) => void },
): Promise<boolean> {
  if (contexts !== undefined) {
    const active = states.contexts();
    if (!contexts.some((name) => active.has(name))) return false;
  }
  if (enabled === undefined) return true;
  try {
    return await enabled(ctx() as never);
  } catch (error) {
    onFailure(error);
    return false;
  }
}
