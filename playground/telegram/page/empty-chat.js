import { element } from "./dom.js";

/**
 * Shows what stands in a chat without messages, with sentences to try.
 *
 * @param {HTMLElement} list the pane of messages
 * @param {readonly string[]} sentences
 * @param {(sentence: string) => void} send
 */
export function showEmptyChat(list, sentences, send) {
  const view = element(
    "div",
    { class: "empty" },
    element("p", {}, "No messages here yet. Write the first one."),
    sentences.length === 0
      ? undefined
      : element(
          "div",
          { class: "starters", role: "group", "aria-label": "Sentences to try" },
          ...sentences.map((sentence) =>
            element("button", { type: "button", class: "starter", onclick: () => send(sentence) }, sentence),
          ),
        ),
  );
  list.append(view);
}

/** Removes it. Returns the number of the sentence that has the focus, -1 for none. */
export function hideEmptyChat(list) {
  const view = list.querySelector(".empty");
  const focused = [...(view?.querySelectorAll("button") ?? [])].indexOf(document.activeElement);
  view?.remove();
  return focused;
}

/** Gives the focus back to a sentence. */
export function focusSentence(list, index) {
  list.querySelectorAll(".empty button")[index]?.focus();
}
