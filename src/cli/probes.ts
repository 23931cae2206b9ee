/**
 * `modelmesh check --probe`: sends one request to each provider.
 * @module
 */
import { openProvider } from "../background/open_provider.ts";
import { probeProvider } from "../background/probe.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Shell } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { resolveSettings } from "../engine/resolve.ts";
import { loadConnectors } from "../registry/load_connectors.ts";
import { ProgressLine } from "./progress.ts";
import { counted, printable } from "./table.ts";

/** Timeout of a probe, ms. */
const limitMs = 10_000;

/** Result of a probe. */
interface Probe {
  /** The provider's id in the configuration. */
  readonly provider: string;
  readonly ok: boolean;
  /** Number of models it lists. */
  readonly models?: number;
  readonly ms: number;
  /** HTTP status of an error response. */
  readonly status?: number;
  readonly error?: string;
}

/** Probes all providers concurrently, and shows progress on a terminal. */
export async function probeAll(
  settings: Settings,
  mesh: Engine,
  { stderr }: Pick<Shell, "stderr">,
): Promise<readonly Probe[]> {
  const { settings: resolved } = await resolveSettings(settings, mesh);
  await loadConnectors(resolved, mesh.catalogue);
  mesh.configure(resolved);
  const { registry: { instances }, runtime, redact } = mesh;
  const progress = new ProgressLine(stderr);
  let done = 0;
  const say = () => progress.show(`Probed ${done} of ${counted(instances.length, "provider")}`);
  say();
  return await Promise.all(instances.map(async (instance): Promise<Probe> => {
    await openProvider(instance, mesh);
    const startedAt = runtime.clock.monotonic();
    const result = await probeProvider(instance, { runtime, redact, timeoutMs: limitMs });
    const facts = { provider: instance.entry.id, ms: Math.round(runtime.clock.monotonic() - startedAt) };
    done++;
    say();
    if ("models" in result) return { ...facts, ok: true, models: result.models.length };
    const { status, message } = result.failure;
    return { ...facts, ok: false, ...(status === undefined ? {} : { status }), error: redact(message) };
  })).finally(() => progress.end());
}

/** Formats a result as a line. */
export function probeText({ provider, ok, models = 0, ms, status, error = "" }: Probe): string {
  if (ok) return `  ${provider}: ok, ${counted(models, "model")} (${ms} ms)\n`;
  return `  ${provider}: FAILED${status === undefined ? "" : ` with ${status}`}: ${printable(error)} (${ms} ms)\n`;
}
