/**
 * The browser's storages, as far as tests without a browser need them.
 * @module
 */
import { assertNotMatch, assertRejects } from "@std/assert";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import { IDBFactory } from "npm:fake-indexeddb@6.2.8";
import type { WebStorage } from "../../connectors/storage/localstorage.ts";
import { ConnectorError } from "../../src/errors.ts";

/** What is used of IndexedDB beyond opening it. */
export interface FakeDatabases {
  open(name: string, version: number): unknown;
  deleteDatabase(name: string): { onsuccess: (() => void) | null; onblocked: (() => void) | null };
}

/** An IndexedDB of its own, in memory. */
export function fakeDatabases(): FakeDatabases {
  return new IDBFactory() as FakeDatabases;
}

/** A `localStorage` in memory, with the quota of a browser: names and values together, in UTF-16 units. */
export class FakeWebStorage implements WebStorage {
  readonly items: Map<string, string> = new Map();

  /** @param quota Its room, characters. */
  constructor(readonly quota: number = 5 * 1024 * 1024) {}

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

/** A storage that fails at every touch, as one of a page that may not use it does. */
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
 * Puts something in place of a global of the browser's while a test runs.
 *
 * @param name The global.
 * @param descriptor What it is meanwhile.
 * @param run The test.
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

/**
 * The error that a call ends with. Fails when it shows `the-value` or `the-secret`.
 *
 * @param call Under way.
 */
export async function refusalOf(call: Promise<unknown>): Promise<ConnectorError> {
  const error = await assertRejects(() => call, ConnectorError);
  assertNotMatch(error.message, /the-value|the-secret/);
  return error;
}
