const SHOP = ["--beside", "playground/shop/beside.ts"];

/**
 * Returns the parameters of `switchboard dev` for those of `npm start`. The shop belongs to the support bot, which runs
 * if no other configuration is named.
 */
export function startParameters(given: readonly string[]): readonly string[] {
  const isOtherBot = given.some((word) => /^(?:--config(?:=|$)|-c)/.test(word));
  return ["dev", ...(isOtherBot ? [] : SHOP), ...given];
}
