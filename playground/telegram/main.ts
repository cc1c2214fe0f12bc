import { readOptions } from "../../scripts/command-line/read-options.ts";
import { stopWithParent } from "../../ops/serve/stop-with-parent.ts";
import { addFirstPerson } from "./chats/first-person.ts";
import { realFloodRules, startSimulator } from "./simulator.ts";

/**
 * Starts the simulator alone. Prints one line of JSON when it is ready. SIGINT, SIGTERM and the end of its npm stop it.
 */
const values = readOptions("npm run simulator", {
  host: { type: "string", default: "127.0.0.1", about: "the address it listens on" },
  "allow-host": { type: "string", multiple: true, about: "a further name to answer to; may be repeated" },
  port: { type: "string", default: "0", about: "the port; 0 for any free one" },
  webhook: { type: "string", about: "where updates are sent" },
  secret: { type: "string", about: "the webhook's secret" },
  token: { type: "string", about: "the bot's token" },
  username: { type: "string", about: "the bot's user name" },
  state: { type: "string", about: "a file that keeps chats over a restart" },
  flood: { type: "boolean", default: false, about: "refuse calls over the published limits" },
  "redelivery-base-ms": { type: "string", default: "1000", about: "first wait before an update comes again" },
  "redelivery-max-ms": { type: "string", default: "60000", about: "longest such wait" },
});

const simulator = await startSimulator({
  host: values.host,
  allowHosts: values["allow-host"] ?? [],
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

addFirstPerson(simulator);

console.log(JSON.stringify({ ready: true, url: simulator.url, token: simulator.token }));

let isClosing = false;
const stop = (): void => {
  if (isClosing) return;
  isClosing = true;
  void simulator.close().then(() => process.exit(0));
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
stopWithParent({ stdin: false, stop });
