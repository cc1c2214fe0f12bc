import { expect, it } from "vitest";
import { restAfter } from "../../../../src/core/base/rest-after.ts";

it("doubles with each failure, up to the longest rest", () => {
  expect([1, 2, 3, 4, 5, 5000].map((failures) => restAfter(failures, 500, 5000))).toEqual([
    500, 1000, 2000, 4000, 5000, 5000,
  ]);
  expect(restAfter(5, 400)).toBe(6400);
});
