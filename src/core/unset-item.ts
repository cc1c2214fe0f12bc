/**
 * Says that an item of a list is not set, as in `[env.MANAGER_ID]` without that variable. Undefined if all are, or the
 * value is no list.
 *
 * @param option names the list: `approvers of the action "refund"`
 */
export function unsetItem(option: string, value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const at = value.findIndex((item) => item === undefined || item === null || item === "");
  if (at === -1) return undefined;
  return `${option} has a value that is not set: item ${at + 1} of ${value.length}. If it comes from a variable, such as env.MANAGER_ID, set that variable.`;
}
