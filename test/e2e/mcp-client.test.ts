import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { McpBridge } from "../support/mcp-bridge.ts";

const ADMIN_TOKEN = "of-the-operator";
const ADA = { id: 4711 };
const SERVERS = path.resolve(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
const program = (name: string): string => path.join(SERVERS, name, "dist/index.js");

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("servers of others", () => {
  let directory: string;
  let everything: ChildProcess;
  let memory: McpBridge;
  let files: McpBridge;
  let rig: Rig;
  let chat: SimChat;

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(path.join(tmpdir(), "switchboard-files-")));
    process.env["MEMORY_FILE_PATH"] = path.join(directory, "memory.jsonl");
    memory = new McpBridge([program("server-memory")]);
    files = new McpBridge([program("server-filesystem"), directory]);
    const port = await freePort();
    everything = spawn(process.execPath, [program("server-everything"), "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await once(everything.stderr as NodeJS.ReadableStream, "data");
    rig = await startRig({
      config: "test/e2e/bots/connected/wrangler.jsonc",
      simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
      env: {
        ADMIN_TOKEN,
        EVERYTHING_URL: `http://127.0.0.1:${port}/mcp`,
        FILES_URL: await files.open(),
        MEMORY_URL: await memory.open(),
      },
    });
    await allowAll();
    chat = rig.simulator.privateChat(rig.simulator.addUser({ ...ADA, first_name: "Ada" }));
  });
  afterAll(async () => {
    await rig.close();
    everything.kill();
    memory.close();
    files.close();
    delete process.env["MEMORY_FILE_PATH"];
    await rm(directory, { recursive: true, force: true });
  });

  /** Agrees to all tools, as the operator does. */
  async function allowAll(): Promise<void> {
    const url = `${rig.bot.url}/switchboard/mcp-tools`;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { tools } = (await (await fetch(url, { headers })).json()) as {
      readonly tools: readonly { readonly server: string; readonly hash: string }[];
    };
    for (const server of ["everything", "files", "memory"]) {
      const hashes = tools.filter((tool) => tool.server === server).map(({ hash }) => hash);
      expect(hashes.length).toBeGreaterThan(5);
      const body = JSON.stringify({ server, hashes, allow: true });
      await fetch(url, { method: "POST", headers, body });
    }
  }

  /** Lets the model call a tool once, and say what it got. */
  function ask(tool: string, input: Record<string, unknown>, said: string): void {
    rig.model.script(({ messages }) => {
      const last = messages.at(-1);
      return last?.role === "tool"
        ? [say(`${said}: ${JSON.stringify(last.content)}`)]
        : [callTool(tool, input)];
    });
    rig.simulator.sendText(chat, ADA, said);
  }

  const answers = (said: string) =>
    rig.simulator.messages(chat).filter(({ from, text }) => from.isBot && text.startsWith(`${said}: `));
  const answered = async (said: string): Promise<string> => {
    await rig.simulator.waitFor(() => answers(said).some(({ text }) => text.endsWith('"')));
    expect(answers(said)).toHaveLength(1);
    return answers(said)[0]?.text ?? "";
  };

  it("calls a server over HTTP, with progress", async () => {
    ask("everything__trigger-long-running-operation", { duration: 0.2, steps: 2 }, "long");
    expect(await answered("long")).toContain("completed");
  });

  it("shows the picture of a tool", async () => {
    ask("everything__get-tiny-image", {}, "picture");
    expect(await answered("picture")).toContain("One image, which the person sees below the answer");
    await rig.simulator.waitFor(() =>
      rig.simulator.messages(chat).some(({ attachments }) => attachments.length > 0),
    );
  });

  it("calls a server that keeps something", async () => {
    const entity = { name: "Mug", entityType: "product", observations: ["It is red."] };
    ask("memory__create_entities", { entities: [entity] }, "keep");
    expect(await answered("keep")).toContain("Mug");
  });

  it.each([
    ["before the effect", 0],
    ["after the effect", 1],
  ] as const)("answers after SIGKILL in mid-call, %s, which it had %i times", async (moment, times) => {
    const file = path.join(directory, `${times}.txt`);
    await writeFile(file, "paid:\nend\n");
    files.calls.length = 0;
    const held = files.hold(moment);
    const said = `edit ${times}`;
    ask("files__edit_file", { path: file, edits: [{ oldText: "end", newText: "1 euro\nend" }] }, said);
    await held;
    await rig.bot.kill("SIGKILL");
    await rig.bot.restart();
    expect(await answered(said)).toContain("its outcome is not known");
    expect((await readFile(file, "utf8")).split("1 euro")).toHaveLength(times + 1);
    expect(files.calls).toEqual(["edit_file"]);
  });

  it("reads in a new session what an earlier life of the bot has stored", async () => {
    ask("memory__read_graph", {}, "recall");
    expect(await answered("recall")).toContain("It is red.");
    expect(memory.calls).toEqual(["create_entities", "read_graph"]);
  });
});
