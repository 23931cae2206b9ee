/**
 * The guards of a mesh. Imported when it starts with some.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { MeshParts } from "../contracts/connector.ts";
import type { ModerationResponse } from "../contracts/moderation.ts";
import { ConfigError, UpstreamError } from "../errors.ts";
import type { NamedGuard } from "../pipeline/guards/guard_chain.ts";
import { type GuardedDeps, Guarding } from "../pipeline/guards/guarding.ts";
import { moderation } from "../pipeline/operations/moderation.ts";
import { perform } from "../pipeline/perform.ts";
import type { RouteDeps } from "../pipeline/request.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { newId } from "../util/request_id.ts";

/** Time limit of a moderation of a guard, ms: its own limit ends it before. */
const moderationMs = 60_000;

/**
 * Creates the guards.
 *
 * @param deps Dependencies of the pipeline, which moderate texts.
 * @throws {ConfigError} If the settings of a guard make no sense.
 * @throws {ConnectorError} If a connector cannot be loaded.
 */
export async function openGuards(
  { guards = new Map(), teams }: Pick<Settings, "guards" | "teams">,
  deps: GuardedDeps,
  catalogue: ConnectorCatalogue,
): Promise<Guarding> {
  const { guarding: _, ...unguarded } = deps;
  const mesh: MeshParts = {
    storage: () => undefined,
    moderate: (pool, inputs, signal) => moderate({ pool, inputs, signal }, unguarded),
  };
  const opened = [...guards].map(async ([name, { connector, config, onError, timeoutMs }]): Promise<NamedGuard> => {
    const { create } = await catalogue.load("guard", connector);
    try {
      return { name, guard: create(config, deps.runtime, mesh), onError, timeoutMs };
    } catch (error) {
      if (!ConfigError.isInstance(error)) throw error;
      throw new ConfigError(error.problems.map(({ path, message }) => ({ path: join(name, path), message })));
    }
  });
  return new Guarding(new Map((await Promise.all(opened)).map((guard) => [guard.name, guard])), teams);
}

function join(name: string, path: string): string {
  return path === "" ? `guards.${name}` : `guards.${name}.${path}`;
}

async function moderate(
  { pool, inputs, signal }: { readonly pool: string; readonly inputs: readonly string[]; readonly signal: AbortSignal },
  deps: RouteDeps,
): Promise<ModerationResponse["results"]> {
  const { kind, ...result } = await perform({
    id: newId(),
    operation: moderation,
    delivery: "sync",
    model: pool,
    body: { model: pool, input: [...inputs] },
    signal,
    timeoutMs: moderationMs,
  }, deps);
  const { results } = kind === "complete" && "response" in result ? result.response.body : { results: [] };
  if (results.length === inputs.length) return results;
  throw new UpstreamError("The moderation lacks results", { kind: "invalid_response" });
}
