import { expect, it } from "vitest";
import { cutRepeats } from "../../../scripts/serve/cut-repeats.ts";

function cutter() {
  let shown = "";
  let now = 0;
  const { end, write } = cutRepeats(
    (text) => (shown += text),
    () => now,
  );
  return { write, end, later: (ms: number) => (now += ms), lines: () => shown.split("\n").slice(0, -1) };
}

it("cuts thousands of equal lines down to a few, and says how many there were", () => {
  const output = cutter();
  for (let count = 0; count < 5000; count += 1) output.write("error: one\nerror: two\n");
  expect(output.lines()).toHaveLength(10);
  output.end();
  expect(output.lines().slice(10)).toEqual([
    "[serve] 4995 more lines like this one: error: one",
    "[serve] 4995 more lines like this one: error: two",
  ]);
});

it("shows the same line again after a while, with the number of those it left out", () => {
  const output = cutter();
  for (let count = 0; count < 8; count += 1) output.write("error\n");
  output.later(10_000);
  output.write("error\n");
  expect(output.lines().slice(5)).toEqual(["[serve] 3 more lines like this one: error", "error"]);
});

it("leaves out no line of the bot's own log", () => {
  const output = cutter();
  for (let count = 0; count < 20; count += 1) output.write('{"event":"delivery.call-failed"}\n');
  output.end();
  expect(output.lines()).toHaveLength(20);
});

it("joins lines that come in pieces, and keeps the last one that has no end", () => {
  const output = cutter();
  output.write("first ha");
  output.write("lf\nlast");
  expect(output.lines()).toEqual(["first half"]);
  output.end();
  expect(output.lines()).toEqual(["first half", "last"]);
});
