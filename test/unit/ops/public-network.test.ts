import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { parseWorkerConfig } from "../../../ops/serve/worker-config.ts";
import { findWorkerd } from "../../../ops/serve/workerd-binary.ts";
import { writeWorkerdConfig } from "../../../ops/serve/workerd-config.ts";

/** Asks `/<network>/<name>` of the network with that name, and answers which server has been reached. */
const WORKER = `export default {
  async fetch(request, env) {
    const [, network, name] = new URL(request.url).pathname.split("/");
    const url = "http://" + name + ":8080/";
    try {
      return await (network === "public" ? env.PUBLIC_NETWORK.fetch(url) : fetch(url));
    } catch {
      return new Response("refused");
    }
  },
};`;

/** A machine of the test's own, whose name server is a stranger's. It has no other network. */
const INSIDE = `ip link set lo up && ip address add 93.184.216.34/32 dev lo &&
  mount --bind resolv.conf /etc/resolv.conf && exec "$@"`;
const namespace = (...command: readonly string[]): readonly string[] => ["-Urnm", ...command];
const hasNamespaces =
  spawnSync("unshare", namespace("sh", "-c", "ip link set lo up && mount --bind /etc/hosts /etc/hosts"))
    .status === 0;

/** Returns the server that each request has reached: `public/<name>` by the network for strangers' addresses. */
function reached(...requests: readonly string[]): readonly unknown[] {
  const folder = mkdtempSync(path.join(tmpdir(), "public-network-"));
  try {
    const config = parseWorkerConfig(
      JSON.stringify({ name: "bot", main: "worker.js", compatibility_date: "2026-10-15" }),
      "wrangler.jsonc",
    );
    const modules = [{ name: "worker.js", type: "esModule" }] as const;
    mkdirSync(path.join(folder, "objects"));
    writeFileSync(path.join(folder, "worker.js"), WORKER);
    writeFileSync(path.join(folder, "resolv.conf"), "nameserver 127.0.0.1\n");
    writeFileSync(
      path.join(folder, "config.capnp"),
      writeWorkerdConfig({ config, modules, environmentNames: [] }),
    );
    const script = path.join(import.meta.dirname, "../../support/strange-names.ts");
    const command = [process.execPath, script, findWorkerd(), "config.capnp", JSON.stringify(requests)];
    const printed = execFileSync("unshare", namespace("sh", "-c", INSIDE, "sh", ...command), {
      cwd: folder,
      encoding: "utf8",
      timeout: 60_000,
    });
    return JSON.parse(printed) as readonly unknown[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it.skipIf(!hasNamespaces)("never reaches a private address, whatever a stranger's name server says", () => {
  const asked = {
    // Without the rule both are reached, and the private one first.
    "internet/private.example": "private",
    "internet/both.example": "private",
    "public/public.example": "public",
    "public/private.example": "refused",
    "public/127.0.0.1": "refused",
    "public/both.example": "public",
    "public/both-turned.example": "public",
    // Each request looks the name up again: the answer that is checked is the one that is used.
    "public/changes.example": "public",
    "public/changes.example?2": "refused",
    "public/changes-back.example": "refused",
    "public/changes-back.example?2": "public",
    "public/changes-back.example?3": "refused",
  };
  const requests = Object.keys(asked);
  const answers = reached(...requests);
  expect(Object.fromEntries(requests.map((request, index) => [request, answers[index]]))).toEqual(asked);
});
