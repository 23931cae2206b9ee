/**
 * The address of the repository, which no file of it contains: copies of it have others.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";

/** Members of `package.json` that name the repository. */
export interface RepositoryMembers {
  readonly homepage: string;
  readonly repository: { readonly type: "git"; readonly url: string };
  readonly bugs: { readonly url: string };
}

/**
 * Returns the members that name the repository; undefined if its address is unknown.
 *
 * @param address Such as `https://github.com/acme/mesh`.
 */
export function toRepositoryMembers(address: string | undefined): RepositoryMembers | undefined {
  if (address === undefined) return undefined;
  return {
    homepage: `${address}#readme`,
    repository: { type: "git", url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
  };
}

/**
 * Returns the address of the repository: that of the workflow that runs, else that of the remote `origin`.
 *
 * @returns Undefined if neither is an address on the web.
 */
export async function findRepository(
  env: (name: string) => string | undefined = Deno.env.get,
  readOrigin: () => Promise<string> = readGitOrigin,
): Promise<string | undefined> {
  const [server, name] = [env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY")];
  if (server && name) return `${server}/${name}`;
  return toWebAddress(await readOrigin());
}

/** Converts the address of a remote: `https:`, `ssh:`, or `user@host:path`. */
function toWebAddress(remote: string): string | undefined {
  const [, host, path] =
    /^(?:https:\/\/|ssh:\/\/git@|git@)([\w.-]+\.[a-z]+)[:/]([\w.-]+\/[\w./-]+)$/i.exec(remote.trim()) ?? [];
  return path === undefined ? undefined : `https://${host}/${path.replace(/\.git$/, "")}`;
}

async function readGitOrigin(): Promise<string> {
  const args = ["config", "--get", "remote.origin.url"];
  try {
    const { stdout } = await new Deno.Command("git", { args, cwd: fromFileUrl(root) }).output();
    return new TextDecoder().decode(stdout);
  } catch {
    return ""; // without git
  }
}
