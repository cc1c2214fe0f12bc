import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";

/** Stands in for npm: installs one package before and one after the file that it waits for. */
const NPM = `
const fs = require("fs");
const path = require("path");
const modules = path.resolve("node_modules");
const install = (file) => {
  fs.mkdirSync(path.dirname(path.join(modules, file)), { recursive: true });
  fs.writeFileSync(path.join(modules, file), "{}");
};
install("first/package.json");
fs.writeFileSync(process.env.BEGUN, "");
const finish = () => {
  if (!fs.existsSync(process.env.GO_ON)) return setTimeout(finish, 5);
  install("second/package.json");
  install(".bin/node");
  install(".bin/workerd");
  const record = { packages: { "node_modules/first": { version: "1.0.0" }, "node_modules/second": { version: "1.0.0" } } };
  fs.writeFileSync(path.join(modules, ".package-lock.json"), JSON.stringify(record));
};
finish();
`;

function createCheckout() {
  const root = path.join(mkdtempSync(path.join(tmpdir(), "bootstrap-")), "with a space");
  mkdirSync(path.join(root, "scripts"), { recursive: true });
  cpSync("scripts/bootstrap.mjs", path.join(root, "scripts/bootstrap.mjs"));
  writeFileSync(path.join(root, "package.json"), "{}");
  const package_ = { version: "1.0.0", integrity: "sha512-a" };
  const packages = { "": {}, "node_modules/first": package_, "node_modules/second": package_ };
  writeFileSync(path.join(root, "package-lock.json"), JSON.stringify({ packages }));
  const npm = path.join(root, "npm.cjs");
  writeFileSync(npm, NPM);
  /** Runs the bootstrap, whose npm waits until another one has begun. */
  const run = async (begun: string, goOn: string): Promise<string> => {
    const { npm_node_execpath: _, ...environment } = process.env;
    const files = { BEGUN: path.join(root, begun), GO_ON: path.join(root, goOn) };
    const child = spawn(process.execPath, [path.join(root, "scripts/bootstrap.mjs")], {
      env: { ...environment, ...files, npm_execpath: npm },
    });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    return (await output).join("").replaceAll(/\d+ s\b/g, "N s");
  };
  const installed = () => readdirSync(path.join(root, "node_modules")).toSorted();
  return { root, run, installed };
}

const ALL = [".bin", ".package-lock.json", "first", "second"];

describe("the bootstrap", () => {
  it("installs everything for each of two commands at the same time", async () => {
    const { installed, root, run } = createCheckout();
    const one = run("one", "two");
    await expect.poll(() => existsSync(path.join(root, "one"))).toBe(true);
    const two = run("two", "never");
    expect(await one).toContain("Packages installed in N s.\n");
    expect(installed()).toEqual(ALL);
    writeFileSync(path.join(root, "never"), "");
    expect(await two).toContain("Packages installed in N s.\n");
    expect(installed()).toEqual(ALL);
    expect(existsSync(path.join(root, ".install"))).toBe(false);
  });

  it("removes an interrupted install", async () => {
    const { installed, root, run } = createCheckout();
    mkdirSync(path.join(root, ".install/node_modules/half"), { recursive: true });
    expect(await run("one", "one")).toContain("Packages installed in N s.\n");
    expect(installed()).toEqual(ALL);
    expect(existsSync(path.join(root, ".install"))).toBe(false);
  });

  it("lets npm install where it cannot make a folder of its own", async () => {
    const { installed, root, run } = createCheckout();
    writeFileSync(path.join(root, ".install"), "no folder");
    expect(await run("one", "one")).toMatch(/^Installing [^\n]*\nPackages installed in N s\.\n$/);
    expect(installed()).toEqual(ALL);
  });
});
