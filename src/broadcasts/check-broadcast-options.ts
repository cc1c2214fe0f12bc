import { misspeltOption } from "../core/check-names.ts";
import type { OptionNames } from "../core/check-names.ts";
import { InvalidInputError } from "../core/errors.ts";
import type { BroadcastOptions } from "../core/broadcast.ts";

const NAMES: OptionNames<BroadcastOptions> = {
  idempotencyKey: true,
  informModel: true,
  expiresAfterMs: true,
  ignoreQuietHours: true,
  silent: true,
  protect: true,
};

/** Refuses misspelt options of `broadcast`. @throws {InvalidInputError} `broadcast-invalid` */
export function checkBroadcastOptions(options: BroadcastOptions): void {
  const misspelt = misspeltOption(options, NAMES, "broadcast");
  if (misspelt !== undefined)
    throw new InvalidInputError("broadcast-invalid", `The broadcast cannot be sent: ${misspelt}`);
}
