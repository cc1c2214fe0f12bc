import { InvalidInputError } from "../../src/core/errors.ts";

/**
 * An address that a chat may make the bot fetch: https, and no address of the machine or of a private network. A name
 * that resolves to a private address cannot be told from here; the runtime's own network rules stand against that.
 * @throws {InvalidInputError} when the address is not allowed; the message does not repeat it, it may be signed
 */
export function parsePublicUrl(value: string): URL {
  const url = URL.parse(value);
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "") {
    throw new InvalidInputError(
      "attachment-address",
      "An attachment's address is not a plain https address.",
    );
  }
  if (isPrivateHost(url.hostname)) {
    throw new InvalidInputError("attachment-address", "An attachment's address is in a private network.");
  }
  return url;
}

/** Exported for its own tests. `host` as `URL` normalises it: IPv4 in dotted form, IPv6 in brackets. */
export function isPrivateHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  // No public IPv6 literal serves chat files; mapped and translated IPv4 addresses hide in them.
  if (name.startsWith("[")) return true;
  const octets = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(name)?.slice(1).map(Number);
  if (octets !== undefined) return isPrivateIpv4(octets[0] ?? 0, octets[1] ?? 0);
  return !name.includes(".") || /(?:^|\.)(?:localhost|local|internal|lan|home|arpa|onion|test)$/.test(name);
}

function isPrivateIpv4(first: number, second: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true;
  if (first === 100) return second >= 64 && second <= 127;
  if (first === 169) return second === 254;
  if (first === 172) return second >= 16 && second <= 31;
  if (first === 192) return second === 168 || second === 0;
  return first === 198 && (second === 18 || second === 19);
}
