/** `npm run dry-run`: shows the files that a deployment would upload, and their size. Nothing leaves the machine. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { offlineEnvironment } from "./offline-environment.ts";
import { runStep, tool } from "./run-step.ts";

const directory = await mkdtemp(path.join(tmpdir(), "switchboard-dry-run-"));
try {
  const environment = Object.fromEntries(
    Object.entries(offlineEnvironment()).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const { passed } = await runStep(
    "dry run",
    tool("wrangler"),
    ["deploy", "--dry-run", "--minify", "--outdir", directory, ...process.argv.slice(2)],
    { environment },
  );
  if (!passed) process.exitCode = 1;
  const code: Buffer[] = [];
  for (const name of (await readdir(directory)).filter((file) => !/\.(map|md)$/.test(file))) {
    code.push(await readFile(path.join(directory, name)));
  }
  const whole = Buffer.concat(code);
  const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(0);
  process.stdout.write(
    `Bundle, minified: ${kibibytes(whole.length)} KiB, ${kibibytes(gzipSync(whole).length)} KiB gzipped\n`,
  );
} finally {
  await rm(directory, { recursive: true, force: true });
}
