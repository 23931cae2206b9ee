/**
 * The connections to PostgreSQL: opened on first use, and replaced automatically.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { onceResolved } from "../../src/util/once.ts";
import { RetryTimer } from "../../src/util/retry_timer.ts";
import { waitWithin } from "../../src/util/within.ts";
import type { PostgresPlan, PostgresTls } from "./_postgres_address.ts";
import {
  closedError,
  findSqlState,
  foreignSchemaError,
  isMissing,
  isOutage,
  newerSchemaError,
  toPostgresError,
  undeliveredError,
} from "./_postgres_errors.ts";
import { loadPostgresClient, PostgresLink, type PostgresLinkParts, type PostgresRow } from "./_postgres_link.ts";
import { createNames, type PostgresNames } from "./_postgres_names.ts";
import { migrationScript, schemaVersion } from "./_postgres_schema.ts";

/** Minimum and maximum backoff between connection attempts, ms: a recovered server is detected within the maximum. */
const firstPauseMs = 50;
const maxPauseMs = 500;

/** Timeout of a message to this process itself, ms. */
const deliveryTimeoutMs = 2000;

/** SQLSTATEs of tables and columns that another program has created. */
const foreignStates: readonly string[] = ["42P07", "42703", "42804", "42723"];

/** How each part of a PEM file begins. */
const pemHead = "-----BEGIN";

/** The parts of the runtime that a connection uses. */
export type PostgresRuntime = Pick<Runtime, "clock" | "openSocket" | "files">;

/** Options of a {@linkcode PostgresConnection}. */
export interface PostgresConnectionOptions {
  readonly plan: PostgresPlan;
  /** Imports a replacement of the package `postgres`. */
  readonly importClient?: (() => Promise<unknown>) | undefined;
}

/**
 * The connections of one storage. Statements of one lane are executed in order. After a connection has broken, all
 * statements fail at once until another one is established.
 */
export class PostgresConnection {
  /** Names of tables and functions. */
  readonly names: PostgresNames;
  readonly #runtime: PostgresRuntime;
  readonly #options: PostgresConnectionOptions;
  readonly #load: () => Promise<Pick<PostgresLinkParts, "client" | "tls">>;
  /** Connections by lane. */
  readonly #links = new Map<number, PostgresLink>();
  #listening: PostgresLink | undefined;
  #hasListened: Promise<void> | undefined;
  #receive: ((payload: string) => void) | undefined;
  /** The first attempt to connect; statements do not wait for later ones. */
  #first: Promise<void> | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #isReady = false;
  #failure: unknown;
  readonly #retries: RetryTimer;
  #isClosed = false;

  /** Does not connect yet. */
  constructor(runtime: PostgresRuntime, options: PostgresConnectionOptions) {
    const { plan: { schema, prefix, tls }, importClient } = options;
    this.names = createNames(schema, prefix);
    this.#runtime = runtime;
    this.#options = options;
    this.#load = onceResolved(async () => ({
      client: await loadPostgresClient(importClient),
      tls: await readTlsFiles(tls, runtime.files),
    }));
    const retry = () => this.#attempt = this.#open();
    this.#retries = new RetryTimer(runtime.clock, { firstMs: firstPauseMs, maxMs: maxPauseMs, retry });
  }

  /**
   * Executes a statement.
   *
   * @param lane Statements with the same text are executed in order.
   * @throws {ConnectorError} If PostgreSQL is unavailable, rejects the statement, or does not respond in time.
   */
  async query(lane: string, text: string, values: readonly unknown[] = []): Promise<readonly PostgresRow[]> {
    await this.#ready();
    try {
      return await (await this.#link(this.#findLane(lane))).query(text, values);
    } catch (error) {
      if (isMissing(error) || isOutage(error)) this.#fail(error); // tables may have been lost, and are created again
      throw this.#toError(error);
    }
  }

  /** Receives the payloads of notifications from now on, across reconnections. */
  async listen(receive: (payload: string) => void): Promise<void> {
    this.#receive = receive;
    await this.#ready();
    try {
      await this.#listen();
    } catch (error) {
      this.#fail(error);
      throw this.#toError(error);
    }
  }

  /** Closes all connections, after pending statements. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retries.reset();
    const listening = this.#listening;
    this.#listening = undefined;
    listening?.destroy(closedError());
    await this.#attempt;
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  async #ready(): Promise<void> {
    if (this.#isClosed) throw closedError();
    if (this.#isReady) return;
    await this.#load(); // without the package, there is nothing to try again
    await (this.#first ??= this.#attempt = this.#open());
    if (!this.#isReady) throw this.#toError(this.#failure);
  }

  /** Makes one attempt to connect; if it fails, further ones follow. Never rejects. */
  async #open(): Promise<void> {
    try {
      await this.#prepare();
      if (this.#receive !== undefined) await this.#listen();
      this.#isReady = !this.#isClosed;
      this.#retries.reset();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Checks the version of the tables, and creates or changes them. */
  async #prepare(): Promise<void> {
    const present = await this.#readVersion();
    if (present === schemaVersion) return;
    await (await this.#link(0)).query(migrationScript(this.names)).catch((error) => {
      throw foreignStates.includes(findSqlState(error) ?? "") ? foreignSchemaError(this.#tables) : error;
    });
  }

  /** The version of the tables; 0 if there are none. */
  async #readVersion(): Promise<number> {
    const text = `SELECT max(version) AS version FROM ${this.names("schema_version")}`;
    const link = await this.#link(0);
    try {
      const [row] = await link.query(text, []);
      const version = row?.version ?? 0;
      if (typeof version !== "number") throw foreignSchemaError(this.#tables);
      if (version > schemaVersion) throw newerSchemaError(version, schemaVersion, this.#tables);
      return version;
    } catch (error) {
      if (isMissing(error)) return 0;
      throw foreignStates.includes(findSqlState(error) ?? "") ? foreignSchemaError(this.#tables) : error;
    }
  }

  get #tables(): string {
    const { schema, prefix } = this.names;
    return `the schema "${schema}"${prefix === "" ? "" : ` with the prefix "${prefix}"`}`;
  }

  #listen(): Promise<void> {
    return this.#hasListened ??= this.#startListening();
  }

  /** Listens, and makes sure that a message arrives: a pooler in transaction mode would swallow them all. */
  async #startListening(): Promise<void> {
    const { plan: { listenAddress } } = this.#options;
    const probe = crypto.randomUUID();
    let arrive = () => {};
    let end: (reason: unknown) => void = () => {};
    const arrived = new Promise<void>((resolve, reject) => [arrive, end] = [resolve, reject]);
    arrived.catch(() => {}); // until it is awaited
    const link: PostgresLink = await this.#createLink({
      address: listenAddress,
      isPrepared: false,
      onNotification: (_, payload) => payload === probe ? arrive() : this.#receive?.(payload),
      onEnd: (reason) => {
        end(reason);
        if (this.#listening === link) this.#fail(reason); // messages are missed, which an outage makes up for
      },
    });
    this.#listening = link;
    await link.query(`LISTEN "${this.names.schema}"`);
    await (await this.#link(0)).query("SELECT pg_notify($1, $2)", [this.names.schema, probe]);
    const expired = () => undeliveredError(listenAddress);
    await waitWithin(() => arrived, { clock: this.#runtime.clock, ms: deliveryTimeoutMs, expired });
  }

  /** Drops all connections, and makes new ones, which lead to the server that has the address by then. */
  #fail(reason: unknown): void {
    this.#failure = reason;
    this.#isReady = false;
    const links = [...this.#links.values(), ...this.#listening === undefined ? [] : [this.#listening]];
    this.#links.clear();
    this.#listening = undefined;
    this.#hasListened = undefined;
    for (const link of links) link.destroy(reason);
    if (!this.#isClosed) this.#retries.schedule();
  }

  async #link(lane: number): Promise<PostgresLink> {
    const existing = this.#links.get(lane);
    if (existing !== undefined) return existing;
    const { plan: { address, isPrepared } } = this.#options;
    const link: PostgresLink = await this.#createLink({
      address,
      isPrepared,
      onEnd: () => {
        if (this.#links.get(lane) === link) this.#links.delete(lane);
      },
    });
    const other = this.#links.get(lane); // of a call that waited for the same package
    if (other !== undefined) return other;
    this.#links.set(lane, link);
    return link;
  }

  async #createLink(parts: Omit<PostgresLinkParts, "runtime" | "client" | "tls">): Promise<PostgresLink> {
    return new PostgresLink({ ...parts, ...await this.#load(), runtime: this.#runtime });
  }

  /** Counters have a connection of their own; each key of a record always has the same. */
  #findLane(lane: string): number {
    const { plan: { poolSize } } = this.#options;
    if (lane === "" || poolSize === 1) return 0;
    let sum = 0;
    for (let index = 0; index < lane.length; index++) sum = (sum * 31 + lane.charCodeAt(index)) >>> 0;
    return 1 + sum % (poolSize - 1);
  }

  #toError(error: unknown) {
    return toPostgresError(error, this.#options.plan.address);
  }
}

/** Reads the files of TLS. */
async function readTlsFiles(tls: PostgresTls, files: PostgresRuntime["files"]): Promise<PostgresTls> {
  const read = async ([name, value]: [string, string]) => {
    if (name === "servername" || value.includes(pemHead)) return [name, value];
    const text = await files?.readText(value).catch(() => undefined);
    if (text?.includes(pemHead)) return [name, text];
    throw new ConfigError([{ path: `storage.tls.${name}`, message: "expected PEM, or the path of a PEM file" }]);
  };
  return Object.fromEntries(await Promise.all(Object.entries(tls).map(read)));
}
