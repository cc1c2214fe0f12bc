import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalSecrets } from "../../../src/core/bytes/constant-time.ts";

describe("equalSecrets", () => {
  it("is true for the same text alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (sent, secret) => {
        expect(equalSecrets(secret, secret)).toBe(true);
        // What cannot be encoded is replaced by one and the same character.
        expect(equalSecrets(sent, secret)).toBe(sent.toWellFormed() === secret.toWellFormed());
      }),
    );
  });

  it.each([
    ["", "secret"],
    ["secret", ""],
    ["secretsecret", "secret"],
    ["sec", "secret"],
    ["secret\0", "secret"],
  ])("tells %j from %j", (sent, secret) => {
    expect(equalSecrets(sent, secret)).toBe(false);
  });
});
