import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { createGitHubAdapter } from "@chat-adapter/github";
import type { WebhookDefinition } from "@octokit/webhooks-examples";
import { describe, expect, it } from "vitest";
import type { MessengerEvent } from "../../../../src/core/chat/messenger-event.ts";
import { createRig, postRequest } from "./rig.ts";

// The package declares its list as a default export, and exports the list itself.
const recordings = createRequire(import.meta.url)("@octokit/webhooks-examples") as WebhookDefinition[];
const secret = "s3cret";

interface Recorded {
  readonly action?: string;
  readonly comment?: {
    readonly id: number;
    readonly body: string;
    readonly user: { readonly login: string };
  };
}

function requestOf(event: string, payload: unknown): Request {
  const body = JSON.stringify(payload);
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  return postRequest(body, { "x-github-event": event, "x-hub-signature-256": signature });
}

describe("webhooks that GitHub has sent", () => {
  it("are all answered with 200, and comments are read as they were written, changed and deleted", async () => {
    const rig = createRig(
      createGitHubAdapter({ token: "ghp", webhookSecret: secret, userName: "shop-bot", botUserId: 1 }),
    );
    const unread: unknown[] = [];
    let comments = 0;
    let changes = 0;
    for (const { examples, name } of recordings) {
      for (const example of examples as readonly Recorded[]) {
        const { accepted, response } = await rig.receive(requestOf(name, example));
        expect([name, response.status]).toEqual([name, 200]);
        const events: MessengerEvent[] = [];
        for (const incoming of accepted) events.push(await rig.parse(incoming));
        const isComment = name === "issue_comment" || name === "pull_request_review_comment";
        if (!isComment) {
          expect([name, events]).toEqual([name, []]);
          continue;
        }
        if (example.action !== "created") {
          const kind = example.action === "edited" ? "message-edited" : "message-deleted";
          expect(events).toMatchObject([{ kind, message: { id: String(example.comment?.id) } }]);
          changes += 1;
          continue;
        }
        comments += 1;
        const [event] = events;
        const { comment } = example;
        const isRead =
          event?.message?.text === comment?.body &&
          event?.message?.id === String(comment?.id) &&
          event?.author?.userName === comment?.user.login;
        if (!isRead) unread.push([comment?.body, event?.kind, event?.message?.text, event?.author]);
      }
    }
    expect([comments, changes]).toEqual([8, 6]);
    expect(unread).toEqual([]);
  });
});
