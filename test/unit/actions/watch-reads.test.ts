import { expect, it } from "vitest";
import { watchReads } from "../../../src/actions/runs/watch-reads.ts";

const input = {
  orderId: "1001",
  amount: { cents: 5_000, currency: "EUR" },
  items: ["a", "b"],
  at: new Date(0),
};

it.each<[string, (watched: typeof input) => unknown, readonly string[]]>([
  ["one value", ({ orderId }) => orderId, ["orderId"]],
  ["a deep value", ({ amount }) => amount.cents, ["amount.cents"]],
  ["all values", (all) => JSON.stringify(all.amount), ["amount.cents", "amount.currency"]],
  ["a list", ({ items }) => items.join(", "), ["items.0", "items.1"]],
  ["an object of a class", ({ at }) => at.getTime(), ["at"]],
  ["nothing", () => "Refund", []],
])("tells that a function has read %s", (_what, work, paths) => {
  const frozen = Object.freeze({ ...input, amount: Object.freeze({ ...input.amount }) });
  const { paths: found, result } = watchReads(frozen, (watched) => work(watched as typeof input));
  expect(found).toEqual(paths);
  expect(result).toEqual(work(input));
});
