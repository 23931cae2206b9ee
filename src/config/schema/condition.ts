/**
 * Conditions under which settings act, and what they are about.
 * @module
 */
import type { First } from "./pools.ts";
import type { ModelValues } from "./models.ts";
import type { BudgetValues } from "./budget.ts";
import type { ProviderValues } from "./providers.ts";
import type { DocumentValues } from "./schema.ts";
import type { PromptCacheFacts, VendorQuery } from "../../contracts/connector.ts";
import type { InfrastructureFacts } from "../../contracts/infrastructure.ts";
import type { ChatApi, OperationName } from "../../contracts/provider.ts";

/** Settings that act only under a condition. */
export interface Condition<Subject> {
  /** Their dotted paths, within a section or an entry of it. */
  readonly keys: readonly string[];
  /** Values that state what holds anyway, and are therefore not reported. */
  readonly idle?: readonly unknown[];
  /** Why they cannot act, to follow "has no effect"; undefined if they act. */
  readonly reason: (subject: Subject, key: string) => string | undefined;
}

/** The document, and what is known about the connectors that it names. */
export interface DocumentSubject {
  readonly values: DocumentValues;
  /** Who sees the records of the storage; undefined if unknown. */
  readonly sharing: "none" | "records" | "state" | undefined;
  /** Whether a sink writes to the storage. */
  readonly isStorageLogged: boolean;
  /** Whether every synchronized provider has an interval of its own; undefined without any such interval. */
  readonly refresh: "some" | "all" | undefined;
}

/** An entry of `providers` that is enabled. */
export interface ProviderSubject {
  readonly id: string;
  readonly value: ProviderValues;
  readonly document: DocumentValues;
  /** The lookups of each pool, and of pools on demand. */
  readonly pools: readonly First[];
  /** Whether its models are free of charge. */
  readonly isFree: boolean;
  /** The services of its connector; undefined if it has none, null if they are unknown. */
  readonly services: InfrastructureFacts | undefined | null;
  /** The queries that its vendor answers; undefined if they are unknown. */
  readonly queries: readonly VendorQuery[] | undefined;
  /** Whether audio in a chat is billed by its duration, or may be. */
  readonly billsAudioByDuration: boolean;
  /** The APIs through which it sends chat requests; undefined if they are unknown. */
  readonly apis: readonly ChatApi[] | undefined;
  /** Whether one of its models serves, or may serve, one of the operations. */
  readonly mayServe: (...operations: OperationName[]) => boolean;
  /** What its vendor takes for its prompt cache; undefined if it takes nothing, null if that is unknown. */
  readonly promptCache: PromptCacheFacts | undefined | null;
}

/** An entry of `models` of an enabled provider. */
export interface ModelSubject {
  readonly value: ModelValues;
  /** Its provider. */
  readonly provider: ProviderSubject;
  /** Whether it serves one of the operations; true if its capabilities are unknown. */
  readonly serves: (...operations: OperationName[]) => boolean;
  /** Its delivery modes according to its capabilities; undefined if they are unknown. */
  readonly modes: ReadonlySet<"sync" | "stream" | "batch"> | undefined;
  /** Whether one of its pools may use one of these strategies. */
  readonly mayUse: (...strategies: string[]) => boolean;
}

/** A pool that takes a setting from an entry of `pools`. */
export interface PoolSubject {
  /** Reads the settings of the pool. */
  readonly first: First;
  /** The ids of its strategy and its fallback strategy, or their instances. */
  readonly strategies: readonly [strategy: unknown, fallback: unknown];
  readonly document: DocumentValues;
  /** Whether one of its models serves, or may serve, one of the operations. */
  readonly mayServe: (...operations: OperationName[]) => boolean;
  /** Whether it has, or may get, several models. */
  readonly hasSeveral: () => boolean;
  /** The providers that its models have, or may have. */
  readonly providers: readonly ProviderValues[];
}

/** An entry of a section of `observability`. */
export interface SinkSubject {
  readonly value: Readonly<Record<string, unknown>>;
}

/** A budget with its layers, highest precedence first. */
export type BudgetSubject = readonly (BudgetValues | undefined)[];
