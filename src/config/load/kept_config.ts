/**
 * The record of the configuration that a storage has beside the state: the document of the last start or reload,
 * without its secrets.
 * @module
 */
import type { Storage } from "../../contracts/storage.ts";
import { referencesIn } from "../schema/references.ts";
import { isPlainObject } from "../schema/tree.ts";
import { configKey } from "./save.ts";

/** Keys whose texts are secrets unless they refer to one; with all that is below them. */
const secretKeys =
  /^(api[_-]?keys?|x-api-key|(.+_)?token|tokens|admin_tokens|(client_|shared_|id_)?secret|secret_access_key|(private|account|storage)_key|password|passphrase|credentials?|authorization|headers)$/i;

/**
 * Writes the record, unless the one that is there says the same: one that `saveConfig` wrote may hold keys, too.
 *
 * @param document As validated, secret references unresolved.
 * @param storage Where.
 * @param redact Replaces known secrets in a text.
 * @throws When the storage does not take it, or what is there cannot be read.
 */
export async function keepConfig(
  document: unknown,
  storage: Pick<Storage, "load" | "save">,
  redact: (text: string) => string,
): Promise<void> {
  const text = JSON.stringify(withoutSecrets(document, redact));
  const bytes = await storage.load(configKey);
  if (bytes !== undefined) {
    const known: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (JSON.stringify(withoutSecrets(known, redact)) === text) return;
  }
  await storage.save(configKey, new TextEncoder().encode(text));
}

/**
 * A copy without secrets that are written out, and without what only a program can give. References to secrets stay.
 *
 * @param document Plain values.
 * @param redact Replaces known secrets in a text.
 */
export function withoutSecrets(document: unknown, redact: (text: string) => string): unknown {
  const textOf = (text: string, isSecret: boolean): string | undefined => {
    if (referencesIn(text).names.length > 0) return text;
    const address = text.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, "$1");
    return isSecret || redact(address) !== address ? undefined : address;
  };
  const copy = (value: unknown, isSecret: boolean): unknown => {
    if (typeof value === "string") return textOf(value, isSecret);
    if (Array.isArray(value)) {
      // an entry of a list, such as a client's, has keys of its own
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
