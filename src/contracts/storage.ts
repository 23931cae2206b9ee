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
}
