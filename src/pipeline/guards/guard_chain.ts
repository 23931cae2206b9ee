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
import { isThenable } from "../../util/once.ts";
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
  failed?: Set<string> | undefined;
  /** Receives each finding once per guard, stage, path and rule. */
  readonly report: (finding: GuardRecord) => void;
}

/** Maximum length of a name of a rule in records, characters. */
const maxRuleLength = 64;

/** The stage of a check, and what it has in common with others. */
interface CheckScope {
  readonly stage: GuardContext["stage"];
  readonly scope: GuardScope;
}

/** Texts as they are to be passed on; a promise if a guard returns one. */
export type CheckedTexts = readonly GuardedText[] | Promise<readonly GuardedText[]>;

/**
 * Checks texts.
 *
 * @returns The texts in the same order; the same list if none changes.
 * @throws {UnsupportedRequestError} `content_blocked`.
 * @throws {DeadlineError} When the time of the request is over before a guard has answered.
 * @throws The reason of the signal, when it aborts.
 */
export function checkTexts(
  guards: readonly NamedGuard[],
  texts: readonly GuardedText[],
  at: CheckScope,
): CheckedTexts {
  if (texts.length === 0) return texts;
  let current = texts;
  for (let index = 0; index < guards.length; index++) {
    const replaced = applyGuard(guards[index]!, current, at);
    if (replaced instanceof Promise) {
      return replaced.then((later) => checkTexts(guards.slice(index + 1), replaceTexts(current, later), at));
    }
    current = replaceTexts(current, replaced);
  }
  return current;
}

/** The texts that a guard replaces, by path. */
type Replaced = ReadonlyMap<string, GuardedText>;

function replaceTexts(texts: readonly GuardedText[], replaced: Replaced | undefined): readonly GuardedText[] {
  return replaced === undefined ? texts : texts.map((text) => replaced.get(text.path) ?? text);
}

/** Returns what a guard replaces; undefined if nothing. */
function applyGuard(
  named: NamedGuard,
  texts: readonly GuardedText[],
  at: CheckScope,
): Replaced | undefined | Promise<Replaced | undefined> {
  const { stage, scope } = at;
  if (scope.failed?.has(nameCheck(named, stage))) return undefined;
  let verdict: GuardVerdict;
  try {
    const result = ask(named, texts, at);
    if (result instanceof Promise) return applyLater(result, { named, texts, at });
    verdict = readVerdict(result, texts);
  } catch (error) {
    return reportFailure(error, named, at);
  }
  return applyVerdict(verdict, { named, texts, at });
}

/** A check. */
interface Check {
  readonly named: NamedGuard;
  readonly texts: readonly GuardedText[];
  readonly at: CheckScope;
}

async function applyLater(result: Promise<GuardVerdict>, check: Check): Promise<Replaced | undefined> {
  let verdict: GuardVerdict;
  try {
    verdict = readVerdict(await result, check.texts);
  } catch (error) {
    return reportFailure(error, check.named, check.at);
  }
  return applyVerdict(verdict, check);
}

function applyVerdict(
  verdict: GuardVerdict,
  { named: { name: guard }, texts, at: { stage, scope } }: Check,
): Replaced | undefined {
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

/** Reports a failed check; throws unless the texts pass. */
function reportFailure(error: unknown, named: NamedGuard, { stage, scope }: CheckScope): undefined {
  const { name: guard, onError } = named;
  if (scope.signal?.aborted) throw scope.signal.reason;
  if (stage === "request" && scope.clock.monotonic() >= scope.deadlineAt) {
    throw new DeadlineError(`The guard "${guard}" has not answered within the time of the request`);
  }
  const failed = `The guard "${guard}" could not check the ${stage}`;
  const message = `${failed}, which ${onError === "block" ? "is blocked" : "passes"}: ${describe(error)}`;
  scope.hub.trace({ severity: "error", component: "guard", message, request_id: scope.requestId, pool: scope.pool });
  scope.report({ guard, stage, action: onError === "block" ? "block" : "error", rule: "guard_failed" });
  if (onError === "block") throw blocked(`${failed}, and lets nothing pass that it has not checked`);
  (scope.failed ??= new Set()).add(nameCheck(named, stage));
  return undefined;
}

function nameCheck({ name }: NamedGuard, stage: GuardContext["stage"]): string {
  return `${stage} ${name}`;
}

/** The context of one check. Its signal is made when a guard asks for it. */
class CheckContext implements GuardContext {
  readonly stage: GuardContext["stage"];
  readonly pool: string;
  readonly client: string | undefined;
  readonly requestId: string;
  readonly request: object;
  #controller: AbortController | undefined;

  constructor({ stage, scope }: CheckScope) {
    this.stage = stage;
    this.pool = scope.pool;
    this.client = scope.client;
    this.requestId = scope.requestId;
    this.request = scope.request;
  }

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  /** Aborts the signal, if there is one. */
  static end(context: CheckContext, reason: unknown): void {
    context.#controller?.abort(reason);
  }
}

/** Asks a guard, within its time. */
function ask(
  { guard, timeoutMs }: NamedGuard,
  texts: readonly GuardedText[],
  at: CheckScope,
): GuardVerdict | Promise<GuardVerdict> {
  const context = new CheckContext(at);
  const verdict = guard.check(texts.map(({ path, text }) => ({ path, text })), context); // its own, whatever it does with them
  if (!isThenable(verdict)) return verdict;
  const { stage, scope: { clock, deadlineAt, signal } } = at;
  const ms = stage === "request" ? Math.min(timeoutMs, deadlineAt - clock.monotonic()) : timeoutMs;
  const limit = { clock, ms, message: `no verdict within ${timeoutMs} ms` };
  return untilAborted(Promise.resolve(verdict), signal, limit).catch((error) => {
    CheckContext.end(context, error);
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
