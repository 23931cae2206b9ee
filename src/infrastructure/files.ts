/**
 * Files: uploaded to the provider that the pool chooses, and found there again by their ids.
 * @module
 */
import type { FileObject, FilePurpose, ObjectPage } from "../contracts/infrastructure.ts";
import { infrastructureOf, locate, type Located, mintId } from "./account.ts";
import { type FileContent, openContent } from "./file_content.ts";
import { bookOf, type InfrastructureMesh, type ObjectCall, ownerOf } from "./mesh.ts";
import { callProvider } from "./provider_call.ts";
import { type FileSource, upload } from "./uploads.ts";

/** Which files are listed. */
interface FileQuery {
  readonly purpose?: string | undefined;
  readonly after?: string | undefined;
  /** @default {10_000} */
  readonly limit?: number | undefined;
  /** By time; the newest first, when left out. */
  readonly order?: "asc" | "desc" | undefined;
}

const defaultLimit = 10_000;

/** The files of a mesh. Ids are checked: what is not the caller's does not exist. */
export class Files {
  readonly #mesh: InfrastructureMesh;

  constructor(mesh: InfrastructureMesh) {
    this.#mesh = mesh;
  }

  /**
   * Uploads a file.
   *
   * @throws A `MeshError`, the client's abort, or what the content has thrown.
   */
  async create(source: FileSource, call: ObjectCall): Promise<{ object: FileObject; pool: string; provider: string }> {
    const mesh = this.#mesh;
    const { account, files, bytes, purpose, batch, pool } = await upload(source, call, mesh);
    const made = await mintId(
      {
        kind: "file",
        owner: ownerOf(call),
        madeAt: mesh.runtime.clock.now(),
        ids: files.map(({ id }) => id),
        batch,
      },
      account,
      mesh,
    );
    const [first] = files;
    const { filename = source.name, status = "processed" } = first!;
    const object = { ...first!, id: made.id, bytes, purpose: purpose as FilePurpose, filename, status };
    await bookOf(mesh).save(made.ref, { id: made.id, object, isOver: true });
    return { object, pool: pool.name, provider: account.instance.entry.id };
  }

  /** A file's facts, as its provider has them. */
  async retrieve(id: string, call: ObjectCall): Promise<FileObject> {
    const { ref, account } = await locate(id, { kind: "file", call }, this.#mesh);
    const infrastructure = infrastructureOf(account, "files");
    const files = await Promise.all(ref.ids.map((one) =>
      callProvider({
        account,
        call,
        isRead: true,
        send: (options) => infrastructure.retrieveFile(one, options),
      }, this.#mesh)
    ));
    const [first] = files;
    return {
      ...first!,
      id,
      status: first!.status ?? "processed",
      bytes: files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    };
  }

  /** A page of the caller's files, as they were when they were uploaded. */
  async list({ purpose, after, limit = defaultLimit, order }: FileQuery, call: ObjectCall): Promise<ObjectPage> {
    const { records, hasMore } = await bookOf(this.#mesh).page({
      kind: "file",
      owner: ownerOf(call),
      after: after === undefined ? undefined : (await locate(after, { kind: "file", call }, this.#mesh)).ref,
      limit,
      isAscending: order === "asc",
      fits: (object) => purpose === undefined || object.purpose === purpose,
    });
    return pageOf(records.map(({ object }) => object), hasMore);
  }

  /** A file's content, as it arrives. */
  async content(id: string, call: ObjectCall): Promise<FileContent> {
    const mesh = this.#mesh;
    const { ref, account } = await locate(id, { kind: "file", call }, mesh);
    return await openContent(ref.ids, { account, call, mesh });
  }

  /** Deletes a file at its provider. */
  async delete(id: string, call: ObjectCall): Promise<{ id: string; object: "file"; deleted: true }> {
    const { ref, account } = await locate(id, { kind: "file", call }, this.#mesh);
    const infrastructure = infrastructureOf(account, "files");
    for (const one of ref.ids) {
      const send = { account, call, send: deleting(one) };
      await callProvider(send, this.#mesh);
    }
    await bookOf(this.#mesh).delete(ref);
    return { id, object: "file", deleted: true };

    function deleting(one: string) {
      return (options: Parameters<typeof infrastructure.deleteFile>[1]) => infrastructure.deleteFile(one, options);
    }
  }
}

/**
 * The id of a file that a provider has made, such as results.
 *
 * @param ids The provider's own, of one file or of those that are one here.
 * @param owner What it belongs to.
 */
export async function resultFileId(
  ids: readonly string[],
  { ref, account }: Located,
  mesh: InfrastructureMesh,
): Promise<string> {
  return (await mintId({ kind: "file", owner: ref.owner, madeAt: ref.madeAt, ids }, account, mesh)).id;
}

/** A page of a list. */
export function pageOf<Item>(data: (Item & { readonly id?: unknown })[], hasMore: boolean): ObjectPage<Item> {
  const idOf = (item: { readonly id?: unknown } | undefined) => item === undefined ? null : String(item.id);
  return { object: "list", data, first_id: idOf(data[0]), last_id: idOf(data.at(-1)), has_more: hasMore };
}
