/**
 * The supervisor of `modelmesh proxy --workers`: restarts workers, and owns their shared counters.
 * @module
 */
import type { Cancel, Runtime } from "../contracts/runtime.ts";
import type { EndSignal, Shell, Worker, Workers } from "../contracts/shell.ts";
import { OverviewOwner } from "../proxy/overview/shared_overview.ts";
import { SharedOwner, SharedSums } from "../state/sharing/shared_sums.ts";
import { toFailureFacts } from "../util/failure.ts";
import type { ExitCode } from "./command.ts";
import { asText, type ProcessFormat, type ProcessMessage, stopMessage } from "./console_connector.ts";
import type { FromWorker, Greeting, ToWorker } from "./worker_messages.ts";

/** Minimum lifetime of a worker that is restarted immediately, ms. */
const longLifeMs = 1000;

/** Initial and maximum delay of a restart, ms. The delay doubles with each early exit (exponential backoff). */
const [firstWaitMs, maxWaitMs] = [100, 30_000];

interface SupervisorParts {
  readonly shell: Shell;
  readonly workers: Workers;
  readonly runtime: Pick<Runtime, "clock">;
  readonly count: number;
  /**
   * Formats messages.
   * @default text
   */
  readonly format?: ProcessFormat;
}

/** Runs workers until a signal stops them. */
export function supervise(parts: SupervisorParts): Promise<ExitCode> {
  return new Supervisor(parts).run();
}

class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #sums: SharedSums;
  readonly #owner: SharedOwner;
  readonly #overview: OverviewOwner;
  #started = 0;
  /** Workers by slot. */
  readonly #workers = new Map<number, Worker>();
  /** Slots whose worker listens. */
  readonly #listening = new Set<number>();
  readonly #restarts = new Map<number, Cancel>();
  readonly #failures = new Map<number, number>();
  #isStopping = false;
  /** Greeting of the first worker, which listens before the others start. */
  #greeting: Greeting | undefined;
  #hasGreeted = false;
  #end: (code: ExitCode) => void = () => {};

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    const { clock } = parts.runtime;
    this.#sums = new SharedSums(clock);
    this.#overview = new OverviewOwner(clock);
    this.#owner = new SharedOwner(this.#sums, (reply) => this.#sendAll({ shared: reply }));
  }

  async run(): Promise<ExitCode> {
    const over = new Promise<ExitCode>((resolve) => this.#end = resolve);
    const cancels = this.#listen();
    this.#start(0); // the others start once it listens: a startup failure affects all
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
      this.#overview.end(number);
      this.#ended(slot, code, clock.monotonic() - startedAt);
    }).catch(this.#report);
  }

  #receive(
    { slot, worker, number }: { readonly slot: number; readonly worker: Worker; readonly number: number },
    message: FromWorker,
  ): void {
    const respond = (reply: ToWorker) => worker.send(reply);
    if ("shared" in message) return respond({ shared: this.#owner.respond(message.shared, number) });
    if ("report" in message) return this.#overview.receive(number, message.report);
    if ("listening" in message) return this.#listens(slot, message.listening);
    if (!("question" in message)) return; // a message of the runtime itself
    this.#overview.respond(message.question).then((found) => respond({ result: found, id: message.id })).catch(
      this.#report,
    );
  }

  #listens(slot: number, greeting: Greeting): void {
    const { shell, count } = this.#parts;
    this.#listening.add(slot);
    if (this.#hasGreeted) {
      this.#print({ severity: "info", message: `Worker ${slot + 1} is listening again`, worker: slot + 1 });
    }
    if (this.#greeting === undefined) {
      this.#greeting = greeting;
      if (!this.#isStopping) { for (let other = 1; other < count; other++) this.#start(other); }
    }
    if (this.#hasGreeted || this.#listening.size < count) return;
    this.#hasGreeted = true;
    shell.stdout.write(this.#greeting.out);
    shell.stderr.write(this.#greeting.err);
    this.#print({
      severity: "info",
      message: `All processes listen, workers: ${count}`,
      text: `  workers: ${count}\n`,
      workers: count,
    });
  }

  #ended(slot: number, code: number | null, livedMs: number): void {
    this.#workers.delete(slot);
    this.#listening.delete(slot);
    if (this.#greeting === undefined && !this.#isStopping) return this.#end(code === 2 ? 2 : 1); // it has printed the reason
    if (this.#isStopping) return this.#endIfEmpty();
    const { runtime: { clock } } = this.#parts;
    const failures = livedMs >= longLifeMs ? 0 : this.#failures.get(slot) ?? 0;
    this.#failures.set(slot, failures + 1);
    const waitMs = failures === 0 ? 0 : Math.min(maxWaitMs, firstWaitMs * 2 ** failures);
    const how = code === null ? "by a signal" : `with exit code ${code}`;
    const message = `Worker ${slot + 1} exited ${how}: restarting in ${waitMs} ms`;
    this.#print({ severity: "error", message, worker: slot + 1, exit_code: code, wait_ms: waitMs });
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
    const cancels = [
      shell.onSignal(ending, (signal) => this.#stop(signal)),
      shell.onUnhandledRejection((reason) => this.#report(reason)),
    ];
    if (!shell.isInteractive) cancels.push(shell.onSignal(["SIGHUP"], () => this.#sendAll({ order: "reload" })));
    return cancels;
  }

  #stop(signal: EndSignal): void {
    const { shell } = this.#parts;
    if (this.#isStopping && signal === "SIGHUP") return; // both shell and kernel send it when a window is closed
    if (this.#isStopping) shell.exit(1);
    this.#isStopping = true;
    this.#print(stopMessage(signal));
    for (const cancel of this.#restarts.values()) cancel();
    this.#sendAll({ order: "stop" });
    this.#endIfEmpty();
  }

  #print(message: ProcessMessage): void {
    const { shell, format = asText } = this.#parts;
    shell.stderr.write(format(message));
  }

  #endIfEmpty(): void {
    if (this.#workers.size === 0) this.#end(0);
  }

  /** Prints an error of our own with its stack. The workers go on serving. */
  readonly #report = (reason: unknown): void => {
    const { message, stack = "" } = toFailureFacts("Unhandled rejection", reason);
    this.#print({ severity: "error", message, stack, text: `${message}\n${stack}\n` });
  };

  #sendAll(message: ToWorker): void {
    for (const worker of this.#workers.values()) worker.send(message);
  }
}
