import { z } from "zod";
import type { Json } from "../../core/message/content.ts";

/** Reads the result of a run as the ledger has stored it. */
export function parseOutput(stored: string): Json {
  return z.json().parse(JSON.parse(stored));
}
