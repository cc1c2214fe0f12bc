/**
 * The playground's door to a bot that it serves. No other bot has it: it is part of the playground, not of the product,
 * and opens only with the token that the playground has made up for this run.
 */

const PREFIX = "/switchboard/playground/";
/** The names of this machine. No website can get them. */
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
/** The name of the root, unless the bot's worker says otherwise. */
const ROOT = "default";
const LAST_OCCURRENCES = 5;

/**
 * @param {any} bot the worker's default export
 * @param {Record<string, any>} classes of the worker's objects, by name
 */
export function withDoor(bot, classes) {
  if (typeof bot?.fetch !== "function") return bot;
  const names = Object.keys(classes).filter((name) => isAgent(classes[name]));
  return {
    ...bot,
    async fetch(request, env, context) {
      const { hostname, pathname } = new URL(request.url);
      if (!pathname.startsWith(PREFIX)) return bot.fetch(request, env, context);
      if (!LOOPBACK.has(hostname) || request.headers.has("origin"))
        return Response.json({ error: "Only the playground of this machine may ask this." }, { status: 403 });
      const token = env.ADMIN_TOKEN;
      if (!token || request.headers.get("authorization") !== `Bearer ${token}`)
        return Response.json({ error: "Only the playground may ask this." }, { status: 401 });
      const name = pathname.slice(PREFIX.length);
      const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
      if (operation === undefined || request.method !== "POST")
        return Response.json({ error: "There is nothing at this address." }, { status: 404 });
      try {
        const namespaces = names.map((name) => namespaceOf(name, env, context)).filter(Boolean);
        return Response.json((await operation(namespaces, await request.json())) ?? {});
      } catch (error) {
        return Response.json({ error: error instanceof Error ? error.message : "failed" }, { status: 500 });
      }
    },
  };
}

/** True for a class that extends `Think`. */
function isAgent(agentClass) {
  return typeof agentClass?.prototype?.submitMessages === "function";
}

function namespaceOf(name, env, context) {
  return [context.exports?.[name], env[name]].find((one) => typeof one?.idFromString === "function");
}

const OPERATIONS = {
  /** Returns the scheduled tasks of a chat's conversation, and those of the whole bot. */
  async schedules([objects], { chat }) {
    const root = objects.getByName(ROOT);
    const place = chat === undefined ? undefined : await placeOf(root, chat);
    return {
      bot: await tasksOf(root, root),
      ...(place?.conversation && {
        conversation: place.conversation,
        chat: await tasksOf(objects.getByName(`${ROOT}/${place.conversation}`), root),
      }),
    };
  },

  /** Changes one of them. */
  async manage([objects], { conversation, taskId, action }) {
    const object = objects.getByName(conversation === undefined ? ROOT : `${ROOT}/${conversation}`);
    const answers = {
      pause: () => object.schedules.pause(taskId),
      resume: () => object.schedules.resume(taskId),
      run: () => object.schedules.run(taskId),
      delete: () => object.schedules.delete(taskId),
    };
    const isDone = await answers[action]();
    if (!isDone) throw new Error("There is no such schedule any more.");
  },

  /** Lets objects set their alarms by the clock as it is now. */
  async rearm(namespaces, { ids }) {
    for (const id of ids) {
      for (const objects of namespaces) {
        const found = parsedId(objects, id);
        if (found !== undefined) await objects.get(found).rearmAfterMove();
      }
    }
  },
};

async function placeOf(root, { chatId, topicId }) {
  const { messengers } = await root.inner("describeBot", []);
  const telegram = messengers.find(({ provider }) => provider === "telegram");
  if (telegram === undefined) return undefined;
  const target = {
    messenger: telegram.id,
    chatId: String(chatId),
    ...(topicId !== undefined && { topicId: String(topicId) }),
  };
  const found = await root.inner("locateTarget", [target]);
  return found.kind === "found" ? found : undefined;
}

async function tasksOf(object, root) {
  const tasks = await object.schedules.list();
  return Promise.all(
    tasks.map(async (task) => {
      const last = await object.schedules.occurrences({ taskId: task.taskId, limit: LAST_OCCURRENCES });
      return { ...task, occurrences: await Promise.all(last.map((one) => withProgress(one, root))) };
    }),
  );
}

/** Adds how many of very many chats an occurrence has reached. */
async function withProgress(occurrence, root) {
  if (occurrence.broadcastId === undefined) return occurrence;
  const broadcast = await root.inner("getBroadcast", [occurrence.broadcastId]);
  if (broadcast === undefined) return occurrence;
  const { deciding = 0, failed, sent, skipped, total } = broadcast;
  return { ...occurrence, progress: { deciding, failed, sent, skipped, total } };
}

/** Undefined for an id of another class. */
function parsedId(objects, id) {
  try {
    return objects.idFromString(id);
  } catch {
    return undefined;
  }
}
