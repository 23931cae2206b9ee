/**
 * What all instances of one proxy share.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { Authenticator } from "./authenticator.ts";
import { BodyMemory } from "./body_reader.ts";
import { LogRateLimit } from "./log_rate_limit.ts";
import { RefusedOrigins } from "./origin_policy.ts";
import { OwnOverview, type ProxyOverview } from "./overview/overview.ts";
import type { SigningKeys } from "./jwt/signing_keys.ts";
import { Slots } from "./slots.ts";

/** The counters of one proxy, which continue when it is reloaded. They keep none of its instances in memory. */
export class ProcessCounts {
  readonly slots: Slots;
  readonly bodies: BodyMemory = new BodyMemory();
  readonly uploads: BodyMemory = new BodyMemory();
  readonly recordReaders: Slots = new Slots();
  readonly lines: LogRateLimit = new LogRateLimit();
  readonly refusedOrigins: RefusedOrigins = new RefusedOrigins();
  readonly overview: ProxyOverview;
  /** Work that goes on after its request was answered. */
  readonly background: Set<Promise<void>> = new Set();
  /** The keys of issuers of JWTs. */
  readonly signingKeys: Map<string, SigningKeys> = new Map();
  /** That of the current instance, for responses that outlast a reload. */
  authenticator?: Authenticator;

  /**
   * @param mesh The mesh of the first instance.
   * @param several Slots and overview of all processes; of this process by default.
   */
  constructor(mesh: Engine, { slots = new Slots(), overview = new OwnOverview(mesh) }: {
    readonly slots?: Slots | undefined;
    readonly overview?: ProxyOverview | undefined;
  }) {
    this.slots = slots;
    this.overview = overview;
  }
}
