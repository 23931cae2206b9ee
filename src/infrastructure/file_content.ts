/**
 * Streams the content of files at providers.
 * @module
 */
import { DeadlineError } from "../errors.ts";
import { untilAborted } from "../util/until_aborted.ts";
import { type Account, getInfrastructure } from "./account.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";
import { failedCall, openConnection } from "./provider_call.ts";

/** The content of a file. Leaving the loop early cancels the call. */
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
 * Opens one or several files as one stream.
 *
 * @param ids The provider's file ids. The first file is open when the promise resolves.
 * @throws {MeshError} When opening or reading fails. An aborted call throws the signal's reason.
 */
export async function openFileContent(
  [first, ...others]: readonly string[],
  context: ContentCall,
): Promise<FileContent> {
  const opened = await openFile(first!, context);
  if (others.length === 0) return opened;
  return { type: opened.type, bytes: joinContents(opened, others, context) };
}

async function* joinContents(first: FileContent, others: readonly string[], context: ContentCall) {
  yield* first.bytes;
  for (const id of others) yield* (await openFile(id, context)).bytes;
}

async function openFile(id: string, { account, call, mesh }: ContentCall): Promise<FileContent> {
  const { signal, timeoutMs } = call;
  const connection = openConnection(account, call, mesh);
  const late = new DeadlineError(`The file's content did not begin within ${timeoutMs} ms`);
  const cancelDeadline = mesh.runtime.clock.after(Math.max(0, timeoutMs), () => connection.abort(late));
  const onAbort = () => connection.abort(signal!.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  const context = { called: { account, isRead: true }, mesh, late };
  const stop = () => signal?.removeEventListener("abort", onAbort);
  try {
    const { type, bytes } = await untilAborted(
      getInfrastructure(account, "files").fileContent(id, connection),
      connection.stop,
    );
    account.instance.lastError = undefined;
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
        connection.pause(); // a slow reader must not trigger the idle timeout
        yield chunk;
        connection.listen();
      }
      connection.close();
    } catch (error) {
      throw failedCall(error, connection, context).error;
    } finally {
      stop();
      connection.abort(new DOMException("The reader has stopped reading the content", "AbortError"));
    }
  }
}
