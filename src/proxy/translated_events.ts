/**
 * Serializes streams that a dialect translates.
 * @module
 */
import type { CompletionChunk } from "../contracts/provider.ts";
import type { EventTranslator } from "../dialects/dialect.ts";
import { StreamInterruptedError } from "../errors.ts";
import { toErrorRow } from "./error_body.ts";
import type { EventWriter } from "./sse.ts";

/**
 * Creates the serializer of a translated stream. Native events are passed through unchanged, including the final one. A
 * response has either only native events or none.
 */
export function createWriter(events: EventTranslator, requestId: string): EventWriter {
  let isNative = false;
  return {
    ...(events.heartbeat === undefined ? {} : { heartbeat: events.heartbeat }),
    chunk({ value, others, native }: CompletionChunk) {
      isNative ||= native !== undefined;
      if (isNative) {
        events.passed?.(value);
        return native === undefined ? "" : events.native?.event(native) ?? native; // its usage was sent before
      }
      const text = events.push(value);
      return others === undefined ? text : others.reduce((sum, other) => sum + events.push(other), text);
    },
    end: () => isNative ? events.native?.end() ?? "" : events.end(),
    fail: (error) => {
      const { status, body } = toErrorRow(error, requestId);
      const isOverload = StreamInterruptedError.isInstance(error) && error.isOverload;
      return events.fail({ status, error: body.error, isOverload });
    },
  };
}
