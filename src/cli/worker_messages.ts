/**
 * What workers and the process above them send each other.
 * @module
 */
import type { OverviewQuestion, OverviewReport } from "../proxy/overview/shared_overview.ts";
import type { SharedCall, SharedReply } from "../state/replication/shared_sums.ts";

/** What is said once it listens. */
export interface Greeting {
  readonly port: number;
  /** For standard output. */
  readonly out: string;
  /** For standard error. */
  readonly err: string;
}

/** What a worker sends. */
export type FromWorker =
  | { readonly shared: SharedCall }
  | { readonly report: OverviewReport }
  | { readonly question: OverviewQuestion; readonly id: number }
  | { readonly listening: Greeting };

/** What a worker is to do. */
export type Order = "stop" | "reload";

/** What a worker is sent. */
export type ToWorker =
  | { readonly shared: SharedReply }
  | { readonly answer: unknown; readonly id: number }
  | { readonly order: Order };
