/**
 * Runs before `npm start`, `npm test` and similar commands, on the machine's own Node. Installs the packages of the
 * lock file if they are missing. One of them is the Node that the project uses.
 *
 * It has no dependencies and no syntax newer than Node 12, so that an old Node prints a sentence instead of a stack.
 */
import childProcess from "child_process";
import fs from "fs";
import path from "path";
import url from "url";

const MINIMUM_NODE = 20;
const root = path.dirname(path.dirname(url.fileURLToPath(import.meta.url)));

/**
 * npm installs in a folder of this process. The packages are moved once all are there, so that an interrupted install
 * leaves the old ones, and two commands may install at the same time.
 */
const installs = path.join(root, ".install");
const unfinished = path.join(installs, String(process.pid));
const modules = path.join(root, "node_modules");

const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT/;
const NO_SPACE = /ENOSPC/;

/** @param {string} version such as "v18.2.0" */
export function isTooOld(version) {
  return Number(version.replace(/^v/, "").split(".")[0]) < MINIMUM_NODE;
}

/**
 * Compares the lock file with npm's own record of the installed packages. npm writes the record last, so it is missing
 * after an interrupted install.
 * @param {{ packages: Record<string, any> }} lock package-lock.json
 * @param {{ packages: Record<string, any> } | undefined} installed node_modules/.package-lock.json
 * @returns {string | undefined} why an install is needed
 */
export function reasonToInstall(lock, installed) {
  if (installed === undefined) return "first run";
  for (const name of Object.keys(lock.packages)) {
    if (name === "") continue;
    const wanted = lock.packages[name];
    const present = installed.packages[name];
    if (present === undefined) {
      if (wanted.optional || wanted.devOptional) continue;
      return name.replace(/^.*node_modules\//, "") + " is missing";
    }
    if (present.version !== wanted.version) {
      return name.replace(/^.*node_modules\//, "") + " is " + present.version + ", not " + wanted.version;
    }
  }
  return undefined;
}

/**
 * Returns the lock file with the address of each package. Without one, npm asks the registry about every version of the
 * package, which is half of the work of an install. npm replaces the host by that of the registry in its settings, and an
 * old npm keeps the protocol.
 * @param {{ packages: Record<string, any> }} lock package-lock.json
 */
export function withAddresses(lock) {
  const packages = {};
  const protocol = (process.env.npm_config_registry || "").startsWith("http:") ? "http" : "https";
  for (const place of Object.keys(lock.packages)) {
    const entry = lock.packages[place];
    const name = entry.name || place.replace(/^.*node_modules\//, "");
    const file = name.replace(/^.*\//, "") + "-" + entry.version + ".tgz";
    packages[place] =
      entry.integrity === undefined || entry.resolved !== undefined
        ? entry
        : Object.assign({}, entry, { resolved: protocol + "://registry/" + name + "/-/" + file });
  }
  return Object.assign({}, lock, { packages: packages });
}

/**
 * Explains a failed install in one line.
 * @param {string} output what npm wrote
 */
export function explainFailure(output) {
  if (UNREACHABLE.test(output)) {
    return "The npm registry cannot be reached. Check the network, or npm's proxy and registry settings, and try again.";
  }
  if (/\bE40[13]\b/.test(output))
    return "The npm registry refused access. Check npm's registry settings and login.";
  if (NO_SPACE.test(output)) return "The disk is full; the packages need about 1 GB.";
  if (/can only install packages when your package\.json and package-lock\.json/.test(output)) {
    return "package.json and package-lock.json disagree. Run npm install once.";
  }
  const line = output.split("\n").find((text) => /npm (error|ERR!)/.test(text));
  return "npm ci failed" + (line === undefined ? "." : ": " + line.replace(/^npm (error|ERR!)\s*/, ""));
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    // The file is missing before the first install, and incomplete after an interrupted one.
    return undefined;
  }
}

function fail(line) {
  process.stderr.write(line + "\n");
  process.exit(1);
}

function whyInstall(lock) {
  return reasonToInstall(lock, readJson(path.join(modules, ".package-lock.json")));
}

function install(lock, reason) {
  process.stdout.write("Installing packages (" + reason + "), about a minute ...\n");
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const timer = setInterval(() => {
    process.stdout.write("  still installing, " + seconds() + " s\n");
  }, 5000);
  const end = (code, output) => {
    clearInterval(timer);
    removeUnfinished();
    if (code !== 0) fail(explainFailure(output));
    process.stdout.write("Packages installed in " + seconds() + " s.\n");
    checkBinaries();
  };
  if (!prepare(lock)) return runNpm(root, [], end);
  runNpm(unfinished, ["--replace-registry-host=always"], (code, output) => {
    // A registry may have addresses of its own: npm has to ask then.
    const isHopeless = UNREACHABLE.test(output) || NO_SPACE.test(output);
    if (code === 0 ? !moveModules(lock) : !isHopeless) runNpm(root, [], end);
    else end(code, output);
  });
}

/** Returns false where the folder cannot be moved: it may be a volume of its own. */
function moveModules(lock) {
  // Another command may have installed the same, and use it already.
  if (whyInstall(lock) === undefined) return true;
  try {
    fs.rmSync(modules, { recursive: true, force: true });
    fs.renameSync(path.join(unfinished, "node_modules"), modules);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes the folder in which npm installs, with all that tells npm how. Returns false where that is not possible: the
 * folder of another person's install may be there.
 */
function prepare(lock) {
  removeUnfinished();
  try {
    fs.mkdirSync(unfinished, { recursive: true });
    for (const name of ["package.json", ".npmrc"]) {
      if (fs.existsSync(path.join(root, name))) {
        fs.copyFileSync(path.join(root, name), path.join(unfinished, name));
      }
    }
    fs.writeFileSync(path.join(unfinished, "package-lock.json"), JSON.stringify(withAddresses(lock)));
    return true;
  } catch {
    return false;
  }
}

/** Removes the folder of this process, and those of interrupted ones. */
function removeUnfinished() {
  try {
    for (const name of fs.readdirSync(installs)) {
      if (name === String(process.pid) || !isRunning(Number(name))) {
        fs.rmSync(path.join(installs, name), { recursive: true, force: true });
      }
    }
    fs.rmdirSync(installs);
  } catch {
    // There is no such folder, another command installs, or the folder is not ours.
  }
}

function isRunning(id) {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function runNpm(folder, more, done) {
  // An install removes node_modules, with the Node that may be running this script, so use the Node that runs npm.
  const node = process.env.npm_node_execpath || process.execPath;
  const options = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"].concat(more);
  const command = process.env.npm_execpath === undefined ? ["npm"] : [node, process.env.npm_execpath];
  const child = childProcess.spawn(command[0], command.slice(1).concat(options), {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  child.on("error", (error) => fail("npm cannot be run: " + error.message));
  child.on("close", (code) => done(code, output));
}

/** Fails if a program is missing that two packages fetch in an install script. npm may be configured not to run it. */
function checkBinaries() {
  for (const name of ["node", "workerd"]) {
    if (!fs.existsSync(path.join(modules, ".bin", name))) {
      fail(
        "The package " +
          name +
          " is incomplete: its install script did not run. Run npm ci --ignore-scripts=false.",
      );
    }
  }
}

function main() {
  if (isTooOld(process.version)) {
    fail("Switchboard needs Node " + MINIMUM_NODE + " or newer; this is " + process.version + ".");
  }
  const lock = readJson(path.join(root, "package-lock.json"));
  if (lock === undefined) fail("package-lock.json is missing or damaged. Check it out again.");
  const reason = whyInstall(lock);
  if (reason === undefined) checkBinaries();
  else install(lock, reason);
}

if (process.argv[1] === url.fileURLToPath(import.meta.url)) main();
