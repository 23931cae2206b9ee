/** What a start imports: each module that it does not need is a tenth of a millisecond. */
import { assert, assertEquals } from "@std/assert";
import { evaluatedBy } from "./support/module_graph.ts";

/** What runs once a proxy with a configuration file answers its first chat request. */
const proxyStart = ["cli.ts", "src/cli/proxy.ts", "src/engine/run.ts"];

/** What most programs and proxies never use, or not before a request for it. */
const later = [
  /^src\/dialects\/(?!\w+\/(words|address|_errors)\.ts$)/,
  /^src\/pipeline\/operations\/(?!(chat|_chat_\w+)\.ts$)/,
  /^src\/state\/persistence\/snapshot_store\.ts$/,
  /^src\/state\/replication\/(store_replication|breaker_events|shared_store|saved_sums)\.ts$/,
  /^src\/storage\//,
  /^src\/infrastructure\//,
  /^src\/proxy\/(_ui_page|handover|mesh_routes|models_routes|override_route)\.ts$/,
  /^src\/observe\/(metric_families|statistics_reports)\.ts$/,
];

/** At most so many, so that one more is noticed. */
for (
  const [what, entries, most] of [["import of mod.ts", ["mod.ts"], 324], ["start of a proxy", proxyStart, 418]] as const
) {
  Deno.test(`the ${what} evaluates at most ${most} modules, and none that is for later`, async () => {
    const modules = await evaluatedBy(...entries);
    assertEquals(modules.filter((path) => later.some((pattern) => pattern.test(path))), []);
    assert(modules.length <= most, `${modules.length} modules`);
  });
}
