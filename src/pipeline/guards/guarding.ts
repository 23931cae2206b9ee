/**
 * The guards of a mesh, and what they do for one request. Imported by meshes that have some.
 * @module
 */
import type { Settings } from "../../config/settings/settings.ts";
import type { GuardRecord } from "../../contracts/events.ts";
import type { GuardedText } from "../../contracts/guard.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import { UnsupportedRequestError } from "../../errors.ts";
import { poolOnceListed } from "../pool_once_listed.ts";
import type { EventStream } from "../committed_stream.ts";
import type { ByteStream } from "../content_stream.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { Result } from "../result.ts";
import { poolFor } from "../select_pool.ts";
import { checkTexts, type GuardScope, type NamedGuard } from "./guard_chain.ts";
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
   * @returns The guards of this request, with the request as it may be sent; undefined if it has none.
   * @throws {UnsupportedRequestError} `content_blocked`.
   */
  async open(request: RoutedRequest, deps: RouteDeps): Promise<RequestGuard | undefined> {
    const pool = deps.registry.relist === undefined
      ? poolFor(request.model, request, deps.registry)
      : await poolOnceListed(request, deps);
    const { labels, client } = request;
    const ofTeam = labels?.team === undefined ? undefined : this.#teams?.get(labels.team)?.guards;
    const names = new Set([request.guards, ofTeam, client?.guards, pool.routing.guards].flatMap((some) => some ?? []));
    const guards = [...names].flatMap((name) => this.#guards.get(name) ?? []);
    if (guards.length === 0) return undefined;
    const admission = request.scopes?.admit();
    if (admission !== undefined) await admission; // guards may cost as much as the request
    return await RequestGuard.open(request, { guards, pool: pool.name, deps });
  }
}

/** What the guards of a request have done; once it is routed, its record gets that, too. */
interface Findings {
  readonly list: GuardRecord[];
  record?: { guards?: readonly GuardRecord[] | undefined };
}

/** The guards of one request. */
export class RequestGuard {
  /** The request as it may be sent. */
  readonly request: RoutedRequest;
  readonly #guards: readonly NamedGuard[];
  readonly #scope: GuardScope;
  readonly #findings: Findings;

  private constructor(request: RoutedRequest, { guards, scope, findings }: {
    readonly guards: readonly NamedGuard[];
    readonly scope: GuardScope;
    readonly findings: Findings;
  }) {
    this.request = request;
    this.#guards = guards;
    this.#scope = scope;
    this.#findings = findings;
  }

  /** @throws {UnsupportedRequestError} `content_blocked`. */
  static async open(request: RoutedRequest, { guards, pool, deps }: {
    readonly guards: readonly NamedGuard[];
    readonly pool: string;
    readonly deps: RouteDeps;
  }): Promise<RequestGuard> {
    const { hub, runtime: { clock } } = deps;
    const deadlineAt = clock.monotonic() + request.timeoutMs;
    const findings: Findings = { list: [] };
    const reported = new Set<string>();
    const scope: GuardScope = {
      pool,
      client: request.client?.name,
      requestId: request.id,
      request: {},
      signal: request.signal,
      clock,
      deadlineAt,
      hub,
      failed: new Set(),
      report: (finding) => {
        const { action, ...metadata } = finding;
        if (action === "replace" && findings.list.length >= maxReplacements) return;
        const key = JSON.stringify([action, finding.guard, finding.stage, finding.path, finding.rule]);
        if (reported.has(key)) return;
        reported.add(key);
        findings.list.push(finding);
        if (findings.record !== undefined) findings.record.guards = findings.list;
        const client = request.client && { client: request.client.name };
        hub.event({ event: "guard", pool, provider: "", reason: action, metadata: { ...metadata, ...client } });
      },
    };
    const texts = listTexts(request.body, "request");
    const passed = await checkTexts(guards, texts, { stage: "request", scope });
    const timeoutMs = Math.max(0, deadlineAt - clock.monotonic());
    const sent = withoutNativeForm({ ...request, timeoutMs });
    return new RequestGuard(passed === texts ? sent : withRequestTexts(sent, passed), { guards, scope, findings });
  }

  /**
   * Checks a complete response.
   *
   * @throws {UnsupportedRequestError} `content_blocked`.
   */
  async checkResponse<Body>(
    response: CompletionResponse<Body>,
    result: Pick<Result, "routing">,
  ): Promise<CompletionResponse<Body>> {
    this.#describe(result);
    const { content } = response;
    if (content?.bytes instanceof Uint8Array) {
      const bytes = await guardBytes(content.bytes, content.type, (texts) => this.#check(texts));
      return { ...response, content: { ...content, bytes } };
    }
    const texts = listTexts(response.body, "response");
    const passed = await this.#check(texts);
    if (passed === texts) return response;
    const { wire: _, native: __, ...others } = response;
    return { ...others, body: withoutLogprobs(withTexts(response.body, toTextMap(passed), "response")) };
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
    const findings = this.#findings;
    findings.record = routing;
    if (findings.list.length > 0) findings.record.guards = findings.list;
  }

  #check(texts: readonly GuardedText[]): Promise<readonly GuardedText[]> {
    return checkTexts(this.#guards, texts, { stage: "response", scope: this.#scope });
  }
}

/**
 * The request without the form in which it was sent: guards see its translation, and what it lacks would pass unseen; and
 * they see the last one of members with the same name, of which the provider might read the first.
 *
 * @throws {UnsupportedRequestError} If no other form of it can be sent.
 */
function withoutNativeForm(request: RoutedRequest): RoutedRequest {
  if (request.original?.isNativeOnly === true) {
    const message =
      "The pool has guards, which cannot check what only one provider understands: leave out tools that it runs, and references to objects that it stores";
    throw new UnsupportedRequestError(message, { code: "unsupported_by_pool" });
  }
  const { text: _, original, ...sent } = request;
  return original === undefined ? sent : { ...sent, original: original.withoutNative() };
}

function withRequestTexts(request: RoutedRequest, texts: readonly GuardedText[]): RoutedRequest {
  return { ...request, body: withTexts(request.body, toTextMap(texts), "request") };
}

/** Tokens would show the text as it was. */
function withoutLogprobs<Body>(body: Body): Body {
  const { choices } = Object(body) as { readonly choices?: readonly Record<string, unknown>[] };
  if (!Array.isArray(choices)) return body;
  return { ...body, choices: choices.map((choice) => "logprobs" in choice ? { ...choice, logprobs: null } : choice) };
}
