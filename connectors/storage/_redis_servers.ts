/**
 * The servers of one storage: which one has a key, and clients of it.
 * @module
 */
import type { Clock, Runtime } from "../../src/contracts/runtime.ts";
import { afterRunning } from "../../src/util/retry_timer.ts";
import { onceResolved } from "../../src/util/once.ts";
import type { RedisAddress, RedisLogin, RedisNode, RedisTls } from "./_redis_address.ts";
import { toRedisError } from "./_redis_errors.ts";
import { createLocator, type RedisLocator } from "./_redis_locator.ts";
import {
  type ClientModule,
  type ConnectionOptions,
  loadRedisClient,
  readTlsFiles,
  type RedisClient,
  toClientOptions,
} from "./_redis_package.ts";

/** Timeout of a question to a sentinel or a node of a cluster, ms. */
const askTimeoutMs = 1000;

/** Dependencies of {@linkcode RedisServers}. */
interface RedisServersParts {
  readonly clock: Clock;
  /** Selects replicas: returns a number in [0, 1). @default the first one is selected */
  readonly random?: (() => number) | undefined;
  /** Requires the permission to connect to a server. */
  readonly requireConnection?: Runtime["requireConnection"] | undefined;
  /** Reads a file of certificates or keys. */
  readonly readText?: ((path: string) => Promise<string>) | undefined;
  /** Imports a replacement of `@redis/client`. */
  readonly importClient?: (() => Promise<unknown>) | undefined;
}

/** Finds the servers of an address, and creates clients of them. */
export class RedisServers {
  readonly #address: RedisAddress;
  readonly #parts: RedisServersParts;
  readonly #locator: RedisLocator;
  #package: ClientModule | undefined;
  #tls: RedisTls = {};
  /**
   * Loads what clients need: the package, certificates.
   *
   * @throws {ConnectorError} If it is missing.
   */
  readonly prepare: () => Promise<void> = onceResolved(async () => {
    const { importClient, readText } = this.#parts;
    this.#tls = await readTlsFiles(this.#address.tls ?? {}, readText);
    this.#package = await loadRedisClient(importClient);
  });

  constructor(address: RedisAddress, parts: RedisServersParts) {
    this.#address = address;
    this.#parts = parts;
    this.#locator = createLocator(address, (...question) => this.#ask(...question), parts.random ?? (() => 0));
  }

  /** Whether the keys of one call must have the same part in braces. */
  get isCluster(): boolean {
    return this.#address.cluster !== undefined;
  }

  /** Whether records are read from replicas. */
  get readsReplicas(): boolean {
    return this.#address.readsReplicas === true;
  }

  /** Whether the master changes, and if so, whether an existing connection always shows it. */
  get changes(): RedisLocator["changes"] {
    return this.#locator.changes;
  }

  /** Slots of the cluster that no node serves, as far as known. */
  get gaps(): string {
    return this.#locator.gaps ?? "";
  }

  /**
   * Finds the server for a key.
   *
   * @param isReplica Whether it is a replica of the master, if there is one.
   */
  locate(key: string, isReplica: boolean): Promise<RedisNode> {
    return isReplica ? this.#locator.locateReplica(key) : this.#locator.locate(key);
  }

  /** Creates a client for data, which is not connected yet and does not keep the process alive. */
  createClient(node: RedisNode, isReplica: boolean): RedisClient {
    const { db, cluster } = this.#address;
    return this.#createClient(node, { login: this.#address, db, isReadOnly: isReplica && cluster !== undefined });
  }

  #createClient(node: RedisNode, options: Omit<ConnectionOptions, "tls">): RedisClient {
    this.#parts.requireConnection?.(node);
    const client = this.#package!.createClient(toClientOptions(node, { ...options, tls: this.#tls }));
    client.unref();
    return client;
  }

  /** Asks a server once. */
  async #ask(node: RedisNode, login: RedisLogin, words: readonly string[]): Promise<unknown> {
    const client = this.#createClient(node, { login });
    client.on("error", () => {}); // `connect` and `sendCommand` reject
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const expired = () => reject(new Error(`no response within ${askTimeoutMs} ms`));
      cancel = afterRunning(this.#parts.clock, { ms: askTimeoutMs }, expired);
    });
    try {
      return await Promise.race([client.connect().then(() => client.sendCommand(words)), late]);
    } catch (error) {
      throw toRedisError(error, { address: node });
    } finally {
      cancel();
      client.destroy();
    }
  }
}
