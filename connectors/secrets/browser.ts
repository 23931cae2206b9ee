/**
 * Secrets in a browser, for API keys that a user enters.
 * @module
 */
import { checkedPrefix, WebArea, type WebStorage } from "../storage/_web_storage.ts";
import type { WritableSecretStore } from "./memory.ts";

const id = "mesh.browser-secrets.v1";

/** Options of {@linkcode browserSecrets}. */
export interface BrowserSecretsOptions {
  /**
   * Stores them in `localStorage`, so that they persist when the tab or browser is closed. @default {false}, which uses
   * `sessionStorage`
   */
  readonly persist?: boolean;
  /** Prefix of the item keys: letters, digits, `_` and `-`. @default {"modelmesh"} */
  readonly prefix?: string;
  /** Replaces the browser's storage. */
  readonly area?: WebStorage;
}

/**
 * Creates a secret store for API keys that the user of the page enters; never use it for your own keys. Secrets are
 * stored unencrypted, in `sessionStorage` (until the tab is closed) or, with `persist`, in `localStorage` (until they
 * are deleted). **Any script that runs on the site can read them**; with `persist`, so can the next user of the browser
 * profile. Keep your own keys behind a proxy.
 *
 * @param options Storage area and key prefix.
 * @throws {ConnectorError} If the prefix is invalid. The browser's storage is accessed only with the first secret.
 *
 * @example
 * ```ts
 * import { browserSecrets, create, openai } from "@modelmesh/core/browser";
 *
 * const secrets = browserSecrets();
 * await secrets.set("OPENAI_API_KEY", prompt("Your API key of OpenAI") ?? ""); // once; available after a reload
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
  // async: exceptions become rejections
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
