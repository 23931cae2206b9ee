/**
 * A proxy in this process that does not listen. Commands call it as they call a running one.
 * @module
 */
import type { UpstreamResponse } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import { createHandler, type Handler } from "../proxy/handler.ts";
import { MeshGeneration } from "../proxy/mesh_generation.ts";
import type { CommandParts } from "./command.ts";
import { errorMessageIn, readBodyText, type RemoteCall } from "./remote.ts";

/** Calls a proxy in this process. */
export class LocalProxy {
  readonly #generation: MeshGeneration;
  readonly #handler: Handler;
  /** Random token, not known outside this process. */
  readonly #token: string;

  private constructor(generation: MeshGeneration) {
    this.#generation = generation;
    this.#token = crypto.randomUUID();
    this.#handler = createHandler(generation.mesh, { tokens: [this.#token] });
  }

  /**
   * Starts from a configuration, or from detected providers.
   *
   * @throws Any error of a start.
   */
  static async start(config: string | undefined, { connectors, runtime }: CommandParts): Promise<LocalProxy> {
    const generation = new MeshGeneration({ connectors, runtime });
    await generation.start(config);
    return new LocalProxy(generation);
  }

  /**
   * Sends a request.
   *
   * @throws {MeshError} When the response is an error.
   */
  async send(path: string, { method = "GET", body, headers = {}, signal }: RemoteCall = {}): Promise<UpstreamResponse> {
    const response = await this.#handler(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      }),
    );
    const plain = {
      status: response.status,
      headers: response.headers,
      body: response.body,
      reader: () => response.body?.getReader() ?? null,
    };
    if (response.status < 300) return plain;
    const message = errorMessageIn(await readBodyText(plain)) ?? `The response has the status ${response.status}`;
    throw new MeshError(message, { code: "refused" });
  }

  /** Sends a request and parses the JSON response. */
  async json<Body>(path: string, call: RemoteCall = {}): Promise<Body> {
    return JSON.parse(await readBodyText(await this.send(path, call)));
  }

  /** Persists the state and closes. */
  close(): Promise<void> {
    return this.#generation.mesh.close();
  }
}
