/**
 * The client on servers.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { Explanation } from "../pipeline/explain.ts";
import { MeshClient } from "./client.ts";
import { explainChat } from "./explain.ts";

/** A {@linkcode MeshClient} with what pages have no room for. */
export class ServerClient extends MeshClient {
  /**
   * Where a chat request would go, and why. Sends nothing; middleware is not asked.
   *
   * @param request OpenAI's chat request; without `model` it is about the client's pool.
   * @throws {ModelNotFoundError} When its `model` stands for nothing.
   * @throws {UnsupportedRequestError} When it is malformed.
   *
   * @example
   * ```ts ignore
   * const { order, excluded } = await client.explain({ messages });
   * console.log(order[0]?.model, excluded);
   * ```
   */
  async explain(request: ChatCompletionRequest): Promise<Explanation> {
    await this.ready();
    return explainChat(request, this.mesh, () => this.poolForChat());
  }
}
