/**
 * Mesh states to remember, and models in them.
 * @module
 */
import type { ProviderEntry, RoutingSettings } from "../../src/config/settings/settings.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { SnapshotMapper } from "../../src/state/persistence/snapshot_mapper.ts";
import { MeshState } from "../../src/state/model/mesh_state.ts";
import type { ModelState } from "../../src/state/model/model_state.ts";
import type { Outcome } from "../../src/state/counters/usage.ts";
import type { Transition } from "../../src/state/breaker/circuit_breaker.ts";

/** A minute, the cooldown of every model here. */
export const minute = 60_000;

const routing = {
  deactivation: { retryLimit: 2, errorCodes: new Set<number>() },
  recovery: { cooldownMs: minute },
} as unknown as RoutingSettings;

/** The state of one process: a clock, a state, and models by `<pool>/<model>@<provider>`. */
export class Process {
  readonly reported: Transition[] = [];
  readonly state: MeshState;
  readonly archive: SnapshotMapper;
  readonly clock: FakeClock;
  readonly #models = new Map<string, ModelState>();

  /** @param names Models that are there from the start. */
  constructor(names: readonly string[], clock: FakeClock = fakeClock()) {
    this.clock = clock;
    const onTransition = (transition: Transition) => void this.reported.push(transition);
    this.state = new MeshState({ settings: {}, clock, onTransition });
    this.archive = new SnapshotMapper(this.state, clock, { hasUsage: false });
    for (const name of names) this.model(name);
  }

  /** A model in a pool, made at first sight. */
  model(path: string): ModelState {
    const known = this.#models.get(path);
    if (known !== undefined) return known;
    const [pool = "", name = "", id = ""] = path.split(/[/@]/);
    const provider = { id, apiKeys: [] } as unknown as ProviderEntry;
    const made = this.state.add({ pool, name, info: { id: name }, provider, weight: 1, routing });
    this.#models.set(path, made);
    return made;
  }

  /** A request to a model. */
  request(path: string, outcome: Outcome, status?: number): void {
    const model = this.model(path);
    const now = this.clock.monotonic();
    model.refresh(now);
    model.finish(model.begin(), outcome, { now, end: { status } });
    model.refresh(now);
  }

  /** What is written down, by way of JSON. */
  written(): unknown {
    return JSON.parse(JSON.stringify(this.archive.snapshot()));
  }

  /** Takes up what was written down. */
  takeUp(written: unknown): this {
    this.archive.restore(written);
    return this;
  }

  /** `active`, `trial` or the reason, and for how many seconds more. */
  look(path: string): string {
    const model = this.model(path);
    const now = this.clock.monotonic();
    model.refresh(now);
    if (model.status === "active") return model.isHalfOpen ? "trial" : "active";
    return `${model.reason} for ${model.retryAt === undefined ? "ever" : `${(model.retryAt - now) / 1000}s`}`;
  }
}
