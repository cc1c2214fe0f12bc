/** Blocks of IPv4 that no public name should resolve to: first address, and length of the prefix. */
const PRIVATE_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const;

/**
 * Blocks of IPv6 whose addresses hold an IPv4 address that this machine, or a translator beside it, may follow: compatible
 * and translated ones, NAT64 of the own network, Teredo. The last block is that of sites.
 */
const HIDING_IPV6 = ["::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "2001::/32", "fec0::/10"];

/**
 * Returns the blocks that a network of public addresses must deny beyond those that workerd knows. An address of NAT64
 * (64:ff9b::/96) or 6to4 (2002::/16) is denied only if the IPv4 address in it is private: networks without IPv4 reach all
 * others so.
 */
export function privateNetworks(): readonly string[] {
  return PRIVATE_IPV4.flatMap(([first, length]) => {
    const words = hexWords(first);
    return [`${first}/${length}`, `64:ff9b::${words}/${96 + length}`, `2002:${words}::/${16 + length}`];
  }).concat(HIDING_IPV6);
}

/** Returns an IPv4 address as two words of IPv6. */
function hexWords(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(":");
}
