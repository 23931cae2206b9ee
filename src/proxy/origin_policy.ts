/**
 * Host and origin checks, and CORS headers. Without a token any web page that a user opens could spend the API keys,
 * therefore only pages of the local machine may send requests.
 *
 * Source: Fetch standard, CORS protocol; the host check is against DNS rebinding.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import { originProblem } from "../config/schema/formats.ts";
import type { CorsSettings } from "../config/settings/settings.ts";
import { ConfigError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import { HttpError } from "./error_body.ts";
import { LogRateLimit } from "./log_rate_limit.ts";

const exposed = "x-request-id, x-mesh-pool, x-mesh-model, x-mesh-provider, x-mesh-attempts, x-mesh-fallbacks, " +
  "x-mesh-overhead-ms, x-mesh-cost-usd, x-mesh-cache, x-mesh-dropped-params, x-mesh-estimated, retry-after, retry-after-ms, " +
  "x-should-retry, www-authenticate";

interface OriginPolicySettings {
  readonly cors: CorsSettings;
  /** Whether a token is required. */
  readonly hasToken: boolean;
  /** Bind address. */
  readonly host: string;
  /** Host names accepted in addition to loopback names. */
  readonly allowedHosts: readonly string[];
  /** Called with each origin whose request is refused. */
  readonly onRefused: (origin: string) => void;
}

/** Maximum number of refused origins that are remembered, and of characters of one that are logged. */
const maxOrigins = 100;
const maxOriginLength = 200;

/** Warns about refused origins, once about each. Clients can invent origins, so their number and rate are limited. */
export class RefusedOrigins {
  readonly #warned = new Set<string>();
  readonly #lines = new LogRateLimit();

  /** Warns about an origin, unless that has been done. */
  report(sent: string, { hub, redact, runtime: { clock } }: Pick<Engine, "hub" | "redact" | "runtime">): void {
    const origin = JSON.stringify(redact(sent.slice(0, maxOriginLength)));
    if (this.#warned.has(origin) || this.#lines.take(clock.monotonic()) === undefined) return;
    if (this.#warned.size >= maxOrigins) this.#warned.clear();
    this.#warned.add(origin);
    const message = `Requests of web pages from ${origin} are refused (origin_not_allowed): to allow them, add the ` +
      "origin to proxy.cors.origins, or pass it with --cors-origin";
    hub.trace({ severity: "warning", component: "proxy", message });
  }
}

/** Adds origins to those of the configuration, which enables CORS. */
export function withOrigins(cors: CorsSettings, origins: readonly string[] = []): CorsSettings {
  return origins.length === 0 ? cors : { ...cors, enabled: true, origins: [...cors.origins ?? [], ...origins] };
}

/** @throws {ConfigError} For an invalid origin. */
export function checkOrigins(origins: readonly string[] = []): void {
  const problems = origins.flatMap((origin) => {
    const problem = originProblem(origin);
    return problem === undefined
      ? []
      : { path: "proxy.cors.origins", message: `${JSON.stringify(origin)}: ${problem}` };
  });
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Accepts requests by `Host` and `Origin`. */
export class OriginPolicy {
  readonly #settings: OriginPolicySettings;
  readonly #checksHost: boolean;
  readonly #allowedHosts: ReadonlySet<string>;
  /** The most recently accepted host, since most requests have the same. */
  #latestHost: string | undefined;

  constructor(settings: OriginPolicySettings) {
    this.#settings = settings;
    this.#allowedHosts = new Set(settings.allowedHosts.map((name) => name.toLowerCase()));
    this.#checksHost = !settings.hasToken && isLoopbackHost(settings.host);
  }

  /**
   * Checks a request's host and origin.
   *
   * @returns The CORS headers of its response.
   * @throws {HttpError} 403 for a foreign host or origin, 400 for a malformed `Host`.
   */
  check(request: PlainRequest): Record<string, string> {
    const host = request.headers.get("host") ?? readHost(request.url);
    if (host !== this.#latestHost) this.#checkHost(host);
    this.#latestHost = host;
    const origin = request.headers.get("origin");
    if (origin === null) return {};
    if (!this.#allows(origin, host)) {
      this.#settings.onRefused(origin);
      throw new HttpError(`The origin "${origin}" is not allowed: add it to proxy.cors.origins`, {
        status: 403,
        code: "origin_not_allowed",
      });
    }
    return this.#headers(origin);
  }

  /**
   * Rejects requests from pages of another origin, even if CORS allows them.
   *
   * @throws {HttpError} 403 for another origin.
   */
  refuseForeign({ headers, url }: PlainRequest): void {
    const origin = headers.get("origin");
    const host = headers.get("host") ?? readHost(url);
    if (origin === null || URL.canParse(origin) && new URL(origin).host === host) return;
    throw new HttpError("This path does not take requests of pages of another origin", {
      status: 403,
      code: "origin_not_allowed",
    });
  }

  #checkHost(host: string): void {
    if (!/^(\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(:\d{0,5})?$/i.test(host) || !URL.canParse(`http://${host}`)) {
      throw new HttpError("The Host header is malformed", { status: 400, code: "invalid_value" });
    }
    const name = host.replace(/:\d*$/, "").toLowerCase();
    if (this.#checksHost && !isLoopbackHost(name) && !this.#allowedHosts.has(name)) {
      throw new HttpError(
        `The host "${name}" is not served: use a loopback name, add it to proxy.allowed_hosts, or set a token`,
        { status: 403, code: "host_not_allowed" },
      );
    }
  }

  /** The headers of the response to a preflight; undefined for other requests. */
  preflight(request: PlainRequest, path?: { readonly methods: readonly string[] }): Record<string, string> | undefined {
    if (request.method !== "OPTIONS" || !this.#settings.cors.enabled) return undefined;
    if (!request.headers.has("access-control-request-method")) return undefined;
    const methods = path?.methods.join(", ") ?? "GET, POST";
    const { cors } = this.#settings;
    return {
      "access-control-allow-methods": cors.methods?.join(", ") ?? methods,
      "access-control-allow-headers": cors.headers?.join(", ") ??
        request.headers.get("access-control-request-headers") ?? "authorization, content-type",
      "access-control-max-age": String(Math.floor(cors.maxAgeMs / 1000)),
    };
  }

  #allows(origin: string, host: string): boolean {
    const { cors, hasToken } = this.#settings;
    if (cors.origins?.includes(origin) || cors.origins?.includes("*")) return true;
    if (origin === "null") return hasToken && cors.origins === undefined;
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (hasToken) return cors.origins === undefined || url?.host === host;
    return url !== undefined && isLoopbackHost(url.hostname);
  }

  #headers(origin: string): Record<string, string> {
    const { cors, hasToken } = this.#settings;
    if (!cors.enabled) return {};
    const anyone = hasToken && cors.origins === undefined;
    return {
      "access-control-allow-origin": anyone ? "*" : origin,
      "access-control-expose-headers": exposed,
      ...(anyone ? {} : { vary: "Origin" }),
    };
  }
}

/** The host in the URL of a request; empty if it is invalid, as a client's absolute target may be. */
function readHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/**
 * Whether a name or address is that of the local machine.
 *
 * @param host Without port; an IPv6 address with or without brackets.
 */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}
