import { execFileSync } from "node:child_process";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { askJson } from "../../../ops/serve/ask-json.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serving(answer: RequestListener): Promise<URL> {
  const listening = createServer(answer);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return new URL(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/`);
}

const { signal } = new AbortController();

it("sends a body, and reads the answer with its status", async () => {
  const url = await serving((request, response) => {
    void text(request).then((body) => response.writeHead(201).end(JSON.stringify([request.method, body])));
  });
  expect(await askJson(url, { method: "POST", body: "é", signal })).toEqual({
    status: 201,
    body: ["POST", "é"],
  });
});

it("reads no JSON as nothing, and follows no redirect", async () => {
  const url = await serving((_request, response) => {
    response.writeHead(302, { location: "/elsewhere" }).end("moved");
  });
  expect(await askJson(url, { signal })).toEqual({ status: 302, body: undefined });
});

it("reads an answer that is cut off as nothing", async () => {
  const url = await serving((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("{}", () => response.destroy());
  });
  expect(await askJson(url, { signal })).toEqual({ status: 200, body: undefined });
});

it("tells the code of a connection that fails, and ends with its signal", async () => {
  await expect(askJson(new URL("http://127.0.0.1:9/"), { signal })).rejects.toMatchObject({
    code: "ECONNREFUSED",
  });
  const url = await serving(() => {});
  await expect(askJson(url, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
    name: "AbortError",
  });
});

it("loads nothing of `fetch`, which would take a fifth of a bot's start", () => {
  const module = path.resolve("ops/serve/serve-bot.ts");
  const loaded = execFileSync(process.execPath, [
    "--input-type=module",
    "--eval",
    `await import(${JSON.stringify(module)});
     process.stdout.write(process.moduleLoadList.filter((name) => name.includes("undici/undici")).join());`,
  ]);
  expect(loaded.toString()).toBe("");
});
