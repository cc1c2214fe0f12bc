import { expect, it } from "vitest";
import { findNpm } from "../../../ops/serve/stop-with-parent.ts";

type Table = Record<number, { parent: number; command: string }>;
const find = (table: Table): unknown => findNpm(100, (pid) => table[pid]);

it("finds the npm behind the shell that it starts a script with", () => {
  expect(
    find({
      100: { parent: 90, command: "node scripts/serve.ts " },
      90: { parent: 80, command: "sh -c node scripts/serve.ts " },
      80: { parent: 70, command: "npm run serve " },
      70: { parent: 1, command: "bash " },
    }),
  ).toEqual({ npm: 80, child: 90 });
});

it("finds the npm that starts a script itself", () => {
  expect(
    find({
      100: { parent: 80, command: "node scripts/serve.ts " },
      80: { parent: 70, command: "/usr/bin/node /usr/lib/npm/bin/npm-cli.js start " },
    }),
  ).toEqual({ npm: 80, child: 100 });
});

it("finds none where there is none, or where processes cannot be read", () => {
  expect(
    find({ 100: { parent: 90, command: "node x " }, 90: { parent: 1, command: "npmx " } }),
  ).toBeUndefined();
  expect(find({})).toBeUndefined();
});
