import http from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../../playground/telegram/simulator.ts";
import type { Simulator, SimulatorOptions } from "../../../playground/telegram/simulator.ts";

let simulator: Simulator;

afterEach(() => simulator.close());

const start = async (options: SimulatorOptions = {}): Promise<string> => {
  simulator = await startSimulator(options);
  return new URL(simulator.url).port;
};

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks with headers that `fetch` does not let a program choose. */
const STREAMS = ["/_sim/events", "/_sim/view"];

function ask({ headers, method = "GET", path = "/_sim/state" }: Asked): Promise<readonly [number, string]> {
  const { port } = new URL(simulator.url);
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: "127.0.0.1", port, path, method, headers, agent: false },
      (response) => {
        const status = response.statusCode ?? 0;
        if (STREAMS.includes(path) && status === 200) {
          response.destroy();
          resolve([status, ""]);
        } else text(response).then((body) => resolve([status, body]), reject);
      },
    );
    request.on("error", reject);
    request.end(method === "POST" ? "{}" : undefined);
  });
}

const statusOf = async (asked: Asked): Promise<number> => (await ask(asked))[0];
const OPERATION = { path: "/_sim/clearFaults", method: "POST" };
const JSON_BODY = { "content-type": "application/json" };

describe("the name in the address", () => {
  it.each(["127.0.0.1", "localhost", "LocalHost", "[::1]"])(
    "answers under %s, with any port",
    async (name) => {
      const port = await start();
      for (const host of [name, `${name}:${port}`, `${name}:9000`]) {
        expect(await statusOf({ headers: { host } })).toBe(200);
      }
    },
  );

  it.each([
    "/",
    "/app.js",
    "/_sim/state",
    ...STREAMS,
    "/_sim/files/1",
    "/bot7000000001:simulated-token/getMe",
    "/file/bot7000000001:simulated-token/photo",
  ])("refuses another name at %s and says how to allow it", async (path) => {
    await start();
    for (const name of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.20"]) {
      const [status, reason] = await ask({ path, headers: { host: `${name}:8080` } });
      expect(status).toBe(403);
      expect(reason).toContain(`--allow-host ${name}`);
    }
  });

  it("refuses an address that is no name, without a hint", async () => {
    await start();
    for (const host of ["a b", "<script>", "localhost:8080:1"]) {
      expect(await statusOf({ headers: { host } })).toBe(403);
    }
  });

  it("answers under the names that are allowed, and under the address that it listens on", async () => {
    await start({ host: "0.0.0.0", allowHosts: ["Laptop.local", "dev.example.com"] });
    for (const host of ["laptop.local:8080", "dev.example.com", "localhost:8080"]) {
      expect(await statusOf({ headers: { host } })).toBe(200);
    }
    expect(await statusOf({ headers: { host: "0.0.0.0:8080" } })).toBe(403);
    expect(new URL(simulator.url).hostname).toBe("127.0.0.1");
    await simulator.close();
    await start({ host: "127.0.0.2" });
    const { port } = new URL(simulator.url);
    const url = `http://127.0.0.2:${port}/_sim/state`;
    expect((await fetch(url)).status).toBe(200);
  });
});

describe("the page that asks", () => {
  it("answers programs, and the page itself", async () => {
    const port = await start();
    expect(await statusOf({ ...OPERATION, headers: JSON_BODY })).toBe(200);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      const headers = { ...JSON_BODY, host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
      expect(await statusOf({ ...OPERATION, headers })).toBe(200);
    }
  });

  it("refuses other pages, also those of other servers on this machine", async () => {
    const port = await start();
    for (const origin of ["http://evil.example", "null", "http://127.0.0.1:1", `http://localhost:${port}`]) {
      const headers = { ...JSON_BODY, host: `127.0.0.1:${port}`, origin };
      const [status, reason] = await ask({ ...OPERATION, headers });
      expect(status).toBe(403);
      expect(reason).toContain("another page");
    }
  });

  it("follows a proxy that encrypts, if the name is allowed", async () => {
    await start({ allowHosts: ["dev.example.com"] });
    const headers = { ...JSON_BODY, host: "dev.example.com", origin: "https://dev.example.com" };
    expect(await statusOf({ ...OPERATION, headers })).toBe(200);
  });

  it("refuses a picture or a form of another page that calls the Bot API, and follows a link to the page", async () => {
    await start();
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    const path = "/bot7000000001:simulated-token/getMe";
    expect(await statusOf({ path, headers })).toBe(403);
    expect(await statusOf({ path, headers: { "sec-fetch-site": "same-site" } })).toBe(403);
    expect(await statusOf({ path: "/", headers: { ...headers, "sec-fetch-mode": "navigate" } })).toBe(200);
  });
});
