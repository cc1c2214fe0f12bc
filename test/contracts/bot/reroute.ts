const rerouted = new Map<string, string>();

/**
 * Sends requests for other origins to the emulator, for clients that have the platform's address inside.
 *
 * @param origins the emulator's origin by the platform's: `{ "https://discord.com": "http://127.0.0.1:4711" }`
 */
export function reroute(origins: Readonly<Record<string, string>>): void {
  if (rerouted.size === 0 && Object.keys(origins).length > 0) {
    const original = globalThis.fetch;
    globalThis.fetch = (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const to = rerouted.get(url.origin);
      if (to === undefined) return original(input, init);
      const address = `${to}${url.pathname}${url.search}`;
      return original(input instanceof Request ? new Request(address, input) : address, init);
    };
  }
  for (const [from, to] of Object.entries(origins)) rerouted.set(from, to);
}
