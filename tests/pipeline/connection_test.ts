/** One try of one model: its time limits, its end, its HTTP client. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { NetworkError } from "../../src/errors.ts";
import { Connection } from "../../src/pipeline/connection.ts";
import type { ProviderInstance } from "../../src/registry/registry.ts";
import { createFakeResponse, testRuntime, type TestRuntimeOptions } from "../../src/runtime/test.ts";

const instance = {
  credential: "the-key",
  entry: { id: "acme", timeoutMs: 1000, silenceMs: 100, connectTimeoutMs: 10 },
} as unknown as ProviderInstance;

const request = { method: "POST", url: "https://api.acme.example/v1/chat", headers: {} };

function connect(kind: ConstructorParameters<typeof Connection>[2]["delivery"], options: TestRuntimeOptions = {}) {
  const runtime = testRuntime({ send: () => Promise.resolve(createFakeResponse()), ...options });
  return { runtime, clock: runtime.clock, connection: new Connection(runtime, instance, { delivery: kind }) };
}

describe("The time limit of a connection", () => {
  it("for content is the provider's timeout, without the time in which it is not read", async () => {
    const { clock, connection } = connect("sync");
    connection.passOn();
    await clock.advance(600);
    connection.pause();
    await clock.advance(5_000);
    connection.listen();
    connection.touch(); // data does not prolong it
    await clock.advance(399);
    assertEquals(connection.signal.aborted, false);
    await clock.advance(1);
    assertEquals(connection.signal.reason.message, "The provider did not respond within 1000 ms");
  });

  it("for content that is not read any more is ten minutes", async () => {
    const { clock, connection } = connect("sync");
    connection.passOn();
    connection.pause();
    await clock.advance(599_999);
    assertEquals(connection.signal.aborted, false);
    await clock.advance(1_000);
    assertEquals(connection.signal.reason.name, "AbortError");
  });

  it("for a non-streaming response is the provider's timeout, from first to last", async () => {
    const { clock, connection } = connect("sync");
    await clock.advance(999);
    assertEquals(connection.stop.aborted, false);
    await clock.advance(1);
    assertEquals(`${connection.stop.reason}`, "AttemptTimeout: The provider did not respond within 1000 ms");
  });

  it("for a stream begins anew after the process was stopped, since data may have arrived meanwhile", async () => {
    const { clock, connection } = connect("stream");
    clock.stop(20_000);
    await clock.advance(99);
    assertEquals(connection.stop.aborted, false);
    await clock.advance(1);
    assertEquals(`${connection.stop.reason}`, "AttemptTimeout: The provider was silent for 100 ms");
  });

  it("for a stream is the provider's silence, which each byte breaks", async () => {
    const { clock, connection, runtime } = connect("stream");
    await connection.send(request);
    for (let times = 0; times < 3; times++) {
      await clock.advance(99);
      runtime.requests[0]!.onBytes!();
    }
    assertEquals(connection.stop.aborted, false);
    await clock.advance(100);
    assertEquals(`${connection.stop.reason}`, "AttemptTimeout: The provider was silent for 100 ms");
  });

  it("for a stream does not run while the reader is busy, and begins anew when it reads on", async () => {
    const { clock, connection } = connect("stream");
    connection.pause();
    await clock.advance(1000);
    connection.listen();
    await clock.advance(99);
    assertEquals(connection.stop.aborted, false);
    await clock.advance(1);
    assertEquals(connection.stop.aborted, true);
  });

  it("gives up a stream that is not read for ten minutes, which is not a failure of the provider", async () => {
    const { clock, connection } = connect("stream");
    connection.pause();
    await clock.advance(600_000);
    assertEquals((connection.stop.reason as Error).name, "AbortError");
  });

  for (const delivery of ["sync", "stream"] as const) {
    it(`leaves no timer once it is closed: ${delivery}`, () => {
      const { clock, connection } = connect(delivery);
      connection.close();
      assertEquals([clock.pending, connection.stop.aborted], [0, false]);
    });
  }
});

describe("A connection", () => {
  it("ends the upstream call with itself", async () => {
    const { clock, connection, runtime } = connect("sync");
    await connection.send(request);
    connection.abort("enough");
    assertEquals([runtime.requests[0]!.signal?.reason, clock.pending], ["enough", 0]);
  });

  it("has the provider's key, and its time to connect", async () => {
    const { connection, runtime } = connect("sync");
    await connection.send(request);
    assertEquals([connection.credential, runtime.requests[0]!.connectTimeoutMs], ["the-key", 10]);
  });

  const refused = new NetworkError("The connection was closed before the request", { neverSent: true });
  const broken = new NetworkError("The connection broke", { neverSent: false });
  const cases:
    readonly (readonly [what: string, errors: readonly Error[], sent: number, calls: number, answered: boolean])[] = [
      ["sends a request once", [], 1, 1, true],
      ["sends one that never left once more, which is no further call", [refused], 2, 1, true],
      ["sends it no third time", [refused, refused], 2, 1, false],
      ["does not repeat what may have been read", [broken], 1, 1, false],
    ];
  for (const [what, errors, sent, calls, answered] of cases) {
    it(what, async () => {
      const left = [...errors];
      const send = () => left.length > 0 ? Promise.reject(left.shift()) : Promise.resolve(createFakeResponse());
      const { connection, runtime } = connect("sync", { send });
      if (answered) await connection.send(request);
      else await assertRejects(() => connection.send(request), NetworkError);
      assertEquals([runtime.requests.length, connection.calls, connection.hasResponse], [sent, calls, answered]);
      connection.close();
    });
  }

  it("does not repeat a request whose connection timed out: a silent host costs its limit once", async () => {
    const { connection, runtime, clock } = connect("sync", {
      send: async () => {
        await clock.advance(10);
        throw refused;
      },
    });
    await assertRejects(() => connection.send(request), NetworkError);
    assertEquals(runtime.requests.length, 1);
    connection.close();
  });

  it("that has ended repeats nothing", async () => {
    const { connection, runtime } = connect("sync", {
      send: () => {
        connection.abort("enough");
        return Promise.reject(refused);
      },
    });
    await assertRejects(() => connection.send(request), NetworkError);
    assertEquals(runtime.requests.length, 1);
  });
});

describe("What a connector reports of a call", () => {
  it("arrives, even if it takes the functions out of the options", () => {
    const { connection } = connect("sync");
    const { reportDropped, reportServedBy } = connection;
    reportDropped(["seed"]);
    reportServedBy({ provider: "acme", model: "m" });
    connection.close();
    assertEquals([connection.dropped, connection.servedBy], [["seed"], { provider: "acme", model: "m" }]);
  });
});
