import { describe, expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { errorCode } from "../../../src/core/base/errors.ts";
import { FILE_TOOLS } from "../../../src/workspace/file-tools.ts";
import { LargeObjects } from "../../../src/workspace/large-objects.ts";
import type { FileBucket } from "../../../src/workspace/workspace-options.ts";
import { createWorkspaceTools } from "../../../src/workspace/workspace-tools.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createWorkspaceRig, piecesIn } from "./workspace-rig.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return errorCode(await work.then(() => undefined).catch((error: unknown) => error));
}

describe("a workspace", () => {
  it("has no table before its first file", () => {
    const { database, workspace } = createWorkspaceRig();
    expect(workspace.listFiles()).toEqual([]);
    expect(workspace.stat("/a")).toBeUndefined();
    expect(database.all("SELECT name FROM sqlite_master")).toEqual([]);
  });

  it("keeps files of any size, their hashes and types", async () => {
    const { workspace } = createWorkspaceRig();
    const large = new Uint8Array(3 * 1024 * 1024).map((_byte, index) => index % 251);
    await workspace.writeFile("/big.bin", large);
    await workspace.writeFile("/empty.txt", "");
    await workspace.writeFile("/notes/Käse.md", "BM is a text");
    expect(Buffer.compare(await workspace.readFile("/big.bin"), large)).toBe(0);
    expect(await workspace.readFile("/empty.txt")).toEqual(new Uint8Array());
    expect(text(await workspace.readFile("/notes/Ka\u0308se.md"))).toBe("BM is a text");
    expect(
      workspace.listFiles().map(({ mediaType, path, sizeBytes }) => [path, mediaType, sizeBytes]),
    ).toEqual([
      ["/big.bin", "application/octet-stream", large.length],
      ["/empty.txt", "text/plain", 0],
      ["/notes/Käse.md", "text/markdown", 12],
    ]);
    expect(workspace.stat("/empty.txt")?.hash).toBe(
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
  });

  it("drops the bytes of replaced and deleted files, unless another file has them", async () => {
    const { database, workspace } = createWorkspaceRig();
    await workspace.writeFile("/a", "one");
    await workspace.writeFile("/b", "one");
    expect(piecesIn(database)).toBe(1);
    await workspace.writeFile("/a", "two");
    await workspace.writeFile("/a", "two");
    expect(piecesIn(database)).toBe(2);
    await workspace.deleteFiles("/b");
    expect(text(await workspace.readFile("/a"))).toBe("two");
    expect(piecesIn(database)).toBe(1);
    await workspace.deleteFiles("/a");
    expect(piecesIn(database)).toBe(0);
  });

  it("refuses a file below a file, and one in place of a folder", async () => {
    const { workspace } = createWorkspaceRig();
    await workspace.writeFile("/a/b", "x");
    expect(await codeOf(workspace.writeFile("/a", "x"))).toBe("workspace-path-taken");
    expect(await codeOf(workspace.writeFile("/a/b/c", "x"))).toBe("workspace-path-taken");
    expect(await codeOf(workspace.writeFile("/", "x"))).toBe("workspace-path");
    expect(await codeOf(workspace.readFile("/a"))).toBe("workspace-no-file");
    await workspace.writeFile("/a0", "beside");
    expect(await workspace.deleteFiles("/a")).toEqual(["/a/b"]);
    expect(workspace.listFiles().map(({ path }) => path)).toEqual(["/a0"]);
  });

  it("keeps its limits, and can be made smaller when it is over them", async () => {
    const database = createNodeDatabase();
    const { workspace } = createWorkspaceRig({ maxBytes: 10, maxFiles: 2, maxFileBytes: 8 }, database);
    expect(await codeOf(workspace.writeFile("/a", "123456789"))).toBe("workspace-file-too-large");
    await workspace.writeFile("/a", "12345678");
    expect(await codeOf(workspace.writeFile("/b", "123"))).toBe("workspace-full");
    await workspace.writeFile("/b", "12");
    expect(await codeOf(workspace.writeFile("/c", ""))).toBe("workspace-full");
    expect(workspace.listFiles().map(({ path }) => path)).toEqual(["/a", "/b"]);
    const smaller = createWorkspaceRig({ maxBytes: 5, maxFiles: 1, maxFileBytes: 8 }, database).workspace;
    expect(await codeOf(smaller.writeFile("/b", "123"))).toBe("workspace-full");
    await smaller.writeFile("/a", "1234567");
    await smaller.deleteFiles("/a");
    expect(smaller.usage()).toMatchObject({ files: 1, bytes: 2, maxBytes: 5 });
  });

  it("makes two edits at once one after the other, and loses neither", async () => {
    const { workspace } = createWorkspaceRig();
    await workspace.writeFile("/list", "-");
    await Promise.all(
      ["a", "b", "c"].map((letter) => workspace.editFile("/list", (all) => `${all}${letter}`)),
    );
    expect(
      Array.from(text(await workspace.readFile("/list")))
        .toSorted()
        .join(""),
    ).toBe("-abc");
  });

  it("gives a file to a message by its stored bytes, and to an answer as a copy", async () => {
    const { files, workspace } = createWorkspaceRig();
    await workspace.writeFile("/report.csv", "a,b");
    await workspace.writeFile("/chart.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]));
    const file = await workspace.file("/report.csv");
    expect(file).toMatchObject({ kind: "document", name: "report.csv", source: { sizeBytes: 3 } });
    const { storedId } = file.source as { storedId: string };
    expect(await new Response(files.open(storedId)).text()).toBe("a,b");
    expect(await workspace.attachment("/chart.png", { caption: "June" })).toMatchObject({
      type: "image",
      mediaType: "image/png",
      name: "chart.png",
      caption: "June",
    });
  });
});

describe("tools for files", () => {
  it("read lines with a limit, edit exactly one place, find and search without regular expressions", async () => {
    const { workspace } = createWorkspaceRig();
    const { edit, find, grep, list, read } = FILE_TOOLS;
    await workspace.writeFile(
      "/log.txt",
      Array.from({ length: 3000 }, (_one, index) => `line ${index + 1}`).join("\n"),
    );
    await workspace.writeFile("/notes/plan.md", "Call Ann.\nCall Bob.\n");
    const shown = (await read.run(workspace, { path: "/log.txt", firstLine: 2999, lines: 5 })) as string;
    expect(shown).toBe("2999\tline 2999\n3000\tline 3000");
    expect(await read.run(workspace, { path: "/log.txt", firstLine: 1, lines: 2000 })).toMatch(
      /Read on from line \d+\.\]$/,
    );
    const wrong = { path: "/notes/plan.md", oldText: "Call", newText: "Write to", all: false };
    await expect(edit.run(workspace, wrong)).rejects.toThrow("2 times");
    expect(await edit.run(workspace, { ...wrong, all: true })).toMatchObject({ replaced: 2 });
    await expect(edit.run(workspace, wrong)).rejects.toThrow("not in the file");
    expect(await grep.run(workspace, { text: "ann.", path: "/", files: "*.md", ignoreCase: true })).toBe(
      "/notes/plan.md:1: Write to Ann.",
    );
    expect(await grep.run(workspace, { text: "(a+)+$", path: "/", ignoreCase: false })).toBe(
      "No line has this text.",
    );
    expect(await find.run(workspace, { pattern: "*.md" })).toBe("/notes/plan.md (28 bytes)");
    expect(await list.run(workspace, { path: "/" })).toBe("/log.txt (28892 bytes)\n/notes/");
  });

  it("delete a folder only if that is meant", async () => {
    const { workspace } = createWorkspaceRig();
    await workspace.writeFile("/a/b", "x");
    await expect(FILE_TOOLS.delete.run(workspace, { path: "/a", folder: false })).rejects.toThrow(
      "folder with 1 files",
    );
    expect(await FILE_TOOLS.delete.run(workspace, { path: "/a", folder: true })).toEqual({ deleted: 1 });
  });

  it("work on files that are kept elsewhere, and name their errors", async () => {
    const { workspace } = createWorkspaceRig();
    const tools = createWorkspaceTools(workspace, { bash: false });
    expect(Object.keys(tools)).toEqual(["read", "write", "edit", "list", "find", "grep", "delete"]);
    const call = { toolCallId: "1", messages: [], context: {} };
    const run = (name: string, input: unknown): unknown =>
      tools[name]?.execute?.(input as never, call as never);
    await run("write", { path: "/a.txt", content: "one" });
    expect(await run("read", { path: "/a.txt", firstLine: 1, lines: 10 })).toBe("1\tone");
    expect(await run("read", { path: "/b.txt", firstLine: 1, lines: 10 })).toEqual({
      error: {
        name: "WorkspaceError",
        message: "There is no file /b.txt. List the files to see their paths.",
      },
    });
  });
});

describe("large files", () => {
  /** A bucket in memory. */
  function createBucket() {
    const objects = new Map<string, Uint8Array>();
    const state = { isDown: false };
    const answer = <T>(value: T): Promise<T> =>
      state.isDown ? Promise.reject(new Error("secret words")) : Promise.resolve(value);
    const bucket = {
      put: (key: string, bytes: Uint8Array) => answer(objects.set(key, bytes)),
      get: (key: string) => {
        const bytes = objects.get(key);
        return answer(
          bytes === undefined ? null : { arrayBuffer: () => Promise.resolve(bytes.slice().buffer) },
        );
      },
      delete: (keys: readonly string[]) => answer(keys.forEach((key) => objects.delete(key))),
    };
    return { bucket: bucket as FileBucket, objects, state };
  }

  function createRig() {
    const made = createBucket();
    let objects: LargeObjects | undefined;
    const rig = createWorkspaceRig({}, createNodeDatabase(), (store, clock) => {
      objects = new LargeObjects({
        bucket: () => made.bucket,
        fromBytes: 10,
        prefix: "workspace/",
        owner: () => "default/thread:telegram:4711",
        store,
        clock,
        log: recordLog().log,
        wakeSoon: () => {},
      });
      return objects;
    });
    return { ...rig, ...made, large: objects };
  }

  it("are in the bucket under a name that tells no chat, and go with their last file", async () => {
    const { clock, database, large, objects, workspace } = createRig();
    await workspace.writeFile("/a", "0123456789");
    await workspace.writeFile("/b", "0123456789");
    await workspace.writeFile("/small", "1");
    expect([...objects.keys()]).toEqual([expect.stringMatching(/^workspace\/[0-9a-f]{64}\/[0-9a-f]{64}$/)]);
    expect(piecesIn(database)).toBe(1);
    expect(text(await workspace.readFile("/b"))).toBe("0123456789");
    await workspace.deleteFiles("/a");
    expect(large?.wakeAt()).toBeUndefined();
    await workspace.deleteFiles("/b");
    await large?.work();
    expect(objects.size).toBe(1);
    await clock.advance(600_000);
    await large?.work();
    expect(objects.size).toBe(0);
    expect(large?.wakeAt()).toBeUndefined();
  });

  it("are not written if the bucket fails, and leave nothing there", async () => {
    const { clock, large, objects, state, workspace } = createRig();
    state.isDown = true;
    expect(await codeOf(workspace.writeFile("/a", "0123456789"))).toBe("workspace-bucket");
    expect(workspace.listFiles()).toEqual([]);
    state.isDown = false;
    await workspace.writeFile("/full", "9876543210");
    expect(await codeOf(workspace.writeFile("/full/x", "0123456789"))).toBe("workspace-path-taken");
    expect(objects.size).toBe(2);
    await clock.advance(600_000);
    await large?.work();
    expect(objects.size).toBe(1);
    expect(text(await workspace.readFile("/full"))).toBe("9876543210");
  });
});
