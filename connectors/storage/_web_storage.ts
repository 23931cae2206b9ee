/**
 * The browser's `localStorage` and `sessionStorage`, which may be missing, forbidden or full.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";

/** What is used of the browser's `Storage`, which not every program's types know. */
export interface WebStorage {
  /** How many items there are. */
  readonly length: number;
  /** The name of one of them. */
  key(place: number): string | null;
  /** An item's text. */
  getItem(name: string): string | null;
  /** Writes an item. */
  setItem(name: string, text: string): void;
  /** Removes an item. */
  removeItem(name: string): void;
}

/** Which of the two, and for whom. */
interface WebAreaParts {
  readonly connector: string;
  /** Which one. */
  readonly name: "localStorage" | "sessionStorage";
  /** Used in its place. */
  readonly area?: WebStorage | undefined;
  /** What else would do, for errors. */
  readonly instead: string;
  /** Begins the names of all its items. */
  readonly prefix: string;
}

/** The items of one connector. The browser's object is touched when an item is, and not before. */
export class WebArea {
  readonly #parts: WebAreaParts;

  /** @param parts Which one, and for whom. */
  constructor(parts: WebAreaParts) {
    this.#parts = parts;
  }

  /** The name the browser knows an item by. */
  nameOf(key: string): string {
    return this.#parts.prefix + key;
  }

  /** An item. */
  get(key: string): string | undefined {
    return this.#use("read", key, (area) => area.getItem(this.nameOf(key))) ?? undefined;
  }

  /** Writes an item; the one before stays where that fails. */
  set(key: string, text: string): void {
    this.#use("save", key, (area) => area.setItem(this.nameOf(key), text));
  }

  delete(key: string): boolean {
    if (this.get(key) === undefined) return false;
    this.#use("delete", key, (area) => area.removeItem(this.nameOf(key)));
    return true;
  }

  /** The keys that begin with `start`, sorted. */
  keys(start = ""): string[] {
    const whole = this.nameOf(start);
    return this.#use("list", start, (area) => {
      const names = Array.from({ length: area.length }, (_, index) => area.key(index) ?? "");
      return names.filter((name) => name.startsWith(whole)).map((name) => name.slice(this.#parts.prefix.length)).sort();
    });
  }

  #use<T>(doing: string, key: string, work: (area: WebStorage) => T): T {
    try {
      return work(this.#area());
    } catch (error) {
      throw this.#errorOf(error, `${doing} "${key}"`);
    }
  }

  #area(): WebStorage {
    const { name, area, instead } = this.#parts;
    const found: WebStorage | null | undefined = area ?? globalThis[name];
    // null in some web views, undefined in workers
    if (found !== null && found !== undefined) return found;
    throw this.#error(`cannot be used: there is no ${name} here. Use ${instead}`, undefined, "forbidden");
  }

  /** The browser's own words may quote what was to be written. */
  #errorOf(error: unknown, doing: string): ConnectorError {
    const { name, instead } = this.#parts;
    if (ConnectorError.isInstance(error)) return error;
    if (isFull(error)) {
      const advice = `Delete what this site no longer needs there, or use ${instead}`;
      return this.#error(`cannot ${doing}: ${name} is full. ${advice}`, error, "full");
    }
    if (Object(error).name !== "SecurityError") {
      return this.#error(`cannot ${doing}: the browser's ${name} failed (see the error's cause)`, error);
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

/**
 * Whether an error of the browser means that there is no room left.
 *
 * @param error What was thrown.
 */
export function isFull(error: unknown): boolean {
  const { name } = Object(error);
  return name === "QuotaExceededError" || name === "NS_ERROR_DOM_QUOTA_REACHED"; // Firefox has a word of its own
}

/**
 * Checks what all names of a connector begin with. A dot ends it in the browser, so that no two of them overlap.
 *
 * @param prefix Letters, digits, `_` and `-`.
 * @param connector The connector's id, for errors.
 * @throws {ConnectorError} When it has something else in it.
 */
export function checkedPrefix(prefix: unknown, connector: string): string {
  if (typeof prefix === "string" && /^[\w-]{1,64}$/.test(prefix)) return prefix;
  throw new ConnectorError(`"${connector}" cannot be made: its prefix must be 1 to 64 letters, digits, "_" or "-"`);
}
