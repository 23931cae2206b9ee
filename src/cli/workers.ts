/**
 * `modelmesh proxy --workers`: several processes on one port, and the one above them that keeps them going and owns what
 * they count.
 * @module
 */
import type { Cancel, Runtime } from "../contracts/runtime.ts";
import type { EndSignal, Shell, Supervised, Worker, Workers } from "../contracts/shell.ts";
import {
  LinkedShared,
  type SharedCall,
  SharedOwner,
  type SharedReply,
  SharedSums,
} from "../state/replication/shared_sums.ts";
import { Slots } from "../proxy/slots.ts";
import type { ExitCode } from "./command.ts";

/** A worker that lasted so long ended for a reason of its own, and gets a successor at once, ms. */
const longLifeMs = 1000;

/** Wait for the next worker where one after the other ends, ms: it doubles. */
const [firstWaitMs, maxWaitMs] = [100, 30_000];

/** What it says when it listens. */
export interface Greeting {
  readonly port: number;
  readonly out: string;
  readonly err: string;
}

type FromWorker = { readonly shared: SharedCall } | { readonly listening: Greeting };

/** What a worker is to do. */
export type Order = "stop" | "reload";

type ToWorker = { readonly shared: SharedReply } | { readonly order: Order };

/** A worker's side: what it shares with the others, and what it is asked to do. */
export class SupervisedWorker {
  readonly shared: LinkedShared;
  /** The first one speaks for all. */
  readonly isFirst: boolean;
  /** Requests at once, of all workers. */
  readonly slots: Slots;
  readonly #supervised: Supervised;
  #follow: (order: Order) => void = (order) => this.#early = order;
  /** An order from before it could be followed. */
  #early: Order | undefined;

  constructor(supervised: Supervised) {
    const { link, slot, count } = this.#supervised = supervised;
    this.isFirst = slot === 0;
    this.shared = new LinkedShared((call) => link.send({ shared: call } satisfies FromWorker));
    this.slots = new Slots({ shared: this.shared, processes: count });
    link.onMessage((message) => {
      const said = message as ToWorker;
      if ("shared" in said) this.shared.receive(said.shared);
      else if ("order" in said) this.#follow(said.order);
    });
  }

  /** Says that it listens. */
  greet(greeting: Greeting): void {
    this.#supervised.link.send({ listening: greeting } satisfies FromWorker);
  }

  /** Calls a task for each order. */
  onOrder(follow: (order: Order) => void): void {
    this.#follow = follow;
    if (this.#early !== undefined) follow(this.#early);
  }
}

interface SupervisorParts {
  readonly shell: Shell;
  readonly workers: Workers;
  readonly runtime: Pick<Runtime, "clock">;
  readonly count: number;
}

/** Runs workers until a signal stops them. */
export function supervise(parts: SupervisorParts): Promise<ExitCode> {
  return new Supervisor(parts).run();
}

/** A worker, where it listens, and its number among all that were started. */
interface Running {
  readonly slot: number;
  readonly worker: Worker;
  readonly number: number;
}

class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #sums: SharedSums;
  readonly #owner: SharedOwner;
  #started = 0;
  /** By slot. */
  readonly #workers = new Map<number, Worker>();
  /** Slots whose worker listens. */
  readonly #listening = new Set<number>();
  readonly #restarts = new Map<number, Cancel>();
  readonly #failures = new Map<number, number>();
  #isStopping = false;
  /** Of the first one, which listens before the others start. */
  #greeting: Greeting | undefined;
  #hasGreeted = false;
  #end: (code: ExitCode) => void = () => {};

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#sums = new SharedSums(parts.runtime.clock);
    this.#owner = new SharedOwner(this.#sums, (reply) => this.#tellAll({ shared: reply }));
  }

  async run(): Promise<ExitCode> {
    const over = new Promise<ExitCode>((resolve) => this.#end = resolve);
    const cancels = this.#listen();
    this.#start(0); // the others once this one listens: what stops one from starting stops them all
    const code = await over;
    for (const cancel of cancels) cancel();
    return code;
  }

  #start(slot: number): void {
    const { workers, count, runtime: { clock } } = this.#parts;
    const worker = workers.start({ slot, count, port: this.#greeting?.port });
    const startedAt = clock.monotonic();
    this.#workers.set(slot, worker);
    const number = this.#started++;
    worker.onMessage((message) => {
      if (this.#workers.get(slot) === worker) this.#receive({ slot, worker, number }, message as FromWorker);
    });
    worker.ended.then((code) => {
      this.#sums.end(number);
      this.#ended(slot, code, clock.monotonic() - startedAt);
    });
  }

  #receive({ slot, worker, number }: Running, message: FromWorker): void {
    if ("shared" in message) worker.send({ shared: this.#owner.answer(message.shared, number) } satisfies ToWorker);
    else if ("listening" in message) this.#listens(slot, message.listening);
  }

  #listens(slot: number, greeting: Greeting): void {
    const { shell, count } = this.#parts;
    this.#listening.add(slot);
    if (this.#hasGreeted) shell.stderr.write(`Worker ${slot + 1} listens again\n`);
    if (this.#greeting === undefined) {
      this.#greeting = greeting;
      if (!this.#isStopping) { for (let other = 1; other < count; other++) this.#start(other); }
    }
    if (this.#hasGreeted || this.#listening.size < count) return;
    this.#hasGreeted = true;
    shell.stdout.write(this.#greeting.out);
    shell.stderr.write(`${this.#greeting.err}  workers: ${count}\n`);
  }

  #ended(slot: number, code: number | null, livedMs: number): void {
    this.#workers.delete(slot);
    this.#listening.delete(slot);
    if (this.#greeting === undefined && !this.#isStopping) return this.#end(code === 2 ? 2 : 1); // it has said why
    if (this.#isStopping) return this.#endIfEmpty();
    const { shell, runtime: { clock } } = this.#parts;
    const failures = livedMs >= longLifeMs ? 0 : this.#failures.get(slot) ?? 0;
    this.#failures.set(slot, failures + 1);
    const waitMs = failures === 0 ? 0 : Math.min(maxWaitMs, firstWaitMs * 2 ** failures);
    const how = code === null ? "by a signal" : `with exit code ${code}`;
    shell.stderr.write(`Worker ${slot + 1} has ended ${how}: another one starts in ${waitMs} ms\n`);
    this.#restarts.set(
      slot,
      clock.after(waitMs, () => {
        this.#restarts.delete(slot);
        this.#start(slot);
      }, true),
    );
  }

  #listen(): Cancel[] {
    const { shell } = this.#parts;
    const ending: EndSignal[] = ["SIGINT", "SIGTERM"];
    if (shell.isInteractive) ending.push("SIGHUP");
    const cancels = [shell.onSignal(ending, (signal) => this.#stop(signal))];
    if (!shell.isInteractive) cancels.push(shell.onSignal(["SIGHUP"], () => this.#tellAll({ order: "reload" })));
    return cancels;
  }

  #stop(signal: EndSignal): void {
    const { shell } = this.#parts;
    if (this.#isStopping && signal === "SIGHUP") return; // shell and kernel both send one when a window is closed
    if (this.#isStopping) shell.exit(1);
    this.#isStopping = true;
    shell.stderr.write(`${signal}: finishing open responses, up to 30 s; once more to stop at once\n`);
    for (const cancel of this.#restarts.values()) cancel();
    this.#tellAll({ order: "stop" });
    this.#endIfEmpty();
  }

  #endIfEmpty(): void {
    if (this.#workers.size === 0) this.#end(0);
  }

  #tellAll(message: ToWorker): void {
    for (const worker of this.#workers.values()) worker.send(message);
  }
}
