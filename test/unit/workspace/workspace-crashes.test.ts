import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Action } from "../../../src/actions/declare/action.ts";
import type { Database } from "../../../src/core/store/database.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import type { BashTool } from "../../../src/workspace/bash-tool.ts";
import { workspaceActions } from "../../../src/workspace/workspace-actions.ts";
import { createActionRig, killed } from "../actions/action-rig.ts";
import { createWorkspaceRig, piecesIn } from "./workspace-rig.ts";

/** A shell whose every script appends to one file, and makes another. */
const shell: BashTool = {
  timeoutMs: 1000,
  run: async ({ files }) => {
    const log = await files.find(({ path }) => path === "/log")?.read();
    const text = `${new TextDecoder().decode(log)}+bash`;
    return {
      exitCode: 0,
      stdout: "",
      stderr: "",
      changes: [
        { path: "/log", content: new TextEncoder().encode(text) },
        { path: "/made", content: new TextEncoder().encode("made") },
      ],
    };
  },
};

function actionIn(database: Database, name: string): Action {
  const { workspace } = createWorkspaceRig({}, database);
  const actions = workspaceActions({
    workspace,
    clock: systemDeps.clock,
    media: [],
    tools: undefined,
    bash: shell,
  });
  const action = actions[name];
  if (action === undefined) throw new Error(`There is no ${name}`);
  return action;
}

/** Each call changes a workspace that has `/log` with "log". After it, once: these files. */
const CALLS = [
  ["write", { path: "/new/file", content: "new" }, { "/log": "log", "/new/file": "new" }],
  ["write", { path: "/log", content: "other" }, { "/log": "other" }],
  ["edit", { path: "/log", oldText: "g", newText: "gg" }, { "/log": "logg" }],
  ["edit", { path: "/log", oldText: "o", newText: "oo", all: true }, { "/log": "loog" }],
  ["delete", { path: "/log" }, {}],
  ["bash", { script: "any" }, { "/log": "log+bash", "/made": "made" }],
  ["send_file", { path: "/log" }, { "/log": "log" }],
] as const;

async function filesIn(database: Database): Promise<Record<string, string>> {
  const { workspace } = createWorkspaceRig({}, database);
  const files: Record<string, string> = {};
  for (const { path } of workspace.listFiles())
    files[path] = new TextDecoder().decode(await workspace.readFile(path));
  return files;
}

describe.each(CALLS)("%s of %j", (name, input, expected) => {
  it("happens once through any crashes, and is never there in part", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 4 }), async (kills) => {
        const rig = createActionRig();
        // That of the newest life.
        let whole: Database | undefined;
        const call = (tool: string, given: unknown, id: string): Promise<unknown> =>
          rig.call(
            (database) => {
              whole = database;
              return actionIn(database, tool);
            },
            given,
            { toolCallId: id },
          );
        await call("write", { path: "/log", content: "log" }, "before");
        const before = { "/log": "log" };
        for (const point of kills) {
          rig.killAtWrite(point);
          const result = await call(name, input, "the call");
          rig.killAtWrite(Infinity);
          if (whole === undefined) throw new Error("no database");
          const now = await filesIn(whole);
          expect([before, expected]).toContainEqual(now);
          if (result !== killed) expect(now).toEqual(expected);
        }
        const output = await call(name, input, "the call");
        expect(output).not.toHaveProperty("error");
        if (whole === undefined) throw new Error("no database");
        expect(await filesIn(whole)).toEqual(expected);
        const sent = rig.attachments();
        expect(sent).toHaveLength(name === "send_file" ? 1 : 0);
        // Bytes that a killed call has stored go after an hour.
        const { clock, files } = createWorkspaceRig({}, whole);
        await clock.advance(2 * 3_600_000);
        files.sweep();
        expect(piecesIn(whole)).toBe(new Set(Object.values(expected)).size);
      }),
      { numRuns: 40 },
    );
  });
});
