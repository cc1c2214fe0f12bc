/** JSON with the keys in a fixed order, so that the same input has the same hash. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === "bigint"
        ? `${inner}n`
        : typeof inner === "object" && inner !== null && !Array.isArray(inner)
          ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
          : inner,
    ) ?? "undefined"
  );
}
