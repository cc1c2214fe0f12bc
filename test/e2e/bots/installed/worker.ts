import { createSlackAdapter } from "@chat-adapter/slack";
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { ModelEnvironment, ThinkModel } from "switchboard";
import { chatSdkMessenger, defineMessengers, type ThinkMessengers } from "switchboard/messengers";

interface Environment extends ModelEnvironment {
  readonly SLACK_URL: string;
}

/** A bot of several roots that any workspace of Slack can install. */
export class InstalledTestBot extends Think<Environment> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getMessengers(): ThinkMessengers {
    const adapter = createSlackAdapter({
      apiUrl: this.env.SLACK_URL,
      signingSecret: "s3cret",
      clientId: "1.2",
      clientSecret: "client-secret",
    });
    return defineMessengers({
      slack: chatSdkMessenger({
        adapter,
        verifyWebhook: false,
        install: {},
        burstMs: 0,
        stateRoot: "default",
        keyShard: (key) => (key.startsWith("slack:") ? "facts" : undefined),
      }),
    });
  }
}

export default createWorker(InstalledTestBot, {
  root: ({ url }) => new URL(url).searchParams.get("root") ?? "default",
});
