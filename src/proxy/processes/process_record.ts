/**
 * The record of a process for the others on its storage. It contains no names of machines.
 * @module
 */
import { isObject } from "../../util/is_object.ts";

/** The state of a process, with sums of its requests since its start. Times are ISO 8601. */
export interface ProcessRecord {
  readonly requests: number;
  /** Requests with a status of 400 or higher, except those whose client left (499). */
  readonly failed: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number;
  /** Random. */
  readonly id: string;
  /** `proxy.address`. */
  readonly address?: string;
  readonly version: string;
  readonly started_at: string;
  /** When this was written. */
  readonly seen_at: string;
  readonly in_flight: number;
  /** Requests that ended in the last minute, or since a later start, per minute. */
  readonly requests_per_minute: number;
}

/** Maximum size of a record, bytes. */
export const maxRecordBytes = 4096;

const texts = ["id", "version", "started_at", "seen_at"] as const;
const numbers = [
  "in_flight",
  "requests_per_minute",
  "requests",
  "failed",
  "tokens_in",
  "tokens_out",
  "cost_usd",
] as const;

/** Reads a record; undefined if it is none, such as one of a later version. Its other members are left out. */
export function readProcessRecord(bytes: Uint8Array): ProcessRecord | undefined {
  if (bytes.length > maxRecordBytes) return undefined;
  const value = parseJson(new TextDecoder().decode(bytes));
  if (!isObject(value)) return undefined;
  const isComplete = texts.every((name) => typeof value[name] === "string") &&
    numbers.every((name) => Number.isFinite(value[name])) && !Number.isNaN(Date.parse(String(value.seen_at)));
  if (!isComplete) return undefined;
  const { address } = value;
  const members = [...texts, ...numbers].map((name) => [name, value[name]]);
  return { ...(typeof address === "string" && { address }), ...Object.fromEntries(members) } as ProcessRecord;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // another program's record
  }
}
