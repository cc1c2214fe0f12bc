import { expect, it } from "vitest";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { bash } from "../../../src/workspace/bash/index.ts";
import type { BashOptions } from "../../../src/workspace/bash/index.ts";
import type { ShellResult } from "../../../src/workspace/bash-tool.ts";

/** Runs a script on files, and returns its end, with the changes as texts. */
async function run(
  script: string,
  files: Readonly<Record<string, string>> = {},
  options: BashOptions = {},
): Promise<Omit<ShellResult, "changes"> & { readonly changes: Record<string, string | undefined> }> {
  const ended = await bash(options).run({
    script,
    clock: systemDeps.clock,
    signal: undefined,
    files: Object.entries(files).map(([path, text]) => ({
      path,
      sizeBytes: text.length,
      read: () => Promise.resolve(new TextEncoder().encode(text)),
    })),
  });
  const changes = ended.changes.map(({ content, path }) => [
    path,
    content && new TextDecoder().decode(content),
  ]);
  return { ...ended, changes: Object.fromEntries(changes) as Record<string, string | undefined> };
}

const FILES = { "/a.csv": "ann,3\nbob,5\n", "/notes/x.md": "one", "/notes/y.md": "two" };

it("works on a copy of the files, and tells what has changed", async () => {
  const summed = await run("awk -F, '{ s += $2 } END { print s }' /a.csv > /sum.txt; cat /sum.txt", FILES);
  expect(summed).toEqual({ exitCode: 0, stdout: "8\n", stderr: "", changes: { "/sum.txt": "8\n" } });
  expect((await run("echo z >> /notes/x.md; mv /notes/y.md /y.md; rm /a.csv", FILES)).changes).toEqual({
    "/notes/x.md": "onez\n",
    "/y.md": "two",
    "/notes/y.md": undefined,
    "/a.csv": undefined,
  });
  expect(
    (await run("mv /notes/x.md /notes/y.md; cat /a.csv >/dev/null; echo t > /tmp/t; cd /notes && ls", FILES))
      .changes,
  ).toEqual({
    "/notes/x.md": undefined,
    "/notes/y.md": "one",
  });
});

it("does not show large files, and does not change them", async () => {
  const files = { "/big": "x".repeat(200), "/small": "s" };
  const ended = await run("ls /; cat /big; echo new > /big; rm -f /*", files, { maxFileBytes: 100 });
  expect(ended.stdout).not.toContain("big");
  expect(ended.changes).toEqual({ "/small": undefined });
  expect((await run("echo new > /big", files, { maxFileBytes: 100 })).stderr).toContain("/big: too large");
});

it.each([
  ["an endless loop", "while true; do :; done"],
  ["a recursion", "f() { f; }; f"],
  ["an endless awk", "awk 'BEGIN { while (1) i++ }'"],
  ["a script that grows", 's=x; while true; do s="$s$s"; done'],
  ["a sleep", "sleep 60"],
  ["a long output", "seq 1 999999999 | wc -l && false"],
  ["many files", "for i in {1..99999}; do echo $i > /f$i; done"],
  ["a hopeless pattern", "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab | grep -E '^(a+)+$'"],
])("ends %s, which changes nothing", async (_name, script) => {
  const started = performance.now();
  const ended = await run(script, {}, { timeoutMs: 1500 });
  expect(performance.now() - started).toBeLessThan(8000);
  expect(ended.exitCode).not.toBe(0);
  expect(ended.changes).toEqual({});
});

it("has no network, no programs and no globals of the process", async () => {
  for (const command of [
    "curl https://example.com",
    "wget https://example.com",
    "node -e 1",
    "python3 -c 1",
    "sqlite3",
    "js-exec 1",
  ])
    expect((await run(command)).exitCode).toBe(127);
  expect((await run("env; cat /proc/self/environ; echo $SECRETS_KEY")).stdout).not.toMatch(
    /PATH=.*node|SECRETS/,
  );
});

it("cuts its output", async () => {
  const { stdout } = await run(
    "for i in 1 2 3 4 5 6 7 8 9; do printf '%01000d' 0; done",
    {},
    { maxOutput: 500 },
  );
  expect(stdout).toMatch(/\[8500 more characters\]\n$/);
});
