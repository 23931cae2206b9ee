import { assertEquals, assertMatch } from "@std/assert";
import { checkImports, checkText } from "../scripts/check_layers.ts";

const allowed: [from: string, to: string][] = [
  ["cli.ts", "src/cli/main.ts"],
  ["cli.ts", "connectors/server.ts"],
  ["mod.ts", "src/runtime/deno.ts"],
  ["src/client/chat.ts", "src/engine/engine.ts"],
  ["src/cli/proxy.ts", "src/proxy/serve.ts"],
  ["src/pipeline/route.ts", "src/registry/registry.ts"],
  ["src/registry/registry.ts", "src/state/model/model_state.ts"],
  ["src/state/open.ts", "src/state/sharing/lease.ts"],
  ["src/state/model/permit.ts", "src/state/model/usage.ts"],
  ["src/state/limits/budget.ts", "src/state/counters/window_counter.ts"],
  ["src/config/load/load.ts", "scripts/std/yaml/mod.ts"],
  ["src/config/load/load.ts", "npm:/left-pad@1.0.0"],
  ["src/runtime/deno.ts", "src/errors.ts"],
  ["src/errors.ts", "src/contracts/provider.ts"],
  ["connectors/providers/acme.ts", "connectors/providers/_http.ts"],
  ["connectors/providers/acme.ts", "src/util/sse_parse.ts"],
  ["connectors/providers/acme.ts", "src/contracts/provider.ts"],
];

const forbidden: [from: string, to: string, reason: RegExp][] = [
  ["src/engine/engine.ts", "connectors/server.ts", /only the shells choose connectors/],
  ["src/client/create.ts", "src/runtime/deno.ts", /only the shells choose a runtime/],
  ["connectors/providers/acme.ts", "src/engine/engine.ts", /a connector imports only/],
  ["connectors/providers/acme.ts", "src/runtime/deno.ts", /a connector imports only/],
  ["connectors/server.ts", "mod.ts", /a connector imports only/],
  ["src/contracts/events.ts", "src/errors.ts", /src\/errors.ts is above src\/contracts/],
  ["src/state/model/mesh_state.ts", "src/pipeline/route.ts", /src\/pipeline is above src\/state/],
  ["src/state/counters/day_counter.ts", "src/state/limits/budget.ts", /limits is above counters/],
  ["src/state/model/mesh_state.ts", "src/state/persistence/snapshot.ts", /persistence is above model/],
  [
    "src/state/persistence/snapshot_store.ts",
    "src/state/open.ts",
    /a file directly in src\/state is above persistence/,
  ],
  ["src/state/novelty/new.ts", "src/state/counters/day_counter.ts", /name the folders of src\/state/],
  ["src/util/backoff.ts", "src/config/settings/settings.ts", /src\/config is above src\/util/],
  ["src/pipeline/route.ts", "src/engine/engine.ts", /point down only/],
  ["src/client/chat.ts", "mod.ts", /point down only/],
  ["src/novelty/new.ts", "src/errors.ts", /belongs to no layer/],
  ["src/client/chat.ts", "tests/support/upstream.ts", /belongs to no layer/],
];

Deno.test("checkImports() allows what points down", () => {
  assertEquals(checkImports(allowed.map(([from, to]) => ({ from, to }))), []);
});

Deno.test("checkImports() names each import that does not, and why", () => {
  for (const [from, to, reason] of forbidden) {
    const wrong = checkImports([...allowed.map(([from, to]) => ({ from, to })), { from, to }]);
    assertEquals(wrong.length, 1, `${from} → ${to}`);
    assertMatch(wrong[0]!, reason);
    assertMatch(wrong[0]!, new RegExp(`^${from} imports ${to}: `));
  }
});

Deno.test("checkImports() finds rooms of one layer that import each other in a circle", () => {
  const wrong = checkImports([
    { from: "src/registry/a.ts", to: "src/state/a.ts" },
    { from: "src/state/b.ts", to: "src/rotation/a.ts" },
    { from: "src/rotation/b.ts", to: "src/registry/b.ts" },
    { from: "src/observe/a.ts", to: "src/registry/b.ts" },
  ]);
  assertEquals(wrong.map((line) => line.split(" ")[0]), ["src/registry", "src/rotation", "src/state"]);
});

Deno.test("checkImports() finds files that import each other in a circle", () => {
  const wrong = checkImports([
    { from: "src/util/a.ts", to: "src/util/b.ts" },
    { from: "src/util/b.ts", to: "src/util/c.ts" },
    { from: "src/util/c.ts", to: "src/util/a.ts" },
    { from: "src/util/c.ts", to: "src/util/d.ts" },
    { from: "src/engine/engine.ts", to: "src/util/a.ts" },
  ]);
  assertEquals(wrong, ["src/util/a.ts is part of a circle of imports: src/util/b.ts, src/util/c.ts"]);
});

const touching: [text: string, name: string][] = [
  ['const key = Deno.env.get("KEY");', "Deno"],
  ["process.exit(1);", "process"],
  ["const agent = navigator.userAgent;", "navigator"],
  ["setTimeout(() => {}, 5);", "a timer"],
  ["globalThis.setInterval(tick, 5);", "a timer"],
  ["const signal = AbortSignal.timeout(5);", "a timer"],
  ["const answer = await fetch(url);", "fetch"],
  ['import { readFile } from "node:fs/promises";', "a module of Node"],
  ["const started = performance.now();", "the time"],
  ["const name = new Date().toISOString();", "the time"],
  ["const jitter = Math.random();", "chance"],
  ["// harmless\nconst url = 'https://a.example'; await fetch(url);", "fetch"],
];

Deno.test("checkText() finds what touches the machine", () => {
  for (const [text, name] of touching) {
    const wrong = checkText("src/engine/engine.ts", text);
    assertEquals(wrong.length, 1, text);
    assertMatch(wrong[0]!, new RegExp(`^src/engine/engine.ts touches ${name}: `));
    assertEquals(checkText("src/runtime/deno.ts", text), []);
  }
});

Deno.test("checkText() minds neither comments nor namesakes", () => {
  for (
    const text of [
      "/** Call `Deno.serve(handler)`,\n * or setTimeout(run, 5). */",
      "// setTimeout(run, 5) would fire at once",
      "mesh.fetch(request); this.#fetch(request);",
      "const { process } = options; runtime.clock.now(); new Date(stored);",
    ]
  ) assertEquals(checkText("src/engine/engine.ts", text), []);
});

Deno.test("what deno.json names under imports and links is imported by name", async () => {
  const root = new URL("../", import.meta.url);
  const { imports, links } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const { stdout } = await new Deno.Command("git", {
    args: ["ls-files", "-co", "--exclude-standard", "*.ts"],
    cwd: root,
  })
    .output();
  const files = new TextDecoder().decode(stdout).trim().split("\n");
  const texts = await Promise.all(files.map((file) => Deno.readTextFile(new URL(file, root)).catch(() => "")));
  const isUsed = (name: string) => {
    const use = new RegExp(`^(?!\\s*//).*(from |import\\()"${name}[/"]`, "m");
    return texts.some((text) => text.includes(`"${name}`) && use.test(text));
  };
  assertEquals(Object.keys(imports).filter((name) => !isUsed(name)), []);
  assertEquals(
    links.map((path: string) => path.replace("scripts/std/", "@std/")).filter((name: string) => !isUsed(name)),
    [],
  );
});
