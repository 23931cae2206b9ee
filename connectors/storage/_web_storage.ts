/**
 * Access to the browser's `localStorage` and `sessionStorage`, which may be missing, forbidden or full.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";

/** The used part of the browser's `Storage`, which not every program's types include. */
export interface WebStorage {
  /** Number of items. */
  readonly length: number;
  /** Key of the item at an index. */
  key(index: number): string | null;
  /** Value of an item. */
  getItem(name: string): string | null;
  /** Sets an item. */
  setItem(name: string, text: string): void;
  /** Removes an item. */
  removeItem(name: string): void;
}

/** Options of a storage area. */
interface WebAreaParts {
  readonly connector: string;
  /** Name of the area. */
  readonly name: "localStorage" | "sessionStorage";
  /** Replaces the browser's area. */
  readonly area?: WebStorage | undefined;
  /** Alternatives to recommend in error messages. */
  readonly instead: string;
  /** Prefix of all item keys. */
  readonly prefix: string;
}

/** The items of one connector. The browser's object is accessed only with the first item. */
export class WebArea {
  readonly #parts: WebAreaParts;

  /** @param parts Area, prefix and connector. */
  constructor(parts: WebAreaParts) {
    this.#parts = parts;
  }

  /** The item key in the browser's storage. */
  toItemKey(key: string): string {
    return this.#parts.prefix + key;
  }

  /** Reads an item. */
  get(key: string): string | undefined {
    return this.#use("read", key, (area) => area.getItem(this.toItemKey(key))) ?? undefined;
  }

  /** Sets an item; on failure the previous value stays. */
  set(key: string, text: string): void {
    this.#use("save", key, (area) => area.setItem(this.toItemKey(key), text));
  }

  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    this.#use("delete", key, (area) => area.removeItem(this.toItemKey(key)));
    return true;
  }

  /** The keys that begin with `start`, sorted. */
  keys(start = ""): string[] {
    const saved = this.toItemKey(start);
    return this.#use("list", start, (area) => {
      const names = Array.from({ length: area.length }, (_, index) => area.key(index) ?? "");
      return names.filter((name) => name.startsWith(saved)).map((name) => name.slice(this.#parts.prefix.length)).sort();
    });
  }

  #use<T>(action: string, key: string, work: (area: WebStorage) => T): T {
    try {
      return work(this.#area());
    } catch (error) {
      throw this.#toError(error, `${action} "${key}"`);
    }
  }

  #area(): WebStorage {
    const { name, area, instead } = this.#parts;
    const found: WebStorage | null | undefined = area ?? globalThis[name];
    // null in some web views, undefined in workers
    if (found !== null && found !== undefined) return found;
    throw this.#error(`cannot be used: there is no ${name} here. Use ${instead}`, undefined, "forbidden");
  }

  /** The browser's message is not exposed, since it may quote the value. */
  #toError(error: unknown, action: string): ConnectorError {
    const { name, instead } = this.#parts;
    if (ConnectorError.isInstance(error)) return error;
    if (isFull(error)) {
      const advice = `Delete what this site no longer needs there, or use ${instead}`;
      return this.#error(`cannot ${action}: ${name} is full. ${advice}`, error, "full");
    }
    if (Object(error).name !== "SecurityError") {
      return this.#error(`cannot ${action}: the browser's ${name} failed (see the error's cause)`, error);
    }
    return this.#error(
      `cannot be used: the browser forbids this page its ${name}. Allow the site to store data (cookies count as ` +
        `that), do not run it in a frame with a sandbox, or use ${instead}`,
      error,
      "forbidden",
    );
  }

  #error(what: string, cause?: unknown, problem?: ConnectorError["problem"]): ConnectorError {
    return new ConnectorError(`"${this.#parts.connector}" ${what}`, cause, problem);
  }
}

/** Whether a browser error means that the quota is exceeded. */
export function isFull(error: unknown): boolean {
  const { name } = Object(error);
  return name === "QuotaExceededError" || name === "NS_ERROR_DOM_QUOTA_REACHED"; // Firefox uses its own name
}

/**
 * Validates the key prefix of a connector. A dot follows it in item keys, so that prefixes do not overlap.
 *
 * @param prefix Letters, digits, `_` and `-`.
 * @param connector The connector id, for error messages.
 * @throws {ConnectorError} If it contains other characters.
 */
export function checkedPrefix(prefix: unknown, connector: string): string {
  if (typeof prefix === "string" && /^[\w-]{1,64}$/.test(prefix)) return prefix;
  throw new ConnectorError(`"${connector}" cannot be created: its prefix must be 1 to 64 letters, digits, "_" or "-"`);
}
