import { describe, expect, it } from "vitest";
import { notAuthorized } from "../../../src/actions/declare/action-errors.ts";
import {
  commonGrant,
  grantOf,
  holdersOf,
  missingPermissions,
  personName,
  roles,
} from "../../../src/actions/declare/authorize.ts";

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

describe("the people who have a permission", () => {
  const { people } = roles({ billing: ["1", 2], "orders:cancel": ["2"] }, { "2": "Eli" });

  it("are those who have all of them, with what they cover", () => {
    expect(holdersOf(people, ["billing:refund"])).toEqual(["1", "2"]);
    expect(holdersOf(people, ["billing:refund", "orders:cancel"])).toEqual(["2"]);
    expect(holdersOf(people, ["orders"])).toEqual([]);
    expect(personName(people, "2")).toBe("Eli");
  });

  it("are named by the refusal, unless the bot does not say", () => {
    expect(holdersOf(undefined, ["billing"])).toBeUndefined();
    expect(notAuthorized(["billing"], undefined, ["Dana", "Eli"]).error.message).toContain(
      "These people have it: Dana, Eli.",
    );
    expect(notAuthorized(["billing"], "Ask us.", []).error.message).toContain("Nobody has it. Ask us.");
    expect(notAuthorized(["billing"], undefined).error.permissions).toEqual(["billing"]);
    expect(notAuthorized([], "Ask us.").error).not.toHaveProperty("permissions");
    expect(notAuthorized(["billing"], undefined).error.message).not.toContain("have it");
  });
});
