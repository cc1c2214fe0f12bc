import type { UnsentFiles } from "../../src/messengers/replies/unsent-files.ts";

/** Names files that cannot be sent, and tells no model. */
export const NO_UNSENT: UnsentFiles = { textOf: (_messengerId, { name }) => name, note: () => {} };
