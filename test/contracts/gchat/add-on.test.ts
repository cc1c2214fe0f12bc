import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playInTurn, playTogether } from "../row.ts";
import { rowsAlone, rowsThatHoldUp, rowsTogether } from "../rows.ts";
import { Stage } from "../stage.ts";
import { gchatContract } from "./contract.ts";
import { GoogleChatEmulator } from "./emulator.ts";

/** All that differs in an add-on: its requests and their proofs, its events, its buttons. */
const KEYS = new Set([
  "start",
  "answer",
  "file-in",
  "addressing",
  "forged",
  "duplicates",
  "card",
  "double-press",
  "strangers-press",
  "press-note",
  "command",
  "flood",
]);
const together = [...rowsTogether, ...rowsThatHoldUp].filter(({ key }) => KEYS.has(key));
/** An event of an add-on is stored and read again after the death of the process. */
const alone = rowsAlone.filter(({ key }) => key === "kill");
const rows = [...together, ...alone];

describe("a bot on Google Chat that is a Google Workspace add-on", () => {
  let stage: Stage | undefined;
  let outcomes: ReadonlyMap<string, string> = new Map();

  beforeAll(async () => {
    const emulator = new GoogleChatEmulator({ isAddOn: true });
    stage = await Stage.start(emulator, { expected: gchatContract.expected });
    outcomes = new Map([...(await playTogether(stage, together)), ...(await playInTurn(stage, alone))]);
  });
  afterAll(() => stage?.close());

  it.each(rows.map(({ key, title }) => [title, key]))("%s", (_title, key) => {
    expect(outcomes.get(key)).toBe(gchatContract.expected[key]?.outcome ?? "works");
  });

  it("meets no error of the emulator's own", () => {
    expect(stage?.server.problems).toEqual([]);
  });
});
