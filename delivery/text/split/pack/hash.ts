const FNV_PRIME = 0x01000193;

/**
 * Hashes content to tell versions apart: two FNV-1a hashes of 32 bits over the UTF-16 units of its JSON. It is not a
 * signature.
 */
export function hashContent(content: unknown): string {
  const json = JSON.stringify(content) ?? "";
  let first = 0x811c9dc5;
  let second = 0x9747b28c;
  // In one loop, a processor works at both at once.
  for (let index = 0; index < json.length; index += 1) {
    const unit = json.charCodeAt(index);
    const [low, high] = [unit & 0xff, unit >>> 8];
    first = Math.imul(Math.imul(first ^ low, FNV_PRIME) ^ high, FNV_PRIME);
    second = Math.imul(Math.imul(second ^ low, FNV_PRIME) ^ high, FNV_PRIME);
  }
  return hexadecimal(first) + hexadecimal(second);
}

function hexadecimal(hash: number): string {
  return (hash >>> 0).toString(16).padStart(8, "0");
}
