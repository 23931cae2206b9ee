/**
 * The mock upstream, in a separate process.
 * @module
 */
import { freePort, output, startProgram, untilListening } from "./process.ts";
import { scriptCommand } from "./runtimes.ts";

/** Behaviour of the mock. Missing members are unchanged. */
export interface UpstreamMode {
  /** Size of non-streaming responses, bytes. */
  readonly bytes?: number;
  /** Delay of non-streaming responses, ms. */
  readonly delayMs?: number;
  /** Number of tokens of a stream. */
  readonly events?: number;
  /** Delay between tokens, ms; 0 sends all at once. */
  readonly paceMs?: number;
  /** Delay of the first token, ms; 0 for `paceMs`. */
  readonly firstMs?: number;
}

/** Requests since the mock was last configured. */
export interface Seen {
  readonly requests: number;
  /** Body of the first request, later replaced by that of every 64th one. */
  readonly lastBody: string;
  /** Times at which clients disconnected before the end of their response. */
  readonly left: readonly number[];
}

/** The mock upstream. */
export interface Upstream {
  /** Ports without and with TLS. */
  readonly ports: { readonly plain: number; readonly secure: number };
  /** Path of its self-signed certificate. */
  readonly certificate: string;
  /** Returns its base URL, with `/v1`. */
  url(isSecure: boolean): string;
  /** Configures its behaviour, and resets its records. */
  set(mode: UpstreamMode): Promise<void>;
  /** Returns the recorded requests. */
  seen(): Promise<Seen>;
}

/** Default behaviour. */
export const usualMode: Required<UpstreamMode> = { bytes: 1024, delayMs: 0, events: 50, paceMs: 0, firstMs: 0 };

/**
 * Starts the mock.
 *
 * @param folder Folder of its certificate.
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

/** Creates a self-signed certificate for this run. */
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
