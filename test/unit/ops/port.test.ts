import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { isPortFree, nextFreePort, parsePort } from "../../../ops/serve/port.ts";

it("takes the first port that nobody listens on", async () => {
  const asked: number[] = [];
  const port = await nextFreePort(4000, (candidate) => {
    asked.push(candidate);
    return Promise.resolve(candidate === 4002);
  });
  expect(port).toBe(4002);
  expect(asked).toEqual([4000, 4001, 4002]);
});

it("says which ports are taken when none is free", async () => {
  await expect(nextFreePort(65_534, () => Promise.resolve(false))).rejects.toThrow("from 65534 to 65535");
});

it("sees that a port is taken, and that it is free again", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await isPortFree(port, "127.0.0.1")).toBe(false);
  server.close();
  await once(server, "close");
  expect(await isPortFree(port, "127.0.0.1")).toBe(true);
});

it.each(["", "80a", "-1", "65536", "1e3"])("refuses %j as a port", (value) => {
  expect(() => parsePort(value, "PORT")).toThrow(`PORT is "${value}"`);
});
