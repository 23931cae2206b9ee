/**
 * `modelmesh check`: validates a configuration, and probes its providers on request.
 * @module
 */
import { findCacheStorage } from "../background/cache_storage.ts";
import { openProvider } from "../background/open_provider.ts";
import { probeProvider } from "../background/probe.ts";
import { retirementWarnings } from "../config/check/retirement.ts";
import { loadDocument } from "../config/load/load.ts";
import { readSettings } from "../config/load/sources.ts";
import { createOffer, isCallable } from "../config/settings/offers.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";
import { Engine } from "../engine/engine.ts";
import { resolveSettings } from "../engine/resolve.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import { memoryProblems, tokenProblems } from "../proxy/authenticator.ts";
import { problemsOfCertificate } from "../proxy/certificate.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import { loadConnectors } from "../registry/load_connectors.ts";
import { loadPackages } from "../registry/packages.ts";
import { type Command, UsageError } from "./command.ts";
import { ProgressLine } from "./progress.ts";
import { incompatibleSettings, missingRequirements, resolveSecrets } from "./requirements.ts";
import { printable } from "../util/printable.ts";
import { counted } from "./table.ts";

export const check: Command = {
  help: `Usage: modelmesh check <file> [options]

Validates a configuration file (.yaml, .yml or .json) and prints all problems at once. Nothing is sent to a provider
without --probe. Connector packages that the file names are loaded, and so are packages that its connectors need. The
certificate of proxy.tls and its key are read; they must be valid and match.

Options:
  --secrets          Resolve all referenced secrets, and print those that are missing
  --probe            Check once that each provider is reachable and accepts its key, by its list of models if it has one
  --env-file <file>  Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json             Print {"ok", "problems", "warnings"} as JSON; with a cache also "cache", with --probe also "probes"
  --help             Show this help

Examples:
  modelmesh check modelmesh.yaml
  modelmesh check modelmesh.yaml --secrets --probe
  modelmesh check modelmesh.yaml --env-file .env --json

Exit code: 0 valid, 1 invalid, 2 usage error
`,
  values: [],
  switches: ["secrets", "probe"],
  maxArguments: 1,
  async run({ positional, json, has }, { connectors, runtime, shell }) {
    const [path] = positional;
    if (path === undefined) throw new UsageError("Name the configuration file to check");
    const mesh = new Engine({ connectors, runtime });
    const document = await loadDocument(path, runtime.files!);
    await loadPackages(document, mesh);
    const context = createConfigContext(mesh);
    const settings = readSettings(document, context, { source: path, mayLackProviders: true });
    const refuse = (problems: readonly ConfigProblem[]) => {
      if (problems.length > 0) throw new ConfigError(problems, path);
    };
    const { tls } = settings.proxy ?? {};
    const certificate = tls && problemsOfCertificate(tls, { files: runtime.files!, check: shell.checkTls });
    const missing = missingRequirements(settings, mesh);
    refuse([
      ...findMissingToken(settings, runtime),
      ...findMissingStorage(settings),
      ...(await Promise.all([missing, certificate ?? []])).flat(),
    ]);
    const secrets = has("secrets") ? await lookUpSecrets(document, { settings, mesh, shell }) : undefined;
    if (secrets !== undefined) refuse(await incompatibleSettings(secrets.settings, mesh));
    const retired = retirementWarnings(settings, { providers: context.providers, now: runtime.clock.now() });
    const warnings = [...(secrets?.settings ?? settings).warnings, ...retired];
    const probes = has("probe") ? await probeAll(settings, mesh, shell) : undefined;
    const ok = probes?.every((probe) => probe.ok) ?? true;
    const cache = settings.cache && { storage: findCacheStorage(settings, mesh.catalogue) ?? memoryId };
    if (json) {
      const found = { ok, problems: [], warnings, ...(cache && { cache }), ...(probes && { probes }) };
      shell.stdout.write(`${JSON.stringify(found)}\n`);
      return ok ? 0 : 1;
    }
    for (const { path, message } of warnings) shell.stderr.write(`warning: ${path}: ${message}\n`);
    const { providers, pools } = settings;
    const counts = [counted(providers.size, "provider"), countModels(settings, mesh), counted(pools.size, "pool")];
    if (secrets !== undefined) counts.push(counted(secrets.count, "secret"));
    shell.stdout.write(`${path} is valid: ${counts.join(", ")}\n`);
    if (cache !== undefined) shell.stdout.write(`  cache: ${cacheText(cache.storage)}\n`);
    for (const probe of probes ?? []) shell.stdout.write(probeText(probe));
    return ok ? 0 : 1;
  },
};

/** Counts the models of the document, and what the catalogue and the providers' own lists add to them. */
function countModels(settings: Settings, mesh: Engine): string {
  if (!mesh.isConfigured) mesh.configure(settings);
  const { models } = settings;
  const { registry: { instances, models: all } } = mesh;
  const listing = new Set(
    instances.filter(({ entry, connector }) =>
      createOffer(entry, connector, [...models.values()].some(({ provider }) => provider === entry.id)) === "list"
    ),
  );
  const offered = all.filter(({ name, instance }) => !models.has(name) && !listing.has(instance)).length;
  const listed = [...listing].map(({ entry: { id } }) => id).join(" and ");
  const more = [
    ...(offered === 0 ? [] : [`${offered} of the catalogue`]),
    ...(listed === "" ? [] : [`what ${listed} will list`]),
  ].join(", and ");
  return counted(models.size, "model") + (more === "" ? "" : ` (and ${more})`);
}

/** The storage of entries in the memory of a process. */
const memoryId = "mesh.memory.v1";

/** Where the responses of the cache are kept. */
function cacheText(storage: string): string {
  return storage === memoryId ? `in the memory of each process (${memoryId})` : `in the storage ${printable(storage)}`;
}

/** The problem of a proxy that requires tokens and has none. */
function findMissingToken({ proxy }: Settings, { env }: Pick<Runtime, "env">): ConfigProblem[] {
  const token = env("MODELMESH_TOKEN");
  return proxy === undefined ? [] : tokenProblems(proxy, token === undefined ? [] : [token]);
}

/** The problem of a proxy that stores responses without a storage. */
function findMissingStorage({ proxy, storage }: Settings): ConfigProblem[] {
  return proxy === undefined ? [] : memoryProblems(proxy, storage);
}

/** Looks up all secrets, which takes time with cloud stores. */
function lookUpSecrets(
  document: unknown,
  { settings, mesh, shell }: { readonly settings: Settings; readonly mesh: Engine; readonly shell: Shell },
): ReturnType<typeof resolveSecrets> {
  const progress = new ProgressLine(shell.stderr);
  progress.show(`Looking secrets up in ${settings.secrets!.store}`);
  return resolveSecrets(document, { settings, mesh }).finally(() => progress.end());
}

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
async function probeAll(
  settings: Settings,
  mesh: Engine,
  { stderr }: Pick<Shell, "stderr">,
): Promise<readonly Probe[]> {
  const { settings: resolved } = await resolveSettings(settings, mesh);
  await loadConnectors(resolved, mesh.catalogue);
  mesh.configure(resolved);
  const { registry: { instances }, runtime, redact } = mesh;
  const probed = instances.filter(({ entry }) => isCallable(entry));
  const progress = new ProgressLine(stderr);
  let done = 0;
  const say = () => progress.show(`Probed ${done} of ${counted(probed.length, "provider")}`);
  say();
  return await Promise.all(probed.map(async (instance): Promise<Probe> => {
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
function probeText({ provider, ok, models = 0, ms, status, error = "" }: Probe): string {
  if (ok) return `  ${provider}: ok, ${counted(models, "model")} (${ms} ms)\n`;
  return `  ${provider}: FAILED${status === undefined ? "" : ` with ${status}`}: ${printable(error)} (${ms} ms)\n`;
}
