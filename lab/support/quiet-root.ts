import type { RootLink } from "../../src/messengers/root/root-link.ts";

/** A root that agrees to everything and does nothing, for a conversation whose root is not under test. */
export function quietRoot(more: Pick<RootLink, "gate"> & Partial<RootLink>): RootLink {
  return {
    identity: () => Promise.resolve({ userId: "bot" }),
    takeQuestion: () => Promise.resolve(true),
    chatMoved: () => Promise.resolve(),
    reportAccess: () => Promise.resolve(),
    chatGone: () => Promise.resolve(),
    noteUsage: () => Promise.resolve(),
    findSentFile: () => Promise.resolve(undefined),
    noteSentFile: () => Promise.resolve(),
    forgetSentFile: () => Promise.resolve(),
    routeEvent: () => Promise.resolve({ kind: "not-answered" }),
    resolveTarget: () => Promise.reject(new Error("No target is named.")),
    locateTarget: () => Promise.reject(new Error("No target is named.")),
    handOver: () => Promise.resolve(),
    ...more,
  };
}
