/**
 * One of the processes of `modelmesh proxy --workers`: what it shares with the others, and what it is asked to do.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Supervised } from "../contracts/shell.ts";
import { type OverviewQuestion, SharedOverview } from "../proxy/overview/shared_overview.ts";
import { Slots } from "../proxy/slots.ts";
import { LinkedShared } from "../state/replication/shared_sums.ts";
import type { FromWorker, Greeting, Order, ToWorker } from "./worker_messages.ts";

/** A worker's side of the line to the process above it. */
export class SupervisedWorker {
  readonly shared: LinkedShared;
  /** The first one speaks for all. */
  readonly isFirst: boolean;
  /** Requests at once, of all workers. */
  readonly slots: Slots;
  /** What all workers show. */
  readonly overview: SharedOverview;
  readonly #send: (message: FromWorker) => void;
  /** Questions that are not answered yet. */
  readonly #asked = new Map<number, (answer: unknown) => void>();
  #questions = 0;
  #follow: (order: Order) => void = (order) => this.#early = order;
  /** An order from before it could be followed. */
  #early: Order | undefined;

  constructor({ link, slot, count }: Supervised, clock: Clock) {
    this.#send = (message) => link.send(message);
    this.isFirst = slot === 0;
    this.shared = new LinkedShared((call) => this.#send({ shared: call }), this.isFirst);
    this.slots = new Slots({ shared: this.shared, processes: count });
    this.overview = new SharedOverview({
      clock,
      report: (report) => this.#send({ report }),
      ask: (question) => this.#ask(question),
    });
    link.onMessage((message) => this.#receive(message as ToWorker));
  }

  /** Says that it listens. */
  greet(greeting: Greeting): void {
    this.#send({ listening: greeting });
  }

  /** Calls a task for each order. */
  onOrder(follow: (order: Order) => void): void {
    this.#follow = follow;
    if (this.#early !== undefined) follow(this.#early);
  }

  #receive(message: ToWorker): void {
    if ("shared" in message) return this.shared.receive(message.shared);
    if ("order" in message) return this.#follow(message.order);
    if (!("answer" in message)) return; // one of the runtime's own
    this.#asked.get(message.id)?.(message.answer);
    this.#asked.delete(message.id);
  }

  #ask(question: OverviewQuestion): Promise<unknown> {
    const id = ++this.#questions;
    this.#send({ question, id });
    return new Promise((resolve) => this.#asked.set(id, resolve));
  }
}
