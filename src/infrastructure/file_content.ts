/**
 * The content of files at providers, as it arrives.
 * @module
 */
import { DeadlineError } from "../errors.ts";
import { untilAborted } from "../util/until_aborted.ts";
import { type Account, infrastructureOf } from "./account.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";
import { connectionOf, failedCall } from "./provider_call.ts";

/** A file's content. Leaving the loop early ends the call. */
export interface FileContent {
  /** Media type. */
  readonly type: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

interface ContentCall {
  readonly account: Account;
  readonly call: ObjectCall;
  readonly mesh: InfrastructureMesh;
}

/**
 * Opens files, one after the other, as one.
 *
 * @param ids The provider's own; the first is open when this resolves.
 * @throws A `MeshError`, or the client's abort; what is read throws them, too.
 */
export async function openContent([first, ...others]: readonly string[], context: ContentCall): Promise<FileContent> {
  const opened = await openFile(first!, context);
  if (others.length === 0) return opened;
  return { type: opened.type, bytes: joined(opened, others, context) };
}

async function* joined(first: FileContent, others: readonly string[], context: ContentCall) {
  yield* first.bytes;
  for (const id of others) yield* (await openFile(id, context)).bytes;
}

async function openFile(id: string, { account, call: { signal, timeoutMs }, mesh }: ContentCall): Promise<FileContent> {
  const connection = connectionOf(account, mesh);
  const late = new DeadlineError(`The file's content did not begin within ${timeoutMs} ms`);
  const cancelDeadline = mesh.runtime.clock.after(Math.max(0, timeoutMs), () => connection.abort(late));
  const onAbort = () => connection.abort(signal!.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  const context = { called: { account, isRead: true }, mesh, late };
  const stop = () => signal?.removeEventListener("abort", onAbort);
  try {
    const { type, bytes } = await untilAborted(
      infrastructureOf(account, "files").fileContent(id, connection),
      connection.stop,
    );
    return { type, bytes: read(bytes) };
  } catch (error) {
    stop();
    throw failedCall(error, connection, context).error;
  } finally {
    cancelDeadline();
  }

  async function* read(bytes: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
        connection.pause(); // the reader's time is no silence of the provider
        yield chunk;
        connection.listen();
      }
      connection.close();
    } catch (error) {
      throw failedCall(error, connection, context).error;
    } finally {
      stop();
      connection.abort(new DOMException("The content is read no further", "AbortError"));
    }
  }
}
