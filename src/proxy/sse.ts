/**
 * A committed stream as server-sent events.
 * @module
 */
import { errorAnswer } from "./error_body.ts";
import type { AnswerStream } from "../pipeline/answer_stream.ts";

const encoder = new TextEncoder();

/**
 * The body of a streamed answer: one `data:` line per event, `[DONE]` after the last. A provider that fails midway
 * leaves one error event and no `[DONE]`. Nothing is read ahead of the client; when it leaves, the provider's call ends.
 *
 * @param stream The answer.
 * @param requestId For errors.
 * @param onEnd Told once, when nothing will be sent any more.
 */
export function sseBody(stream: AnswerStream, requestId: string, onEnd: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      stream.onStop = (reason) => {
        controller.error(reason);
        onEnd();
      };
    },
    async pull(controller) {
      const { text, isLast } = await nextText(stream, requestId);
      if (isLast) onEnd();
      try {
        controller.enqueue(encoder.encode(text));
        if (isLast) controller.close();
      } catch {
        // the client left while the event was on its way: cancel() has been told
      }
    },
    cancel() {
      stream.cancel();
      onEnd();
    },
  }, { highWaterMark: 0 });
}

/** As many events as are there. */
async function nextText(stream: AnswerStream, requestId: string): Promise<{ text: string; isLast: boolean }> {
  let text = "";
  try {
    for (;;) {
      const chunk = await stream.read();
      if (chunk === undefined) return { text: `${text}data: [DONE]\n\n`, isLast: true };
      text += `data: ${chunk.wire ?? JSON.stringify(chunk.value)}\n\n`;
      if (chunk.more !== true) return { text, isLast: false };
    }
  } catch (error) {
    return { text: `${text}data: ${JSON.stringify(errorAnswer(error, requestId).body)}\n\n`, isLast: true };
  }
}
