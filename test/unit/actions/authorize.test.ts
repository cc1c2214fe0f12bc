import { describe, expect, it } from "vitest";
import { commonGrant, grantOf, missingPermissions, roles } from "../../../src/actions/authorize.ts";

describe("a grant", () => {
  it.each([
    ["true", true, undefined],
    ["false", false, ["billing:refund"]],
    ["not allowed", { allowed: false }, ["billing:refund"]],
    ["allowed without a list", { allowed: true }, undefined],
    ["a list that has it", { allowed: true, grantedPermissions: ["billing:refund"] }, undefined],
    ["a list that has what is above it", { allowed: true, grantedPermissions: ["billing"] }, undefined],
    ["a list that begins the same", { allowed: true, grantedPermissions: ["bill"] }, ["billing:refund"]],
    ["an empty list", { allowed: true, grantedPermissions: [] }, ["billing:refund"]],
  ] as const)("of %s", (_name, decision, missing) => {
    expect(missingPermissions(grantOf(decision), ["billing:refund"])).toEqual(missing);
  });

  it("of several people is what each of them may do", () => {
    const some = grantOf({ allowed: true, grantedPermissions: ["billing", "orders:cancel"] });
    const other = grantOf({ allowed: true, grantedPermissions: ["billing:refund", "deploy"] });
    expect(commonGrant([some, other]).permissions).toEqual(["billing:refund"]);
    expect(commonGrant([some, grantOf(true)]).permissions).toEqual(["billing", "orders:cancel"]);
    expect(commonGrant([some, grantOf(false)]).isAllowed).toBe(false);
  });
});

it("gives people the permissions of their roles, by user id", () => {
  const rolesOf = roles({ billing: ["1", 2], deploy: ["1"] });
  expect(rolesOf({ userId: "1" })).toEqual(["billing", "deploy"]);
  expect(rolesOf({ userId: "2" })).toEqual(["billing"]);
  expect(rolesOf({ userId: "3" })).toEqual([]);
  expect(rolesOf(undefined)).toEqual([]);
});
