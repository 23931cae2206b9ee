/**
 * Asks for the proxy's token.
 * @module
 */
import type { Connection } from "./connection.ts";
import { byId } from "./dom.ts";

/**
 * Shows the form until a token is submitted.
 *
 * @param connection Receives the token.
 * @param problem Why the proxy rejected the last token; shown only if there was one.
 */
export async function askForToken(connection: Connection, problem: string): Promise<void> {
  const form = byId<HTMLFormElement>("gate");
  const input = byId<HTMLInputElement>("token");
  byId("gate-error").textContent = connection.hasToken ? problem : "";
  connection.setToken("");
  form.hidden = false;
  input.value = "";
  input.focus();
  await new Promise<void>((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      connection.setToken(input.value.trim());
      form.hidden = true;
      resolve();
    }, { once: true });
  });
}
