import type { Action, OfferContext, ThinkActions } from "./action.ts";

/** Returns the actions that a model is offered now. */
export async function enabledActions(
  actions: ThinkActions,
  ctx: () => OfferContext,
  onFailure: (name: string, error: unknown) => void,
): Promise<ThinkActions> {
  const offered = await Promise.all(
    Object.entries(actions).map(async (entry) => {
      const [key, action] = entry;
      return (await isEnabled(action, ctx, (error) => onFailure(action.name ?? key, error))) ? [entry] : [];
    }),
  );
  return Object.fromEntries(offered.flat());
}

/** Whether an action may be called now. One whose `enabled` throws may not. */
export async function isEnabled(
  { enabled }: Action,
  ctx: () => OfferContext,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  if (enabled === undefined) return true;
  try {
    return await enabled(ctx() as never);
  } catch (error) {
    onFailure(error);
    return false;
  }
}
