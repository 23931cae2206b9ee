/**
 * Secrets in a browser, where a user gives a key of their own.
 * @module
 */
import { checkedPrefix, WebArea, type WebStorage } from "../storage/_web_storage.ts";
import type { WritableSecretStore } from "./memory.ts";

const id = "mesh.browser-secrets.v1";

/** Options of {@linkcode browserSecrets}. */
export interface BrowserSecretsOptions {
  /** Keep them in `localStorage`, where they outlive the tab and the browser; in `sessionStorage` unless set. */
  readonly persist?: boolean;
  /** What the items' names begin with: letters, digits, `_` and `-`; `modelmesh` unless given. */
  readonly prefix?: string;
  /** Used in place of the browser's storage. */
  readonly area?: WebStorage;
}

/**
 * A secret store of the page: for keys that its user has typed in, never for keys of yours. They are kept as they are,
 * in `sessionStorage` (until the tab is closed) or, with `persist`, in `localStorage` (until they are deleted). **Any
 * script that runs on the site can read them**, and with `persist` so can the next user of the browser profile; a key
 * that is yours belongs behind a proxy.
 *
 * @param options Where, and under which names.
 * @throws {ConnectorError} When the prefix does not fit; the browser's storage is touched only when a secret is.
 *
 * @example
 * ```ts ignore
 * import { browserSecrets, create, openai } from "@modelmesh/core/browser";
 *
 * const secrets = browserSecrets();
 * await secrets.set("OPENAI_API_KEY", form.key.value); // once; a reload finds it
 * const client = create("chat-completion", {
 *   providers: [openai({ apiKey: () => secrets.get("OPENAI_API_KEY") })],
 * });
 * ```
 */
export function browserSecrets(options: BrowserSecretsOptions = {}): WritableSecretStore {
  const { persist = false, prefix = "modelmesh", area } = options;
  const secrets = new WebArea({
    connector: id,
    name: persist ? "localStorage" : "sessionStorage",
    area,
    instead: "memorySecrets()",
    prefix: `${checkedPrefix(prefix, id)}.secret.`,
  });
  // async: what is thrown at once becomes a rejection
  return {
    // deno-lint-ignore require-await
    get: async (name) => secrets.get(name),
    // deno-lint-ignore require-await
    set: async (name, value) => secrets.set(name, value),
    // deno-lint-ignore require-await
    list: async () => secrets.keys(),
    // deno-lint-ignore require-await
    delete: async (name) => secrets.delete(name),
  };
}
