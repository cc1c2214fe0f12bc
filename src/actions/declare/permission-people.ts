/** The people who have permissions, as far as a bot says. */
export interface PermissionPeople {
  /** User ids by permission. A permission covers those below it: `billing` covers `billing:refund`. */
  readonly holders: Readonly<Record<string, readonly (string | number)[]>>;
  /** Names by user id. @default the ids */
  readonly names?: Readonly<Record<string, string>>;
}
