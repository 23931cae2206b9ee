/**
 * The guards of a mesh, and what they do for one request. Imported by meshes that have some.
 * @module
 */
import type { Settings } from "../../config/settings/settings.ts";
import type { GuardRecord } from "../../contracts/events.ts";
import type { GuardedText } from "../../contracts/guard.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import { UnsupportedRequestError } from "../../errors.ts";
import type { Pool } from "../../registry/registry.ts";
import { hasRepeatedMember } from "../../util/json_members.ts";
import { poolOnceListed } from "../pool_once_listed.ts";
import type { EventStream } from "../committed_stream.ts";
import type { ByteStream } from "../content_stream.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { Result } from "../result.ts";
import { poolFor } from "../select_pool.ts";
import { type CheckedTexts, checkTexts, type GuardScope, type NamedGuard } from "./guard_chain.ts";
import { guardBytes, guardContent } from "./guarded_content.ts";
import { GuardedStream } from "./guarded_stream.ts";
import { listTexts, toTextMap, withTexts } from "./texts.ts";

/** Default length of the longest match of a guard, characters. */
const defaultReach = 1024;

/** Maximum number of characters of a stream that are held back. */
const maxHeldChars = 2048;

/** Maximum number of replacements of one request in its record and events: a request has as many texts as it likes. */
const maxReplacements = 100;

/** Dependencies of the pipeline, with what checks requests and responses; undefined without guards. */
export interface GuardedDeps extends RouteDeps {
  guarding?: Guarding | undefined;
}

/** All guards of a mesh, by name. */
export class Guarding {
  readonly #guards: ReadonlyMap<string, NamedGuard>;
  readonly #teams: Settings["teams"];

  /** @param teams The teams, which may have guards. */
  constructor(guards: ReadonlyMap<string, NamedGuard>, teams: Settings["teams"]) {
    this.#guards = guards;
    this.#teams = teams;
  }

  /**
   * Checks a request.
   *
   * @returns The guards of this request, with the request as it may be sent; undefined if it has none. A promise if the
   * models of its pool or a verdict have to be waited for.
   * @throws {UnsupportedRequestError} `content_blocked`; also at once.
   */
  open(
    request: RoutedRequest,
    deps: RouteDeps,
  ): RequestGuard | undefined | Promise<RequestGuard | undefined> {
    if (deps.registry.relist !== undefined) {
      return poolOnceListed(request, deps).then((pool) => this.#open(request, pool, deps));
    }
    return this.#open(request, poolFor(request.model, request, deps.registry), deps);
  }

  #open(
    request: RoutedRequest,
    pool: Pool,
    deps: RouteDeps,
  ): RequestGuard | undefined | Promise<RequestGuard> {
    const guards = this.#selectGuards(request, pool);
    if (guards.length === 0) return undefined;
    const check = () => new RequestGuard(request, { guards, pool: pool.name, deps }).checkRequest();
    return request.scopes?.admit()?.then(check) ?? check(); // guards may cost as much as the request
  }

  /** The guards of the proxy, of the team, of the client and of the pool, each once. */
  #selectGuards({ labels, client, guards }: RoutedRequest, { routing }: Pool): readonly NamedGuard[] {
    const ofTeam = labels?.team === undefined ? undefined : this.#teams?.get(labels.team)?.guards;
    const selected: NamedGuard[] = [];
    for (const names of [guards, ofTeam, client?.guards, routing.guards]) {
      if (names === undefined) continue;
      for (const name of names) {
        const guard = this.#guards.get(name);
        if (guard !== undefined && !selected.includes(guard)) selected.push(guard);
      }
    }
    return selected;
  }
}

/** The guards of one request. What they have done is in its record, once it is routed. */
export class RequestGuard {
  /** The request; once it is checked, as it may be sent. */
  request: RoutedRequest;
  readonly #guards: readonly NamedGuard[];
  readonly #scope: GuardScope;
  readonly #deps: RouteDeps;
  readonly #findings: GuardRecord[] = [];
  /** Keys of what was reported. */
  #reported: Set<string> | undefined;
  #record: { guards?: readonly GuardRecord[] | undefined } | undefined;

  constructor(request: RoutedRequest, { guards, pool, deps }: {
    readonly guards: readonly NamedGuard[];
    readonly pool: string;
    readonly deps: RouteDeps;
  }) {
    const { hub, runtime: { clock } } = deps;
    this.request = request;
    this.#guards = guards;
    this.#deps = deps;
    this.#scope = {
      pool,
      client: request.client?.name,
      requestId: request.id,
      request: {},
      signal: request.signal,
      clock,
      deadlineAt: clock.monotonic() + request.timeoutMs,
      hub,
      failed: undefined,
      report: (finding) => this.#report(finding),
    };
  }

  /** @throws {UnsupportedRequestError} `content_blocked`. */
  checkRequest(): this | Promise<this> {
    const texts = listTexts(this.request.body, "request");
    const passed = checkTexts(this.#guards, texts, { stage: "request", scope: this.#scope });
    return passed instanceof Promise ? passed.then((later) => this.#pass(texts, later)) : this.#pass(texts, passed);
  }

  #pass(texts: readonly GuardedText[], passed: readonly GuardedText[]): this {
    const { clock, deadlineAt } = this.#scope;
    const timeoutMs = Math.max(0, deadlineAt - clock.monotonic());
    const checked = withoutUncheckedForm(this.request, passed === texts);
    const sent = passed === texts ? checked : withRequestTexts(checked, passed);
    this.request = sent.timeoutMs - timeoutMs < 1 ? sent : { ...sent, timeoutMs };
    return this;
  }

  #report(finding: GuardRecord): void {
    const { action, ...metadata } = finding;
    if (action === "replace" && this.#findings.length >= maxReplacements) return;
    const key = JSON.stringify([action, finding.guard, finding.stage, finding.path, finding.rule]);
    const reported = this.#reported ??= new Set();
    if (reported.has(key)) return;
    reported.add(key);
    this.#findings.push(finding);
    if (this.#record !== undefined) this.#record.guards = this.#findings;
    const { pool, client } = this.#scope;
    const facts = client === undefined ? metadata : { ...metadata, client };
    this.#deps.hub.event({ event: "guard", pool, provider: "", reason: action, metadata: facts });
  }

  /**
   * Checks a complete response.
   *
   * @throws {UnsupportedRequestError} `content_blocked`.
   */
  checkResponse<Body>(
    response: CompletionResponse<Body>,
    result: Pick<Result, "routing">,
  ): CompletionResponse<Body> | Promise<CompletionResponse<Body>> {
    this.#describe(result);
    const { content } = response;
    if (content?.bytes instanceof Uint8Array) {
      return guardBytes(content.bytes, content.type, (texts) => this.#check(texts))
        .then((bytes) => ({ ...response, content: { ...content, bytes } }));
    }
    const texts = listTexts(response.body, "response");
    const passed = this.#check(texts);
    if (passed === texts) return response;
    return passed instanceof Promise
      ? passed.then((later) => later === texts ? response : withResponseTexts(response, later))
      : withResponseTexts(response, passed);
  }

  /** Returns a stream that checks its texts, once it has something to send. */
  guardStream(stream: EventStream, result: Pick<Result, "routing">): Promise<EventStream> {
    this.#describe(result);
    const interval = Math.min(Math.max(...this.#guards.map(({ guard }) => guard.interval ?? 1)), maxHeldChars / 2);
    const reach = Math.max(...this.#guards.map(({ guard }) => guard.reach ?? defaultReach));
    const guards = {
      interval,
      reach: Math.min(reach, maxHeldChars - interval),
      check: (texts: readonly GuardedText[]) => this.#check(texts),
    };
    return new GuardedStream(stream, guards).open();
  }

  /** Returns content that has passed. */
  guardContent(stream: ByteStream, result: Pick<Result, "routing">): Promise<ByteStream> {
    this.#describe(result);
    return guardContent(stream, (texts) => this.#check(texts));
  }

  /** The record of the request gets what the guards have done, and will have done until it is written. */
  #describe({ routing }: Pick<Result, "routing">): void {
    this.#record = routing;
    if (this.#findings.length > 0) this.#record.guards = this.#findings;
  }

  #check(texts: readonly GuardedText[]): CheckedTexts {
    return checkTexts(this.#guards, texts, { stage: "response", scope: this.#scope });
  }
}

/**
 * The request without a form in which it was sent that has more than the guards have seen: they see a translation, and what
 * it lacks would pass; and the last one of members with the same name, of which the provider might read the first.
 *
 * @param isUnchanged Whether the guards have left its texts as they are.
 * @throws {UnsupportedRequestError} If no other form of it can be sent.
 */
function withoutUncheckedForm(request: RoutedRequest, isUnchanged: boolean): RoutedRequest {
  if (request.original?.isNativeOnly === true) {
    const message =
      "The pool has guards, which cannot check what only one provider understands: leave out tools that it runs, and references to objects that it stores";
    throw new UnsupportedRequestError(message, { code: "unsupported_by_pool" });
  }
  const isSeen = request.text === undefined || isUnchanged && !hasRepeatedMember(request.text);
  if (isSeen && request.original === undefined) return request;
  const { text: _, original, ...sent } = request;
  return original === undefined ? sent : { ...sent, original: original.withoutNative() };
}

function withRequestTexts(request: RoutedRequest, texts: readonly GuardedText[]): RoutedRequest {
  return { ...request, body: withTexts(request.body, toTextMap(texts), "request") };
}

function withResponseTexts<Body>(
  { wire: _, native: __, ...others }: CompletionResponse<Body>,
  texts: readonly GuardedText[],
): CompletionResponse<Body> {
  return { ...others, body: withoutLogprobs(withTexts(others.body, toTextMap(texts), "response")) };
}

/** Tokens would show the text as it was. */
function withoutLogprobs<Body>(body: Body): Body {
  const { choices } = Object(body) as { readonly choices?: readonly Record<string, unknown>[] };
  if (!Array.isArray(choices)) return body;
  return { ...body, choices: choices.map((choice) => "logprobs" in choice ? { ...choice, logprobs: null } : choice) };
}
