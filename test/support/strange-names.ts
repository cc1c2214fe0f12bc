import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { once } from "node:events";

/*
 * Runs in a network namespace of its own, as a machine whose name server is a stranger's: a public address and a private
 * one, with a server on each, and names that resolve to both. Asks workerd for each name, and prints which server has
 * answered, as JSON. `test/unit/ops/public-network.test.ts` starts it.
 */

const PORT = 8080;
const PUBLIC = "93.184.216.34";
const PRIVATE = "127.0.0.1";
const [, , workerd = "", configuration = "", asked = "[]"] = process.argv;

/** The addresses of each name, for the nth question about it. */
const NAMES: Readonly<Record<string, (count: number) => readonly string[]>> = {
  "public.example": () => [PUBLIC],
  "private.example": () => [PRIVATE],
  "both.example": () => [PUBLIC, PRIVATE],
  "both-turned.example": () => [PRIVATE, PUBLIC],
  "changes.example": (count) => [count === 0 ? PUBLIC : PRIVATE],
  "changes-back.example": (count) => [count % 2 === 0 ? PRIVATE : PUBLIC],
};
const questions = new Map<string, number>();

/** Answers questions of the type A by the table above; other types have no records. */
function answerOf(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  const question = query.subarray(12, at + 5);
  const name = labels.join(".");
  const isAddress = query.readUInt16BE(at + 1) === 1;
  const count = questions.get(name) ?? 0;
  if (isAddress) questions.set(name, count + 1);
  const addresses = isAddress ? (NAMES[name]?.(count) ?? []) : [];
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  // A pointer to the name, type A, class IN, no time to live, four bytes.
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
  );
  return Buffer.concat([header, question, ...records]);
}

async function serve(address: string, answer: string): Promise<Server> {
  // The next request opens another connection, so that its name is looked up again.
  const server = createServer((_request, response) => response.setHeader("connection", "close").end(answer));
  await once(server.listen(PORT, address), "listening");
  return server;
}

const names = createSocket("udp4");
names.on("message", (query, { address, port }) => names.send(answerOf(query), port, address));
await once(names.bind(53, PRIVATE), "listening");
const servers = [await serve(PUBLIC, "public"), await serve(PRIVATE, "private")];
const runtime = spawn(workerd, ["serve", configuration, "--control-fd=3", "--socket-addr=http=127.0.0.1:0"], {
  // workerd tells each refused address as an error.
  stdio: ["ignore", "ignore", "ignore", "pipe"],
});
try {
  const [line] = (await once(runtime.stdio[3] as NodeJS.ReadableStream, "data")) as [Buffer];
  const { port } = JSON.parse(line.toString().split("\n")[0] ?? "") as { readonly port: number };
  const answers: string[] = [];
  for (const request of JSON.parse(asked) as readonly string[])
    answers.push(await (await fetch(`http://127.0.0.1:${port}/${request}`)).text());
  process.stdout.write(JSON.stringify(answers));
} finally {
  runtime.kill();
  names.close();
  for (const server of servers) server.close();
}
