/** `npm start`: the support bot with its shop, or the bot that `--config` names. */
import { processIo } from "./command-io.ts";
import { runCommand } from "./run-command.ts";
import { startParameters } from "./start-parameters.ts";

const code = await runCommand(startParameters(process.argv.slice(2)), processIo());
process.stdout.write("", () => process.exit(code));
