import { expect, it } from "vitest";
import { inFolder } from "../../../ops/serve/storage-errors.ts";

const failing = (code: string) => () =>
  Promise.reject(Object.assign(new Error(`${code}: no such thing, mkdir '/data/worker'`), { code }));

it.each([
  ["ENOSPC", /^\/data \(DATA_DIR\) cannot be written: the disk is full \(ENOSPC\)\. .*DATA_DIR/],
  ["EROFS", /^\/data \(DATA_DIR\) is not writable for this user \(EROFS, .*Set DATA_DIR/],
  // What Node says of a new folder on a read-only disk.
  ["ENOENT", /^\/data \(DATA_DIR\) is not writable for this user \(ENOENT, .*Set DATA_DIR/],
])("names the variable when the folder fails with %s", async (code, message) => {
  await expect(inFolder({ folder: "/data", variable: "DATA_DIR" }, failing(code))).rejects.toMatchObject({
    code: "storage",
    message: expect.stringMatching(message) as string,
  });
});

it("leaves other errors alone", async () => {
  await expect(inFolder({ folder: "/data", variable: "DATA_DIR" }, failing("EMFILE"))).rejects.toMatchObject({
    code: "EMFILE",
  });
});
