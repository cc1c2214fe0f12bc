import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment } from "switchboard";
import { ActionConnector, codemode, createCodemodeRuntime } from "switchboard/codemode";
import { extensions } from "switchboard/extensions";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { undo } from "switchboard/undo";
import { workspace } from "switchboard/workspace";
import { makeReport, sendMail } from "./actions.ts";
import expenses from "./expenses.txt";

interface Environment extends BotEnvironment {
  /** Address of a mail server, as `sendMail` describes it. */
  readonly MAIL_API_URL?: string;
}

/** Makes tables of receipts and mails them, by code that it writes. A person agrees before a mail leaves. */
export class AnalystBot extends Think<Environment> {
  static override workspace = workspace({ keepSentFiles: true });
  static override codemode = codemode();
  static override undo = undo();
  static override extensions = extensions();

  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "You turn receipts into reports. Read the photos that people send, then write code that makes the report and, if they want it, mails it.";
  }

  override getActions() {
    const files = () => this.workspace;
    return { makeReport: makeReport(files), sendMail: sendMail(this.env.MAIL_API_URL, files) };
  }

  override getTools() {
    const connectors = [new ActionConnector(this.ctx, this.env, ["makeReport", "sendMail"])];
    return { codemode: createCodemodeRuntime({ ctx: this.ctx, connectors }).tool() };
  }

  /** A tool that asks before it changes the list, and a hook. They reach the chat's files, and nothing else. */
  override getExtensions() {
    const permissions = { workspace: "read-write" } as const;
    const hooks = ["beforeTurn"] as const;
    return [{ manifest: { name: "expenses", version: "1.0.0", permissions, hooks }, source: expenses }];
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(AnalystBot);
