/**
 * Writes the request log to the storage of a mesh.
 * @module
 */
import type { Connector, MeshParts } from "../../src/contracts/connector.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Clock, Runtime } from "../../src/contracts/runtime.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { dayMs } from "../../src/util/windows.ts";
import { storageDeclaration } from "./declarations.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { Pause } from "./_pause.ts";

const capacity = 10_000;
const batch = 1_000;

/** Interval between writes, ms; each write replaces a complete record. */
const intervalMs = 5_000;

/** Attempts per write, and the backoff between them, ms. */
const maxTries = 3;
const retryMs = 1_000;

/** One lock for all days, since storages may keep a trace of every lock key. */
const lockKey = "logs";

/** Lock options for appending lines to a record. */
const locking = { ttlMs: 10_000, timeoutMs: 5_000, retryIntervalMs: 100 };

/** A redacted log record. */
type StoredLine = Parameters<NonNullable<Observability["log"]>>[0];

/** Appends lines to the record of their day; its declaration documents the attributes. */
export const storageObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createStorageSink },
  storageDeclaration,
);

function createStorageSink(
  settings: Readonly<Record<string, unknown>>,
  { clock }: Runtime,
  mesh?: MeshParts,
): Observability {
  if (mesh === undefined) {
    const message = `"${storageDeclaration.id}" requires the storage of a mesh`;
    throw new ConfigError([{ path: "observability.logging.connector", message }]);
  }
  const { attributes } = storageDeclaration;
  const { max_size = attributes.max_size.default, retention = attributes.retention.default } = settings;
  const records = new DayRecords(mesh, { clock, maxBytes: max_size as number, retentionMs: retention as number });
  const pause = new Pause(clock);
  let flushes = 0;
  const queue = new DeliveryQueue<StoredLine>({
    capacity,
    batch,
    pause: async () => {
      if (flushes === 0) await pause.wait(intervalMs);
    },
    deliver: (lines) => withRetries(() => records.append(lines), clock),
  });
  return {
    usesStorage: true,
    get lost() {
      return queue.lost;
    },
    emit: () => {},
    log: (line) => queue.add(line),
    trace: () => {},
    async flush() {
      flushes++;
      pause.end();
      try {
        await queue.idle();
      } finally {
        flushes--;
      }
    },
  };
}

async function withRetries(append: () => Promise<void>, clock: Clock): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await append();
    } catch (error) {
      if (tries === maxTries) throw error;
      await new Promise<void>((resolve) => void clock.after(retryMs, resolve)); // does not keep the process alive
    }
  }
}

interface DayRecordsOptions {
  readonly clock: Clock;
  /** Maximum size of a record; beyond it, another record follows. */
  readonly maxBytes: number;
  readonly retentionMs: number;
}

/** The records `logs/<day>`, `logs/<day>-2` and so on, each a list of lines. Several processes may append to them. */
class DayRecords {
  readonly #mesh: MeshParts;
  readonly #options: DayRecordsOptions;
  readonly #owner = crypto.randomUUID();
  /** Day and number of the last written record, and day of the last cleanup. */
  #day = "";
  #number = 1;
  #cleanedOn = "";

  constructor(mesh: MeshParts, options: DayRecordsOptions) {
    this.#mesh = mesh;
    this.#options = options;
  }

  /** @throws {ConnectorError} If the storage rejects the lines. */
  async append(lines: readonly StoredLine[]): Promise<void> {
    const storage = this.#mesh.storage();
    if (storage === undefined) throw new ConnectorError("The storage of the mesh is not open");
    const day = lines[0]!.timestamp.slice(0, 10); // lines of the first seconds after midnight may join the previous day
    const lock = await storage.acquire(lockKey, { owner: this.#owner, ...locking });
    try {
      if (day !== this.#day) await this.#enter(day, storage);
      await this.#add(lines, storage);
    } finally {
      await storage.release(lock).catch(() => {}); // the lock expires by itself
    }
    if (this.#cleanedOn === day) return;
    this.#cleanedOn = day;
    await this.#removeOld(storage).catch(() => {}); // retried the next day
  }

  async #enter(day: string, storage: Storage): Promise<void> {
    const numbers = (await storage.list(`logs/${day}`)).map((key) => Number(/-(\d+)$/.exec(key.slice(15))?.[1] ?? 1));
    this.#day = day;
    this.#number = Math.max(1, ...numbers);
  }

  async #add(lines: readonly StoredLine[], storage: Storage): Promise<void> {
    for (;; this.#number++) {
      const key = `logs/${this.#day}${this.#number === 1 ? "" : `-${this.#number}`}`;
      const loaded = await loadLines(key, storage);
      if (loaded === undefined) continue; // not a list of lines: left unchanged
      if (loaded.length > this.#options.maxBytes) continue;
      const text = new TextDecoder().decode(loaded).trim();
      const added = JSON.stringify(lines).slice(1);
      const list = text === "[]" ? `[${added}` : `${text.slice(0, -1)},${added}`;
      return await storage.save(key, new TextEncoder().encode(list));
    }
  }

  async #removeOld(storage: Storage): Promise<void> {
    const { clock, retentionMs } = this.#options;
    for (const key of await storage.list("logs/")) {
      const day = Date.parse(key.slice(5, 15));
      if (day + dayMs < clock.now() - retentionMs) await storage.delete(key);
    }
  }
}

/** A JSON list, empty if the record does not exist; undefined if it is not a list. */
async function loadLines(key: string, storage: Storage): Promise<Uint8Array | undefined> {
  try {
    const bytes = await storage.load(key);
    if (bytes === undefined) return new TextEncoder().encode("[]");
    return bytes[0] === 0x5b ? bytes : undefined;
  } catch (error) {
    if (ConnectorError.isInstance(error) && error.problem === "unreadable") return undefined;
    throw error;
  }
}
