/**
 * Types of the browser's IndexedDB, as far as used: not every type checker of this code has them.
 * @module
 */

/** A listener; its event is not used. */
type Listener = ((event: never) => unknown) | null;

/** `IDBRequest`. */
export interface PendingRequest<Result = unknown> {
  /** The result, once successful. */
  readonly result: Result;
  /** The error, once failed. */
  readonly error: Error | null;
  /** Called on success. */
  onsuccess: Listener;
  /** Called on failure. */
  onerror: Listener;
}

/** `IDBOpenDBRequest`. */
export interface OpenRequest extends PendingRequest<Database> {
  /** Called if the database does not exist in this version. */
  onupgradeneeded: Listener;
  /** Called while another page blocks the upgrade. */
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

/** `IDBFactory`; the browser's own is assignable. */
export interface DatabaseFactory {
  /** Opens a database, creating it if needed. */
  open(name: string, version: number): OpenRequest;
}
