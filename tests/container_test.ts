/** The container's files: what they promise, and that they go together. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { readDockerfile } from "../scripts/container/dockerfile.ts";
import { optionalPackages } from "../scripts/npm/optional_packages.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../${path}`, import.meta.url));

Deno.test("the image runs without root, asks /live for its health, and installs the clients of Redis and PostgreSQL that are tested", async () => {
  const { user, workdir, volume, healthcheck, packages, cmd } = readDockerfile(await read("Dockerfile"));
  assert(/^[1-9]\d*:[1-9]\d*$/.test(user), user);
  assertEquals(workdir, volume);
  assertStringIncludes(healthcheck.join(" "), "/live");
  assertEquals(
    packages,
    ["@redis/client", "jose", "postgres", "ws"].map((name) => `${name}@${optionalPackages[name]}`),
  );
  assertEquals(cmd.slice(0, 3), ["proxy", "--host", "0.0.0.0"]);
});

Deno.test("compose.yaml starts the image with a token, its configuration, its volume and a healthy Redis", async () => {
  // deno-lint-ignore no-explicit-any -- a document
  const { services: { proxy, redis } } = parse(await read("compose.yaml")) as any;
  const { volume, cmd } = readDockerfile(await read("Dockerfile"));
  const mounts = (proxy.volumes as string[]).map((mount) => mount.split(":"));
  assert(mounts.some(([, target]) => target === volume));
  const [config = ""] = mounts.find(([, target]) => target === cmd.at(-1)) ?? [];
  // deno-lint-ignore no-explicit-any -- a document
  const { storage } = parse(await read(config)) as any;
  assertEquals(storage, { connector: "redis.redis.v1", url: "redis://redis:6379" });
  assertStringIncludes(proxy.environment.MODELMESH_TOKEN, ":?");
  assertEquals(proxy.depends_on.redis.condition, "service_healthy");
  assert(redis.healthcheck.test.includes("redis-cli"));
  assert(proxy.read_only && proxy.cap_drop.includes("ALL"));
  assert(parseInt(proxy.stop_grace_period) > 30, "open answers have 30 s");
});

Deno.test("the unit of systemd runs the command line without root, reloads by SIGHUP, and waits for open answers", async () => {
  const unit = await read("deploy/modelmesh.service");
  for (const line of ["DynamicUser=yes", "StateDirectory=modelmesh", "ExecReload=/bin/kill -HUP $MAINPID"]) {
    assertStringIncludes(unit, `\n${line}\n`);
  }
  assert(Number(/\nTimeoutStopSec=(\d+)\n/.exec(unit)?.[1]) > 30);
});
