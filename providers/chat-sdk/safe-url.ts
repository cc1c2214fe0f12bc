import { InvalidInputError } from "../../src/core/errors.ts";

/**
 * An address that a chat may make the bot fetch: https, no address of the machine or of a private network, and of one
 * of the hosts that the bot allows. A name that resolves to a private address cannot be told from here: the list of
 * hosts stands against that, and the runtime's own network rules.
 *
 * @param hosts names, or `*.example.com` for all names below one; `undefined` for every public host
 * @throws {InvalidInputError} when the address is not allowed; the message does not repeat it, it may be signed
 */
export function parsePublicUrl(value: string, hosts?: readonly string[]): URL {
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
  if (hosts !== undefined && !hosts.some((host) => isHost(url.hostname, host))) {
    throw new InvalidInputError(
      "attachment-address",
      "An attachment's address is on a host that is not in `attachmentHosts`.",
    );
  }
  return url;
}

function isHost(host: string, allowed: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  const wanted = allowed.toLowerCase();
  return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) : name === wanted;
}

const PRIVATE_SUFFIX =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|lan|home|svc|arpa|onion|test|invalid)$/;
/** Public names that resolve to whatever address is written in them, or to this machine. */
const ADDRESS_IN_NAME = /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me)$/;

/** Exported for its own tests. `host` as `URL` normalises it: IPv4 in dotted form, IPv6 in brackets. */
export function isPrivateHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  // No public IPv6 literal serves chat files; mapped and translated IPv4 addresses hide in them.
  if (name.startsWith("[")) return true;
  // Also inside of a name: there are public names for every address, such as 127-0-0-1.example.
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
