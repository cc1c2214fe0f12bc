/** Returns the network for addresses that the bot's author has not named. `switchboard serve` binds it. */
export function publicNetworkOf(env: object): typeof fetch | undefined {
  const bound: unknown = Reflect.get(env, "PUBLIC_NETWORK");
  if (typeof bound !== "object" || bound === null || !("fetch" in bound)) return undefined;
  const { fetch: reach } = bound;
  if (typeof reach !== "function") return undefined;
  return (input, init) => (reach as typeof fetch).call(bound, input, init);
}
