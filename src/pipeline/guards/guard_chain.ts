/**
 * Checks of texts by several guards, one after the other: each sees the texts as the one before has left them.
 * @module
 */
import type { GuardRecord } from "../../contracts/events.ts";
import type { Guard, GuardContext, GuardedText, GuardVerdict } from "../../contracts/guard.ts";
import type { Clock, StopSignal } from "../../contracts/runtime.ts";
import { ConnectorError, DeadlineError, MeshError, UnsupportedRequestError } from "../../errors.ts";
import type { Hub } from "../../observe/hub.ts";
import { isObject } from "../../util/is_object.ts";
import { untilAborted } from "../../util/until_aborted.ts";

/** A configured guard. */
export interface NamedGuard {
  readonly name: string;
  readonly guard: Guard;
  /** What happens to texts that it cannot check. */
  readonly onError: "block" | "allow";
  /** Time limit of a check, ms. */
  readonly timeoutMs: number;
}

/** What the checks of one request and its response have in common. */
export interface GuardScope extends Pick<GuardContext, "pool" | "client" | "requestId" | "request"> {
  readonly signal: StopSignal | undefined;
  readonly clock: Clock;
  /** When the time of the request is over, monotonic ms. */
  readonly deadlineAt: number;
  readonly hub: Pick<Hub, "trace">;
  /** Guards that have failed at a stage where texts then pass: they are not asked about the rest of a stream. */
  readonly failed: Set<string>;
  /** Receives each finding once per guard, stage, path and rule. */
  readonly report: (finding: GuardRecord) => void;
}

/** Maximum length of a name of a rule in records, characters. */
const maxRuleLength = 64;

/**
 * Checks texts.
 *
 * @returns The texts as they are to be passed on, in the same order; the same list if none changes.
 * @throws {UnsupportedRequestError} `content_blocked`.
 * @throws {DeadlineError} When the time of the request is over before a guard has answered.
 * @throws The reason of the signal, when it aborts.
 */
export async function checkTexts(
  guards: readonly NamedGuard[],
  texts: readonly GuardedText[],
  { stage, scope }: { readonly stage: GuardContext["stage"]; readonly scope: GuardScope },
): Promise<readonly GuardedText[]> {
  let current = texts;
  if (texts.length === 0) return current;
  for (const named of guards) {
    const replaced = await applyGuard(named, current, { stage, scope });
    if (replaced !== undefined) current = current.map((text) => replaced.get(text.path) ?? text);
  }
  return current;
}

/** Returns what a guard replaces, by path; undefined if nothing. */
async function applyGuard(
  named: NamedGuard,
  texts: readonly GuardedText[],
  { stage, scope }: { readonly stage: GuardContext["stage"]; readonly scope: GuardScope },
): Promise<ReadonlyMap<string, GuardedText> | undefined> {
  const { name: guard, onError } = named;
  const check = `${stage} ${guard}`;
  if (scope.failed.has(check)) return undefined;
  let verdict: GuardVerdict;
  try {
    verdict = readVerdict(await ask(named, texts, { stage, scope }), texts);
  } catch (error) {
    if (scope.signal?.aborted) throw scope.signal.reason;
    if (stage === "request" && scope.clock.monotonic() >= scope.deadlineAt) {
      throw new DeadlineError(`The guard "${guard}" has not answered within the time of the request`);
    }
    const failed = `The guard "${guard}" could not check the ${stage}`;
    const message = `${failed}, which ${onError === "block" ? "is blocked" : "passes"}: ${describe(error)}`;
    scope.hub.trace({ severity: "error", component: "guard", message, request_id: scope.requestId, pool: scope.pool });
    scope.report({ guard, stage, action: onError === "block" ? "block" : "error", rule: "guard_failed" });
    if (onError === "allow") return void scope.failed.add(check);
    throw blocked(`${failed}, and lets nothing pass that it has not checked`);
  }
  if (verdict.action === "allow") return undefined;
  if (verdict.action === "block") {
    const { code, reason, path } = verdict;
    const location = path !== undefined && texts.some((text) => text.path === path) ? { path } : {};
    scope.report({ guard, stage, action: "block", ...location, rule: code.slice(0, maxRuleLength) });
    throw blocked(`The guard "${guard}" has blocked the ${stage}${reason === undefined ? "" : `: ${reason}`}`);
  }
  for (const { path, rule } of verdict.texts) {
    scope.report({ guard, stage, action: "replace", path, ...(rule && { rule: rule.slice(0, maxRuleLength) }) });
  }
  return new Map(verdict.texts.map(({ path, text }) => [path, { path, text }]));
}

/** Asks a guard, within its time. */
function ask(
  { guard, timeoutMs }: NamedGuard,
  texts: readonly GuardedText[],
  { stage, scope }: { readonly stage: GuardContext["stage"]; readonly scope: GuardScope },
): GuardVerdict | Promise<GuardVerdict> {
  const { pool, client, requestId, request, clock, deadlineAt } = scope;
  let controller: AbortController | undefined;
  const context = {
    stage,
    pool,
    client,
    requestId,
    request,
    get signal() {
      return (controller ??= new AbortController()).signal;
    },
  };
  const verdict = guard.check(texts.map((text) => ({ ...text })), context); // its own, whatever it does with them
  if (!(verdict instanceof Promise)) return verdict;
  const ms = stage === "request" ? Math.min(timeoutMs, deadlineAt - clock.monotonic()) : timeoutMs;
  const limit = { clock, ms, message: `no verdict within ${timeoutMs} ms` };
  return untilAborted(verdict, scope.signal, limit).catch((error) => {
    controller?.abort(error);
    throw error;
  });
}

/** @throws {ConnectorError} If the verdict makes no sense for these texts. */
function readVerdict(verdict: GuardVerdict, texts: readonly GuardedText[]): GuardVerdict {
  if (typeof verdict !== "object" || verdict === null) throw new ConnectorError("it returned no verdict");
  if (verdict.action === "allow") return verdict;
  if (verdict.action === "block") {
    if (typeof verdict.code === "string" && verdict.code !== "") return verdict;
    throw new ConnectorError("its verdict has no code");
  }
  if (verdict.action !== "replace" || !Array.isArray(verdict.texts)) {
    throw new ConnectorError("it returned an unknown verdict");
  }
  const paths = new Set(texts.map(({ path }) => path));
  for (const replacement of verdict.texts) {
    if (!isObject(replacement) || typeof replacement.text !== "string") {
      throw new ConnectorError("it replaced with no text");
    }
    if (!paths.delete(String(replacement.path))) {
      throw new ConnectorError("it replaced a path that is not there, or the same path twice");
    }
  }
  return verdict;
}

/** Says why a guard has failed. The messages of errors that are not of this library may quote the text. */
function describe(error: unknown): string {
  if (MeshError.isInstance(error)) return error.message;
  return error instanceof Error ? `${error.name} was thrown` : "it failed";
}

/** The error of a blocked request or response. */
function blocked(message: string): UnsupportedRequestError {
  return new UnsupportedRequestError(message, { code: "content_blocked" });
}

/** Whether an error is that of a blocked request or response. */
export function isBlocked(error: unknown): boolean {
  return UnsupportedRequestError.isInstance(error) && error.code === "content_blocked";
}
