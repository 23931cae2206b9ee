/**
 * Messages between workers and the supervisor.
 * @module
 */
import type { OverviewQuestion, OverviewReport } from "../proxy/overview/shared_overview.ts";
import type { SharedCall, SharedReply } from "../state/sharing/shared_sums.ts";

/** What is printed once a worker listens. */
export interface Greeting {
  readonly port: number;
  /** Text for standard output. */
  readonly out: string;
  /** Text for standard error. */
  readonly err: string;
}

/** A message of a worker. */
export type FromWorker =
  | { readonly shared: SharedCall }
  | { readonly report: OverviewReport }
  | { readonly question: OverviewQuestion; readonly id: number }
  | { readonly listening: Greeting };

/** An order of the supervisor. */
export type Order = "stop" | "reload";

/** A message of the supervisor. */
export type ToWorker =
  | { readonly shared: SharedReply }
  | { readonly result: unknown; readonly id: number }
  | { readonly order: Order };
