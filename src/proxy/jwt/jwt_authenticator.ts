/**
 * Authentication by JWTs (RFC 7519) of configured issuers. This module is imported with the first one.
 * @module
 */
import type { JwtIssuerSettings } from "../../config/settings/settings.ts";
import type { StopSignal } from "../../contracts/runtime.ts";
import type { Engine } from "../../engine/engine.ts";
import { getOrCreate } from "../../util/once.ts";
import { sha256 } from "../../util/sha256.ts";
import { untilAborted } from "../../util/until_aborted.ts";
import { type Caller, type Client, joinTeam } from "../client.ts";
import { LogRateLimit } from "../log_rate_limit.ts";
import { type Claims, findMismatch, readStrings } from "./claims.ts";
import { type JoseModule, type KeyFinder, loadJose } from "./load_jose.ts";
import { noAccess, quote, readCode, RefusedToken, toHttpError, toRefusal, toUnavailable } from "./refused_token.ts";
import { KeysUnavailableError, SigningKeys } from "./signing_keys.ts";

/** Tolerance of clocks, s. */
const toleranceS = 60;
/** Maximum number of verified tokens that are known. */
const maxVerified = 10_000;
/** Maximum length of a token, characters. */
const maxLength = 16_384;

/** Time after which a request may find the package installed, ms. */
const missingPackageRetryMs = 60_000;

/** The algorithms of asymmetric signatures. */
const asymmetric = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** Codes of errors that mean that a key is unknown. A token need not name its key. */
const unknownKey: ReadonlySet<string | undefined> = new Set([
  ...["ERR_JWKS_NO_MATCHING_KEY", "ERR_JWKS_MULTIPLE_MATCHING_KEYS", "ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
]);

/** Who sends a token, and until when. */
interface VerifiedToken {
  readonly issuer: Issuer;
  /** The keys with which it was verified. */
  readonly keys: KeyFinder;
  /** Wall clock, ms. */
  readonly expiresAt: number;
  readonly claims: Pick<Caller, "tags" | "identity"> & {
    readonly clients: readonly string[];
    readonly teams: readonly string[];
    readonly role: "admin" | "viewer" | undefined;
  };
  caller: Caller | undefined;
}

interface Issuer {
  readonly settings: JwtIssuerSettings;
  readonly keys: SigningKeys;
}

/** What tokens are checked against. */
export interface JwtParts {
  readonly issuers: readonly JwtIssuerSettings[];
  readonly mesh: Pick<Engine, "runtime" | "hub" | "onClose" | "state">;
  /** Keys by their source, which outlast a reload. */
  readonly keys: Map<string, SigningKeys>;
  /** Returns a configured client, or one created at runtime. */
  readonly findClient: (name: string) => Client | undefined;
  readonly isTeam: (name: string) => boolean;
}

/** Verifies tokens. What was verified is known by the hash of the token until it expires or its issuer's keys change. */
export class JwtAuthenticator {
  readonly #parts: JwtParts;
  readonly #issuers = new Map<string, Issuer[]>();
  readonly #jose: JoseModule;
  readonly #verified = new Map<string, VerifiedToken>();
  readonly #pending = new Map<string, Promise<VerifiedToken>>();
  readonly #lines = new LogRateLimit();

  constructor(parts: JwtParts, jose: JoseModule) {
    this.#parts = parts;
    this.#jose = jose;
    const { issuers, mesh } = parts;
    const user = { runtime: mesh.runtime, warn: (message: string) => this.#trace("warning", message) };
    for (const settings of issuers) {
      const { issuer, jwksUri } = settings;
      const source = { issuer, jwksUri, parse: (keys: object) => jose.createLocalJWKSet(keys) };
      const keys = getOrCreate(parts.keys, `${issuer} ${jwksUri ?? ""}`, () => new SigningKeys(source, user));
      keys.use(user);
      mesh.onClose(() => Promise.resolve(keys.release(user)));
      getOrCreate(this.#issuers, issuer, (): Issuer[] => []).push({ settings, keys });
    }
  }

  /** The sender of a token that was verified before; undefined for any other. */
  find(token: string): Caller | undefined {
    const hash = sha256(token);
    const verified = this.#verified.get(hash);
    if (verified === undefined) return undefined;
    this.#verified.delete(hash);
    const isCurrent = verified.expiresAt > this.#parts.mesh.runtime.clock.now() &&
      verified.keys === verified.issuer.keys.current?.find;
    if (!isCurrent) return undefined;
    this.#verified.set(hash, verified); // the last one of all
    return this.#toCaller(verified);
  }

  /**
   * Verifies a token.
   *
   * @param challenge The start of `WWW-Authenticate`.
   * @param signal Ends the wait. Others may wait for the same token.
   * @throws {HttpError} 401 for an invalid token, 403 for one that gives no access, 503 while its issuer's keys are
   * unavailable.
   */
  async verify(token: string, { challenge, signal }: {
    readonly challenge: string;
    readonly signal: StopSignal;
  }): Promise<Caller> {
    try {
      const verified = await untilAborted(this.#verifyOnce(token), signal);
      return this.#toCaller(verified) ?? this.#refuseUnknown(verified);
    } catch (error) {
      if (error instanceof KeysUnavailableError) throw toUnavailable(error);
      if (!(error instanceof RefusedToken)) throw error;
      this.#trace(error.isGenuine ? "warning" : "info", `A JWT was refused: ${error.message}`);
      throw toHttpError(error, challenge);
    }
  }

  /** Concurrent requests with the same token share its verification. */
  #verifyOnce(token: string): Promise<VerifiedToken> {
    const hash = sha256(token);
    return getOrCreate(this.#pending, hash, async () => {
      try {
        const verified = await this.#verify(token);
        if (this.#verified.size >= maxVerified) this.#verified.delete(this.#verified.keys().next().value!);
        this.#verified.set(hash, verified);
        return verified;
      } finally {
        this.#pending.delete(hash);
      }
    });
  }

  async #verify(token: string): Promise<VerifiedToken> {
    if (token.length > maxLength) throw new RefusedToken(`it is longer than ${maxLength} characters`);
    const name = this.#readIssuer(token);
    let refusal = new RefusedToken(`its issuer is not configured: ${quote(name)}`);
    for (const issuer of this.#issuers.get(name) ?? []) { // several may differ in their audiences
      try {
        return await this.#verifyWith(issuer, token);
      } catch (error) {
        if (!(error instanceof RefusedToken)) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  #readIssuer(token: string): string {
    try {
      const { iss } = this.#jose.decodeJwt(token);
      if (typeof iss === "string") return iss;
    } catch { /* refused like a token without one */ }
    throw new RefusedToken("it is malformed, or has no issuer");
  }

  async #verifyWith(issuer: Issuer, token: string): Promise<VerifiedToken> {
    const { settings: { issuer: name, role, tags, allow = {}, ...settings } } = issuer;
    const { keys, payload } = await this.#checkSignature(issuer, token);
    const mismatch = findMismatch(payload, allow);
    if (mismatch !== undefined) {
      throw new RefusedToken(`its claim ${quote(mismatch)} has no accepted value (issuer ${quote(name)})`, noAccess);
    }
    const roles = readStrings(payload, role);
    return {
      issuer,
      keys,
      expiresAt: (Number(payload.exp) + toleranceS) * 1000,
      claims: {
        clients: readStrings(payload, settings.client),
        teams: readStrings(payload, settings.team),
        tags: readStrings(payload, tags),
        role: (["admin", "viewer"] as const).find((name) => roles.includes(name)),
        identity: `${name} ${typeof payload.sub === "string" ? payload.sub : sha256(token)}`,
      },
      caller: undefined,
    };
  }

  /** Fetches the keys again if none of the known ones has signed the token. */
  async #checkSignature({ settings, keys }: Issuer, token: string): Promise<{ keys: KeyFinder; payload: Claims }> {
    const { find } = await keys.get();
    try {
      return { keys: find, payload: await this.#verifyBy(find, token, settings) };
    } catch (error) {
      const renewed = unknownKey.has(readCode(error)) ? (await keys.renew())?.find : undefined;
      if (renewed === undefined || renewed === find) throw toRefusal(error, settings.issuer);
      const verified = this.#verifyBy(renewed, token, settings);
      return { keys: renewed, payload: await verified.catch((failure) => raise(toRefusal(failure, settings.issuer))) };
    }
  }

  /** A token that does not name its key is verified with one after the other. */
  async #verifyBy(key: unknown, token: string, { issuer, audience, algorithms }: JwtIssuerSettings): Promise<Claims> {
    const options = {
      issuer,
      audience: [...audience],
      algorithms: [...algorithms ?? asymmetric],
      requiredClaims: ["exp"],
      clockTolerance: toleranceS,
      currentDate: new Date(this.#parts.mesh.runtime.clock.now()),
    };
    try {
      return (await this.#jose.jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (readCode(error) !== "ERR_JWKS_MULTIPLE_MATCHING_KEYS") throw error;
      for await (const candidate of error as AsyncIterable<unknown>) {
        const verified = await this.#jose.jwtVerify(token, candidate, options).catch((failure) => {
          if (readCode(failure) !== "ERR_JWS_SIGNATURE_VERIFICATION_FAILED") throw failure;
        });
        if (verified !== undefined) return verified.payload;
      }
      throw error;
    }
  }

  /** Resolves client and team anew, since they may have changed. Undefined if the token gives no access. */
  #toCaller(verified: VerifiedToken): Caller | undefined {
    const { issuer: { settings }, claims: { clients, teams, role, tags, identity } } = verified;
    const { findClient, isTeam } = this.#parts;
    const named = findFirst(clients, findClient);
    const team = teams.find(isTeam);
    const client = team === undefined ? named : joinTeam(named, team, this.#parts.mesh.state.scopes);
    const isAnonymous = (settings.client ?? settings.team) === undefined;
    if (!isAnonymous && named === undefined && team === undefined && role === undefined) return undefined;
    const before = verified.caller;
    if (before !== undefined && team === undefined && before.client === client) return before;
    const rights = { isAdministrator: role === "admin", isViewer: role === "viewer" };
    return verified.caller = { ...rights, client, team, tags, identity };
  }

  #refuseUnknown({ issuer: { settings }, claims: { clients, teams } }: VerifiedToken): never {
    const parts = [["client", settings.client, clients], ["team", settings.team, teams]] as const;
    const reasons = parts.flatMap(([kind, claim, names]) =>
      claim === undefined ? [] : [`its claim ${quote(claim)} names no ${kind}: ${quote(names.join(", "))}`]
    );
    throw new RefusedToken(`${reasons.join("; ")} (issuer ${quote(settings.issuer)})`, noAccess);
  }

  #trace(severity: "info" | "warning", message: string): void {
    const { hub, runtime: { clock } } = this.#parts.mesh;
    if (this.#lines.take(clock.monotonic()) === undefined) return;
    hub.trace({ severity, component: "proxy", message });
  }
}

/**
 * Loads the package, and creates what verifies tokens.
 *
 * @param load Loads a replacement of the package.
 * @throws {HttpError} 503 if it is not installed, which is traced. A proxy of `serve` does not start without it.
 */
export async function createJwtAuthenticator(
  parts: JwtParts,
  load: () => Promise<JoseModule> = loadJose,
): Promise<JwtAuthenticator> {
  const jose = await load().catch(({ message }: Error) => {
    parts.mesh.hub.trace({ severity: "error", component: "proxy", message });
    throw toUnavailable(new KeysUnavailableError(missingPackageRetryMs));
  });
  return new JwtAuthenticator(parts, jose);
}

function raise(error: Error): never {
  throw error;
}

function findFirst<Value>(names: readonly string[], find: (name: string) => Value | undefined): Value | undefined {
  for (const name of names) {
    const value = find(name);
    if (value !== undefined) return value;
  }
}
