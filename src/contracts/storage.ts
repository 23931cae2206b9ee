/**
 * Where what shall outlive a process is kept.
 * @module
 */

/** What is known of a record without reading it. */
export interface StorageStat {
  /** Its size, bytes. */
  readonly size: number;
  /** When it was saved last: wall clock, ms since 1970. */
  readonly modifiedAt: number;
}

/** How a lock is asked for. */
export interface LockOptions {
  /** Who asks: unique among all who share the storage. Whoever has a lock gets it again, which renews it. */
  readonly owner: string;
  /** How long it holds unless released, ms: one whose owner is gone can be taken then. */
  readonly ttlMs: number;
  /** Longest wait for another owner's lock, ms; 30 000 unless given. */
  readonly timeoutMs?: number;
  /** Time between two tries, ms; 1000 unless given. */
  readonly retryIntervalMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** A lock that was granted. */
export interface Lock {
  /** What it is for. */
  readonly key: string;
  /** Who has it. */
  readonly owner: string;
  /** When it ends by itself: wall clock, ms since 1970. */
  readonly expiresAt: number;
}

/**
 * Spec: Storage. Records of bytes by key; any text is a key, and locks have keys of their own. What cannot be done is a
 * `ConnectorError` that says what to do about it.
 */
export interface Storage {
  /** A record; undefined when there is none. What it gives is the caller's. */
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
  /** Takes a lock, waiting for whoever has it. */
  acquire(key: string, options: LockOptions): Promise<Lock>;
  /** Gives a lock back; does nothing when another owner has it by now. */
  release(lock: Lock): Promise<void>;
  /** Whether anybody has the lock. */
  isLocked(key: string): Promise<boolean>;
  /** What several processes agree on at once; only storages with atomic operations have it. */
  readonly shared?: Shared;
  /** Gives connections back; what is called after it fails. Storages without connections have none. */
  close?(): Promise<void>;
}

/** A sum that several processes change. */
export interface SharedSum {
  /** Its name; any text. */
  readonly key: string;
  /** When it is forgotten: wall clock, ms since 1970. */
  readonly expiresAt: number;
  /** What it is known to have reached: a store that has lost data takes it for that much. */
  readonly atLeast?: number;
}

/** A change of a sum. */
export interface SharedChange extends SharedSum {
  /** A whole number; 0 reads. */
  readonly by: number;
}

/** A part of a sum that is asked for. */
export interface SharedReservation extends SharedSum {
  /** A whole number. */
  readonly amount: number;
  /** What the sum may come to. */
  readonly limit: number;
}

/** What became of claims. */
export interface SharedGrant {
  /** All of them were granted; else none was. */
  readonly isGranted: boolean;
  /** The sums as they are now, in the order of the claims. */
  readonly sums: readonly number[];
}

/**
 * Facet of a {@linkcode Storage}: sums and messages that several processes have in common. Every call is one atomic step
 * of the store. Sums are exact up to 2⁵³; they are apart from records and locks. All of it fails at once while the store
 * is away.
 */
export interface Shared {
  /** Changes sums, all at once; a sum that is not there is 0. Gives what they are now, in order. */
  add(changes: readonly SharedChange[]): Promise<readonly number[]>;
  /** Adds to sums where none of them passes its limit by that, else to none. */
  reserve(claims: readonly SharedReservation[]): Promise<SharedGrant>;
  /** Tells everybody who listens now, oneself included. */
  publish(channel: string, message: string): Promise<void>;
  /** Listens until the returned function is called, across breaks of the connection; what is told in a break is lost. */
  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>>;
}
