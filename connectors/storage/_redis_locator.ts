/**
 * Finds the server that a connection leads to: the configured one, the master that sentinels name, or the node of a
 * cluster that has the keys.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";
import type { RedisAddress, RedisLogin, RedisNode, RedisSentinels } from "./_redis_address.ts";
import { redisId, unreachable } from "./_redis_errors.ts";
import { findSlot, listGaps, type SlotRange, toNode, toSlotRanges } from "./_redis_slots.ts";

/** Sends one command to a server, over a connection of its own. */
type Ask = (node: RedisNode, login: RedisLogin, words: readonly string[]) => Promise<unknown>;

/** Finds servers. */
export interface RedisLocator {
  /** Whether the server changes, and if so, whether an existing connection always shows it. */
  readonly changes: "never" | "visibly" | "silently";
  /**
   * Finds the current master for a key.
   *
   * @throws {ConnectorError} If it cannot be found.
   */
  locate(key: string): Promise<RedisNode>;
  /** Finds a replica of the master for a key; the master if it has none. */
  locateReplica(key: string): Promise<RedisNode>;
  /** Slots of the cluster that no node serves, as far as known. */
  readonly gaps?: string;
}

/**
 * Creates the locator of an address.
 *
 * @param ask Asks sentinels and nodes of the cluster.
 * @param random Selects replicas.
 */
export function createLocator(address: RedisAddress, ask: Ask, random: () => number): RedisLocator {
  const { cluster, sentinel } = address;
  if (cluster !== undefined) return new ClusterLocator({ ...address, cluster }, ask, random);
  if (sentinel !== undefined) return new SentinelLocator(sentinel, ask, random);
  const locate = () => Promise.resolve(address);
  return { changes: "never", locate, locateReplica: locate };
}

/** Asks servers one after the other, the last one that has responded first. */
class Informants {
  #nodes: readonly RedisNode[];
  readonly #title: string;

  constructor(nodes: readonly RedisNode[], title: string) {
    this.#nodes = nodes;
    this.#title = title;
  }

  /** Adds servers that are asked after the known ones. */
  learn(nodes: readonly RedisNode[]): void {
    const addresses = new Set(this.#nodes.map(toAddressText));
    const added = nodes.filter((node) => !addresses.has(toAddressText(node)));
    this.#nodes = [...this.#nodes, ...added].slice(0, maxInformants);
  }

  /**
   * Returns the first response.
   *
   * @param ask Asks one of them; undefined if it does not know.
   * @param whatIsUnknown What none of them knows.
   * @throws {ConnectorError} If none of them responds.
   */
  async askFirst<T>(ask: (node: RedisNode) => Promise<T | undefined>, whatIsUnknown: string): Promise<T> {
    let failure: unknown;
    for (const node of this.#nodes) {
      try {
        const response = await ask(node);
        failure = response === undefined ? unavailable(`cannot be located: ${whatIsUnknown}`) : undefined;
        if (response === undefined) continue;
        this.#nodes = [node, ...this.#nodes.filter((other) => other !== node)];
        return response;
      } catch (error) {
        failure ??= error;
      }
    }
    if (ConnectorError.isInstance(failure) && !isUnreachable(failure)) throw failure;
    const where = this.#nodes.map(toAddressText).join(", ");
    throw unavailable(`cannot reach ${this.#title} at ${where}: check that one of them runs`, failure);
  }
}

/** Maximum number of servers that are asked. */
const maxInformants = 32;

/** Sentinels. The first response is used, although another one may be newer: a demoted master refuses to write. */
class SentinelLocator implements RedisLocator {
  readonly changes = "silently";
  readonly #sentinels: RedisSentinels;
  readonly #informants: Informants;
  readonly #ask: Ask;
  readonly #random: () => number;

  constructor(sentinels: RedisSentinels, ask: Ask, random: () => number) {
    this.#sentinels = sentinels;
    this.#ask = ask;
    this.#random = random;
    this.#informants = new Informants(sentinels.nodes, "the sentinels");
  }

  async locate(): Promise<RedisNode> {
    const { master } = this.#sentinels;
    return await this.#informants.askFirst(async (sentinel) => {
      const words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", master];
      const response = await this.#ask(sentinel, this.#sentinels, words);
      return Array.isArray(response) ? toNode(response[0], response[1]) : undefined;
    }, `the sentinels know no master "${master}"`);
  }

  async locateReplica(): Promise<RedisNode> {
    const words = ["SENTINEL", "REPLICAS", this.#sentinels.master];
    const ask = async (node: RedisNode) => {
      const response = await this.#ask(node, this.#sentinels, words);
      return Array.isArray(response) ? response : undefined;
    };
    const response = await this.#informants.askFirst(ask, "the sentinels know no replicas");
    const replicas = response.map(toFacts).flatMap((facts) => {
      const node = toNode(facts.get("ip"), facts.get("port"));
      const isUp = facts.get("flags") === "slave" && facts.get("master-link-status") === "ok";
      return node !== undefined && isUp ? [node] : [];
    });
    return selectOne(replicas, this.#random) ?? await this.locate();
  }
}

/** Nodes of a cluster, each of which knows the nodes that have a slot. */
class ClusterLocator implements RedisLocator {
  readonly changes = "visibly";
  readonly #login: RedisLogin;
  readonly #informants: Informants;
  readonly #ask: Ask;
  readonly #random: () => number;
  gaps = "";
  /** The question that is being asked. */
  #asking: Promise<readonly SlotRange[]> | undefined;

  constructor(
    { cluster, ...login }: RedisLogin & { readonly cluster: readonly RedisNode[] },
    ask: Ask,
    random: () => number,
  ) {
    this.#login = login;
    this.#ask = ask;
    this.#random = random;
    this.#informants = new Informants(cluster, "the nodes of the cluster");
  }

  async locate(key: string): Promise<RedisNode> {
    return (await this.#find(key)).master;
  }

  async locateReplica(key: string): Promise<RedisNode> {
    const { master, replicas } = await this.#find(key);
    return selectOne(replicas, this.#random) ?? master;
  }

  async #find(key: string): Promise<SlotRange> {
    this.#asking ??= this.#readSlots().finally(() => this.#asking = undefined);
    const ranges = await this.#asking;
    const slot = findSlot(key);
    const found = ranges.find(({ first, last }) => first <= slot && slot <= last);
    if (found !== undefined) return found;
    throw unavailable(`cannot use the cluster: no node serves slot ${slot}, which has the keys ${key}`);
  }

  async #readSlots(): Promise<readonly SlotRange[]> {
    const ranges = await this.#informants.askFirst(async (node) => {
      const found = toSlotRanges(await this.#ask(node, this.#login, ["CLUSTER", "SLOTS"]), node);
      return found.length === 0 ? undefined : found;
    }, "the nodes of the cluster know no slots");
    this.gaps = listGaps(ranges);
    this.#informants.learn(ranges.flatMap(({ master, replicas }) => [master, ...replicas]));
    return ranges;
  }
}

/** Writes an address as `host:port`. */
function toAddressText({ host, port }: RedisNode): string {
  return `${host}:${port}`;
}

/** Whether the cause is that the server did not respond, and nothing more specific. */
function isUnreachable({ problem, message }: ConnectorError): boolean {
  return problem === "unavailable" && message.endsWith(unreachable);
}

/** Reads names and values, which older protocols write as a list. */
function toFacts(response: unknown): ReadonlyMap<unknown, unknown> {
  if (response instanceof Map) return response;
  if (!Array.isArray(response)) return new Map(Object.entries(Object(response)));
  return new Map(response.flatMap((name, index) => index % 2 === 0 ? [[name, response[index + 1]]] : []));
}

function selectOne<T>(list: readonly T[], random: () => number): T | undefined {
  return list[Math.floor(random() * list.length)];
}

function unavailable(message: string, cause?: unknown): ConnectorError {
  return new ConnectorError(`The storage "${redisId}" ${message}`, cause, "unavailable");
}
