/**
 * A request at the proxy, and what handles the requests of a path.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import type { DialectWords } from "../dialects/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import type { BodyBounds } from "./body_reader.ts";
import type { ProxyOverview } from "./overview/overview.ts";
import type { Caller, Client } from "./client.ts";
import type { RuntimeClients } from "./clients/runtime_clients.ts";

/** How a body is read. */
export interface BodyOptions extends Pick<BodyBounds, "startedAt" | "limitMs"> {
  /** It carries files, for which there are bounds of their own. */
  readonly isUpload?: boolean;
}

/** One request at the proxy. */
export interface Exchange {
  readonly mesh: Engine;
  readonly proxy: ProxySettings;
  readonly request: PlainRequest;
  readonly requestId: string;
  readonly path: string;
  /** Headers of every response to it. */
  readonly headers: Record<string, string>;
  /** The sender, where clients have names and the path needs a token. */
  readonly client: Client | undefined;
  /** The sender, on paths that need no token too: undefined without an accepted token where one is required. */
  readonly caller: () => Caller | undefined;
  /** The same by the tokens of now: a response may outlast a reload, or its sender's token. */
  readonly callerNow: () => Caller | undefined;
  readonly isDraining: boolean;
  readonly isStopping: () => boolean;
  /** Clients made at runtime; undefined without a storage. */
  readonly runtimeClients: RuntimeClients | undefined;
  /** What all processes of the proxy show. */
  readonly overview: ProxyOverview;
  /**
   * Reads the whole body within the proxy's bounds; the request has its slot from then on. To be called once.
   *
   * @param options When the request arrived, monotonic ms, how long the body may take from then on, ms, and its kind.
   */
  readonly body: (options: BodyOptions) => Promise<Uint8Array>;
  /** Gives the request its slot, where it has no body or reads that by itself. To be called once. */
  readonly begin: () => Promise<void> | undefined;
  /** To be called at the end of a streamed response. */
  readonly onEnd: () => void;
}

/** The handler of a path. */
export interface RouteEntry {
  readonly methods: readonly string[];
  /** Whether it needs no token. */
  readonly isPublic?: boolean;
  /** Whether only administrators may call it, and no page of another origin. */
  readonly isAdministrative?: boolean;
  /** Whether it takes a slot of `max_concurrent` once its body is read, and is refused while stopping. */
  readonly isWork?: boolean;
  /** Whose words its errors have, and where its clients put their token; OpenAI's, when left out. */
  readonly dialect?: DialectWords;
  readonly handle: (exchange: Exchange) => PlainResponse | Promise<PlainResponse>;
}
