/** The peer imports a shell for its skills at start. The bot has no skills, so the package is left out. */
export const Bash = undefined;

export function defineCommand(): never {
  throw new Error("There is no shell in this bot.");
}
