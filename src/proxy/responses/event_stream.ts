/**
 * The events of a background response as the body of a response.
 * @module
 */
import type { PlainResponse, PlainStream } from "../../contracts/shell.ts";
import type { Exchange } from "../exchange.ts";
import { addStreamHeaders, withHeartbeats } from "../heartbeat.ts";
import { heartbeatComment } from "../sse.ts";
import type { EventSource } from "./event_log.ts";

/** Options of an {@linkcode EventStream}. */
interface EventStreamOptions {
  /** Number of events that the client has already. */
  readonly position: number;
  /** Called at the end, possibly more than once. */
  readonly onEnd: () => void;
}

/** Streams events to one client. The work goes on when it disconnects. */
class EventStream implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #source: EventSource;
  readonly #onEnd: () => void;
  #position: number;

  constructor(source: EventSource, { position, onEnd }: EventStreamOptions) {
    this.#source = source;
    this.#position = position;
    this.#onEnd = onEnd;
  }

  async read(): Promise<string | undefined> {
    const events = await this.#source.read(this.#position);
    if (events === undefined) {
      this.#onEnd();
      return undefined;
    }
    this.#position += events.length;
    return events.join("");
  }

  cancel(): void {
    this.#source.cancel();
    this.#onEnd();
  }
}

/**
 * Responds with events, beginning with the next one that the client does not have.
 *
 * @param options Number of events that the client has; what to call at the end.
 */
export function respondWithEvents(
  source: EventSource,
  { headers, mesh, proxy }: Exchange,
  options: EventStreamOptions,
): PlainResponse {
  addStreamHeaders(headers, "text/event-stream");
  const stream = new EventStream(source, options);
  const { heartbeatMs: intervalMs } = proxy;
  const { clock } = mesh.runtime;
  const body = intervalMs === 0 ? stream : withHeartbeats(stream, { clock, intervalMs, heartbeat: heartbeatComment });
  return { status: 200, headers, body };
}
