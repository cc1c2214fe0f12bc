import path from "node:path";
import { Command } from "commander";
import type { Finding } from "../../ops/doctor/finding.ts";
import { runDoctor } from "../../ops/doctor/run-doctor.ts";
import { ReportedFailure } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";

interface Options {
  readonly config: string;
  readonly url?: string;
  readonly json?: boolean;
}

const MARKS: Readonly<Record<Finding["status"], string>> = {
  ok: "ok     ",
  warning: "WARNING",
  problem: "PROBLEM",
  skipped: "-      ",
};

/** `switchboard doctor`: looks at everything that a bot needs, and says how to repair it. */
export function doctorCommand(io: CommandIo): Command {
  return new Command("doctor")
    .description("check Node, ports, variables, storage, model, platforms and the running bot")
    .option("-u, --url <address>", "a running bot, if it runs elsewhere")
    .option("-c, --config <file>", "the bot's wrangler configuration", "wrangler.jsonc")
    .action(async (options: Options) => {
      const findings = await runDoctor({
        configFile: path.resolve(io.folder, options.config),
        folder: io.folder,
        environment: io.environment,
        url: options.url,
        nodeVersion: process.version,
        now: Date.now,
      });
      const problems = findings.filter(({ status }) => status === "problem").length;
      createReport(io, options).result({ problems, findings }, [
        ...findings.flatMap(({ about, fix, message, status }) => [
          `${MARKS[status]}  ${about.padEnd(15)}${message}`,
          ...(fix === undefined ? [] : [`${" ".repeat(24)}${fix}`]),
        ]),
        "",
        problems === 0
          ? "Nothing keeps the bot from running."
          : `${problems} ${problems === 1 ? "problem" : "problems"} found.`,
      ]);
      if (problems > 0) throw new ReportedFailure();
    });
}
