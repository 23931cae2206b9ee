/**
 * Where state that outlives a process is stored.
 * @module
 */

/** What is known of a record without reading it. */
export interface StorageStat {
  /** Its size, bytes. */
  readonly size: number;
  /** When it was last saved: wall-clock time, ms since 1970. */
  readonly modifiedAt: number;
}

/** How a lock is asked for. */
export interface LockOptions {
  /**
   * The owner: unique among all processes that share the storage. An owner that has the lock gets it again, renewed.
   */
  readonly owner: string;
  /** Lifetime unless released, ms: then a lock whose owner is gone can be taken. */
  readonly ttlMs: number;
  /** Limit of the wait for another owner's lock, ms. @default {30_000} */
  readonly timeoutMs?: number;
  /** Time between two tries, ms. @default {1000} */
  readonly retryIntervalMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** A lock that was granted. */
export interface Lock {
  /** What it is for. */
  readonly key: string;
  /** Its owner. */
  readonly owner: string;
  /** When it expires: wall-clock time, ms since 1970. */
  readonly expiresAt: number;
}

/**
 * Spec: Storage. Records of bytes by key; any text is a key, and locks have keys of their own. What cannot be done is a
 * `ConnectorError` with advice.
 */
export interface Storage {
  /** A record; undefined when there is none. The bytes are the caller's. */
  load(key: string): Promise<Uint8Array | undefined>;
  /** Writes a record whole, or not at all. */
  save(key: string, data: Uint8Array): Promise<void>;
  /** The keys that begin with `prefix`, sorted; all of them without one. */
  list(prefix?: string): Promise<readonly string[]>;
  /** Whether there was one to delete. */
  delete(key: string): Promise<boolean>;
  /** Size and time; undefined when there is no such record. */
  stat(key: string): Promise<StorageStat | undefined>;
  /** Whether there is a record. */
  exists(key: string): Promise<boolean>;
  /** Takes a lock, and waits while another owner has it. */
  acquire(key: string, options: LockOptions): Promise<Lock>;
  /** Gives a lock back; does nothing when another owner has it by now. */
  release(lock: Lock): Promise<void>;
  /** Whether any owner has the lock. */
  isLocked(key: string): Promise<boolean>;
  /** What several processes agree on at once; only storages with atomic operations have it. */
  readonly shared?: Shared | undefined;
  /** Closes connections; later calls fail. Storages without connections have none. */
  close?(): Promise<void>;
}

/** A sum that several processes change. */
export interface SharedSum {
  /** Its name; any text. */
  readonly key: string;
  /** When it is deleted: wall-clock time, ms since 1970. */
  readonly expiresAt: number;
  /** The value it is known to have reached: a store that has lost data continues from there. */
  readonly atLeast?: number;
}

/** A change of a sum. */
export interface SharedChange extends SharedSum {
  /** A whole number; 0 reads. */
  readonly by: number;
  /**
   * Of `by`, the change of what this process leases: the store subtracts that when the process ends, at once or after
   * some seconds without a call.
   * @default 0
   */
  readonly leased?: number;
}

/** A reservation of a part of a sum. */
export interface SharedReservation extends SharedSum {
  /** A whole number. */
  readonly amount: number;
  /** What the sum may come to. */
  readonly limit: number;
  /** Whether the amount is leased, as in {@linkcode SharedChange}. @default false */
  readonly isLeased?: boolean;
}

/** The result of reservations. */
export interface SharedGrant {
  /** All of them were granted; else none was. */
  readonly isGranted: boolean;
  /** The sums as they are now, in their order. */
  readonly sums: readonly number[];
}

/**
 * Facet of a {@linkcode Storage}: sums and messages that several processes have in common. Every call is one atomic
 * step of the store. Sums are exact up to 2⁵³; they are apart from records and locks. All of it fails at once while the
 * store is unavailable.
 */
export interface Shared {
  /** Changes sums, all at once; a sum that is not there is 0. Resolves to their new values, in order. */
  add(changes: readonly SharedChange[]): Promise<readonly number[]>;
  /** Adds to sums where none of them passes its limit by that, else to none. */
  reserve(claims: readonly SharedReservation[]): Promise<SharedGrant>;
  /** Sends a message to all present subscribers, including its sender. */
  publish(channel: string, message: string): Promise<void>;
  /** Subscribes until the returned function is called, across reconnections; messages sent in between are lost. */
  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>>;
}
