/**
 * Dialogs: the confirmation of what is final, and the token that is shown once.
 * @module
 */
import { byId, el, setText } from "./dom.ts";

/** A question. */
interface Question {
  readonly title: string;
  readonly text: string;
  /** The label of the button that goes on. */
  readonly verb: string;
  /** A choice to be made with it: labels by value, the first of which is selected. */
  readonly choice?: { readonly label: string; readonly options: Readonly<Record<string, string>> };
}

/** Asks; resolves with the value that was chosen, with an empty one without a choice, or undefined if it is declined. */
export function ask({ title, text, verb, choice }: Question): Promise<string | undefined> {
  const dialog = byId<HTMLDialogElement>("confirm");
  setText(byId("confirm-title"), title);
  setText(byId("confirm-text"), text);
  setText(byId("confirm-go"), verb);
  const select = byId<HTMLSelectElement>("confirm-choice");
  byId("confirm-field").hidden = choice === undefined;
  setText(byId("confirm-label"), choice?.label ?? "");
  const options = Object.entries(choice?.options ?? { "": "" });
  select.replaceChildren(...options.map(([value, label]) => el("option", { value }, label)));
  return new Promise((resolve) => {
    const answer = (value: string | undefined) => {
      resolve(value);
      dialog.close();
    };
    byId("confirm-go").onclick = () => answer(select.value);
    byId("confirm-cancel").onclick = () => answer(undefined);
    dialog.onclose = () => dialog.open || resolve(undefined); // it may be that of the question before
    dialog.showModal();
    byId("confirm-cancel").focus();
  });
}

/** Shows a token until the dialog is closed. It is kept nowhere. */
export function showToken(name: string, token: string): void {
  const dialog = byId<HTMLDialogElement>("token-once");
  const input = byId<HTMLInputElement>("new-token");
  const clear = () => void (input.value = "");
  setText(byId("token-title"), `The token of ${name}`);
  setText(byId("token-state"), "");
  input.value = token;
  byId("token-copy").onclick = () => {
    copy(input).then((isCopied) =>
      setText(byId("token-state"), isCopied ? "Copied" : "Selected: copy it with Ctrl + C")
    ).catch(reportError);
  };
  byId("token-done").onclick = () => dialog.close();
  dialog.onclose = () => dialog.open || clear();
  addEventListener("pagehide", clear, { once: true }); // browsers keep pages that were left
  dialog.showModal();
  input.select();
}

/** Copies; false if the browser does not allow it, as without TLS. */
async function copy(input: HTMLInputElement): Promise<boolean> {
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    return false; // what is selected can still be copied by hand
  }
}
