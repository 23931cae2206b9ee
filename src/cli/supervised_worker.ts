/**
 * A worker process of `modelmesh proxy --workers`: its link to the supervisor.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Supervised } from "../contracts/shell.ts";
import { type OverviewQuestion, SharedOverview } from "../proxy/overview/shared_overview.ts";
import { Slots } from "../proxy/slots.ts";
import { LinkedShared } from "../state/sharing/shared_sums.ts";
import type { FromWorker, Greeting, Order, ToWorker } from "./worker_messages.ts";

/** The worker's side of the link to the supervisor. */
export class SupervisedWorker {
  readonly shared: LinkedShared;
  /** Whether this is the first worker, which prints for all. */
  readonly isFirst: boolean;
  /** Slots for concurrent requests, shared by all workers. */
  readonly slots: Slots;
  /** The combined status of all workers. */
  readonly overview: SharedOverview;
  readonly #send: (message: FromWorker) => void;
  /** Questions without a response yet. */
  readonly #pending = new Map<number, (reply: unknown) => void>();
  #questions = 0;
  #follow: (order: Order) => void = (order) => this.#early = order;
  /** An order received before a handler was registered. */
  #early: Order | undefined;

  constructor({ link, slot, count }: Supervised, clock: Clock) {
    this.#send = (message) => link.send(message);
    this.isFirst = slot === 0;
    this.shared = new LinkedShared((call) => this.#send({ shared: call }), this.isFirst);
    this.slots = new Slots({ shared: this.shared, processes: count });
    this.overview = new SharedOverview({
      clock,
      report: (report) => this.#send({ report }),
      ask: (question) => this.#query(question),
    });
    link.onMessage((message) => this.#receive(message as ToWorker));
  }

  /** Reports that this worker listens. */
  greet(greeting: Greeting): void {
    this.#send({ listening: greeting });
  }

  /** Registers the handler of orders. */
  onOrder(follow: (order: Order) => void): void {
    this.#follow = follow;
    if (this.#early !== undefined) follow(this.#early);
  }

  #receive(message: ToWorker): void {
    if ("shared" in message) return this.shared.receive(message.shared);
    if ("order" in message) return this.#follow(message.order);
    if (!("result" in message)) return; // a message of the runtime itself
    this.#pending.get(message.id)?.(message.result);
    this.#pending.delete(message.id);
  }

  #query(question: OverviewQuestion): Promise<unknown> {
    const id = ++this.#questions;
    this.#send({ question, id });
    return new Promise((resolve) => this.#pending.set(id, resolve));
  }
}
