import { BotApiError, badRequest } from "../bot-api-error.ts";
import type { Method, MethodContext } from "./context.ts";

const defaultMaxConnections = 40;

export const setWebhook: Method = (context, parameters) => {
  const url = parameters.string("url");
  if (url === "") return removeWebhook(context, parameters.boolean("drop_pending_updates"));
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw badRequest("invalid webhook URL specified");
  const secretToken = parameters.string("secret_token");
  if (secretToken.length > 256) throw badRequest("secret token is too long");
  if (!/^[A-Za-z0-9_-]*$/.test(secretToken)) throw badRequest("secret token contains unallowed characters");
  const allowed = parameters.json("allowed_updates");
  if (Array.isArray(allowed)) context.updates.allowed = allowed.map(String);
  if (parameters.boolean("drop_pending_updates")) context.updates.dropPending();
  const maxConnections = parameters.integer("max_connections");
  context.delivery.setTarget({
    url,
    ...(secretToken !== "" && { secretToken }),
    maxConnections: maxConnections >= 1 && maxConnections <= 100 ? maxConnections : defaultMaxConnections,
  });
  return true;
};

export const deleteWebhook: Method = (context, parameters) =>
  removeWebhook(context, parameters.boolean("drop_pending_updates"));

function removeWebhook(context: MethodContext, dropPending: boolean): true {
  if (dropPending) context.updates.dropPending();
  context.delivery.setTarget(undefined);
  return true;
}

export const getWebhookInfo: Method = ({ updates, delivery }) => {
  const { target, lastError } = delivery;
  return {
    url: target?.url ?? "",
    has_custom_certificate: false,
    pending_update_count: updates.pending.size,
    ...(lastError !== undefined && {
      last_error_date: Math.floor(lastError.at / 1000),
      last_error_message: lastError.message,
    }),
    ...(target !== undefined && { max_connections: target.maxConnections }),
    ...(updates.allowed !== undefined && { allowed_updates: updates.allowed }),
  };
};

/** Returns the updates that a bot without a webhook may take now. `offset` confirms all earlier ones. */
export const getUpdates: Method = ({ updates, delivery }, parameters) => {
  if (delivery.target !== undefined) {
    throw new BotApiError(
      409,
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    );
  }
  const allowed = parameters.json("allowed_updates");
  if (Array.isArray(allowed)) updates.allowed = allowed.map(String);
  const offset = parameters.integer("offset");
  for (const record of updates.pending.values()) if (record.id < offset) updates.settle(record, "delivered");
  const limit = parameters.integer("limit");
  const waiting = [...updates.pending.values()].sort((left, right) => left.id - right.id);
  const from = offset < 0 ? waiting.slice(offset) : waiting;
  return from.slice(0, limit >= 1 && limit <= 100 ? limit : 100).map((record) => record.update);
};
