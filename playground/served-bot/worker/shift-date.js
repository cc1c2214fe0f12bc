/**
 * Moves the clock of this worker. `Date` is the only clock that the bot and its libraries read; timers and time limits
 * are durations and stay as they are.
 *
 * @param {number} shiftMs added to the machine's time
 */
export function shiftDate(shiftMs) {
  const RealDate = globalThis.Date;
  const now = () => RealDate.now() + shiftMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, asked) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, asked),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}
