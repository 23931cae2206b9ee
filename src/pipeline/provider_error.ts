/**
 * What is known of a provider whose last call failed: for its status until a call succeeds, and as one warning per cause.
 * The provider's own words are for operators; responses to clients do not contain them.
 * @module
 */
import type { ProviderInstance } from "../registry/registry.ts";
import type { RouteDeps } from "./deps.ts";
import type { Failure } from "./failure.ts";

/** Maximum length of a provider's own words, characters. */
const maxWords = 300;

/** Time until the same cause is a warning again, ms. */
const silenceMs = 600_000;

/** Maximum number of causes of one provider that are remembered. */
const maxCauses = 100;

/** Returns the provider's own words about a failure, redacted and cut. */
export function findWords({ fault, message }: Failure): string {
  return (fault?.error.message ?? message).slice(0, maxWords);
}

/** Describes a failure to clients: our own words, kind, status and host. The provider's words are for operators. */
export function summarizeFailure({ fault, message, kind, status, host }: Failure): string {
  const facts = [kind, status, host].filter((fact) => fact !== undefined).join(", ");
  return `${fault === undefined ? message : "the provider answered with an error"} (${facts})`;
}

/**
 * Records that a call of a provider failed.
 *
 * @param failure The failure; a fault of the request is not the provider's.
 * @param deps Clock and records.
 */
export function recordProviderError(
  instance: ProviderInstance,
  failure: Failure,
  { runtime: { clock }, hub }: Pick<RouteDeps, "runtime" | "hub">,
): void {
  const { kind, status, host } = failure;
  if (kind === "request") return;
  const facts = { kind, ...(status === undefined ? {} : { status }) };
  instance.lastError = { ...facts, at: new Date(clock.now()).toISOString() };
  const words = findWords(failure);
  const causes = instance.warnedCauses ??= new Map();
  const cause = `${kind} ${status} ${words}`;
  const now = clock.monotonic();
  const warnedAt = causes.get(cause);
  if (warnedAt !== undefined && now - warnedAt < silenceMs) return;
  if (causes.size >= maxCauses) causes.clear();
  causes.set(cause, now);
  const { id } = instance.entry;
  const at = host === undefined ? "" : ` (${host})`;
  const what = status === undefined ? `failed (${kind})` : `answered ${status} (${kind})`;
  hub.trace({
    severity: "warning",
    component: "provider",
    message: `The provider "${id}"${at} ${what}: ${words}`,
    provider: id,
    ...(host === undefined ? {} : { host }),
    ...facts,
  });
}
