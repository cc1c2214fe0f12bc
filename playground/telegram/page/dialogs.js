import { run } from "./api.js";
import { byId, element } from "./dom.js";

/**
 * Sets up the dialogs that create people, chats and topics.
 *
 * @param {{ users: () => readonly any[], open: (chatId: number, threadId?: number) => void }} page
 */
export function startDialogs(page) {
  const dialog = byId("chat-dialog");
  const kind = byId("chat-kind");
  const showFields = () => {
    const isPrivate = kind.value === "private";
    byId("chat-name-label").textContent = isPrivate ? "Person's name" : "Group name";
    byId("chat-username-label").hidden = !isPrivate;
    byId("chat-members-fieldset").hidden = isPrivate;
  };
  kind.addEventListener("change", showFields);
  byId("new-chat").addEventListener("click", () => {
    byId("chat-form").reset();
    byId("chat-form-error").textContent = "";
    byId("chat-members").replaceChildren(
      ...page
        .users()
        .map((user) =>
          element(
            "label",
            { class: "check" },
            element("input", { type: "checkbox", value: user.id, checked: true }),
            [user.first_name, user.last_name].filter(Boolean).join(" "),
          ),
        ),
    );
    showFields();
    dialog.showModal();
    byId("chat-name").focus();
  });
  byId("chat-cancel").addEventListener("click", () => dialog.close());
  byId("chat-form").addEventListener("submit", (event) => {
    event.preventDefault();
    createChat(kind.value).then(
      (chatId) => {
        dialog.close();
        page.open(chatId);
      },
      (error) => {
        byId("chat-form-error").textContent = error.message;
      },
    );
  });
}

async function createChat(kind) {
  const name = byId("chat-name").value.trim();
  if (kind === "private") {
    const username = byId("chat-username").value.trim();
    const { chat } = await run("addUser", { ...personName(name), ...(username !== "" && { username }) });
    return chat.id;
  }
  const members = [...byId("chat-members").querySelectorAll("input:checked")].map((input) =>
    Number(input.value),
  );
  const newMember = byId("chat-new-member").value.trim();
  if (newMember !== "") members.push((await run("addUser", personName(newMember))).user.id);
  if (members.length === 0) throw new Error("A group needs at least one member.");
  const { chat } = await run("addGroup", {
    title: name,
    type: kind === "group" ? "group" : "supergroup",
    forum: kind === "forum",
    members,
  });
  return chat.id;
}

function personName(name) {
  const [first, ...rest] = name.split(/\s+/);
  return { first_name: first, ...(rest.length > 0 && { last_name: rest.join(" ") }) };
}

/** Asks for a topic's name and opens the new topic. */
export function askForTopic(chatId, onCreated, onError) {
  const dialog = byId("topic-dialog");
  const form = byId("topic-form");
  form.reset();
  const closed = new AbortController();
  dialog.addEventListener("close", () => closed.abort(), { once: true });
  const create = (event) => {
    event.preventDefault();
    void run("addTopic", { chatId, name: byId("topic-name").value.trim() }).then(({ threadId }) => {
      dialog.close();
      onCreated(threadId);
    }, onError);
  };
  form.addEventListener("submit", create, { signal: closed.signal });
  byId("topic-cancel").addEventListener("click", () => dialog.close(), { signal: closed.signal });
  dialog.showModal();
}

/** Shows a short notice at the lower edge. */
export function toast(text, kind = "") {
  const node = element("p", { class: `toast ${kind}` }, text);
  byId("toasts").append(node);
  setTimeout(() => node.remove(), 5000);
}

function moveByArrows(event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const entries = [...event.currentTarget.querySelectorAll("button")];
  const next = (entries.indexOf(document.activeElement) + step + entries.length) % entries.length;
  entries[next]?.focus();
}

/**
 * Opens a small menu beside `anchor`.
 *
 * @param {HTMLElement} anchor
 * @param {readonly { label: string, run: () => void }[]} entries
 */
export function openMenu(anchor, entries, menu = byId("message-menu")) {
  menu.replaceChildren(
    ...entries.map(({ label, run: choose }) =>
      element(
        "button",
        {
          type: "button",
          role: "menuitem",
          onclick: () => {
            menu.hidePopover();
            choose();
          },
        },
        label,
      ),
    ),
  );
  menu.addEventListener("keydown", moveByArrows); // adding the same function again has no effect
  menu.showPopover();
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
  menu.style.top = `${at.bottom + height + 8 < innerHeight ? at.bottom + 4 : Math.max(8, at.top - height - 4)}px`;
  menu.querySelector("button")?.focus();
}
