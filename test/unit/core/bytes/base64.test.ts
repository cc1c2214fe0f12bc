import fc from "fast-check";
import { expect, it } from "vitest";
import { fromBase64, toBase64 } from "../../../../src/core/bytes/base64.ts";

it("writes the bytes of any part of a buffer, and reads them again", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 300 }), (bytes, start) => {
      const part = bytes.subarray(start);
      const text = toBase64(part);
      expect(atob(text)).toBe(String.fromCharCode(...part));
      expect(fromBase64(text)).toEqual(new Uint8Array(part));
    }),
  );
});

it("refuses a text that is not base64", () => {
  expect(() => fromBase64("a-b_")).toThrow(DOMException);
});
