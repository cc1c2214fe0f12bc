import { InvalidInputError } from "../base/errors.ts";

/**
 * Checks an address that a chat, a model or bot code asks Switchboard to fetch. It must be https, on an allowed host,
 * and not on this machine or a private network.
 *
 * A public name that resolves to a private address cannot be recognized here. The list of hosts and the runtime's own
 * network rules protect against it.
 *
 * @param hosts names, or `*.example.com` for all names below one; `undefined` for every public host
 * @param what `code` of the error, and the `owner` of the address in its message
 * @throws {InvalidInputError} when the address is not allowed; the message does not repeat it, because it may be signed
 */
export function parsePublicUrl(
  value: string,
  hosts?: readonly string[],
  { code, owner } = { code: "attachment-address", owner: "An attachment's" },
): URL {
  const url = URL.parse(value);
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "") {
    throw new InvalidInputError(code, `${owner} address is not a plain https address.`);
  }
  if (isPrivateHost(url.hostname)) {
    throw new InvalidInputError(code, `${owner} address is in a private network.`);
  }
  if (hosts !== undefined && !hosts.some((host) => isHost(url.hostname, host))) {
    throw new InvalidInputError(code, `${owner} address is on a host that is not in \`attachmentHosts\`.`);
  }
  return url;
}

/** Returns the address of a value with a `url`, if it is a public one. */
export function publicUrlOf(source: unknown): string | undefined {
  if (typeof source !== "object" || source === null || !("url" in source)) return undefined;
  try {
    return parsePublicUrl(String(source.url)).href;
  } catch {
    // A private or broken address is no link for people.
    return undefined;
  }
}

/** Tells whether a host is the allowed one, or below it if that is `*.example.com`. */
export function isHost(host: string, allowed: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  const wanted = allowed.toLowerCase();
  return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) : name === wanted;
}

const PRIVATE_SUFFIX =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|lan|home|svc|arpa|onion|test|invalid)$/;
/** Public names that resolve to an address written in them, or to this machine. */
const ADDRESS_IN_NAME = /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me)$/;

/**
 * True for a host of the machine or a private network. `host` must be normalized by `URL`: IPv4 in dotted form, IPv6 in
 * brackets. Exported for its tests.
 */
export function isPrivateHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  // No platform serves files from a literal IPv6 address, and IPv4 addresses can hide in one.
  if (name.startsWith("[")) return true;
  // Also inside a name: some public names resolve to the address in them, such as 127-0-0-1.example.
  for (const [, first, second] of name.matchAll(
    /(?<!\d)(\d{1,3})[.-](\d{1,3})[.-]\d{1,3}[.-]\d{1,3}(?!\d)/g,
  )) {
    if (isPrivateIpv4(Number(first), Number(second))) return true;
  }
  return !name.includes(".") || PRIVATE_SUFFIX.test(name) || ADDRESS_IN_NAME.test(name);
}

function isPrivateIpv4(first: number, second: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true;
  if (first === 100) return second >= 64 && second <= 127;
  if (first === 169) return second === 254;
  if (first === 172) return second >= 16 && second <= 31;
  if (first === 192) return second === 168 || second === 0;
  return first === 198 && (second === 18 || second === 19);
}
