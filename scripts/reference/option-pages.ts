import { code, defaultText, paragraph, table } from "./markdown.ts";
import type { Member, Sources } from "./read-source.ts";

/** One heading of a page about options, and the type that it shows. */
interface Part {
  readonly heading: string;
  readonly file: string;
  /** Interfaces, whose members become one table. */
  readonly of?: readonly string[];
  /** A type whose comment stands above the table, or alone. */
  readonly about?: string;
  /** Whether the bot's code reads these members, and does not write them. They have no defaults. */
  readonly isRead?: boolean;
}

interface OptionPage {
  readonly title: string;
  readonly intro: string;
  readonly parts: readonly Part[];
}

const ACTION = "src/actions/declare/action.ts";
const ANNOTATIONS = "src/actions/declare/action-annotations.ts";
const MEMORY = "src/actions/declare/memory-options.ts";
const QUESTION = "src/core/chat/question.ts";
const CONTENT = "src/core/message/content.ts";
const ATTACHMENT = "src/core/message/reply-attachment.ts";
const SUBMISSIONS = "src/submissions/submissions.ts";
const HOOKS = "src/turn/hooks.ts";
const TASK = "src/schedules/rules/scheduled-task.ts";
const BROADCAST = "src/core/turn/broadcast.ts";
const SESSION = "src/feature/session.ts";
const EXTENSIONS = "src/extensions/extension-config.ts";
const EXTENSION_API = "src/extensions/extension-api.ts";
const WORKSPACE = "src/workspace/workspace-options.ts";
const MCP_CLIENT = "src/mcp-client/mcp-client-options.ts";

/** Options that the bot's code gives to functions and methods, by the name of their page. */
export const OPTION_PAGES: Readonly<Record<string, OptionPage>> = {
  "actions.md": {
    title: "Options of actions",
    intro: "[Actions](../actions.md) and [approvals](../approvals.md) show them in use.",
    parts: [
      { heading: "`action`", file: ACTION, of: ["ActionOptions"] },
      {
        heading: "`ctx`",
        file: "src/actions/declare/action-context.ts",
        of: ["ActionContext"],
        about: "ActionContext",
        isRead: true,
      },
      { heading: "`annotations`", file: ANNOTATIONS, of: ["ActionAnnotations"], about: "ActionAnnotations" },
      { heading: "`memory`", file: MEMORY, of: ["MemoryOptions"], about: "MemoryOptions" },
      { heading: "`ctx.memory`", file: MEMORY, of: ["ActionMemory"], about: "ActionMemory", isRead: true },
      {
        heading: "`ctx.sample`",
        file: "src/actions/declare/sample.ts",
        of: ["SampleRequest"],
        about: "SampleRequest",
      },
      { heading: "Questions", file: QUESTION, of: ["QuestionOptions", "ElicitQuestion"] },
      { heading: "`verify`", file: ACTION, about: "ActionVerdict" },
      {
        heading: "`grantable`",
        file: "src/core/action/grant-scope.ts",
        of: ["GrantScope"],
        about: "GrantScope",
      },
      { heading: "`approvals.list`", file: "src/approvals/stored/approval-store.ts", of: ["ApprovalFilter"] },
      {
        heading: "`approvals.approve` and `approvals.reject`",
        file: "src/approvals/rules/approval-record.ts",
        about: "ExecutionDecision",
      },
    ],
  },
  "content.md": {
    title: "Content",
    intro:
      "Messages of the bot's own code: of `say`, commands, broadcasts and others. [Cards](../cards.md) and [files](../files.md) show them in use.",
    parts: [
      { heading: "Every kind of content", file: CONTENT, of: ["ContentOptions"], about: "Content" },
      { heading: "`say`", file: "src/core/chat/chat-target.ts", of: ["SayOptions"] },
      { heading: "Targets of `say`", file: "src/core/chat/chat-target.ts", about: "ChatTarget" },
      { heading: "Card", file: CONTENT, of: ["CardContent"], about: "CardContent" },
      { heading: "A field of a card", file: CONTENT, of: ["CardField"] },
      { heading: "Callback button", file: CONTENT, of: ["CallbackButton"], about: "CallbackButton" },
      { heading: "Link button", file: CONTENT, of: ["LinkButton"], about: "LinkButton" },
      { heading: "Copy button", file: CONTENT, of: ["CopyButton"], about: "CopyButton" },
      { heading: "`revise`", file: CONTENT, of: ["ReviseOptions"] },
      {
        heading: "`onAction`",
        file: "src/core/chat/card-press.ts",
        of: ["CardPress"],
        about: "CardPress",
        isRead: true,
      },
      { heading: "Answer of `onAction`", file: "src/core/chat/card-press.ts", about: "PressAnswer" },
      { heading: "Files", file: CONTENT, of: ["FilesContent"], about: "FilesContent" },
      { heading: "One file", file: CONTENT, of: ["OutgoingFile"], about: "FileKind" },
      { heading: "A file behind an address", file: CONTENT, of: ["FileAddress"], about: "FileAddress" },
      { heading: "Location", file: CONTENT, of: ["LocationContent"], about: "LocationContent" },
      { heading: "`attachReply`: file", file: ATTACHMENT, of: ["FileAttachment"], about: "FileAttachment" },
      {
        heading: "`attachReply`: voice note",
        file: ATTACHMENT,
        of: ["VoiceNoteAttachment"],
        about: "VoiceNoteAttachment",
      },
      {
        heading: "`attachReply`: draft of an e-mail",
        file: ATTACHMENT,
        of: ["EmailDraftAttachment"],
        about: "EmailDraftAttachment",
      },
      {
        heading: "`renderAttachment`",
        file: ATTACHMENT,
        of: ["AttachmentSurface"],
        about: "AttachmentSurface",
        isRead: true,
      },
    ],
  },
  "mcp.md": {
    title: "Options of `mcpServer`",
    intro: "[Other agents](../mcp.md) shows it in use.",
    parts: [{ heading: "`mcpServer`", file: "src/mcp/mcp-server-options.ts", of: ["McpServerOptions"] }],
  },
  "mcp-client.md": {
    title: "Options of `mcpClient`",
    intro: "[Tools of MCP servers](../mcp-client.md) shows it in use.",
    parts: [
      { heading: "`mcpClient`", file: MCP_CLIENT, of: ["McpClientOptions"] },
      { heading: "A server", file: MCP_CLIENT, of: ["McpServer"] },
      { heading: "Rules for calls", file: MCP_CLIENT, of: ["McpToolRules"] },
    ],
  },
  "telemetry.md": {
    title: "Options of `telemetry`",
    intro: "[Telemetry](../telemetry.md) shows it in use.",
    parts: [{ heading: "`telemetry`", file: "src/telemetry/telemetry-feature.ts", of: ["TelemetryOptions"] }],
  },
  "memory.md": {
    title: "Memory",
    intro: "[Memory](../memory.md) shows it in use.",
    parts: [
      { heading: "`withContext` and `addContext`", file: SESSION, of: ["ContextBlock"] },
      { heading: "A provider", file: SESSION, of: ["ContextProvider"] },
      { heading: "The session", file: SESSION, of: ["Session"], isRead: true },
    ],
  },
  "skills.md": {
    title: "Options of `skills`",
    intro: "[Skills](../skills.md) shows them in use.",
    parts: [
      { heading: "`skills`", file: "src/skills/skills-feature.ts", of: ["SkillsOptions"] },
      { heading: "`skills.runner`", file: "src/skills/skill-runner.ts", of: ["SkillRunnerOptions"] },
    ],
  },
  "extensions.md": {
    title: "Options of `extensions`",
    intro: "[Extensions](../extensions.md) shows them in use.",
    parts: [
      { heading: "`extensions`", file: EXTENSIONS, of: ["ExtensionsOptions"] },
      {
        heading: "Rules for an extension",
        file: EXTENSIONS,
        of: ["ExtensionCallRules", "ExtensionRules"],
        about: "ExtensionCallRules",
      },
      { heading: "`getExtensions` returns", file: EXTENSIONS, of: ["ExtensionConfig"] },
      { heading: "A manifest", file: EXTENSIONS, of: ["ExtensionManifest"] },
      { heading: "`permissions`", file: EXTENSIONS, of: ["ExtensionPermissions"] },
      { heading: "A block of `context`", file: EXTENSIONS, of: ["ExtensionContext"] },
      { heading: "`host`", file: EXTENSION_API, of: ["ExtensionApi"], about: "ExtensionApi", isRead: true },
      {
        heading: "`beforeTurn` gets",
        file: EXTENSION_API,
        of: ["TurnSnapshot"],
        about: "TurnSnapshot",
        isRead: true,
      },
      { heading: "`beforeTurn` returns", file: EXTENSION_API, of: ["TurnChange"], about: "TurnChange" },
      { heading: "`beforeToolCall` gets", file: EXTENSION_API, of: ["ToolCallSnapshot"], isRead: true },
      {
        heading: "`afterToolCall` gets",
        file: EXTENSION_API,
        of: ["ToolCallSnapshot", "ToolResultSnapshot"],
        isRead: true,
      },
      { heading: "`onStepFinish` gets", file: EXTENSION_API, of: ["StepSnapshot"], isRead: true },
      { heading: "`onChunk` gets", file: EXTENSION_API, of: ["ChunkSnapshot"], isRead: true },
    ],
  },
  "workspace.md": {
    title: "Options of `workspace`",
    intro: "[Files of a conversation](../workspace.md) shows it in use.",
    parts: [
      { heading: "`workspace`", file: WORKSPACE, of: ["WorkspaceOptions"] },
      { heading: "`largeFiles`", file: WORKSPACE, of: ["LargeFiles"] },
      { heading: "`bash`", file: "src/workspace/bash/bash.ts", of: ["BashOptions"] },
    ],
  },
  "agent-tools.md": {
    title: "Options of `agentTool`",
    intro: "[Agents as tools](../agents.md) shows it in use.",
    parts: [
      { heading: "`agentTool`", file: "src/agent-tools/agent-tool-options.ts", of: ["AgentToolOptions"] },
      { heading: "`clearAgentToolRuns`", file: "src/agent-tools/run-filter.ts", of: ["RunFilter"] },
    ],
  },
  "code.md": {
    title: "Options of code and undo",
    intro: "[Code](../code.md) shows them in use.",
    parts: [
      { heading: "`codemode`", file: "src/codemode/codemode-feature.ts", of: ["CodemodeOptions"] },
      {
        heading: "`createCodemodeRuntime`",
        file: "src/codemode/runtime.ts",
        of: ["CodemodeRuntimeOptions"],
      },
      { heading: "A tool of a connector", file: "src/codemode/connector-tool.ts", of: ["ConnectorTool"] },
      {
        heading: "`OpenApiConnector`",
        file: "src/codemode/openapi/openapi-request.ts",
        of: ["OpenApiCredentials", "OpenApiRequestOptions"],
      },
      { heading: "`createExecuteTool`", file: "src/codemode/execute-tool.ts", of: ["ExecuteToolOptions"] },
      {
        heading: "`createQuickJSExecutor`",
        file: "src/sandbox/quickjs-executor.ts",
        of: ["QuickJSExecutorOptions"],
      },
      { heading: "`limits`", file: "src/sandbox/sandbox-limits.ts", of: ["SandboxLimits"] },
      { heading: "`undo`", file: "src/undo/undo-options.ts", of: ["UndoOptions"] },
    ],
  },
  "turns.md": {
    title: "Turns",
    intro:
      "[Prompts](../prompts.md), [hooks](../hooks.md) and [commands](../learn/commands-and-texts.md) show them in use.",
    parts: [
      { heading: "`submitMessages` and `saveMessages`", file: SUBMISSIONS, of: ["SubmitMessagesOptions"] },
      { heading: "The status of a submission", file: SUBMISSIONS, about: "SubmissionStatus" },
      { heading: "A submission", file: SUBMISSIONS, of: ["Submission"], isRead: true },
      { heading: "`waitForSubmission`", file: SUBMISSIONS, of: ["WaitOptions"] },
      {
        heading: "`deleteSubmissions`",
        file: SUBMISSIONS,
        of: ["SubmissionDeletion"],
        about: "SubmissionDeletion",
      },
      {
        heading: "`getTurn`",
        file: "src/core/turn/turn-info.ts",
        of: ["TurnInfo"],
        about: "TurnInfo",
        isRead: true,
      },
      { heading: "The kind of a turn", file: "src/core/turn/turn-info.ts", about: "TurnKind" },
      { heading: "`beforeStep` returns", file: HOOKS, of: ["StepConfig"], about: "StepConfig" },
      { heading: "`beforeTurn` also returns", file: HOOKS, of: ["TurnConfig"], about: "TurnConfig" },
      { heading: "`beforeTurn` gets", file: HOOKS, of: ["TurnContext"], isRead: true },
      { heading: "`beforeToolCall` gets", file: HOOKS, of: ["ToolCallExtras"], isRead: true },
      { heading: "`beforeToolCall` returns", file: HOOKS, about: "ToolCallDecision" },
      { heading: "`onChatResponse` gets", file: HOOKS, of: ["ChatResponseResult"], isRead: true },
      { heading: "`onChatError` gets", file: HOOKS, of: ["ChatErrorContext"], isRead: true },
      {
        heading: "A channel",
        file: "src/messengers/declare/channels.ts",
        of: ["ChannelDefinition"],
        about: "ChannelDefinition",
      },
      { heading: "The kind of a channel", file: "src/messengers/declare/channels.ts", about: "ChannelKind" },
      {
        heading: "A command",
        file: "src/messengers/declare/commands.ts",
        of: ["ThinkCommand"],
        about: "ThinkCommands",
      },
      {
        heading: "The handler of a command",
        file: "src/messengers/declare/commands.ts",
        of: ["CommandContext"],
        isRead: true,
      },
      {
        heading: "A built-in command in other words",
        file: "src/messengers/declare/commands.ts",
        of: ["CommandWords"],
        about: "CommandWords",
      },
    ],
  },
  "schedules.md": {
    title: "Options of schedules and broadcasts",
    intro:
      "[Schedules](../schedules.md), [broadcasts](../broadcasts.md) and [hooks for other systems](../http.md) show them in use.",
    parts: [
      { heading: "`getScheduledTasks`", file: TASK, of: ["TaskOptions"], about: "ThinkScheduledTasks" },
      { heading: "`schedule`", file: "src/schedules/rules/schedule-text.ts", about: "ScheduleText" },
      { heading: "A task with a `prompt`", file: TASK, of: ["PromptTask"], about: "PromptTask" },
      { heading: "`deliverTo`", file: TASK, about: "DeliverTo" },
      { heading: "`ifLate`", file: TASK, of: ["Lateness"], about: "Lateness" },
      {
        heading: "`quietHours`",
        file: "src/scheduled-runs/quiet-hours.ts",
        of: ["QuietHours"],
        about: "QuietHours",
      },
      {
        heading: "`handler` and `source` get",
        file: TASK,
        of: ["ScheduledOccurrence"],
        about: "ScheduledOccurrence",
        isRead: true,
      },
      {
        heading: "`chatSchedules`",
        file: "src/schedules/rules/chat-schedule.ts",
        of: ["ChatScheduleOptions"],
        about: "ChatScheduleOptions",
      },
      {
        heading: "States of an occurrence",
        file: "src/schedules/rules/occurrence.ts",
        about: "OccurrenceState",
      },
      {
        heading: "`schedules.occurrences` returns",
        file: "src/schedules/rules/occurrence.ts",
        of: ["OccurrenceRecord"],
        about: "OccurrenceRecord",
        isRead: true,
      },
      { heading: "`broadcasts.send`", file: BROADCAST, of: ["BroadcastOptions"] },
      { heading: "Targets of `broadcasts.send`", file: BROADCAST, about: "BroadcastTargets" },
      {
        heading: "`broadcasts.get` returns",
        file: BROADCAST,
        of: ["Broadcast"],
        about: "Broadcast",
        isRead: true,
      },
      { heading: "States of a broadcast", file: BROADCAST, about: "BroadcastState" },
      { heading: "States of one chat", file: BROADCAST, about: "TargetState" },
      {
        heading: "`deliverNotice` and `broadcasts.notify`",
        file: "src/broadcasts/notice.ts",
        of: ["NoticeOptions"],
        about: "NoticeOptions",
      },
      {
        heading: "`getIncomingHooks`",
        file: "src/hooks/incoming-hooks.ts",
        of: ["IncomingHook"],
        about: "IncomingHook",
      },
    ],
  },
};

/** Returns the sections of a page about options. */
export function optionParts(sources: Sources, { intro, parts }: OptionPage): readonly string[] {
  return [intro, ...parts.flatMap((part) => sectionOf(sources, part))];
}

function sectionOf(sources: Sources, { about, file, heading, isRead = false, of = [] }: Part): string[] {
  const members = of
    .flatMap((name) => sources.members(file, name))
    .filter((member) => member.type !== "never");
  const told = members.filter((member) => member.text !== "" || member.fallback !== undefined);
  // Names that say everything need no row.
  const others = members.filter((member) => !told.includes(member)).map((member) => code(member.name));
  return [
    `## ${heading}`,
    about === undefined ? "" : sources.comment(file, about).text,
    told.length === 0 ? "" : isRead ? fieldTable(told) : optionTable(told),
    others.length === 0 ? "" : `${told.length === 0 ? "" : "Also: "}${others.join(", ")}.`,
  ].filter(Boolean);
}

function fieldTable(members: readonly Member[]): string {
  return table(
    ["Field", "Meaning"],
    members.map((member) => [code(member.name), paragraph(member)]),
  );
}

const OPTION_HEAD = ["Option", "Default", "Meaning"];

export function optionTable(members: readonly Member[]): string {
  return table(
    OPTION_HEAD,
    members.map((member) => [
      code(member.name),
      member.isOptional ? defaultText(member.fallback) : "required",
      `${paragraph(member)}${member.text === "" ? "" : " "}Type: ${code((member.type || member.signature).replace(/^\| /, ""))}.`,
    ]),
  );
}
