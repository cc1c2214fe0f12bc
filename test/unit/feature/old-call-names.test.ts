import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { OLD_CALL_NAMES } from "../../../src/agent/old-call-names.ts";

const root = path.join(import.meta.dirname, "../../..");
const sources = globSync("{src,delivery}/**/*.ts", { cwd: root }).map((file) =>
  readFileSync(path.join(root, file), "utf8"),
);

// A call that is renamed or removed must keep an answer for objects of the version before.
it.each(Object.entries(OLD_CALL_NAMES))("answers %s as %s", (_old, name) => {
  const [group = "", method = ""] = name.split(".");
  const isAnswered = sources.some((code) => new RegExp(`^ {2,6}(?:async )?${method}[(:]`, "m").test(code));
  expect(isAnswered, `${method}() has an implementation`).toBe(true);
  const isGroup = sources.some((code) => code.includes(`{ name: "${group}" }`));
  expect(isGroup, `a group has the name ${group}`).toBe(true);
});
