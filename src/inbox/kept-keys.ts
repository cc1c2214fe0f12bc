import { DAY_MS } from "../core/time/civil-time.ts";

/**
 * Keys of handled events are kept this long, in milliseconds, so that a late redelivery starts nothing (I2). WhatsApp
 * delivers an event again for seven days, other platforms for hours.
 */
export const KEPT_KEYS_MS = 8 * DAY_MS;
