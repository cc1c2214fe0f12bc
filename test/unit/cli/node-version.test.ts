import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { LEAST_NODE, nodeProblem } from "../../../ops/doctor/node-version.ts";

const root = path.resolve(import.meta.dirname, "../../..");

describe("the version of Node", () => {
  it.each([
    ["20.20.2", false],
    ["22.12.0", false],
    ["22.13.0", true],
    ["24.1.0", true],
    ["22.9.99", false],
  ])("%s is enough: %s", (version, isEnough) => {
    expect(nodeProblem(version) === undefined).toBe(isEnough);
  });

  it("is the one that both packages ask for", () => {
    for (const file of ["package.json", "packages/create-switchboard/package.json"]) {
      const { engines } = JSON.parse(readFileSync(path.join(root, file), "utf8")) as {
        readonly engines: { readonly node: string };
      };
      expect(engines.node).toBe(`>=${LEAST_NODE}`);
    }
  });

  it("is named in one sentence, where an older Node lacks modules that the commands need", () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "20.20.2" });';
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [
        "--no-experimental-sqlite",
        "--import",
        `data:text/javascript,${encodeURIComponent(older)}`,
        "cli/main.ts",
        "doctor",
      ],
      { cwd: root, encoding: "utf8" },
    );
    expect(stderr).toBe(
      `Switchboard needs Node ${LEAST_NODE} or newer, and this is Node 20.20.2. Install a newer one from https://nodejs.org.\n`,
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  });
});
