/** Models that retire: what is warned of, and when. */
import { assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { ModelMesh } from "../../mod.ts";
import { retirementWarnings } from "../../src/config/check/retirement.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import type { Settings } from "../../src/config/settings/settings.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { recorder } from "../support/sinks.ts";

const day = 24 * 60 * 60 * 1000;
const now = Date.UTC(2027, 0, 1, 12);
const models: readonly ModelInfo[] = [
  { id: "past", retires: "2026-12-31" },
  { id: "today", retires: "2027-01-01", defaultFor: ["chat-completion"] },
  { id: "soon", retires: "2027-01-31" },
  { id: "later", retires: "2027-02-01" },
  { id: "never" },
];

interface Written {
  readonly models?: Readonly<Record<string, string>>;
  readonly pooled?: readonly string[];
  readonly entry?: object;
}

function warned({ models: own = {}, pooled = [], entry = {} }: Written, at = now): string[] {
  const settings = {
    providers: new Map([["acme", { id: "acme", connector: "acme.llm.v1", enabled: true, ...entry }]]),
    models: new Map(Object.entries(own).map(([name, id]) => [name, { name, id, provider: "acme" }])),
    pools: new Map([["chat", { models: pooled }]]),
  } as unknown as Settings;
  const providers = [{ id: "acme.llm.v1", vendor: "acme", models }];
  return retirementWarnings(settings, { providers, now: at }).map(({ path, message }) => `${path}: ${message}`);
}

Deno.test("configured models are warned of by their names, from 30 days before", () => {
  const own = { a: "past", b: "today", c: "soon", d: "later", e: "never", f: "past" };
  assertEquals(warned({ models: own }), [
    "models.a: has been retired since 2026-12-31",
    "models.f: has been retired since 2026-12-31",
    "models.b: has been retired since 2027-01-01",
    "models.c: will be retired on 2027-01-31",
  ]);
  assertEquals(
    warned({ models: { d: "later" }, entry: { discovery: { enumerateModels: false } } }, now + day).length,
    1,
  );
});

Deno.test("of what a provider offers by itself, its defaults and what pools name are warned of", () => {
  assertEquals(warned({}), ['providers.acme: its model "acme.today" has been retired since 2027-01-01']);
  for (const name of ["acme.soon", "acme/soon", "soon", "acme.soon-20260401"]) {
    const [, warning] = warned({ pooled: [name] });
    assertEquals(warning, 'providers.acme: its model "acme.soon" will be retired on 2027-01-31', name);
  }
  assertEquals(warned({ models: { mine: "today" } }), ["models.mine: has been retired since 2027-01-01"]);
});

Deno.test("what is disabled, given as an instance, unknown or lists its own models is not warned of", () => {
  for (
    const entry of [
      { enabled: false },
      { instance: {} },
      { connector: "other.llm.v1" },
      { discovery: { enumerateModels: true } },
    ]
  ) {
    assertEquals(warned({ entry }), []);
  }
});

Deno.test("a start traces it", async () => {
  const { models } = serverConnectors.filter(isProvider).find(({ id }) => id === "openai.llm.v1")!;
  const { id, retires } = models.find((model) => model.retires !== undefined)!;
  const sink = recorder();
  const mesh = new ModelMesh({ clock: fakeClock({ now: Date.parse(retires!) }) });
  mesh.addSink(sink);
  await mesh.initialize({
    providers: { "openai.llm.v1": { api_key: "key-of-the-test-0123456789" } },
    models: { old: { provider: "openai.llm.v1", model: id, capabilities: ["chat-completion"] } },
    pools: { chat: { models: ["old"] } },
  });
  const traced = sink.taken.filter(({ kind }) => kind === "trace").map(({ record }) => record);
  const warning = traced.find(({ message }) => message.startsWith("models.old: "));
  assertEquals([warning.severity, warning.message], ["warning", `models.old: has been retired since ${retires}`]);
  await mesh.close();
});
