/**
 * The words about each event of the log, for the reference. Events that mean the same share an entry. A test compares
 * the names with the code.
 */
export const LOG_EVENTS: readonly {
  readonly events: readonly string[];
  readonly meaning: string;
}[] = [
  {
    events: ["inbox.event"],
    meaning:
      "an incoming event was handled: `outcome` is `queued`, `known already`, `command: help`, `ignored: ...`, `handed to onReaction`, `given up: ...`, ... An update of Telegram that nothing handles has a line, too: `ignored: poll`, `ignored: callback_query:no-chat` for a press that belongs to no chat. A request to a Chat SDK adapter without a stored event as well: `ignored: reaction`, `ignored: the adapter reported no event (answered 200)` for a receipt, `refused by the adapter (answered 401)`, `handshake answered 200`. If more than three events of a thread are ignored within a second, the others share a line with their `keys` and `count`",
  },
  {
    events: ["press.interrupted"],
    meaning: "the process died while a press was being handled; the press is answered, and not handled again",
  },
  {
    events: ["press.answer-too-late"],
    meaning:
      "a handler of a press returned an answer more than 10 s after the press; the answer is not shown, because the press was already acknowledged",
  },
  {
    events: ["press.not-answered"],
    meaning: "the answer to a press could not be stored; `code` says why",
  },
  {
    events: ["inbox.unreadable"],
    meaning: "an event could not be read, and is tried again (`attempts`)",
  },
  {
    events: ["conversation.unresolved"],
    meaning: "the bot's `conversation` function threw; the event waits",
  },
  {
    events: ["webhook.failed"],
    meaning: "an event could not be stored; the platform was asked to send it again",
  },
  {
    events: ["mcp.called"],
    meaning:
      "an agent has called an action at `/mcp`: `token` is the id of its token; `outcome` is `result`, `refused` (the result is an error), `ask` (the client asks its person), `task` (people are asked in a chat) or `failed`",
  },
  {
    events: ["mcp.failed"],
    meaning:
      "the conversation of a token could not answer at `/mcp`; the client may send the same request again",
  },
  {
    events: ["telemetry.not-exported"],
    meaning: "a collector has not taken spans, and so many were dropped since the last such line",
  },
  {
    events: ["agent-tool.not-reached"],
    meaning:
      "the object of another agent's run, or the one that waits for it, could not be reached; it is tried again",
  },
  {
    events: ["mcp-client.server-failed"],
    meaning: "an MCP server could not be asked for its tools; `reason` is the kind of the failure",
  },
  {
    events: ["mcp-client.call-failed"],
    meaning:
      "a call of a tool of an MCP server has failed: `reason` is a code of the protocol, a status of HTTP, or the kind of the failure; the model knows whether it may have had an effect",
  },
  {
    events: ["mcp-client.tools-asked", "mcp-client.tools-decided"],
    meaning: "the owner was asked about tools of an MCP server, and has decided",
  },
  {
    events: ["mcp-client.signed-in", "mcp-client.sign-in-failed"],
    meaning:
      "a person came back from the sign-in of an MCP server; `code` is the reason why there is no token",
  },
  {
    events: ["mcp-client.refresh-failed", "mcp-client.revocation-failed"],
    meaning:
      "an authorization server gave no newer token for a person's expired one, or did not hear that a person has disconnected",
  },
  {
    events: ["mcp-client.tools-left-out"],
    meaning: "tools of an MCP server are not offered; `reason` is that of the first one",
  },
  {
    events: ["workspace.file-not-kept"],
    meaning: "a file that a person has sent was not kept in the workspace; the person and the model know",
  },
  {
    events: ["skills.left-out"],
    meaning:
      "a skill is not offered: `reason` is `not-agreed` or `changed` (its hash is not that of the `lock`), `unreadable`, or a problem of its file or source",
  },
  {
    events: ["skills.failed"],
    meaning: "the skills could not be read; those of the last time stay",
  },
  {
    events: ["extension.refused"],
    meaning: "an extension is not loaded; `code` is the reason",
  },
  {
    events: ["extension.hook-failed"],
    meaning:
      "a hook of an extension was ignored: `code` is a limit of the sandbox, `thrown`, `result` (not a change that a turn takes), or `too-many` (a hundred wait)",
  },
  {
    events: ["workspace.bucket-failed"],
    meaning: "large files that nobody needs could not be deleted from the bucket; a later time deletes them",
  },
  {
    events: ["mcp-client.catalogue-failed"],
    meaning: "the tools of MCP servers could not be stored or read; those that are known stay",
  },
  {
    events: ["memory.read-failed"],
    meaning: "a turn went on without a memory, because the root could not be reached",
  },
  {
    events: ["code.ended"],
    meaning:
      "a run of code has ended; `state` tells how, and `limit` is the limit of the sandbox that it has reached",
  },
  {
    events: ["code.rolled-back"],
    meaning: "the calls of a run of code were undone: how many were, and how many could not be",
  },
  {
    events: ["code.service-failed"],
    meaning:
      "a service with an OpenAPI document refused a call or did not answer: `connector`, and `reason`, the status",
  },
  {
    events: ["undo.failed"],
    meaning: "an action ran, and people cannot undo it, because that could not be stored",
  },
  {
    events: ["code.failed"],
    meaning: "a run of code that people have agreed to could not go on; it is tried again",
  },
  {
    events: ["root.failed"],
    meaning:
      "an object, or `root` or `authorize` of `createWorker`, could not serve a request, which was answered 503: `storage-full`, or the kind of the error",
  },
  {
    events: ["turn.begun", "turn.ended"],
    meaning:
      "once for each turn; `outcome` is `done`, `out-of-steps` (it has used `maxSteps`, and the model wanted to go on), `failed`, `stopped`, `replaced`, `steered`, `parked` (the rest waits for somebody's decision), `gone` or `not-declared` (its messenger is no longer declared)",
  },
  {
    events: ["turn.model-changed"],
    meaning: "a model failed with `code`, and the next one is asked: `from`, `to`",
  },
  {
    events: ["turn.model-retried"],
    meaning: "a failed model call is made again, after `delayMs` if the server is busy or away",
  },
  {
    events: ["turn.failed"],
    meaning:
      "a turn failed, and neither the model nor the bot's code is the reason; `at` is the place, with `DEBUG=1` there is the `message` of the exception",
  },
  {
    events: ["model.call-failed"],
    meaning:
      "a call of the model failed: `code`, `status`, `provider`, `model`; with `DEBUG=1` a `model-failed` has the message of the `exception` and its place (`at`)",
  },
  {
    events: ["attachment.refused", "attachment.changed"],
    meaning:
      "something that an action attached to a reply was left out, or is shown in another form, such as a text",
  },
  {
    events: ["tool.call-refused"],
    meaning:
      "the model called a `tool` or an action in a way that did not reach it: `code` is `tool-unknown` (the bot has none of this name) or `input-invalid` (the input does not fit the schema); the model reads why",
  },
  {
    events: ["action.refused"],
    meaning: "an `action` said no with an `ActionError`, which the model reads",
  },
  {
    events: ["action.log"],
    meaning: "a line that an `action` wrote with `ctx.log`: its `message` and fields",
  },
  {
    events: ["action.done"],
    meaning: "an action with a `format` ran; `result` is its line, in development only",
  },
  {
    events: ["action.output-invalid"],
    meaning:
      "the output of an action does not fit its `returns`; `problem` names the places, in development only",
  },
  {
    events: ["bot.member-unused"],
    meaning: "a `member` of the bot's class is called by nothing; `/health` says what to write instead",
  },
  {
    events: ["messenger.unconfigured"],
    meaning: "a `messenger` is left out until the variables `missing` are set; its webhook answers 503",
  },
  {
    events: ["bot.failed"],
    meaning: "a `method` of the bot threw or took too long: kind and place of the error",
  },
  {
    events: ["bot.output"],
    meaning: "with `npm run serve`: the bot printed something that is not a JSON object (`text`)",
  },
  {
    events: ["broadcast.ended"],
    meaning: "the end of a broadcast, with the number of chats that were reached, failed and skipped",
  },
  {
    events: ["approval.changed"],
    meaning:
      "an action waits for somebody's consent, or its request has a new `state`: `approved`, `rejected`, `done`, `failed`, `expired`, ...",
  },
  {
    events: ["question.changed"],
    meaning:
      "an action or the bot's code asks people something, or the question has a new `state`: `asked-again` because the schema has refused the answer, `answered`, `declined`, `expired` or `nobody`",
  },
  {
    events: ["broadcast.not-handed-over"],
    meaning: "the object of a conversation could not be reached; the call is repeated",
  },
  {
    events: ["broadcast.not-told"],
    meaning: "the root could not be told that a message has arrived; it asks by itself within minutes",
  },
  {
    events: ["broadcast.failed"],
    meaning: "a run of the broadcasts failed; it is repeated half a minute later",
  },
  {
    events: ["approval.not-indexed"],
    meaning: "the root could not be told of an approval, or of its new state; tried again in 5 s",
  },
  {
    events: ["directory.not-written"],
    meaning: "the list of conversations could not be updated; the conversation's next message does it",
  },
  {
    events: ["schedule.ended", "schedule.failed", "schedule.skipped"],
    meaning:
      "an occurrence of a scheduled task has ended, failed (`code`), or was too late to run (`lateMs`)",
  },
  {
    events: ["schedule.not-stored"],
    meaning: "the storage refused the state of an occurrence; tried again in 5 s",
  },
  {
    events: ["schedule.zone-not-read", "schedule.zone-not-kept"],
    meaning:
      "the root could not be asked for a person's time zone, or told of it; the conversation uses the zone that it knows",
  },
  {
    events: ["schedule.not-nudged"],
    meaning:
      "the object that keeps a schedule could not be told that a run goes on; it looks by itself within minutes",
  },
  {
    events: ["schedule.owner-not-told"],
    meaning: "the chat that should hear of a task's failures cannot be reached",
  },
  {
    events: ["file.unavailable"],
    meaning: "a file that somebody sent could not be loaded",
  },
  {
    events: ["chat.cards-not-moved"],
    meaning:
      "the cards of a group that became a supergroup could not be drawn there; `/approvals` brings them",
  },
  {
    events: ["file.unsent"],
    meaning: "a file of the bot could not be sent; people read its name and the reason in its place",
  },
  {
    events: ["menu.not-set"],
    meaning: "the platform did not accept the bot's list of commands; tried again in an hour",
  },
  {
    events: ["identity.not-refreshed"],
    meaning:
      "the platform did not say who the bot is; its earlier answer is used, and it is asked again in an hour",
  },
  {
    events: ["chat.moved"],
    meaning: "a group was upgraded to a supergroup; waiting messages are sent there",
  },
  {
    events: ["chat.news-not-told"],
    meaning: "the root could not be told that a chat has moved or is gone; tried again in 5 s",
  },
  {
    events: ["chat.gone"],
    meaning: "the person blocked the bot, or the chat is gone; with `thread`, only that topic of it",
  },
  {
    events: ["delivery.ended"],
    meaning:
      "an answer or another message has reached its end: `state` is `delivered`, `failed`, `withdrawn` or `gone`",
  },
  {
    events: ["delivery.call-failed"],
    meaning: "a call to the platform failed: `method`, `kind`, `code`",
  },
  {
    events: ["mark.failed"],
    meaning: "a reaction or a pin was given up: `kind`, `code`",
  },
  {
    events: ["access.not-reported"],
    meaning:
      "a conversation could not tell its root whether the platform accepts the token; the next refused call repeats the report",
  },
  {
    events: ["delivery.misconfigured"],
    meaning: "the platform refuses the token, or the address is not a Bot API server",
  },
  {
    events: ["delivery.lost-post-found", "delivery.lost-post-not-made", "delivery.lost-post-unresolved"],
    meaning: "the result of the search for a send without an answer",
  },
  {
    events: ["delivery.rich-refused", "delivery.rich-unsupported"],
    meaning:
      "an answer continues without rich messages, because the platform refused the content or the method",
  },
  {
    events: ["delivery.penalty-not-stored", "delivery.gate-unreachable"],
    meaning: "the gate of the chat could not be asked or told; it is tried again",
  },
  {
    events: ["delivery.unknown-messenger"],
    meaning: "an unsent message belongs to a messenger that is no longer declared",
  },
  {
    events: [
      "delivery.split-failed",
      "delivery.loop-failed",
      "delivery.storage-failed",
      "delivery.late-answer-not-stored",
      "delivery.failed",
      "thread.failed",
      "wake.failed",
    ],
    meaning: "a fault of Switchboard or of its storage; the bot continues by itself. Please report it",
  },
  {
    events: ["telegram.press-not-answered"],
    meaning: "a press of a button that belongs to no chat could not be answered",
  },
  {
    events: ["chat-sdk.receive-failed", "chat-sdk.background-slow"],
    meaning:
      "a request to a Chat SDK adapter was answered 503, so that the platform sends it again; `step` and `code` say why",
  },
  {
    events: ["chat-sdk.installed"],
    meaning: "somebody has installed the app of a Chat SDK adapter in their workspace",
  },
  {
    events: ["chat-sdk.install-failed"],
    meaning:
      "somebody came back from the platform, and the app was not installed: they declined, or the code was refused",
  },
  {
    events: ["chat-sdk.event-lost"],
    meaning:
      "a Chat SDK adapter reported an event outside of a webhook, or after its answer, and the event could not be stored",
  },
  {
    events: ["chat-sdk.webhook-refused"],
    meaning: "a request was answered 401: `fix` says which options of the adapter to look at",
  },
  {
    events: ["chat-sdk.command-unnamed"],
    meaning: "somebody gave a quick command of Google Chat that has no name: `fix` says what to set",
  },
  {
    events: ["chat-sdk.events-dropped"],
    meaning:
      "Slack drops events of a workspace, because the app gets more than 30,000 in an hour. Those events never reach the bot",
  },
  {
    events: ["chat-sdk.not-delivered"],
    meaning:
      "WhatsApp accepted a message and did not deliver it. `window-closed`: the person has not written for 24 hours, so only a template arrives. `recipient-unreachable`: the number has no WhatsApp, or has blocked the bot. Any other `code` is Meta's",
  },
  {
    events: ["chat-sdk.warning", "chat-sdk.error"],
    meaning: "a Chat SDK adapter's own line: `about` holds its technical words, `…` replaces all others",
  },
  {
    events: ["agents.failed", "agents.warning"],
    meaning: "the `agents` package reports a failure that has no other line: its subject, kind and place",
  },
  {
    events: ["runtime.output"],
    meaning:
      "with `npm run serve`: a line that workerd prints itself. Messages of exceptions are left out, except with `DEBUG=1` or before the server listens",
  },
  {
    events: ["runtime.output-dropped"],
    meaning:
      "workerd printed the same line more than five times, or more than thirty lines, within ten seconds; the rest was left out",
  },
];
