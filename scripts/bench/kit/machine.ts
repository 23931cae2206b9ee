/**
 * The machine that a benchmark runs on.
 * @module
 */

/** Describes it in one line: system, processor, cores, memory, and whether it is virtual. */
export async function describeMachine(): Promise<string> {
  const read = (path: string) => Deno.readTextFile(path).catch(() => "");
  const [processor, memory] = await Promise.all([read("/proc/cpuinfo"), read("/proc/meminfo")]);
  const { cores, model, isVirtual } = readProcessor(processor);
  const gib = Number(/^MemTotal:\s+(\d+) kB$/m.exec(memory)?.[1]) / 1024 / 1024;
  return [
    `${Deno.build.os} ${Deno.osRelease()} on ${Deno.build.arch}`,
    `${cores || navigator.hardwareConcurrency} cores${model === "" ? "" : ` of ${model}`}`,
    ...(Number.isNaN(gib) ? [] : [`${Math.round(gib)} GiB`]),
    ...(isVirtual ? ["a virtual machine"] : []),
  ].join(", ");
}

/** Reads `/proc/cpuinfo`. */
export function readProcessor(text: string): {
  readonly cores: number;
  /** Empty if it is unknown. */
  readonly model: string;
  readonly isVirtual: boolean;
} {
  return {
    cores: text.match(/^processor\s*:/gm)?.length ?? 0,
    model: /^model name\s*: (.*)$/m.exec(text)?.[1]?.replaceAll(/\s+/g, " ").trim() ?? "",
    isVirtual: /^flags\s*:.* hypervisor\b/m.test(text),
  };
}
