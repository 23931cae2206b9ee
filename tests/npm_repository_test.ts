/** The npm package names its repository, whose address depends on the copy that is built. */
import { assertEquals } from "@std/assert";
import { findRepository, toRepositoryMembers } from "../scripts/npm/repository.ts";

const unset = () => undefined;
const variables: Readonly<Record<string, string>> = {
  GITHUB_SERVER_URL: "https://git.example",
  GITHUB_REPOSITORY: "acme/mesh",
};

Deno.test("the package names the repository of the workflow that builds it, with its page and its issues", async () => {
  const address = await findRepository((name) => variables[name], () => Promise.resolve("https://other.example/a/b"));
  assertEquals(toRepositoryMembers(address), {
    homepage: "https://git.example/acme/mesh#readme",
    repository: { type: "git", url: "git+https://git.example/acme/mesh.git" },
    bugs: { url: "https://git.example/acme/mesh/issues" },
  });
});

Deno.test("outside of a workflow it is that of the remote, if that is an address on the web", async () => {
  const rows = [
    ["https://git.example/acme/mesh.git\n", "https://git.example/acme/mesh"],
    ["https://git.example/acme/mesh", "https://git.example/acme/mesh"],
    ["git@git.example:acme/mesh.git", "https://git.example/acme/mesh"],
    ["ssh://git@git.example/acme/mesh.git", "https://git.example/acme/mesh"],
    ["https://user:password@git.example/acme/mesh.git", undefined],
    ["/srv/mesh", undefined],
    ["file:///srv/mesh", undefined],
    ["", undefined],
  ] as const;
  for (const [remote, address] of rows) {
    assertEquals(await findRepository(unset, () => Promise.resolve(remote)), address, remote);
  }
  assertEquals(toRepositoryMembers(undefined), undefined);
});
