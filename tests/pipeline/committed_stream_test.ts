/** A committed stream on its way to the client: what it passes on, and the four ways it ends. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import { NetworkError, StreamInterruptedError } from "../../src/errors.ts";
import { CommittedStream } from "../../src/pipeline/committed_stream.ts";
import { Connection } from "../../src/pipeline/connection.ts";
import { ChunkFilter, type OpenStream } from "../../src/pipeline/open_stream.ts";
import type { Result } from "../../src/pipeline/result.ts";
import { settle, testRuntime } from "../../src/runtime/test.ts";
import { createMember, createModel } from "../support/_members.ts";

const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

function chunk(content: string, more: Partial<ChatCompletionChunk> = {}): CompletionChunk {
  const choices = content === "" ? [] : [{ index: 0, delta: { content }, finish_reason: null }];
  return { value: { id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices, ...more } };
}

/** What a provider sends after the first content: events, then its end, an error, or nothing any more. */
type EventsAfter = readonly (CompletionChunk | Error | "silence")[];

interface OpenOptions {
  readonly wantsUsage?: boolean;
  /** In place of a source of these events. */
  readonly iterator?: AsyncIterator<CompletionChunk>;
}

function open(rest: EventsAfter, { wantsUsage = false, iterator }: OpenOptions = {}) {
  const seen: string[] = [];
  async function* source() {
    try {
      for (const item of rest) {
        if (item === "silence") await new Promise<never>(() => {});
        else if (item instanceof Error) throw item;
        else yield item;
      }
    } finally {
      seen.push("source closed");
    }
  }
  const runtime = testRuntime();
  const provider = { classifyError: () => "network", isRetryable: () => true };
  const entry = { id: "acme", silenceMs: 100, timeoutMs: 1000 };
  const model = createModel("m", {}, { instance: { vendor: "acme", entry, provider } } as never);
  const connection = new Connection(runtime, model.instance, { delivery: "stream" });
  const received: OpenStream = {
    isEmpty: false,
    held: [chunk("one")],
    rest: (iterator ?? source()) as AsyncGenerator<CompletionChunk>,
    complete: false,
    filter: new ChunkFilter({ model: { id: "m" }, body: {} } as never, { runtime }),
  };
  const result = {
    received,
    connection,
    member: createMember(model),
    settle: (outcome: string) => void seen.push(outcome),
  } as unknown as Result<OpenStream>;
  const stream = new CommittedStream({
    result,
    wantsUsage,
    onInterrupt: () => seen.push("reported"),
    keptBytes: 0,
    redact: (text) => text,
  });
  return { stream, connection, clock: runtime.clock, seen };
}

/** The events up to the end, as their text or their tokens. */
async function readAll(stream: CommittedStream): Promise<string[]> {
  const events: string[] = [];
  for (let event = await stream.read(); event !== undefined; event = await stream.read()) {
    const { choices, usage } = event.value;
    events.push(`${choices[0]?.delta.content ?? ""}${usage ? `${usage.total_tokens} tokens` : ""}`);
  }
  return events;
}

describe("A committed stream passes on", () => {
  const cases: readonly (readonly [what: string, rest: EventsAfter, wantsUsage: boolean, events: readonly string[]])[] =
    [
      ["what was held first, then what follows", [chunk("two"), chunk("three")], false, ["one", "two", "three"]],
      ["no usage where the client did not ask for it", [chunk("", { usage })], false, ["one"]],
      ["the usage at the end where it did", [chunk("", { usage })], true, ["one", "3 tokens"]],
      ["usage that came with content in an event of its own", [chunk("two", { usage })], true, [
        "one",
        "two",
        "3 tokens",
      ]],
      [
        "the last of several usages",
        [
          chunk("", { usage: { ...usage, total_tokens: 1 } }),
          chunk("", { usage }),
        ],
        true,
        ["one", "3 tokens"],
      ],
    ];
  for (const [what, rest, wantsUsage, events] of cases) {
    it(what, async () => {
      const { stream, connection } = open(rest, { wantsUsage });
      assertEquals(await readAll(stream), events);
      connection.close();
    });
  }
});

describe("A committed stream ends", () => {
  it("complete: the model's success", async () => {
    const { stream, connection, seen } = open([]);
    await readAll(stream);
    assertEquals([seen, connection.stop.aborted], [["source closed", "success"], false]);
    connection.close();
  });

  it("interrupted by the provider: the model's failure, reported once", async () => {
    const { stream, connection, seen } = open([new NetworkError("It broke", { neverSent: false })]);
    await assertRejects(() => readAll(stream), StreamInterruptedError, "The response was cut short: It broke");
    assertEquals([seen, connection.stop.aborted], [["source closed", "failure", "reported"], true]);
    assertEquals([await stream.read(), stream.isStopped], [undefined, false]);
  });

  it("interrupted by the provider's silence, although its source ignores the end", async () => {
    const { stream, clock, seen } = open(["silence"]);
    await stream.read();
    const late = assertRejects(() => stream.read(), StreamInterruptedError, "silent for 100 ms");
    await clock.advance(100);
    await late;
    assertEquals(seen, ["failure", "reported"]);
  });

  const thrown = () => {
    throw new TypeError("The connector is broken");
  };
  const defects: Readonly<Record<string, () => Promise<IteratorResult<CompletionChunk>>>> = {
    "throws in place of a rejection": thrown,
    "produces no chunk": () => Promise.resolve({ done: false, value: null as never }),
    "produces no result": () => Promise.resolve(undefined as never),
  };
  for (const [defect, next] of Object.entries(defects)) {
    it(`interrupted by a connector whose iterator ${defect}`, async () => {
      const { stream, seen } = open([], { iterator: { next } });
      await stream.read();
      await assertRejects(() => stream.read(), StreamInterruptedError, "The response was cut short");
      assertEquals(seen, ["failure", "reported"]);
    });
  }

  it("cancelled by its reader: no failure", async () => {
    const { stream, connection, seen } = open([chunk("two")]);
    await stream.read();
    stream.cancel();
    await settle();
    assertEquals([seen, connection.stop.aborted], [["none"], true]);
    assertEquals([await stream.read(), stream.isStopped], [undefined, false]);
  });

  for (const when of ["between two reads", "during a read"]) {
    it(`stopped by the client's signal ${when}: no failure, and reads throw the reason`, async () => {
      const { stream, connection, seen } = open(["silence"]);
      stream.onStop = (reason) => seen.push(`stopped: ${reason}`);
      await stream.read();
      const reading = when === "during a read" ? stream.read().catch((error) => error) : undefined;
      connection.abort("gone");
      assertEquals(await (reading ?? stream.read().catch((error) => error)), "gone");
      assertEquals([seen, stream.isStopped], [["none", "stopped: gone"], true]);
    });
  }
});
