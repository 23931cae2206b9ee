/**
 * Browser storages for tests without a browser.
 * @module
 */
import { assertNotMatch, assertRejects } from "@std/assert";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import { IDBFactory } from "npm:fake-indexeddb@6.2.8";
import type { WebStorage } from "../../connectors/storage/localstorage.ts";
import { ConnectorError } from "../../src/errors.ts";

/** The used part of IndexedDB beyond opening it. */
export interface FakeDatabases {
  open(name: string, version: number): unknown;
  deleteDatabase(name: string): { onsuccess: (() => void) | null; onblocked: (() => void) | null };
}

/** Creates an in-memory IndexedDB. */
export function fakeDatabases(): FakeDatabases {
  return new IDBFactory() as FakeDatabases;
}

/** In-memory `localStorage` with a browser's quota: names plus values, in UTF-16 code units. */
export class FakeWebStorage implements WebStorage {
  readonly items: Map<string, string> = new Map();

  /** Quota, UTF-16 code units. */
  readonly quota: number;

  constructor(quota: number = 5 * 1024 * 1024) {
    this.quota = quota;
  }

  get length(): number {
    return this.items.size;
  }

  key(index: number): string | null {
    return [...this.items.keys()][index] ?? null;
  }

  getItem(name: string): string | null {
    return this.items.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    const others = [...this.items].filter(([other]) => other !== name);
    const used = others.reduce((sum, [other, text]) => sum + other.length + text.length, 0);
    if (used + name.length + value.length > this.quota) {
      throw new DOMException(`Setting the value of '${name}' exceeded the quota: ${value}`, "QuotaExceededError");
    }
    this.items.set(name, value);
  }

  removeItem(name: string): void {
    this.items.delete(name);
  }
}

/** A storage that fails on every access, as in a page that may not use it. */
export function failingWebStorage(name: string): WebStorage {
  const fail = (): never => {
    throw new DOMException("The operation is insecure.", name);
  };
  return {
    get length(): number {
      return fail();
    },
    key: fail,
    getItem: fail,
    setItem: fail,
    removeItem: fail,
  };
}

/**
 * Replaces a global of the browser while a test runs.
 *
 * @param name Name of the global.
 */
export async function withGlobal(
  name: string,
  descriptor: PropertyDescriptor,
  run: () => Promise<void>,
): Promise<void> {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { configurable: true, ...descriptor });
  try {
    await run();
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, before);
  }
}

/** Returns the error of a call. Fails when it contains `the-value` or `the-secret`. */
export async function catchStorageError(call: Promise<unknown>): Promise<ConnectorError> {
  const error = await assertRejects(() => call, ConnectorError);
  assertNotMatch(error.message, /the-value|the-secret/);
  return error;
}
