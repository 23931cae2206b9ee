/** What runtimes report of a denied permission, and the option that is named for it. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  describeDenial,
  describeDeniedVariable,
  describeFolderDenial,
  findDenial,
  toFolder,
} from "../src/util/denial.ts";

const denied = (message: string, facts: object = {}) => Object.assign(new Error(message), facts);
const byDeno = (words: string) => denied(`Requires ${words}, run again with the --allow-x flag`);
const byNode = (permission: string, resource = "") =>
  denied("Access to this API has been restricted", { code: "ERR_ACCESS_DENIED", permission, resource });

describe("A permission that a runtime has denied", () => {
  const rows: readonly (readonly [error: Error, option: string | undefined])[] = [
    [byDeno('read access to "/etc/mesh.yaml"'), "--allow-read=/etc/mesh.yaml"],
    [byDeno('write access to "state/state.json"'), "--allow-write=state/state.json"],
    [byDeno('net access to "api.openai.com:443"'), "--allow-net=api.openai.com:443"],
    [byDeno('net access to "[::1]:8080"'), "--allow-net=[::1]:8080"],
    [byDeno('env access to "OPENAI_API_KEY"'), "--allow-env=OPENAI_API_KEY"],
    [byDeno("env access"), "--allow-env"],
    [byDeno("read access to <CWD>"), "--allow-read"],
    [byDeno('sys access to "hostname"'), "--allow-sys=hostname"],
    [byDeno('import access to "example.com:443"'), "--allow-import=example.com:443"],
    [byDeno('read access to "/my files/a\'b"'), "'--allow-read=/my files/a'\\''b'"],
    [
      denied("getaddrinfo EPERM redis.internal", { code: "EPERM", syscall: "getaddrinfo" }),
      "--allow-net=redis.internal",
    ],
    [byNode("FileSystemRead", "/etc/mesh.yaml"), "--allow-fs-read=/etc/mesh.yaml"],
    [byNode("FileSystemWrite", "/srv/state"), "--allow-fs-write=/srv/state"],
    [byNode("ChildProcess", "/usr/bin/node"), "--allow-child-process"],
    [byNode("WorkerThreads"), "--allow-worker"],
    [byNode("Net", "10.0.0.1:6379"), "--allow-net=10.0.0.1:6379"],
    [denied("permission denied", { code: "EACCES" }), undefined],
    [denied("not permitted", { code: "EPERM", syscall: "open" }), undefined],
    [denied("The file requires read access to work"), undefined],
  ];

  it("is named with its option, for Deno and for Node", () => {
    for (const [error, option] of rows) {
      const described = option === undefined ? undefined : `this process is not permitted to: add ${option}`;
      assertEquals(describeDenial(error), described, error.message);
    }
    for (const value of [undefined, null, "Requires read access", {}, { message: 7 }]) {
      assertEquals(findDenial(value), undefined);
    }
  });

  it("is that of what was used, if the error names a temporary file or an address of it", () => {
    const used = { path: "state", host: "redis.internal:6379" };
    assertEquals(
      [byDeno('write access to "state/a~1.tmp"'), byDeno('net access to "10.0.0.1:6379"'), byDeno('env access to "A"')]
        .map((error) => describeDenial(error, used)?.split("add ")[1]),
      ["--allow-write=state", "--allow-net=redis.internal:6379", "--allow-env=A"],
    );
  });

  it("is for a folder the one to write as well, if it may not be read", () => {
    const options = [byDeno('read access to "s/a"'), byDeno('write access to "s/a"'), byNode("FileSystemRead", "s/a")]
      .map((error) => describeFolderDenial(error, "s")?.split("add ")[1]);
    assertEquals(options, [
      "--allow-read=s --allow-write=s",
      "--allow-write=s",
      "--allow-fs-read=s --allow-fs-write=s",
    ]);
  });

  it("is that of a variable, unless the environment may be read", () => {
    const env = Object.assign(() => undefined, { isDenied: (name: string) => name === "A" });
    const message = "this process is not permitted to read the environment variable A: add --allow-env=A";
    assertEquals([describeDeniedVariable("A", env), describeDeniedVariable("B", env)], [message, undefined]);
    assertEquals(describeDeniedVariable("A", () => undefined), undefined);
  });
});

it("The folder of a file is that of its path", () => {
  const rows = [["state.json", "."], ["./state.json", "."], ["a/b.json", "a"], ["/b.json", "/"], ["/a/b/c", "/a/b"], [
    "C:\\a\\b",
    "C:\\a",
  ]];
  assertEquals(rows.map(([path]) => toFolder(path!)), rows.map(([, folder]) => folder));
});
