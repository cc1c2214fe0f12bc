import { parseArgs } from "node:util";
import { realFloodRules, startSimulator } from "./simulator.ts";

/** Starts the simulator alone. Prints one line of JSON when it is ready; SIGINT and SIGTERM end it. */
const { values } = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "0" },
    webhook: { type: "string" },
    secret: { type: "string" },
    token: { type: "string" },
    username: { type: "string" },
    state: { type: "string" },
    flood: { type: "boolean", default: false },
    "redelivery-base-ms": { type: "string", default: "1000" },
    "redelivery-max-ms": { type: "string", default: "60000" },
  },
});

const simulator = await startSimulator({
  host: values.host,
  port: Number(values.port),
  ...(values.token !== undefined && { token: values.token }),
  ...(values.username !== undefined && { bot: { username: values.username } }),
  ...(values.webhook !== undefined && {
    webhook: { url: values.webhook, ...(values.secret !== undefined && { secretToken: values.secret }) },
  }),
  ...(values.state !== undefined && { stateFile: values.state }),
  flood: values.flood ? realFloodRules : false,
  redelivery: { baseMs: Number(values["redelivery-base-ms"]), maxMs: Number(values["redelivery-max-ms"]) },
});

// The page opens on a chat, so that the first thing to do is to write.
if (simulator.users().length === 0) simulator.privateChat(simulator.addUser({ first_name: "Alex" }));

console.log(JSON.stringify({ ready: true, url: simulator.url, token: simulator.token }));

let isClosing = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isClosing) return;
    isClosing = true;
    void simulator.close().then(() => process.exit(0));
  });
}
