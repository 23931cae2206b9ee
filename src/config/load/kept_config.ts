/**
 * The configuration record that a storage has next to the state: the document of the last start or reload, without
 * secrets.
 * @module
 */
import type { Storage } from "../../contracts/storage.ts";
import { referencesIn } from "../schema/references.ts";
import { isPlainObject } from "../schema/tree.ts";
import { configKey } from "./save.ts";

/** Keys whose values are secrets unless they are references, including everything below them. */
const secretKeys =
  /^(api[_-]?keys?|x-api-key|(.+_)?token|tokens|admin_tokens|(client_|shared_|id_)?secret|secret_access_key|(private|account|storage)_key|password|passphrase|credentials?|authorization|headers)$/i;

/**
 * Writes the record, unless the existing one is equivalent. A record written by `saveConfig` may contain API keys.
 *
 * @param document The validated document, with unresolved secret references.
 * @param redact Replaces known secrets in a string.
 * @throws If the storage fails, or the existing record cannot be read.
 */
export async function keepConfig(
  document: unknown,
  storage: Pick<Storage, "load" | "save">,
  redact: (text: string) => string,
): Promise<void> {
  const text = JSON.stringify(withoutSecrets(document, redact));
  const bytes = await storage.load(configKey);
  if (bytes !== undefined) {
    const record: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (JSON.stringify(withoutSecrets(record, redact)) === text) return;
  }
  await storage.save(configKey, new TextEncoder().encode(text));
}

/**
 * A copy without literal secrets and without instances. Secret references are kept.
 *
 * @param document Plain values.
 * @param redact Replaces known secrets in a string.
 */
export function withoutSecrets(document: unknown, redact: (text: string) => string): unknown {
  const keepText = (text: string, isSecret: boolean): string | undefined => {
    if (referencesIn(text).names.length > 0) return text;
    const address = text.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, "$1");
    const isWithheld = isSecret || text.includes("PRIVATE KEY-----") || redact(address) !== address;
    return isWithheld ? undefined : address;
  };
  const copy = (value: unknown, isSecret: boolean): unknown => {
    if (typeof value === "string") return keepText(value, isSecret);
    if (Array.isArray(value)) {
      // an item of a list, such as a client, has its own keys
      return value.map((item) => copy(item, isSecret && !isPlainObject(item))).filter((item) => item !== undefined);
    }
    if (!isPlainObject(value)) return typeof value === "object" || typeof value === "function" ? undefined : value;
    const members = Object.entries(value).map(([key, member]) => {
      const name = key.slice(key.lastIndexOf(".") + 1);
      return [key, copy(member, isSecret || secretKeys.test(name))] as const;
    });
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  };
  return copy(document, false);
}
