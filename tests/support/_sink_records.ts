/**
 * Records for the tests of sinks.
 * @module
 */
import type { Observability } from "../../mod.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type {
  MeshEvent,
  RequestLogRecord,
  RoutingRecord,
  StatsRecord,
  TraceEntry,
} from "../../src/contracts/events.ts";

const timestamp = "2026-09-01T12:00:00.000Z";

/** An event. */
export function eventRecord(id: string): MeshEvent {
  return { type: "event", event: "rotation", id, timestamp, provider: "p", reason: "r", metadata: { text: "ü" } };
}

/** One record of each type. */
export const oneOfEach: {
  readonly event: MeshEvent;
  readonly routing: RoutingRecord;
  readonly log: RequestLogRecord;
  readonly trace: TraceEntry;
  readonly stats: StatsRecord;
} = {
  event: eventRecord("e1"),
  routing: {
    type: "routing",
    timestamp,
    request_id: "r1",
    capability: null,
    pool: "chat",
    model: "a",
    provider: "p",
    delivery: "sync",
    fallback_chain: [{ model: "a", provider: "p", outcome: "ok", ms: 4 }],
    routing_latency_ms: 0.5,
    attempts: 1,
    status: 200,
    duration_ms: 5,
    tokens_in: 7,
    cost_usd: 0.25,
  },
  log: {
    type: "log",
    timestamp,
    level: "full",
    request_id: "r1",
    pool: "chat",
    model: "a",
    provider: "p",
    status: 200,
    latency_ms: 5,
    tokens_in: 7,
    tokens_out: null,
    cost: 0.25,
    request: '{"messages":[]}',
  },
  trace: {
    type: "trace",
    timestamp,
    severity: "error",
    component: "mesh",
    message: "m",
    status: "not a number",
  },
  stats: { type: "stats", timestamp, scope: "pool", id: "chat", requests_total: 1 } as unknown as StatsRecord,
};

/** Gives a sink one record of each type; the statistics as their interval does. */
export async function emitEach(sink: Observability): Promise<void> {
  sink.emit(oneOfEach.event);
  sink.emit(oneOfEach.routing, []);
  sink.log?.(oneOfEach.log);
  sink.trace(oneOfEach.trace);
  await sink.flush({ records: [oneOfEach.stats], families: () => [] });
}

/** A clock that lists the durations of all timers that were set, ms. */
export function timedClock(now: number): FakeClock & { readonly timers: readonly number[] } {
  const clock = fakeClock({ now });
  const after = clock.after.bind(clock);
  const timers: number[] = [];
  return Object.assign(clock, {
    timers,
    after(ms: number, task: () => void) {
      timers.push(ms);
      return after(ms, task);
    },
  });
}
