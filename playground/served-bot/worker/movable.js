/**
 * Returns the class of the bot's objects with alarms on the moved clock: workerd fires alarms by the machine's time.
 *
 * @param {any} Base
 * @param {number} shiftMs added to the machine's time
 */
export function movable(Base, shiftMs) {
  if (typeof Base !== "function") return Base;
  const Moved = class extends Base {
    /** @param {any} ctx @param {any} env */
    constructor(ctx, env) {
      moveAlarms(ctx.storage, shiftMs);
      super(ctx, env);
    }

    /** Sets the object's alarm again. An alarm that was set before the clock was moved is wrong now. */
    async rearmAfterMove() {
      const { lifecycle } = /** @type {any} */ (this);
      if (lifecycle === undefined) return;
      await lifecycle.start();
      await lifecycle.rearmAlarm();
    }
  };
  // The bot finds the binding of its objects by the name of their class.
  Object.defineProperty(Moved, "name", { value: Base.name });
  return Moved;
}

let areAlarmsMoved = false;

function moveAlarms(storage, shiftMs) {
  if (areAlarmsMoved || shiftMs === 0) return;
  areAlarmsMoved = true;
  const methods = Object.getPrototypeOf(storage);
  const { getAlarm, setAlarm } = methods;
  methods.setAlarm = function (time, ...rest) {
    return setAlarm.call(this, Math.max(1, Number(time) - shiftMs), ...rest);
  };
  methods.getAlarm = async function (...asked) {
    const time = await getAlarm.apply(this, asked);
    return time === null ? null : time + shiftMs;
  };
}
