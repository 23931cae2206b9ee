/**
 * What is used of the browser's IndexedDB, as types: not every runtime that checks this code knows them.
 * @module
 */

/** A listener; its event is not used. */
type Listener = ((event: never) => unknown) | null;

/** `IDBRequest`. */
export interface PendingRequest<Result = unknown> {
  /** What came of it. */
  readonly result: Result;
  /** Why nothing did. */
  readonly error: Error | null;
  /** Called when it is done. */
  onsuccess: Listener;
  /** Called when it failed. */
  onerror: Listener;
}

/** `IDBOpenDBRequest`. */
export interface OpenRequest extends PendingRequest<Database> {
  /** Called when there is no database of that name and version yet. */
  onupgradeneeded: Listener;
  /** Called when another page is in the way. */
  onblocked: Listener;
}

/** `IDBObjectStore`. */
export interface ObjectStore {
  get(key: string[]): PendingRequest;
  getKey(key: string[]): PendingRequest;
  getAllKeys(): PendingRequest;
  put(value: unknown, key: string[]): PendingRequest;
  delete(key: string[]): PendingRequest;
}

/** `IDBTransaction`. */
export interface Transaction {
  readonly error: Error | null;
  oncomplete: Listener;
  onabort: Listener;
  objectStore(name: string): ObjectStore;
}

/** `IDBDatabase`. */
export interface Database {
  readonly objectStoreNames: { contains(name: string): boolean };
  onversionchange: Listener;
  onclose: Listener;
  createObjectStore(name: string): unknown;
  transaction(store: string, mode: "readonly" | "readwrite"): Transaction;
  close(): void;
}

/** `IDBFactory`; the browser's own is one as it stands. */
export interface DatabaseFactory {
  /** Opens a database, or makes one. */
  open(name: string, version: number): OpenRequest;
}
