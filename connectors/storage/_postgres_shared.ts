/**
 * Shared counters and messages in PostgreSQL. The calls of one turn, and those made while others are under way, are sent
 * together as one statement.
 * @module
 */
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";
import { getOrCreate } from "../../src/util/once.ts";
import type { PostgresConnection, PostgresRuntime } from "./_postgres_client.ts";
import { supersededError } from "./_postgres_errors.ts";
import { PostgresMessages } from "./_postgres_messages.ts";
import { nowMs } from "./_postgres_names.ts";
import { toArrayLiteral, toPostgresText } from "./_postgres_text.ts";

/**
 * Lease duration, ms by PostgreSQL's clock: a process without a call for this long counts as ended, and its leases are
 * released.
 */
const defaultLeaseMs = 15_000;

/** Retention of an ended process's leases, ms: a process that was only suspended regains them. */
const endedMs = 86_400_000;

/** Interval of deleting what has expired, ms. */
const purgeMs = 60_000;

/** Maximum number of counters in one statement. */
const maxSums = 2000;

/** Largest value of a counter; `limit` may be more. */
const most = Number.MAX_SAFE_INTEGER;

/** What happens to one counter. */
interface SumChange {
  readonly sum: SharedSum;
  readonly amount: number;
  readonly limit: number;
  readonly leased: number;
}

/** A call that waits for its batch. */
interface Operation {
  readonly isReservation: boolean;
  readonly changes: readonly SumChange[];
  readonly resolve: (grant: SharedGrant) => void;
  readonly reject: (error: unknown) => void;
}

/** The shared facet of a `PostgresStorage`. */
export class PostgresShared implements Shared {
  readonly leaseMs: number;
  /** Identifies the leases of this process. */
  readonly #id = crypto.randomUUID();
  readonly #connection: PostgresConnection;
  readonly #clock: PostgresRuntime["clock"];
  readonly #messages: PostgresMessages;
  #waiting: Operation[] = [];
  #isSending = false;
  /** Number of the last batch, and of the last one whose reply has arrived. */
  #number = 0;
  #acknowledged = 0;
  #lostLeases = 0;
  #purgedAt: number;

  /** @param leaseMs Lease duration, ms. */
  constructor(connection: PostgresConnection, clock: PostgresRuntime["clock"], leaseMs: number = defaultLeaseMs) {
    this.leaseMs = leaseMs;
    this.#connection = connection;
    this.#clock = clock;
    this.#messages = new PostgresMessages(connection);
    this.#purgedAt = clock.monotonic();
  }

  /** How often other processes have ended the lease of this process, as far as it knows. */
  get lostLeases(): number {
    return this.#lostLeases;
  }

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    const { sums } = await this.#count(false, changes, ({ by, leased = 0 }) => ({ amount: by, limit: most, leased }));
    return sums;
  }

  /** Reserves all amounts if no counter exceeds its limit by that. */
  reserve(reservations: readonly SharedReservation[]): Promise<SharedGrant> {
    return this.#count(true, reservations, ({ amount, limit, isLeased = false }) => ({
      amount,
      limit,
      leased: isLeased ? amount : 0,
    }));
  }

  publish(channel: string, message: string): Promise<void> {
    return this.#messages.publish(channel, message);
  }

  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    return this.#messages.subscribe(channel, receive);
  }

  /** Ends the leases of this process. */
  async end(): Promise<void> {
    if (this.#number === 0) return;
    await this.#connection.query("", `SELECT ${this.#connection.names("end_process")}($1)`, [this.#id]);
  }

  #count<T extends SharedSum>(
    isReservation: boolean,
    sums: readonly T[],
    toChange: (sum: T) => Omit<SumChange, "sum">,
  ): Promise<SharedGrant> {
    if (sums.length === 0) return Promise.resolve({ isGranted: true, sums: [] });
    const changes = sums.map((sum) => ({ sum, ...toChange(sum) }));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ isReservation, changes, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      queueMicrotask(() => void this.#sendAll());
    });
  }

  /** Sends what waits, one batch after the other. Never rejects. */
  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const operations = this.#takeBatch();
      try {
        await this.#send(operations);
      } catch (error) {
        for (const { reject } of operations) reject(error);
      }
    }
    this.#isSending = false;
    await this.#purge().catch(() => {}); // the next one deletes it
  }

  #takeBatch(): Operation[] {
    let count = 0;
    let size = 0;
    while (size < this.#waiting.length && (size === 0 || count < maxSums)) {
      count += this.#waiting[size++]!.changes.length;
    }
    return this.#waiting.splice(0, size);
  }

  async #send(operations: readonly Operation[]): Promise<void> {
    const { keys, writes, numbers } = encodeBatch(operations, this.#clock.now());
    const number = ++this.#number;
    const [row] = await this.#connection.query(
      "",
      `SELECT ${this.#connection.names("count_batch")}($1, $2, $3, $4, $5, $6, $7) AS reply`,
      [this.#id, this.leaseMs, this.#acknowledged, number, writes, toArrayLiteral(keys), `{${numbers.join(",")}}`],
    );
    if (typeof row?.reply !== "string") throw supersededError();
    const [isLost, grants = "", values = ""] = row.reply.split(" ");
    this.#acknowledged = number;
    if (isLost === "1" && number > 1) this.#lostLeases++;
    const granted = grants.split(",");
    const sums = values.split(",").map(Number);
    let at = 0;
    for (const [index, { changes, resolve }] of operations.entries()) {
      resolve({ isGranted: granted[index] === "1", sums: sums.slice(at, at += changes.length) });
    }
  }

  /** Deletes what has expired. Rows that others use are left to the next time. */
  async #purge(): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - this.#purgedAt < purgeMs) return;
    this.#purgedAt = now;
    const { names } = this.#connection;
    const expired = (table: string, condition: string) =>
      `DELETE FROM ${names(table)} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM ${names(table)} WHERE ${condition} LIMIT 10000 FOR UPDATE SKIP LOCKED
      ))`;
    await this.#connection.query("purge", expired("sums", `expires_at <= ${nowMs}`));
    await this.#connection.query("purge", expired("locks", `expires_at <= ${nowMs}`));
    await this.#connection.query("purge", expired("messages", `sent_at <= ${nowMs} - ${purgeMs}`));
    await this.#connection.query("purge", expired("processes", `is_ended AND expires_at <= ${nowMs} - ${endedMs}`));
  }
}

/** The keys of a batch, those that it writes first, and its operations as `count_batch` reads them. */
function encodeBatch(operations: readonly Operation[], now: number): {
  readonly keys: readonly string[];
  readonly writes: number;
  readonly numbers: readonly string[];
} {
  const isWritten = ({ sum: { atLeast }, amount, leased }: SumChange) =>
    amount !== 0 || leased !== 0 || atLeast !== undefined;
  const changes = operations.flatMap(({ changes }) => changes);
  const written = new Set(changes.filter(isWritten).map(({ sum: { key } }) => key));
  const positions = new Map<string, number>();
  for (const key of [...written, ...changes.map(({ sum: { key } }) => key)]) {
    getOrCreate(positions, key, () => positions.size + 1);
  }
  const numbers = operations.flatMap(({ isReservation, changes }) => [
    isReservation ? "1" : "0",
    String(changes.length),
    ...changes.flatMap(({ sum, amount, limit, leased }) => [
      String(positions.get(sum.key)),
      toInteger(amount),
      toInteger(limit),
      sum.atLeast === undefined ? "NULL" : toInteger(sum.atLeast),
      toInteger(Math.max(1, Math.ceil(sum.expiresAt - now))), // relative, since PostgreSQL has its own clock
      toInteger(leased),
    ]),
  ]);
  return { keys: [...positions.keys()].map(toPostgresText), writes: written.size, numbers };
}

function toInteger(value: number): string {
  return String(Math.trunc(Math.min(most, Math.max(-most, value))));
}
