/**
 * The certificate of a proxy with `proxy.tls`, read before the port is bound, and again when its files change.
 * @module
 */
import { describeReadFailure } from "../config/load/load.ts";
import type { TlsSettings } from "../config/settings/settings.ts";
import type { Cancel, Clock, FileSystem } from "../contracts/runtime.ts";
import type { RunningServer, Shell, TlsKeyPair } from "../contracts/shell.ts";
import { ConfigError, type ConfigProblem, MeshError } from "../errors.ts";
import { watchText } from "../util/watch_text.ts";

/** A server, and the function that stops monitoring its certificate files. */
export interface MonitoredServer {
  readonly server: RunningServer;
  readonly stopWatching: Cancel;
}

/** The content of the files: a key pair, or a problem. */
type FoundCertificate = TlsKeyPair | { readonly problem: ConfigProblem };

/**
 * Starts a server with a certificate, and renews the certificate when its files change.
 *
 * @throws {ConfigError} If it is invalid; the port is then not bound.
 */
export async function serveCertificate(
  settings: TlsSettings,
  serve: (tls: TlsKeyPair) => Promise<RunningServer>,
  { files, clock, report }: {
    readonly files: FileSystem;
    readonly clock: Pick<Clock, "every">;
    /** Called with each new certificate, and once for each that is invalid. */
    readonly report: (severity: "info" | "error", message: string) => void;
  },
): Promise<MonitoredServer> {
  const first = await findCertificate(settings, files);
  if ("problem" in first) throw new ConfigError([first.problem]);
  const server = await serve(first).catch((error) => {
    const problem = toCertificateProblem(error, settings);
    throw problem === undefined ? error : new ConfigError([problem]);
  });
  const stopWatching = watchText(async () => JSON.stringify(await findCertificate(settings, files)), {
    clock,
    initial: JSON.stringify(first),
    onChange: (text) => {
      const problem = renew(server, JSON.parse(text) as FoundCertificate, settings);
      if (problem === undefined) report("info", "The certificate of proxy.tls has changed: new connections get it");
      else report("error", `The certificate before stays. ${problem.path}: ${problem.message}`);
    },
  });
  return { server, stopWatching };
}

/**
 * Returns the problems of a certificate, without a server.
 *
 * @param check Checks a key pair, as {@linkcode Shell.checkTls}.
 */
export async function problemsOfCertificate(
  settings: TlsSettings,
  { files, check }: { readonly files: FileSystem; readonly check: Shell["checkTls"] },
): Promise<readonly ConfigProblem[]> {
  const found = await findCertificate(settings, files);
  if ("problem" in found) return [found.problem];
  try {
    await check(found);
    return [];
  } catch (error) {
    const problem = toCertificateProblem(error, settings);
    if (problem === undefined) throw error;
    return [problem];
  }
}

async function findCertificate(settings: TlsSettings, files: FileSystem): Promise<FoundCertificate> {
  const pair: Record<string, string> = {};
  for (const part of ["cert", "key"] as const) {
    try {
      pair[part] = await files.readText(settings[part]);
    } catch (error) {
      const message = `"${settings[part]}" cannot be read: ${await describeReadFailure(error, settings[part])}`;
      return { problem: { path: `proxy.tls.${part}`, message } };
    }
  }
  return pair as unknown as TlsKeyPair;
}

/** Renews the certificate. Returns the problem if it is invalid. */
function renew(server: RunningServer, found: FoundCertificate, settings: TlsSettings): ConfigProblem | undefined {
  if ("problem" in found) return found.problem;
  try {
    server.renewTls?.(found);
  } catch (error) {
    const problem = toCertificateProblem(error, settings);
    if (problem === undefined) throw error;
    return problem;
  }
}

function toCertificateProblem(error: unknown, settings: TlsSettings): ConfigProblem | undefined {
  if (!MeshError.isInstance(error)) return undefined;
  const part = error.code === "invalid_key" ? "key" : error.code === "invalid_certificate" ? "cert" : undefined;
  if (part === undefined) return undefined;
  return { path: `proxy.tls.${part}`, message: `${error.message.replace(/^T/, "t")} (file "${settings[part]}")` };
}
