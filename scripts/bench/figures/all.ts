/**
 * All figures of the benchmark.
 * @module
 */
import type { Figure } from "../kit/bench.ts";
import { clients } from "./clients.ts";
import { disconnect } from "./disconnect.ts";
import { latency, tail } from "./latency.ts";
import { library } from "./library.ts";
import { memory } from "./memory.ts";
import { routing } from "./routing.ts";
import { guards } from "./guards.ts";
import { importing, start, stop } from "./start.ts";
import { events, streams } from "./streams.ts";
import { bursts, throughput, tls } from "./throughput.ts";

/** All figures, in the order of the table. */
export const figures: readonly Figure[] = [
  throughput,
  bursts,
  tls,
  latency,
  tail,
  streams,
  events,
  memory,
  disconnect,
  clients,
  guards,
  library,
  routing,
  start,
  stop,
  importing,
];
