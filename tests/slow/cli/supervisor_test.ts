import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { supervise } from "../../../src/cli/supervisor.ts";
import type { Workers } from "../../../src/contracts/shell.ts";
import { fakeClock } from "../../../src/runtime/test.ts";
import { fakeShell } from "../../support/_cli.ts";

/** A worker as the supervisor sees it. */
class FakeWorker {
  readonly sent: unknown[] = [];
  readonly slot: number;
  readonly port: number | undefined;
  end: (code: number | null) => void = () => {};
  readonly ended: Promise<number | null>;
  #say: (message: unknown) => void = () => {};

  constructor({ slot, port }: { slot: number; port?: number | undefined }) {
    this.slot = slot;
    this.port = port;
    this.ended = new Promise((resolve) => this.end = resolve);
  }

  send(message: unknown): void {
    this.sent.push(message);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#say = listener;
  }

  listens(): void {
    this.#say({ listening: { port: 8080, out: "", err: "ModelMesh listens\n" } });
  }

  get orders(): unknown[] {
    return this.sent.flatMap((message) => (message as { order?: string }).order ?? []);
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

function start(count: number) {
  const clock = fakeClock();
  const shell = fakeShell();
  const all: FakeWorker[] = [];
  const workers: Workers = {
    cores: count,
    start(place) {
      const worker = new FakeWorker(place);
      all.push(worker);
      return worker;
    },
  };
  const code = supervise({ shell, workers, runtime: { clock }, count });
  return { clock, shell, all, code };
}

/** Two workers that listen. */
function startTwo() {
  const started = start(2);
  started.all[0]!.listens();
  started.all[1]!.listens();
  return started;
}

describe("The process above workers", () => {
  it("starts the others on the port of the first one, and says so once all listen", () => {
    const { all, shell } = start(3);
    assertEquals(all.length, 1);
    all[0]!.listens();
    assertEquals(all.map(({ slot, port }) => [slot, port]), [[0, undefined], [1, 8080], [2, 8080]]);
    all[1]!.listens();
    assertEquals(shell.err, "");
    all[2]!.listens();
    assertEquals(shell.err, "ModelMesh listens\n  workers: 3\n");
  });

  it("replaces one that dies at once, and waits longer for each one that dies within a second after it", async () => {
    const { all, clock, shell } = startTwo();
    const waits: number[] = [];
    await clock.advance(5_000);
    for (let deaths = 0; deaths < 12; deaths++) {
      const count = all.length;
      all.at(-1)!.end(null);
      await turn();
      let waitMs = 0;
      while (all.length === count) {
        await clock.advance(1);
        waitMs++;
      }
      waits.push(waitMs);
    }
    // what is due at once is called when the clock goes on
    assertEquals(waits.map((ms) => ms <= 1 ? 0 : ms), [
      0,
      200,
      400,
      800,
      1600,
      3200,
      6400,
      12800,
      25600,
      30000,
      30000,
      30000,
    ]);
    await clock.advance(1_000);
    all.at(-1)!.end(1);
    await turn();
    await clock.advance(1);
    assertMatch(shell.err, /Worker 2 exited with exit code 1: restarting in 0 ms\n$/);
    assertEquals(all.length, 15);
  });

  it("ends with 1 when the first one cannot start, and with 2 for a usage error", async () => {
    for (const [given, expected] of [[1, 1], [2, 2], [null, 1]] as const) {
      const { all, code } = start(2);
      all[0]!.end(given);
      assertEquals(await code, expected);
      assertEquals(all.length, 1);
    }
  });

  it("passes SIGHUP and SIGTERM on, starts none after that, and ends with the last one", async () => {
    const { all, shell, code, clock } = startTwo();
    shell.signal("SIGHUP");
    all[1]!.end(null); // is to be replaced, and is not any more
    shell.signal("SIGTERM");
    await turn();
    await clock.advance(60_000);
    assertEquals(all.map(({ orders }) => orders), [["reload", "stop"], ["reload", "stop"]]);
    all[0]!.end(0);
    assertEquals([await code, shell.running, clock.pending], [0, 0, 0]);
  });

  it("prints a rejection that no code handles, with its stack, and goes on until it ends", async () => {
    const { all, shell, code } = startTwo();
    shell.reject(new Error("forgotten"));
    assertMatch(shell.err, /^Unhandled rejection: Error: forgotten\n(?:.*\n)*\s+at /m);
    shell.signal("SIGTERM");
    for (const worker of all) worker.end(0);
    assertEquals(await code, 0);
    shell.reject(new Error("later"));
    assertEquals(shell.err.includes("later"), false);
  });

  it("ends at once with a second signal", () => {
    const { shell } = startTwo();
    shell.signal("SIGTERM");
    shell.signal("SIGINT");
    assertEquals(shell.exits, [1]);
  });
});
