/** The section `storage`: what outlives a process, where, and what is said when it cannot. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdir, readFile, writeFile } from "node:fs/promises";
import {
  ConfigError,
  ConnectorError,
  create,
  memoryStorage,
  type MeshEvent,
  ModelMesh,
  openStorage,
  type RoutingRecord,
  stateIn,
  type Storage,
} from "../../../mod.ts";
import { type FakeClock, fakeClock, getText, makeFolder, messages, runProgram } from "../../support/_library.ts";
import { happens, until } from "../../support/patience.ts";
import { testConfig } from "../../support/proxy.ts";
import { ok, startUpstream, status, type Upstream } from "../../support/upstream.ts";

const key = "c3RvcmFnZS1rZXktb2YtdGhpcy10ZXN0LTEyMzQ1Ng==";
const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };
const limited = status(429, { headers: { "retry-after": "90" } });

interface Stage {
  readonly a: Upstream;
  readonly b: Upstream;
  readonly folder: string;
  readonly path: string;
  /** A process of its own, as far as its memory goes. */
  open(
    storage: Record<string, unknown> | undefined,
    options?: { clock?: FakeClock; env?: Record<string, string> },
  ): Process;
}

interface Process {
  ask(): Promise<string>;
  status(model?: string): string;
  /** Whether anybody would be asked. */
  isOpen(): Promise<boolean>;
  close(): Promise<void>;
  readonly records: readonly (MeshEvent | RoutingRecord)[];
  ready(): Promise<void>;
}

/** Two models at a dollar a request, ten dollars a day in all; files in a folder that goes with the test. */
async function onStage(play: (stage: Stage) => Promise<void>, scriptOfA = ok({ text: "from a" })): Promise<void> {
  await using folder = await makeFolder();
  const [a, b] = [await startUpstream(scriptOfA), await startUpstream(ok({ text: "from b" }))];
  const path = `${folder.path}/kept/state.json`;
  const open: Stage["open"] = (storage, { clock = fakeClock({ skipSleeps: true }), env = {} } = {}) => {
    const plain = testConfig({ upstreams: { a: a.url, b: b.url } }) as Record<
      "models",
      Record<string, { provider: string }>
    >;
    const models = Object.fromEntries(Object.entries(plain.models).map(([name, one]) => [name, { ...one, ...dollar }]));
    const config = { ...plain, models, budget: { daily_limit: 10 }, storage };
    const records: (MeshEvent | RoutingRecord)[] = [];
    const client = create({ config, clock, env, random: () => 0.5, on: (record) => void records.push(record) });
    return {
      records,
      ask: async () => {
        try {
          return String(getText(await client.chat.completions.create({ messages })));
        } catch (error) {
          return String(Object(error).code);
        }
      },
      status: (model = "a") => {
        const { models } = client.mesh.poolStatus().chat!;
        const { status, reason = "" } = models.find(({ name }) => name === model)!;
        return `${status} ${reason}`.trim();
      },
      isOpen: async () => (await client.explain({ messages })).order.length > 0,
      close: () => client.close(),
      ready: () => client.ready(),
    };
  };
  try {
    await play({ a, b, folder: folder.path, path, open });
  } finally {
    await a.close();
    await b.close();
  }
}

/** Lets time pass beside real files until a promise is settled. */
async function passing<Result>(clock: FakeClock, result: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = result.finally(() => isOver = true);
  await until(async () => {
    if (!isOver) await clock.advance(100);
    return isOver;
  });
  return await over;
}

describe("a process with a storage section", () => {
  it("goes on where the last one was: standbys, and what is spent", () =>
    onStage(async ({ path, open }) => {
      const first = open({ path });
      for (let count = 0; count < 6; count++) assertEquals(await first.ask(), "from b");
      assertEquals(first.status(), "standby rate_limited");
      await first.close();
      const second = open({ path });
      await second.ready();
      assertEquals(second.status(), "standby rate_limited");
      for (let count = 0; count < 4; count++) assertEquals(await second.ask(), "from b");
      assertEquals(await second.ask(), "no_active_model"); // one is in standby, the other one has no money
      assertEquals(second.status("b"), "standby budget_limit");
      await second.close();
    }, limited));

  it("that is killed has saved its reservations; with the policy immediate also what it spent", () =>
    onStage(async ({ path, open }) => {
      const killed = open({ path, sync_policy: "immediate" });
      for (let count = 0; count < 9; count++) await killed.ask();
      await until(async () => (await readFile(path, "utf8")).includes('"spent":9000000000,"reserved":0'));
      const next = open({ path, sync_policy: "immediate" });
      assertEquals([await next.ask(), await next.ask()], ["from b", "no_active_model"]);
      await next.close();
      await killed.close();
    }, limited));

  it("begins while the lock of its file is another one's", () =>
    onStage(async ({ path, open }) => {
      const clock = fakeClock();
      const storage = await openStorage({ path }, { clock });
      const lock = await storage.acquire("state", { owner: "another", ttlMs: 1e12 });
      const process = open({ path, sync_policy: "immediate", locking: { timeout: "300d" } }, { clock });
      await happens("it is ready", process.ready());
      assertEquals(await storage.isLocked("state"), true);
      assertEquals(await process.ask(), "from a");
      await storage.release(lock);
      await passing(clock, process.close());
      assertEquals(JSON.parse(await readFile(path, "utf8")).spending.length > 0, true);
    }));

  it("shares it with another one: a budget is one budget", () =>
    onStage(async ({ path, open }) => {
      const clock = fakeClock();
      const storage = { path, sync_policy: "periodic", sync_interval: "1s" };
      const [one, other] = [open(storage, { clock }), open(storage, { clock })];
      for (let count = 0; count < 5; count++) assertEquals([await one.ask(), await other.ask()], ["from a", "from a"]);
      await until(async () => {
        await clock.advance(50); // slowly, as a lock is renewed by this clock while the disk takes its time
        return !await one.isOpen() && !await other.isOpen();
      });
      assertEquals([await one.ask(), await other.ask()], ["budget_exceeded", "budget_exceeded"]);
      await passing(clock, one.close()); // the other one may hold the lock, and gives it back by this clock
      await passing(clock, other.close());
    }));

  it("writes nothing with the policy in-memory, and nothing without the section", () =>
    onStage(async ({ path, folder, open }) => {
      for (const storage of [{ path, sync_policy: "in-memory" }, undefined]) {
        const one = open(storage!);
        await one.ask();
        await one.close();
        assertEquals(await readdir(folder), []);
      }
    }));

  it("encrypts it with MESH_STORAGE_KEY: nothing of it can be read, and it starts with no other key", () =>
    onStage(async ({ path, open }) => {
      const storage = { path, persistence: { format: "msgpack", compression: true, encryption: true } };
      const env = { MESH_STORAGE_KEY: key };
      const first = open(storage, { env });
      await first.ask();
      await first.close();
      assertEquals(/rate_limited|version|chat/.test(await readFile(path, "latin1")), false);
      const second = open(storage, { env });
      await second.ready();
      assertEquals(second.status(), "standby rate_limited");
      await second.close();
      const before = await readFile(path);
      const other = open(storage, { env: { MESH_STORAGE_KEY: `x${key}` } });
      const error = await assertRejects(() => other.ready(), ConnectorError, "another MESH_STORAGE_KEY");
      assertEquals(error.message.includes(key), false);
      await other.close();
      assertEquals(await readFile(path), before);
    }, limited));
});

describe("a start is refused", () => {
  const cases: Readonly<Record<string, readonly [storage: (path: string) => Record<string, unknown>, words: RegExp]>> =
    {
      "without a key to encrypt with": [
        (path) => ({ path, persistence: { encryption: true } }),
        /storage\.persistence\.encryption: the secret MESH_STORAGE_KEY is missing in the store "mesh\.env\.v1": store one/,
      ],
      "with a connector that nobody knows": [
        () => ({ connector: "aws.s4.v1" }),
        /storage\.connector: no storage "aws\.s4\.v1" is registered, did you mean "aws\.s3\.v1"/,
      ],
      "with a connector that lacks a setting": [
        () => ({ connector: "aws.s3.v1" }),
        /storage\.bucket: missing: set the name of the bucket/,
      ],
      "with a path that is a folder": [
        (path) => ({ path: path.replace("/kept/state.json", "") }),
        /it is a folder\. Use the path of a file/,
      ],
    };
  for (const [what, [storage, words]] of Object.entries(cases)) {
    it(what, () =>
      onStage(async ({ path, a, open }) => {
        let error: unknown;
        try {
          const one = open(storage(path), { env: {} });
          await one.ready().catch((reason) => error = reason);
          await one.close();
        } catch (reason) {
          error = reason;
        }
        assertMatch(String(error), words);
        assertEquals([ConfigError.isInstance(error) || ConnectorError.isInstance(error), a.calls], [true, 0]);
      }));
  }

  it("also with a short key", () =>
    onStage(async ({ path, open }) => {
      const one = open({ path, persistence: { encryption: true } }, { env: { MESH_STORAGE_KEY: "short" } });
      await assertRejects(() => one.ready(), ConfigError, "shorter than 16 characters");
      await one.close();
    }));
});

describe("a state that cannot be read", () => {
  it("is kept beside the new one, and logged", () =>
    onStage(async ({ path, folder, open }) => {
      await writeFile(`${folder}/state.json`, '{"version":1,"sa');
      const one = open({ path: `${folder}/state.json` });
      assertEquals(await one.ask(), "from a");
      await one.close();
      const names = (await readdir(folder)).filter((name) => name !== "state.json.config").toSorted();
      assertEquals(names.length, 2);
      assertMatch(names[1]!, /^state\.json\.state\.unreadable-2026-01-01%54/);
      assertEquals(await readFile(`${folder}/${names[1]}`, "utf8"), '{"version":1,"sa');
      assertEquals(path.startsWith(folder), true);
    }));
});

describe("exportState() and importState()", () => {
  it("carry what is spent: of two sums the larger one counts", async () => {
    const providers = { acme: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1" } };
    const models = { small: { provider: "acme", capabilities: ["chat-completion"], ...dollar } };
    const config = { providers, models, pools: { chat: { models: ["small"] } }, budget: { daily_limit: 2 } };
    const mesh = new ModelMesh({ clock: fakeClock() });
    await mesh.initialize(config);
    const spent = () => mesh.exportState().spending?.map(({ budget, days }) => [budget, days.at(-1)?.spent]);
    for (const nano of [2_000_000_000, 1]) {
      const days = [{ start: Date.UTC(2026, 0, 1), spent: nano, reserved: 0 }];
      mesh.importState({ ...mesh.exportState(), spending: [{ budget: "all", days, months: days }] });
      assertEquals(spent(), [["all", 2_000_000_000]]);
    }
    const { excluded } = await mesh.explain({ model: "chat", messages });
    assertEquals(excluded.map(({ model }) => model), ["small"]);
    await mesh.close();
  });
});

describe("openStorage()", () => {
  it("gives what saveConfig() and fromStorage() take, in the format and with the key of its section", async () => {
    await using folder = await makeFolder();
    const section = { path: `${folder.path}/state.json`, persistence: { format: "yaml", encryption: true } };
    const env = { MESH_STORAGE_KEY: key, ACME_KEY: "key-of-acme-0123456789" };
    const storage = await openStorage(section, { env });
    const providers = {
      acme: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "${secrets:ACME_KEY}" },
    };
    const models = { small: { provider: "acme", capabilities: ["chat-completion"] } };
    const mesh = new ModelMesh({ env });
    await mesh.initialize({ providers, models, pools: { chat: { models: ["small"] } } });
    await mesh.saveConfig(storage);
    await mesh.close();
    const next = await ModelMesh.fromStorage(await openStorage(section, { env }), { env });
    assertEquals(next.listPools().map(({ name }) => name), ["chat"]);
    await next.close();
    const names = (await readdir(folder.path)).toSorted();
    assertEquals(names, ["state.json", "state.json.config"]);
    for (const name of names) assertEquals(/chat|acme/.test(await readFile(`${folder.path}/${name}`, "latin1")), false);
  });

  it("reads secrets that its section refers to, and says what is wrong with it", async () => {
    await using folder = await makeFolder();
    const env = { STATE_FILE: `${folder.path}/by-secret.json` };
    const storage = await openStorage({ path: "${secrets:STATE_FILE}" }, { env });
    await storage.save("state", new TextEncoder().encode("{}"));
    assertEquals(await folder.list(), ["by-secret.json"]);
    await assertRejects(() => openStorage({ format: 7, sync_policy: "often" }, { env }), ConfigError, "sync_policy");
  });
});

describe("a storage section without a connector", () => {
  it("keeps the state in .modelmesh/state.json of the folder that the program runs in", async () => {
    await using folder = await makeFolder();
    const { code, stderr } = await runProgram(
      `
      const { ModelMesh } = await import(LIBRARY);
      const mesh = new ModelMesh({ env: {} });
      const providers = { acme: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1" } };
      const models = { small: { provider: "acme", capabilities: ["chat-completion"] } };
      await mesh.initialize({ providers, models, pools: { chat: { models: ["small"] } }, storage: {} });
      mesh.deactivate("small");
      await mesh.close();
    `,
      folder,
      {},
    );
    assertEquals([code, stderr], [0, ""]);
    const state = JSON.parse(await readFile(`${folder.path}/.modelmesh/state.json`, "utf8"));
    assertEquals(state.breakers.map(({ cause }: { cause: string }) => cause), ["manual"]);
  });
});

describe("stateIn()", () => {
  it("keeps what is spent, too, in any storage", async () => {
    await using folder = await makeFolder();
    const upstream = await startUpstream(ok({ text: "from a" }));
    const plain = testConfig({ upstreams: { a: upstream.url } }) as Record<
      "models",
      Record<"a", { provider: string }>
    >;
    const config = { ...plain, models: { a: { ...plain.models.a, ...dollar } }, budget: { daily_limit: 2 } };
    const ask = async (storage: Storage) => {
      const client = create({ config, clock: fakeClock(), storage: stateIn(storage) });
      const said = await client.chat.completions.create({ messages }).then(getText, (error) => error.code);
      await client.close();
      return said;
    };
    const file = { path: `${folder.path}/state.json`, persistence: { compression: true } };
    for (const storage of [memoryStorage(), await openStorage(file)]) {
      const said = [await ask(storage), await ask(storage), await ask(storage)];
      assertEquals(said, ["from a", "from a", "budget_exceeded"]);
    }
    await upstream.close();
  });
});

describe("a limit between two standbys", () => {
  it("is counted on after a restart, and anew when its standby ended meanwhile", async () => {
    await using folder = await makeFolder();
    const a = await startUpstream(ok({ text: "from a" }));
    const b = await startUpstream(ok({ text: "from b" }));
    const pool = { deactivation: { request_limit: 2 }, recovery: { cooldown: "60s" } };
    const config = {
      ...testConfig({ upstreams: { a: a.url, b: b.url }, pool }),
      storage: { path: `${folder.path}/s.json` },
    };
    const run = async (afterMs: number, times: number) => {
      const clock = fakeClock({ now: Date.UTC(2026, 0, 1) + afterMs, skipSleeps: true });
      const client = create({ config, clock });
      const said: unknown[] = [];
      while (said.length < times) said.push(getText(await client.chat.completions.create({ messages })));
      await client.close();
      return said;
    };
    assertEquals(await run(0, 1), ["from a"]);
    assertEquals(await run(1000, 2), ["from a", "from b"]);
    assertEquals(await run(30_000, 1), ["from b"]);
    const later = await run(120_000, 3);
    assertEquals(later.slice(0, 2), ["from a", "from a"]);
    await a.close();
    await b.close();
  });
});
