import { NotDone } from "../platform/call-errors.ts";
import type { Mutant } from "../machine/mutant.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of files, albums and places. */
export const albumMutants: readonly Mutant[] = [
  {
    name: "file-posted-twice",
    what: "files whose post has no answer count as not posted",
    needs: "album",
    surface: (surface) => ({
      ...surface,
      post: (address, message, options) =>
        surface.post(address, message, options).catch((error: unknown) => {
          const isLost = surface.classifyError(error).kind === "unknown";
          throw isLost && message.files !== undefined ? new NotDone("Nobody answers.") : error;
        }),
    }),
  },
  {
    name: "album-is-one-message",
    what: "only the first message of an album is known",
    needs: "album",
    surface: (surface) => ({
      ...surface,
      post: async (address, message, options) => {
        const { messageIds: _messageIds, ...posted } = await surface.post(address, message, options);
        return posted;
      },
    }),
  },
  {
    name: "file-id-is-vital",
    what: "files whose id the platform does not know any more are given up",
    needs: "forget-files",
    surface: (surface) => ({
      ...surface,
      classifyError: (error) => {
        const failure = surface.classifyError(error);
        return failure.code === "file-unknown" ? { kind: "rejected", code: "bad-request" } : failure;
      },
    }),
  },
  {
    name: "file-id-of-another",
    what: "the platform's id of a file is remembered for every file of its kind",
    needs: "album",
    threadDatabase: (database) => ({
      ...withoutWrites(database, () => false),
      all: (statement, ...bindings) => {
        const isQuestion = statement.includes("FROM sent_file_v1") && statement.includes("hash = ?");
        return database.all(isQuestion ? statement.replace("hash = ?", "hash <> ?") : statement, ...bindings);
      },
    }),
  },
  {
    name: "album-backwards",
    what: "the files of an album are sent in another order",
    needs: "album",
    surface: (surface) => ({
      ...surface,
      post: (address, { files, ...message }, options) =>
        surface.post(
          address,
          { ...message, ...(files !== undefined && { files: files.toReversed() }) },
          options,
        ),
    }),
  },
];
