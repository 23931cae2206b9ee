/** What a start imports: each module that it does not need is a tenth of a millisecond. */
import { assert, assertEquals } from "@std/assert";
import { evaluatedBy } from "./support/module_graph.ts";

/** What runs once a proxy with a configuration file answers its first chat request: all that it imports until then. */
const proxyStart = [
  "cli.ts",
  "src/cli/proxy.ts",
  "src/runtime/_deno_send.ts",
];

/** What most programs and proxies never use, or not before a request for it. */
const later = [
  /^src\/dialects\/(?!\w+\/(conventions|address)\.ts$)/,
  /^src\/pipeline\/operations\/(?!(chat|_chat_\w+)\.ts$)/,
  /^src\/state\/persistence\/snapshot_store\.ts$/,
  /^src\/state\/replication\/(store_replication|breaker_events|shared_store|saved_sums)\.ts$/,
  /^src\/storage\//,
  /^src\/infrastructure\//,
  /^src\/proxy\/(_ui_page|handover|mesh_routes|models_routes|override_route)\.ts$/,
  /^src\/observe\/(metric_families|statistics_reports)\.ts$/,
];

/** What only the start of a mesh needs, or its first request: no import of the package has it. */
const atStart = [
  /^src\/state\/(?!state_persistence\.ts$|model\/member_index\.ts$)/,
  /^src\/pipeline\/operations\//,
  /^src\/runtime\/(http1\/|_\w+_(network|send)\.ts$)/,
  /^src\/engine\/(assemble|lifecycle)\.ts$/,
];

Deno.test("the import of mod.ts evaluates nothing that the start of a mesh or its first request needs", async () => {
  const modules = await evaluatedBy("mod.ts");
  assertEquals(modules.filter((path) => atStart.some((pattern) => pattern.test(path))), []);
});

/** At most so many, so that one more is noticed. */
for (
  const [what, entries, most] of [["import of mod.ts", ["mod.ts"], 160], ["start of a proxy", proxyStart, 321]] as const
) {
  Deno.test(`the ${what} evaluates at most ${most} modules, and none that is for later`, async () => {
    const modules = await evaluatedBy(...entries);
    assertEquals(modules.filter((path) => later.some((pattern) => pattern.test(path))), []);
    assert(modules.length <= most, `${modules.length} modules`);
  });
}
