/** The mark that `switchboard dev` puts beside a bot's code, in the same process. A served or built bot has none. */
const MARK = Symbol.for("switchboard.dev");

/** Whether `switchboard dev` runs the bot, with the simulated Telegram. */
export function isUnderDev(): boolean {
  return Reflect.get(globalThis, MARK) === true;
}
