/**
 * Slots of a Redis Cluster: which one has a key, and which nodes have it.
 * @module
 */
import type { RedisNode } from "./_redis_address.ts";

/** Number of slots. */
const slotCount = 16_384;

/** Consecutive slots and their nodes. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: RedisNode;
  readonly replicas: readonly RedisNode[];
}

/** Returns the slot of a key: that of its first part in braces, if it has one. */
export function findSlot(key: string): number {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
  return checksum(new TextEncoder().encode(tag)) % slotCount;
}

/** CRC-16 (XMODEM). */
function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000 ? ((sum << 1) ^ 0x1021) & 0xffff : sum << 1;
  }
  return sum;
}

/**
 * Reads the response to `CLUSTER SLOTS`. Invalid entries are skipped.
 *
 * @param source The node that has responded. A node without a name of its own has that address.
 */
export function toSlotRanges(response: unknown, source: RedisNode): readonly SlotRange[] {
  if (!Array.isArray(response)) return [];
  return response.flatMap((entry): readonly SlotRange[] => {
    if (!Array.isArray(entry)) return [];
    const [first, last, ...nodes] = entry;
    const [master, ...replicas] = nodes.map((node) => toClusterNode(node, source));
    if (!Number.isInteger(first) || !Number.isInteger(last) || master === undefined) return [];
    return [{ first, last, master, replicas: replicas.filter((replica) => replica !== undefined) }];
  });
}

/** Returns the slots that no node serves, such as `0-99, 16383`; empty if there are none. */
export function listGaps(ranges: readonly SlotRange[]): string {
  const gaps: string[] = [];
  let next = 0;
  const skipTo = (slot: number) => {
    if (next < slot) gaps.push(next === slot - 1 ? `${next}` : `${next}-${slot - 1}`);
  };
  for (const { first, last } of [...ranges].sort((before, after) => before.first - after.first)) {
    skipTo(first);
    next = Math.max(next, last + 1);
  }
  skipTo(slotCount);
  return gaps.join(", ");
}

function toClusterNode(node: unknown, source: RedisNode): RedisNode | undefined {
  const [host, port] = Array.isArray(node) ? node : [];
  return toNode(typeof host === "string" && host !== "" && host !== "?" ? host : source.host, port);
}

/** Reads host and port; undefined if they are none. */
export function toNode(host: unknown, port: unknown): RedisNode | undefined {
  const number = Number(port);
  const isValid = typeof host === "string" && host !== "" && Number.isInteger(number) && number > 0 && number <= 65_535;
  return isValid ? { host, port: number } : undefined;
}

/** Whether two addresses are the same. */
export function isSameNode(before: RedisNode, after: RedisNode): boolean {
  return before.host === after.host && before.port === after.port;
}
