/**
 * Starts a headless Chromium, which tests control through the Chrome DevTools protocol.
 * @module
 */

const flags = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-extensions",
  // each window has renderers of its own for these, which take as long to start as its page
  "--disable-features=SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
  "--host-resolver-rules=MAP *.example 127.0.0.1", // pages of other origins
  "--remote-debugging-port=0",
];

/** Environment variable with the URL of a running Chromium, shared by all test files. */
export const chromiumVariable = "MODELMESH_TEST_CHROMIUM";

/** A running Chromium. */
export interface Chromium extends AsyncDisposable {
  /** URL of its DevTools endpoint, such as `ws://127.0.0.1:40000/devtools/browser/…`. */
  readonly url: string;
}

/** Returns the path of an installed Chromium; undefined if there is none. */
export function findChromium(): string | undefined {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return folders.flatMap((folder) => names.map((name) => `${folder}/${name}`)).find(isFile);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * Starts a Chromium with its own profile.
 *
 * @param path Path of its executable.
 */
export async function startChromium(path: string): Promise<Chromium> {
  const profile = await Deno.makeTempDir({ prefix: "modelmesh-chromium-" });
  const args = [...flags, `--user-data-dir=${profile}`, "about:blank"];
  const child = new Deno.Command(path, { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const drained = (async () => {
    let printed = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) { // read to its end, else Chromium blocks
      printed += text;
      const url = /DevTools listening on (ws:\S+)/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    }
    reject(new Error(`Chromium did not start: ${printed}`));
  })();
  const url = await promise;
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await Promise.all([child.status, drained]);
      // its child processes exit slightly later, and may still write
      await Deno.remove(profile, { recursive: true }).catch(() => {});
    },
  };
}
