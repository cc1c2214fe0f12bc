import { describe, expect, it } from "vitest";
import { explainFailure, isTooOld, reasonToInstall, withAddresses } from "../../../scripts/bootstrap.mjs";

const lock = {
  packages: {
    "": { version: "0.1.0" },
    "node_modules/zod": { version: "4.6.7" },
    "node_modules/a/node_modules/zod": { version: "3.0.0" },
    "node_modules/fsevents": { version: "2.0.0", optional: true },
  },
};
const installed = {
  packages: {
    "node_modules/zod": { version: "4.6.7" },
    "node_modules/a/node_modules/zod": { version: "3.0.0" },
  },
};

describe("bootstrap", () => {
  it("installs nothing when all that the lock file asks for is there", () => {
    expect(reasonToInstall(lock, installed)).toBeUndefined();
  });

  it("installs on the first run and after an interrupted install", () => {
    expect(reasonToInstall(lock, undefined)).toBe("first run");
  });

  it("installs when a package is missing or of another version", () => {
    expect(reasonToInstall(lock, { packages: {} })).toBe("zod is missing");
    const older = { packages: { ...installed.packages, "node_modules/zod": { version: "4.0.0" } } };
    expect(reasonToInstall(lock, older)).toBe("zod is 4.0.0, not 4.6.7");
  });

  it("gives npm the address of each package that comes from the registry", () => {
    const packages = {
      "": { version: "0.1.0" },
      "node_modules/zod": { version: "4.6.7", integrity: "sha512-a" },
      "node_modules/a/node_modules/@types/node": { version: "24.10.1", integrity: "sha512-b" },
      "node_modules/other-name": { name: "@real/name", version: "1.0.0", integrity: "sha512-c" },
      "node_modules/from-git": { version: "1.0.0", resolved: "git+ssh://git@example.org/x.git#1" },
    };
    const complete = withAddresses({ packages });
    expect(complete).toMatchObject({ packages });
    const addresses = Object.values<{ readonly resolved?: string }>(complete.packages);
    expect(addresses.map(({ resolved }) => resolved)).toEqual([
      undefined,
      "https://registry/zod/-/zod-4.6.7.tgz",
      "https://registry/@types/node/-/node-24.10.1.tgz",
      "https://registry/@real/name/-/name-1.0.0.tgz",
      "git+ssh://git@example.org/x.git#1",
    ]);
  });

  it.each([
    ["v18.20.0", true],
    ["v8.1.0", true],
    ["v20.0.0", false],
    ["v24.21.0", false],
  ])("judges Node %s", (version, tooOld) => {
    expect(isTooOld(version)).toBe(tooOld);
  });

  it("says in one line that the registry cannot be reached", () => {
    const output = "npm error code ECONNREFUSED\nnpm error syscall connect\nnpm error request failed";
    expect(explainFailure(output)).toMatch(/^The npm registry cannot be reached\.[^\n]*$/);
  });

  it("quotes npm's first word on anything else", () => {
    expect(explainFailure("npm error code EINTEGRITY\nnpm error more")).toBe(
      "npm ci failed: code EINTEGRITY",
    );
  });
});
