import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { installedPackages } from "../../../scripts/licences/installed-packages.ts";
import { licencesPage } from "../../../scripts/licences/licences-page.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const lock: unknown = JSON.parse(read("package-lock.json"));

/** Licences that ask for no more than to be named, or that concern only the package's own files. */
const ACCEPTED =
  /^\(?(?:MIT|MIT-0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|CC-BY-4\.0|MPL-2\.0|AFL-2\.1)(?: OR [\w.-]+\)?)*\)?$/;

describe("the licences", () => {
  it("are listed; otherwise run `npm run licences`", () => {
    expect(read("docs/reference/licences.md")).toBe(licencesPage(lock));
  });

  it("let everybody use a bot, also in a closed product", () => {
    const packages = installedPackages(lock);
    expect(packages.length).toBeGreaterThan(100);
    expect(packages.filter(({ licence }) => !ACCEPTED.test(licence))).toEqual([]);
  });
});
