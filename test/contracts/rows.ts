import type { Row } from "./row.ts";
import { answers } from "./rows/answers.ts";
import { attacks } from "./rows/attacks.ts";
import { cards } from "./rows/cards.ts";
import { changes } from "./rows/changes.ts";
import { forms } from "./rows/forms.ts";
import { faults, floods, lostCalls } from "./rows/faults.ts";
import { alone } from "./rows/alone.ts";

const people = [...answers, ...cards, ...forms, ...attacks, ...changes];

/** Rows that one bot plays at the same time. */
export const rowsTogether: readonly Row[] = [...people, ...faults];

/** Rows that may hold up all chats of a bot, or need a short limit of calls. It plays them at the same time. */
export const rowsThatHoldUp: readonly Row[] = [...floods, ...lostCalls];

/** Rows that need a bot of their own: they restart it, write to all of its chats, or refuse its token. */
export const rowsAlone: readonly Row[] = alone;

/** In the order of the documents. */
export const allRows: readonly Row[] = [...people, ...floods, ...faults, ...lostCalls, ...rowsAlone];
