import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** The repository. */
export const root = path.resolve(import.meta.dirname, "../..");

const run = promisify(execFile);

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/**
 * An empty folder outside of the repository, with the packed package in it. Packages come from npm's cache, where the
 * repository's own installation has put most of them.
 */
export class UserFolder {
  readonly path: string;
  /** Path of the packed package. */
  readonly tarball: string;

  constructor(folder: string, tarball: string) {
    this.path = folder;
    this.tarball = tarball;
  }

  static async create(): Promise<UserFolder> {
    const folder = await mkdtemp(path.join(tmpdir(), "switchboard-user-"));
    const tarball = path.join(folder, "switchboard.tgz");
    const { PACKED } = process.env;
    if (PACKED === undefined) throw new Error("There is no package to try. Run: npm run check-package");
    await copyFile(PACKED, tarball);
    return new UserFolder(folder, tarball);
  }

  file(...names: string[]): string {
    return path.join(this.path, ...names);
  }

  write(name: string, lines: readonly string[]): Promise<void> {
    return writeFile(this.file(name), `${lines.join("\n")}\n`);
  }

  /** Runs npm in a folder of the user. */
  npm(folder: string, ...parameters: string[]): Promise<Outcome> {
    return outcome("npm", parameters, folder, ownEnvironment());
  }

  /** Unpacks the package into the folder `package`. It finds the repository's packages, so its command runs at once. */
  async unpack(): Promise<void> {
    await run("tar", ["-xzf", this.tarball, "-C", this.path]);
    await symlink(path.join(root, "node_modules"), this.file("package/node_modules"));
  }

  install(folder = this.path): Promise<Outcome> {
    return this.npm(folder, "install", "--prefer-offline", "--no-audit", "--no-fund");
  }

  /** Runs a line of a shell script in a folder of the user, with the programs that are installed there. */
  shell(folder: string, line: string): Promise<Outcome> {
    return outcome("sh", ["-c", line], folder, ownEnvironment());
  }

  /** Runs a program that is installed here. */
  program(name: string, ...parameters: string[]): Promise<Outcome> {
    return outcome(this.file("node_modules/.bin", name), parameters, this.path, environment());
  }

  /** Runs a module of the user with Node. */
  node(...parameters: string[]): Promise<Outcome> {
    return outcome(process.execPath, parameters, this.path, environment());
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** Returns the versions that the repository is tried with. */
export async function versions(): Promise<(name: string) => string> {
  const manifest = JSON.parse(await readFile(path.join(root, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  return (name) => {
    const version = manifest.devDependencies[name];
    if (version === undefined) throw new Error(`package.json has no version of ${name}.`);
    return version;
  };
}

/** The environment with what npm needs to reach its registry, without the names of the test runner around this. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST|NODE_ENV|npm_)/.test(name));
  return { ...Object.fromEntries(own), ...environment() };
}

/** The programs get nothing of the machine's environment, which may hold the keys of a model. */
function environment(): NodeJS.ProcessEnv {
  const { HOME, PATH } = process.env;
  // Without the last one, bundlers and compilers take a quarter longer.
  return { HOME, PATH, WRANGLER_SEND_METRICS: "false", CI: "1", GOGC: "800" };
}

function outcome(
  program: string,
  parameters: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Outcome> {
  return run(program, parameters, { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
}
