/**
 * Records of batches: a routing record when one has ended or was rejected, and an event if configured.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { Batch } from "../contracts/infrastructure.ts";
import { ProviderError, RateLimitError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { Account } from "./account.ts";
import type { BatchUsage } from "./batch_money.ts";
import { type ClientFacts, toClientFacts } from "../pipeline/request.ts";
import { getObjectOwner, type InfrastructureMesh, type ObjectCall } from "./mesh.ts";
import type { BatchFacts, ObjectRef } from "./object_id.ts";
import type { FailedCall } from "./provider_call.ts";

/** A batch that has ended. */
interface EndedBatch {
  readonly ref: ObjectRef;
  readonly object: Batch;
  readonly member: Member;
  /** Id of the request that created it. */
  readonly requestId: string;
  /** Name of its client, if known. */
  readonly clientName: string | undefined;
}

/** Emits the routing record of a batch that has ended. */
export function emitBatchRecord(
  { ref, object, member, requestId, clientName, used, attempts }: EndedBatch & {
    readonly used: BatchUsage | undefined;
    readonly attempts: number;
  },
  mesh: InfrastructureMesh,
): void {
  const { hub, runtime: { clock } } = mesh;
  const isOk = object.status === "completed";
  const { input, output, costNanoUsd, estimated } = used ?? {};
  hub.publish("request_started", undefined);
  hub.requestFinished({
    record: {
      ...createBatchRecord(ref.batch!, member.model.instance.entry.id, {
        requestId,
        client: toOwnerFacts(ref.owner, clientName),
        attempts,
        mesh,
      }),
      fallback_chain: [{
        model: member.model.name,
        provider: ref.provider,
        outcome: isOk ? "ok" : object.status,
        ms: 0,
      }],
      status: 200,
      duration_ms: Math.max(0, clock.now() - ref.madeAt),
      ...(input === undefined ? {} : { tokens_in: input, tokens_out: output! }),
      ...(costNanoUsd === undefined ? {} : { cost_usd: costNanoUsd / 1e9 }),
      ...(estimated && { estimated }),
    },
    tries: [],
    outcome: isOk ? "success" : object.status === "failed" ? "failure" : "none",
    tokensIn: input,
    tokensOut: output,
    costNanoUsd,
  });
}

/** Emits the routing record of a batch that could not be created. */
export function emitFailure(
  { error, possiblyBilled }: FailedCall,
  { facts, account, call, attempts }: {
    readonly facts: BatchFacts;
    readonly account: Account;
    readonly call: ObjectCall;
    readonly attempts: number;
  },
  mesh: InfrastructureMesh,
): void {
  const { requestId } = call;
  const status = ProviderError.isInstance(error) ? error.status : RateLimitError.isInstance(error) ? 429 : 500;
  const provider = account.instance.entry.id;
  mesh.hub.publish("request_started", undefined);
  mesh.hub.requestFinished({
    record: {
      ...createBatchRecord(facts, provider, {
        requestId,
        client: toOwnerFacts(getObjectOwner(call), call.client?.name),
        attempts,
        mesh,
      }),
      fallback_chain: [{ model: facts.model, provider, outcome: "failed", status, ms: 0 }],
      status: call.signal?.aborted ? 499 : status,
      ...(possiblyBilled ? { possibly_billed: true } : {}),
    },
    tries: [],
    outcome: call.signal?.aborted ? "none" : "failure",
  });
}

/** Emits the event of a batch that has ended. */
export function emitBatchEvent(
  { ref, object, member, requestId, clientName }: EndedBatch,
  { hub }: InfrastructureMesh,
): void {
  const { id, status, endpoint, request_counts } = object;
  const owner = toOwnerFacts(ref.owner, clientName);
  hub.event({
    event: "batch",
    pool: ref.batch!.pool,
    model: member.model.name,
    provider: ref.provider,
    from: "in_progress",
    to: status,
    reason: status,
    metadata: { id, endpoint, request_counts, request_id: requestId, ...owner },
  });
}

/** Returns the members of a record that name the owner of a batch; none if clients have no names. */
function toOwnerFacts(id: string, name: string = id): Partial<ClientFacts> {
  return id === "" ? {} : toClientFacts({ id, name });
}

function createBatchRecord(
  { pool, model }: BatchFacts,
  provider: string,
  { requestId, client, attempts, mesh }: {
    readonly requestId: string;
    readonly client: Partial<ClientFacts>;
    readonly attempts: number;
    readonly mesh: InfrastructureMesh;
  },
): Omit<RoutingRecord, "fallback_chain"> {
  return {
    type: "routing",
    timestamp: mesh.hub.timestamp(),
    request_id: requestId,
    capability: mesh.registry.pool(pool)?.capability ?? null,
    pool,
    model,
    provider,
    delivery: "batch",
    routing_latency_ms: 0,
    attempts,
    ...client,
  };
}
