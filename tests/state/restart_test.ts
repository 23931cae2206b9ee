/** A client over the storage of one that is gone, as a page is after a reload: real HTTP, a clock that is not waited for. */
import { assertEquals, assertNotMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  BrowserBaseProvider,
  ConnectorError,
  create,
  createBrowserProviderConfig,
  type MeshClient,
  type MeshEvent,
  prioritySelection,
  stateIn,
} from "../../browser.ts";
import { LocalStorageStorage } from "../../connectors/storage/localstorage.ts";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { type FakeClock, fakeClock, settle } from "../../src/runtime/test.ts";
import { respond, type Script, startUpstream, status, type Upstream } from "../support/upstream.ts";
import { failingWebStorage, FakeWebStorage } from "../support/web_storage.ts";

const start = Date.UTC(2026, 0, 1);
const key = "key-of-this-user-0123456789";
const limited = status(429, { headers: { "retry-after": "90" } });

/** Two providers that outlive every client, and the clients over them. */
class Stage implements AsyncDisposable {
  readonly a: Upstream;
  readonly b: Upstream;

  constructor(a: Upstream, b: Upstream) {
    this.a = a;
    this.b = b;
  }

  /** A client of a new page. */
  open(storage: Storage, clock: FakeClock): Page {
    const provider = (id: string, { url }: Upstream) =>
      new BrowserBaseProvider(
        createBrowserProviderConfig({ id, baseUrl: url, apiKey: key, models: ["m"], maxRetries: 0 }),
      );
    const events: string[] = [];
    const client = create("chat-completion", {
      providers: [provider("a", this.a), provider("b", this.b)],
      strategy: prioritySelection, // back to the first one as soon as it is active
      storage: stateIn(storage),
      clock,
      random: () => 0.5,
      on: (record) => events.push(...reported(record as MeshEvent)),
    });
    return new Page(client, events);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.a.close();
    await this.b.close();
  }
}

function reported({ type, event, model, reason }: MeshEvent): string[] {
  return type === "event" && event !== "rotation" ? [`${event} ${model} ${reason}`] : [];
}

class Page {
  readonly client: MeshClient;
  readonly events: readonly string[];

  constructor(client: MeshClient, events: readonly string[]) {
    this.client = client;
    this.events = events;
  }

  /** The text of a response. */
  async ask(): Promise<string | null | undefined> {
    const answer = await this.client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
    return answer.choices[0]?.message.content;
  }

  /** What `describe()` says of each model. */
  look(): string[] {
    return this.client.describe().pools[0]!.models.map(({ name, status, reason = "" }) =>
      `${name} ${status} ${reason}`
    );
  }
}

async function stage(a: Script): Promise<Stage> {
  return new Stage(await startUpstream(a), await startUpstream(respond({ text: "from b" })));
}

/** The clock of a process that begins so long after the start. */
const later = (ms: number) => fakeClock({ now: start + ms, skipSleeps: true });

const storages: Record<string, () => (clock: FakeClock) => Storage> = {
  "in memory": () => {
    const kept = new MemoryStorage(fakeClock());
    return () => kept;
  },
  "in localStorage": () => {
    const area = new FakeWebStorage();
    return (clock) => new LocalStorageStorage(clock, { area });
  },
};

for (const [where, makePlace] of Object.entries(storages)) {
  describe(`after a restart over a state ${where}`, () => {
    it("a model in standby is left alone until its time, and asked then", async () => {
      await using scene = await stage([limited, respond({ text: "from a" })]);
      const place = makePlace();
      const first = scene.open(place(later(0)), later(0));
      const down = ["deactivation a.m rate_limited", "outage undefined rate_limited"];
      assertEquals([await first.ask(), first.events], ["from b", down]);
      await first.client.close();

      const clock = later(60_000);
      const second = scene.open(place(clock), clock);
      assertEquals([await second.ask(), scene.a.calls], ["from b", 1]);
      assertEquals(second.look(), ["a.m standby rate_limited", "b.m active "]);
      await clock.advance(29_999);
      assertEquals([await second.ask(), second.events], ["from b", []]);
      await clock.advance(1);
      // emitted in time, with no request
      assertEquals(second.events, ["recovery a.m rate_limited", "outage undefined rate_limited"]);
      assertEquals([await second.ask(), scene.a.calls], ["from a", 2]);
      await second.client.close();
    });

    it("one whose page was not closed is left alone, too: a transition is enough", async () => {
      await using scene = await stage([limited, respond({ text: "from a" })]);
      const place = makePlace();
      const first = scene.open(place(later(0)), later(0));
      await first.ask();
      await settle();
      const second = scene.open(place(later(1000)), later(1000));
      assertEquals([await second.ask(), scene.a.calls], ["from b", 1]);
      await Promise.all([first.client.close(), second.client.close()]);
    });

    it("a standby that another page began outlives a page that did not know of it", async () => {
      await using scene = await stage([limited, respond({ text: "from a" })]);
      const place = makePlace();
      const ignorant = scene.open(place(later(0)), later(0));
      await ignorant.client.ready();
      const first = scene.open(place(later(0)), later(0));
      await first.ask();
      await first.client.close();
      await ignorant.client.close();
      const last = scene.open(place(later(1000)), later(1000));
      assertEquals([await last.ask(), scene.a.calls], ["from b", 1]);
      await last.client.close();
    });

    it("one whose time was over meanwhile is half-open, and emitted", async () => {
      await using scene = await stage([limited, respond({ text: "from a" })]);
      const place = makePlace();
      const first = scene.open(place(later(0)), later(0));
      await first.ask();
      await first.client.close();
      const second = scene.open(place(later(100_000)), later(100_000));
      assertEquals([await second.ask(), second.events], ["from a", ["recovery a.m rate_limited"]]);
      await second.client.close();
    });
  });
}

describe("a client with a storage", () => {
  it("that it may not use does not start, and says what to do; its requests say the same", async () => {
    await using scene = await stage(respond({ text: "from a" }));
    const area = failingWebStorage("SecurityError");
    const page = scene.open(new LocalStorageStorage(fakeClock(), { area }), later(0));
    for (const attempt of [() => page.client.ready(), () => page.ask()]) {
      const error = await assertRejects(attempt, ConnectorError, '"mesh.localstorage.v1" cannot be used');
      assertNotMatch(error.message, /key-of/);
    }
    assertEquals(scene.a.calls, 0);
    await page.client.close();
  });

  it("that is full answers all the same, and says at the end that the state is lost", async () => {
    await using scene = await stage([limited, respond({ text: "from a" })]);
    const page = scene.open(new LocalStorageStorage(fakeClock(), { area: new FakeWebStorage(50) }), later(0));
    const traces: string[] = [];
    const trace = ({ severity, message }: { severity: string; message: string }) => {
      if (severity !== "warning") traces.push(`${severity} ${message}`);
    };
    page.client.mesh.addSink({ emit: () => {}, trace, flush: () => Promise.resolve() });
    assertEquals([await page.ask(), await page.ask()], ["from b", "from b"]);
    const error = await assertRejects(
      () => page.client.close(),
      ConnectorError,
      'cannot save "state": localStorage is full',
    );
    assertEquals([error.problem, traces], ["full", [
      `error ${error.message}`,
      'error The provider "a" has no active model left',
    ]]);
  });

  it("keeps no key in it", async () => {
    await using scene = await stage([limited]);
    const area = new FakeWebStorage();
    const page = scene.open(new LocalStorageStorage(fakeClock(), { area }), later(0));
    await page.ask();
    await page.client.close();
    const state = await new LocalStorageStorage(fakeClock(), { area }).load("state");
    assertNotMatch(new TextDecoder().decode(state), /key-of|127\.0\.0\.1/);
    assertEquals([...area.items.keys()], ["modelmesh.data.state"]);
  });

  it("delays no request by it", async () => {
    await using scene = await stage([limited, respond({ text: "from a" })]);
    const storage = new MemoryStorage(fakeClock());
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    const page = scene.open(storage, later(0));
    await page.client.ready(); // a start waits for the first write: a storage that takes none says so
    storage.save = () => held;
    assertEquals([await page.ask(), await page.ask()], ["from b", "from b"]);
    release();
    await page.client.close();
  });
});
