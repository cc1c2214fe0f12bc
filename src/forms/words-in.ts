/** `orderId` becomes "order id". */
export function wordsIn(path: readonly string[]): string {
  return path
    .join(" ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase();
}
