import type { Row } from "./row.ts";
import { answers } from "./rows/answers.ts";
import { attacks } from "./rows/attacks.ts";
import { cards } from "./rows/cards.ts";
import { changes } from "./rows/changes.ts";
import { forms } from "./rows/forms.ts";
import { faults } from "./rows/faults.ts";
import { alone } from "./rows/alone.ts";

/** Rows that one bot plays at the same time, in the order of the documents. */
export const rowsTogether: readonly Row[] = [
  ...answers,
  ...cards,
  ...forms,
  ...attacks,
  ...changes,
  ...faults,
];

/** Rows that need a bot of their own: they restart it, write to all of its chats, or refuse its token. */
export const rowsAlone: readonly Row[] = alone;

export const allRows: readonly Row[] = [...rowsTogether, ...rowsAlone];
