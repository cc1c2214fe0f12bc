import type { ChatGate } from "../../core/gate.ts";
import type { RootLink } from "../root/root-link.ts";
import type { InnerCalls } from "./inner-calls.ts";

/** Returns the calls that a conversation makes to its root, to gates and to other objects. */
export function rootLinkOf(
  root: () => InnerCalls,
  gate: (conversation: string) => ChatGate,
  callsTo: (name: string) => InnerCalls,
): RootLink {
  return {
    gate,
    handOver: (name, messengerId, event) => callsTo(name).receiveEvents(messengerId, [event]),
    routeEvent: (...asked) => root().routeEvent(...asked),
    chatMoved: (...asked) => root().chatMoved(...asked),
    identity: (...asked) => root().identity(...asked),
    takeQuestion: (...asked) => root().takeQuestion(...asked),
    reportAccess: (...asked) => root().reportAccess(...asked),
    chatGone: (...asked) => root().chatGone(...asked),
    noteUsage: (...told) => root().noteUsage(...told),
    resolveTarget: (to) => root().resolveTarget(to),
    findSentFile: (file) => root().findSentFile(file),
    noteSentFile: (...told) => root().noteSentFile(...told),
    forgetSentFile: (...told) => root().forgetSentFile(...told),
  };
}
