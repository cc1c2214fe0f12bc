import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkActions } from "switchboard";
import { agentTool } from "switchboard/agent-tools";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

/** Researches one side of a question. */
export class Researcher extends Think<BotEnvironment> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "You research one side of a question. End with three sentences that name the strongest arguments.";
  }
}

/** Writes reports down. It asks before it publishes one. */
export class Editor extends Think<BotEnvironment> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "You make a short report of what you are given, and publish it once.";
  }

  override getActions(): ThinkActions {
    return {
      publish: action({
        description: "Publishes a report.",
        inputSchema: z.object({ title: z.string(), text: z.string() }),
        approval: true,
        idempotencyKey: ({ input }) => input.title,
        execute: ({ title }) => {
          void this.sql`CREATE TABLE IF NOT EXISTS report (title TEXT NOT NULL)`;
          void this.sql`INSERT INTO report (title) VALUES (${title})`;
          return { published: title, reports: this.sql`SELECT * FROM report`.length };
        },
      }),
    };
  }
}

/** Answers questions with the help of two other agents. */
export class ResearchBot extends Think<BotEnvironment> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "Let a researcher look at each side of a question, all at once. Weigh what they find. If the person wants a report, give it to the editor.";
  }

  override getTools() {
    return {
      research: agentTool(Researcher, {
        description: "Researches one side of a question.",
        inputSchema: z.object({ question: z.string(), side: z.string() }),
      }),
      edit: agentTool(Editor, {
        description: "Writes and publishes a report.",
        inputSchema: z.object({ title: z.string(), findings: z.string() }),
      }),
    };
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(ResearchBot);
