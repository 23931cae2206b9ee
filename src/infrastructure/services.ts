/**
 * Files, batches and fine-tuning jobs of one mesh.
 * @module
 */
import { Batches } from "./batches.ts";
import { Files } from "./files.ts";
import { FineTuningJobs } from "./fine_tuning.ts";
import type { InfrastructureMesh } from "./mesh.ts";
import { ObjectBook } from "./object_book.ts";

/** Batches under way are asked for this often, ms. */
const pollIntervalMs = 60_000;

/** What a mesh keeps at its providers. */
export class InfrastructureServices {
  readonly files: Files;
  readonly batches: Batches;
  readonly jobs: FineTuningJobs;

  /** @param mesh Its batches under way are polled where the configuration says so. */
  constructor(mesh: InfrastructureMesh & { onClose(task: () => Promise<void>): void }) {
    const book = mesh.objects.book ??= new ObjectBook();
    book.use(mesh.storage);
    this.files = new Files(mesh);
    this.batches = new Batches(mesh);
    this.jobs = new FineTuningJobs(mesh);
    if (!isPolling(mesh)) return;
    const stop = mesh.runtime.clock.every(pollIntervalMs, () => this.batches.poll());
    mesh.onClose(() => Promise.resolve(stop()));
  }
}

/** Whether some model's batches are asked for in the background. */
function isPolling({ registry }: Pick<InfrastructureMesh, "registry">): boolean {
  return registry.models.some(({ batch }) => batch?.isPolled);
}
