/**
 * The mock upstream, in a process of its own.
 * @module
 */
import { freePort, output, startProgram, untilListening } from "./process.ts";
import { scriptCommand } from "./runtimes.ts";

/** What the mock does; what is left out stays as it was. */
export interface UpstreamMode {
  /** Size of whole answers. */
  readonly bytes?: number;
  /** Wait before whole answers, ms. */
  readonly delayMs?: number;
  /** Tokens in a stream. */
  readonly events?: number;
  /** Wait between tokens, ms; 0 for all at once. */
  readonly paceMs?: number;
  /** Wait before the first token, ms; `paceMs` when 0. */
  readonly firstMs?: number;
}

/** What the mock was asked since it was last set. */
export interface Seen {
  readonly requests: number;
  /** The body of the first request. */
  readonly lastBody: string;
  /** When callers left before their answer's end. */
  readonly left: readonly number[];
}

/** The mock upstream. */
export interface Upstream {
  /** Ports, without and with TLS. */
  readonly ports: { readonly plain: number; readonly secure: number };
  /** Path of its certificate, which signs itself. */
  readonly certificate: string;
  /** Its address, with `/v1`. */
  url(isSecure: boolean): string;
  /** Changes what it does, and forgets what it has seen. */
  set(mode: UpstreamMode): Promise<void>;
  /** What it was asked. */
  seen(): Promise<Seen>;
}

/** How it answers when nothing else is asked for. */
export const usualMode: Required<UpstreamMode> = { bytes: 1024, delayMs: 0, events: 50, paceMs: 0, firstMs: 0 };

/**
 * Starts the mock.
 *
 * @param folder Where its certificate is kept.
 */
export async function startUpstream(folder: string): Promise<Upstream> {
  const { key, certificate } = await makeCertificate(folder);
  const ports = { plain: freePort(), secure: freePort() };
  const settings = { port: ports.plain, securePort: ports.secure, key, cert: certificate };
  const command = [...await scriptCommand("mock.js"), JSON.stringify(settings)];
  const program = await startProgram({ command, core: "load", log: `${folder}/mock.log` });
  await untilListening(program, ports.secure);
  const ask = async (path: string) => {
    const { exitCode, signalCode } = program.child;
    if (exitCode !== null || signalCode !== null) throw new Error(`the upstream has ended (${signalCode ?? exitCode})`);
    const response = await fetch(`http://127.0.0.1:${ports.plain}/mock/${path}`);
    return await response.json() as Seen;
  };
  return {
    ports,
    certificate,
    url: (isSecure) => `${isSecure ? "https" : "http"}://127.0.0.1:${isSecure ? ports.secure : ports.plain}/v1`,
    set: async (mode) => void await ask(`set?${encodeURIComponent(JSON.stringify({ ...usualMode, ...mode }))}`),
    seen: () => ask("seen"),
  };
}

/** Self-signed, for this run. */
async function makeCertificate(folder: string): Promise<{ key: string; certificate: string }> {
  const [key, certificate] = [`${folder}/key.pem`, `${folder}/certificate.pem`];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = [
    "-subj",
    "/CN=127.0.0.1",
    "-addext",
    "subjectAltName=IP:127.0.0.1",
    "-addext",
    "basicConstraints=critical,CA:FALSE",
  ];
  await output({ command: ["openssl", "req", ...kind, ...names, "-keyout", key, "-out", certificate] });
  return { key, certificate };
}
