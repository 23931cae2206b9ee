/**
 * Connections on Deno, for the HTTP/1.1 client.
 * @module
 */
import { type MeshError, NetworkError } from "../errors.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import { Descriptors } from "./_descriptors.ts";
import { createTlsFault } from "./_tls_faults.ts";
import type { Network } from "./http1/client.ts";
import type { Socket } from "./http1/connection.ts";
import type { Target } from "./http1/request.ts";

/**
 * Deno's sockets.
 *
 * @param caCerts Authorities in addition to Deno's own, PEM; read when the first connection requires them.
 */
export function denoNetwork(caCerts: () => string[]): Network {
  return {
    connect: ({ isSecure, hostname, port, authorities }: Target, signal) =>
      isSecure
        ? connectSecurely({ hostname, port, caCerts: [...caCerts(), ...authorities?.certificates ?? []] }, signal)
        : connectPlainly(hostname, port),
  };
}

async function connectPlainly(hostname: string, port: number): Promise<Socket> {
  try {
    const socket = await Deno.connect({ hostname, port });
    socket.setNoDelay(true);
    return socket;
  } catch (error) {
    throw toNetworkError(error);
  }
}

async function connectSecurely(options: Deno.ConnectTlsOptions, signal: AbortSignal): Promise<Socket> {
  const socket = await Deno.connectTls({ ...options, alpnProtocols: ["http/1.1"] }).catch((error) => {
    throw toNetworkError(error);
  });
  let isOpen = true;
  const close = () => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  signal.addEventListener("abort", close); // an unresponsive server would keep it open
  try {
    await socket.handshake();
    return socket;
  } catch (error) {
    close();
    throw createTlsFault(error as Error);
  } finally {
    signal.removeEventListener("abort", close);
  }
}

const descriptors = new Descriptors(() => Deno.openSync(Deno.build.os === "windows" ? "NUL" : "/dev/null").close());

function toNetworkError(error: unknown): MeshError {
  const { errors } = Deno;
  if (isResourceLack(error)) {
    descriptors.lacked();
    return createOverload();
  }
  if (error instanceof errors.ConnectionRefused) return createUnsentError("Cannot connect to the provider: refused");
  if (error instanceof errors.NotCapable || error instanceof errors.PermissionDenied) {
    return createUnsentError("Cannot connect to the provider: not permitted (--allow-net)");
  }
  const isName = error instanceof Error && /lookup|resolve/i.test(error.message);
  if (isName && descriptors.areLacking) return createOverload();
  return createUnsentError(
    isName
      ? "Cannot find the provider's host: its name does not resolve"
      : "Cannot connect to the provider: unreachable",
  );
}

function createUnsentError(message: string): NetworkError {
  return new NetworkError(message, { neverSent: true });
}
