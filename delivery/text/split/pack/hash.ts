const FNV_PRIME = 0x01000193;
const SEEDS = [0x811c9dc5, 0x9747b28c] as const;

/**
 * Hashes content to tell versions apart: two FNV-1a hashes of 32 bits over the UTF-16 units of its JSON. It is not a
 * signature.
 */
export function hashContent(content: unknown): string {
  const json = JSON.stringify(content) ?? "";
  return SEEDS.map((seed) => {
    let hash: number = seed;
    for (let index = 0; index < json.length; index += 1) {
      const unit = json.charCodeAt(index);
      hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
      hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
    }
    return (hash >>> 0).toString(16).padStart(8, "0");
  }).join("");
}
