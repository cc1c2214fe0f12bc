import { rm } from "node:fs/promises";
import path from "node:path";
import { deleteRows, listObjects, OUR_TABLE, removeAlarms } from "./object-store.ts";
import { answersOf, blankAnswers } from "./question-answers.ts";
import { namesOne } from "./targets.ts";
import type { Target } from "./targets.ts";

export interface Forgotten {
  /** Names of the deleted objects. */
  readonly objects: readonly string[];
  /** Number of rows deleted in objects that stay, such as the root. */
  readonly rows: number;
}

/**
 * The platform's ids of sent files, which do not tell their chats. All of them go: an id only saves an upload.
 */
const FILE_IDS = "sent_file_v1";

/**
 * Deletes everything that belongs to a chat or a person: their objects as a whole, and every row about them in objects
 * that stay. The bot must not run.
 */
export async function forget(dataDirectory: string, target: Target): Promise<Forgotten> {
  const objects = path.join(dataDirectory, "objects");
  for (const { file } of target.objects) {
    for (const end of ["", "-wal", "-shm"]) await rm(`${file}${end}`, { force: true });
  }
  for (const classKey of new Set(target.objects.map((object) => object.classKey))) {
    const ids = target.objects.filter((object) => object.classKey === classKey).map(({ id }) => id);
    removeAlarms(objects, classKey, ids);
  }
  const names = target.objects.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const conversations = new Set(
    target.objects.flatMap(({ classKey, name = "" }) => {
      const conversation = name.slice(name.indexOf("/") + 1);
      // Other objects know one whose class is not that of the root by both.
      return [conversation, `${classKey.slice(classKey.lastIndexOf("-") + 1)}@${conversation}`];
    }),
  );
  let rows = 0;
  for (const { file } of listObjects(objects)) {
    const isKept = blankAnswers(file, target.ids);
    const isAnswer = answersOf(file, target.ids);
    rows += deleteRows(
      file,
      (table) => OUR_TABLE.test(table),
      (table, row) =>
        !isKept(table, row) &&
        (table === FILE_IDS ||
          isAnswer(table, row) ||
          Object.values(row).some(
            (value) => namesOne(value, target.ids) || (typeof value === "string" && conversations.has(value)),
          )),
    );
  }
  return { objects: names, rows };
}
