/** What a web page keeps beyond a reload, and the error when it cannot. */
import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { respond, status } from "../support/upstream.ts";
import { describeInChromium } from "./_chromium.ts";
import type { PageError, Program } from "./_page.ts";
import { startProvider } from "./_provider.ts";

/** Functions of the browser entry that make a storage which outlives the page. */
const makers = ["localStorageStorage", "indexedDbStorage"] as const;
type Maker = typeof makers[number];

const key = "key-of-the-user-0123456789";

/** A model that answers so is not asked again for an hour. */
const inStandby = status(429, { headers: { "retry-after": "3600" } });

/** Fails unless an error says what to do, and gives no key away. */
function assertReports({ name, message, text }: PageError, advice: string): void {
  assertEquals(name, "ConnectorError");
  assertStringIncludes(message, advice);
  assert(!text.includes("key-of-"), "a key is shown");
}

interface Facts {
  readonly first: string;
  readonly second: string;
  /** Where the state is kept; nowhere unless said. */
  readonly maker?: Maker;
  /** Whether the client is closed at the end, which waits for what is still to be written. */
  readonly isClosed?: boolean;
}

/** Asks two providers in this order, and returns which answered. */
const asked: Program<Facts, string | null | undefined> = async (
  modelmesh,
  { first, second, maker, isClosed = false },
) => {
  const { BrowserBaseProvider, create, createBrowserProviderConfig, routingOf } = modelmesh;
  const providers = Object.entries({ first, second }).map(([id, baseUrl]) => {
    const apiKey = `key-of-${id}-0123456789`;
    return new BrowserBaseProvider(createBrowserProviderConfig({ id, baseUrl, apiKey, models: ["m"] }));
  });
  const client = create("chat-completion", {
    providers,
    ...(maker === undefined ? {} : { storage: modelmesh.stateIn(modelmesh[maker]()) }),
  });
  const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
  if (isClosed) await client.close();
  return routingOf(answer)?.model;
};

/** Fills `localStorage` to the last character. */
const fill: Program<null, void> = () => {
  for (let size = 1 << 22, count = 0; size >= 1;) {
    try {
      localStorage.setItem(`filler-${count++}`, "x".repeat(size));
    } catch {
      size = Math.floor(size / 2);
    }
  }
};

/** Keeps a key in the browser. */
const keyKept: Program<{ persist: boolean; key: string }, void> = ({ browserSecrets }, { persist, key }) =>
  browserSecrets({ persist }).set("OPENAI_API_KEY", key);

/** Asks OpenAI, which is at another address, with the key that is kept; returns all that can be seen of it. */
const askedWithKey: Program<{ persist: boolean; url: string }, string> = async (modelmesh, { persist, url }) => {
  const { browserSecrets, create, openai } = modelmesh;
  const secrets = browserSecrets({ persist });
  const seen: unknown[] = [];
  const client = create("chat-completion", {
    providers: [openai({ apiKey: () => secrets.get("OPENAI_API_KEY") })],
    fetch: (input, init) => fetch(String(input).replace("https://api.openai.com/v1", url), init),
    on: (record) => seen.push(record),
  });
  const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] })
    .catch((error) => `${error} ${error.stack} ${JSON.stringify(error)}`);
  seen.push(answer, client.describe(), String(client.describe()));
  await client.close();
  return JSON.stringify(seen);
};

/** How many tests of conformance there are, and which of them fail. */
const conformance: Program<null, { count: number; failed: string[] }> = async () => {
  const path = "/conformance.js";
  const { suites }: typeof import("./_conformance.ts") = await import(path);
  const failed: string[] = [];
  let count = 0;
  for (const [maker, cases] of Object.entries(suites)) {
    for (const { name, run } of cases) {
      count++;
      await run().catch((error) => failed.push(`${maker}(): ${name}: ${error}`));
    }
  }
  return { count, failed };
};

/** Takes a lock unless it has an owner, and returns whether it did. */
const locked: Program<{ maker: Maker; owner: string }, boolean> = (modelmesh, { maker, owner }) =>
  modelmesh[maker]().acquire("key", { owner, ttlMs: 60_000, timeoutMs: 0 }).then(() => true, () => false);

/** What is left of a large record, and whether one that is too large leaves it alone. */
const kept: Program<{ maker: Maker; sizes: readonly number[] }, unknown> = async (modelmesh, { maker, sizes }) => {
  const storage = modelmesh[maker]();
  const outcomes: unknown[] = [];
  for (const size of sizes) {
    const data = new Uint8Array(size).fill(171);
    data[size - 1] = 0;
    const problem = await storage.save("key", data).then(() => undefined, ({ problem }) => problem);
    const loaded = await storage.load("key");
    outcomes.push(problem ?? loaded?.every((byte, index) => byte === data[index]));
    outcomes.push(loaded?.length);
  }
  return outcomes;
};

/** Deletes the database while it is in use, goes on using it, and then has it in a layout of a later release. */
const databaseOfOthers = `async ({ indexedDbStorage }, _, show) => {
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(new Error("The storage does not let go of the database"));
  });
  const storage = indexedDbStorage();
  await storage.save("key", Uint8Array.of(1));
  await done(indexedDB.deleteDatabase("modelmesh"));
  show("deleted: " + !await storage.exists("key"));
  await storage.save("key", Uint8Array.of(2));
  show("saved again: " + await storage.load("key"));
  (await done(indexedDB.open("modelmesh", 2))).close();
  await storage.load("key");
}`;

describeInChromium("A page that keeps what it learns", (open) => {
  it("has storages and secret stores that do all that others do", async () => {
    await using page = await open();
    const { count, failed } = await page.run(conformance, null);
    assertEquals(failed, []);
    assertGreater(count, 40);
  });

  it("has room for a megabyte, and what is there stays when more does not fit", async () => {
    await using page = await open();
    const sizes = [1 << 20, 6 << 20];
    await page.limitStorage(5 << 20);
    for (const maker of makers) {
      assertEquals(await page.run(kept, { maker, sizes }), [true, sizes[0], "full", sizes[0]], maker);
    }
  });

  it("shares locks with the site's other tabs", async () => {
    await using first = await open();
    await using second = await first.another();
    for (const maker of makers) {
      const asked = [first.run(locked, { maker, owner: "a" }), second.run(locked, { maker, owner: "b" })];
      assertEquals((await Promise.all(asked)).sort(), [false, true], maker);
    }
  });

  it("lets go of its database when others delete or change it", async () => {
    await using page = await open();
    assertReports(await page.failure(databaseOfOthers, null), "choose another database");
    await page.shows("deleted: true");
    await page.shows("saved again: 2");
  });

  it("does not ask a model in standby after a reload", async () => {
    await using page = await open();
    for (const maker of makers) {
      await using first = await startProvider(inStandby);
      await using second = await startProvider(respond());
      const facts = { first: first.url, second: second.url, maker };
      for (const when of ["before", "after"]) {
        assertEquals(await page.run(asked, facts), "second.m");
        assertEquals(first.requests.length, 1, `${maker}, ${when} a reload`);
        await page.reload();
      }
      assertEquals(await page.run(asked, { ...facts, maker: undefined }), "second.m");
      assertEquals(first.requests.length, 2, "without the storage nothing is known of it");
    }
  });

  it("is answered when its storage is full, and close() reports what to do", async () => {
    await using first = await startProvider(inStandby);
    await using second = await startProvider(respond());
    await using page = await open();
    await page.run(fill, null);
    await page.limitStorage(1);
    for (const maker of makers) {
      const facts = { first: first.url, second: second.url, maker };
      assertEquals(await page.run(asked, facts), "second.m");
      assertReports(await page.failure(asked, { ...facts, isClosed: true }), "Delete what");
    }
  });

  it("gets an error before anything is sent when its storage is forbidden, and works without", async () => {
    await using provider = await startProvider(respond());
    await using page = await open({ path: "/sandboxed" });
    const facts = { first: provider.url, second: provider.url };
    for (const maker of makers) {
      assertReports(await page.failure(asked, { ...facts, maker }), "Allow the site to store data");
    }
    assertEquals(provider.requests.length, 0);
    assertEquals(await page.run(asked, facts), "first.m");
  });

  it("may do so in a worker, which has one of the two storages; the error says so", async () => {
    await using provider = await startProvider(respond());
    await using page = await open();
    const facts = { first: provider.url, second: provider.url, isClosed: true };
    assertReports(
      await page.failure(asked, { ...facts, maker: "localStorageStorage" }, "worker"),
      "indexedDbStorage()",
    );
    assertEquals(await page.run(asked, { ...facts, maker: "indexedDbStorage" }, "worker"), "first.m");
  });

  it("finds a key after a reload that was set once, and shows it nowhere", async () => {
    await using page = await open();
    for (const persist of [false, true]) {
      await using provider = await startProvider([respond(), status(401, { error: { message: `Bad key: ${key}` } })]);
      await page.run(keyKept, { persist, key });
      await page.reload();
      for (const part of ["Hello world", "upstream_auth_error"]) {
        const seen = await page.run(askedWithKey, { persist, url: provider.url });
        assertStringIncludes(seen, part);
        assert(!`${seen}${page.console}`.includes(key), "the key is shown");
      }
      assertEquals(provider.requests.map(({ headers }) => headers.authorization), [`Bearer ${key}`, `Bearer ${key}`]);
    }
  });

  it("gets an error where the browser forbids to keep a key", async () => {
    await using page = await open({ path: "/sandboxed" });
    for (const persist of [false, true]) {
      assertReports(await page.failure(keyKept, { persist, key }), "memorySecrets()");
    }
  });
});
